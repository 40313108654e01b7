"""Tracing: the trace of a kernel body, conversion of Python values to operands, operators on registers."""
