"""Floor 0: the linear algebra of Gram matrices."""
