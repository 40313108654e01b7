"""The linked view of a kernel: Python | PTX | SASS, as data, text and HTML."""
