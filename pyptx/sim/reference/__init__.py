"""The reference engine: one warp at a time, exact integers, in plain Python. Slow, and the judge of the C core.

It has no sanitizer (sim/watch.py): races are watched for by the C core alone.
"""

from pyptx.sim.reference.engine import run

__all__ = ["run"]
