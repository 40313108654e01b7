"""Kernels for Blackwell: TMA, tcgen05 and tensor memory."""
