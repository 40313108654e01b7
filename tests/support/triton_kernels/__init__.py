"""Triton kernels for tests, in the styles that people write, with their references."""
