"""From a sentence to a stored decision; nothing here spends."""
