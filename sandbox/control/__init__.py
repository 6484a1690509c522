"""The control surface: what a script or the page may do to the simulated world."""
