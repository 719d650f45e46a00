"""Floor 4: what the theory says about a problem."""
