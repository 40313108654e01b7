"""The reference engine: plain Python, one warp at a time, exact integers. It is slow; the C core is tested against it.

It has no sanitizer. `engine` runs a program; the other modules implement a family of actions each.
"""
