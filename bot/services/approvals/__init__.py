"""An option before approvers: asked, answered, agreed, denied, or left to expire."""
