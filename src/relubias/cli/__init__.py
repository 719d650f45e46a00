"""Floor 8: the command line, one file a command."""
