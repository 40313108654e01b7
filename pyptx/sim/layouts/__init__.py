"""Data layouts: matrix fragments in registers, matrices in tensor memory."""
