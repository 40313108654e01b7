"""Comparison of code: texts line by line, machine code by its semantics."""
