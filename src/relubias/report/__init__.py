"""Floor 7: pages, figures and tables, all pure functions of records."""
