"""Kernels for Ampere and all that came after it: cp.async, ldmatrix and mma."""
