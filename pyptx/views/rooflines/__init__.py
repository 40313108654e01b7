"""Kernels placed on the roofs of a GPU: as data, text, SVG, HTML and for matplotlib."""
