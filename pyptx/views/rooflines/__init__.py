"""The roofline of kernels on a GPU, as data, text, SVG, HTML and matplotlib axes."""
