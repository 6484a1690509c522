"""What binds: money held and freed, who may agree, and whether it is still what was agreed."""
