"""Floor 3: where training goes."""
