"""What a kernel's Python function writes while it is called: the trace, its operands, operators on registers."""
