"""The reference engine: one warp at a time, exact integers, in plain Python. Slow, and the judge of the C core.

It has no sanitizer (sim/watch.py): races are watched for by the C core alone. `engine` runs a program; the other
modules know an action each, or what several of them share.
"""
