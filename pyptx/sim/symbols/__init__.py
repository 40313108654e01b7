"""Symbols of a module: registers, variables, functions, labels and literals, resolved for an entry."""
