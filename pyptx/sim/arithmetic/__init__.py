"""Reference arithmetic: every primitive of PTX expressions, on exact Python integers."""
