"""Kernels for Hopper: TMA, wgmma, clusters and warpgroups that specialize."""
