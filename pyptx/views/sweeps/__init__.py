"""A sweep over a space of parameters: as data, text and HTML."""
