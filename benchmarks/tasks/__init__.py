"""What several rows do or need, one noun a file."""
