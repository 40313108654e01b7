"""Breakpoints and watchpoints."""
