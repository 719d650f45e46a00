"""Random problems: features drawn through their Gram matrix, in any dimension."""
