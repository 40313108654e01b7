"""Two kernels compared: as data, text and HTML."""
