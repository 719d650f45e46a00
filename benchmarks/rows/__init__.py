"""One benchmark a file; the name of the file is the name by which it is asked for."""
