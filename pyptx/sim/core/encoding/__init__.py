"""Encodes decoded actions as operations of the C core, one module per kind of action."""
