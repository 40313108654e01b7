"""Tables that compare several kernels, one column each."""
