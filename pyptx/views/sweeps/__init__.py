"""The view of a sweep over a parameter space, as data, text and HTML."""
