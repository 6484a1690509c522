"""Cards: pure functions from what the records say to Block Kit and its fallback text."""
