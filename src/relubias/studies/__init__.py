"""Floor 6: studies over many cells, and what is fitted to their rows."""
