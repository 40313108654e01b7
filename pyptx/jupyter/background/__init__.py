"""Compilation of cells in the background, while they are typed."""
