"""Kernels for Ampere and newer GPUs: cp.async, ldmatrix and mma."""
