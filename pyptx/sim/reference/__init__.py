"""The reference engine: one warp at a time, exact integers, in plain Python. Slow, and the judge of the C core."""

from pyptx.sim.reference.engine import run

__all__ = ["run"]
