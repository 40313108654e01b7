"""Inspection of a stopped launch: registers, memory, fragments, barriers, by the names the kernel author gave them."""
