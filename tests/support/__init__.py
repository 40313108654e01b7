"""Helpers that tests import: `from support.processes import python`."""
