"""The linked view of a kernel: Python | PTX | SASS, line by line, as data, text and HTML."""
