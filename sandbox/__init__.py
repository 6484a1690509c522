"""A simulated Slack and a simulated AWS that speak the real protocols."""
