"""What the names and numbers of a module mean: registers, variables, functions, labels, literals."""
