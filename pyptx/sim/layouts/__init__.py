"""Where elements lie: fragments in registers, matrices in tensor memory."""
