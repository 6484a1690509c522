"""gpubot: turns a sentence in Slack into the right GPU capacity, once, at an agreed price."""
