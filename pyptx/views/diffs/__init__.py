"""The diff of two kernels, as data, text and HTML."""
