"""The debugger: run a kernel on the simulator with breakpoints, inspect it, and step forward and backward.

session = gemm.debug(a, b)
session.breakpoints.add("gemm.py:77", "step == 3 and lane == 0")
session.resume()
session.evaluate("sums[0][0]")
session.back()
"""

from pyptx.debug.breakpoints.table import Breakpoint, Breakpoints
from pyptx.debug.errors import DebugError
from pyptx.debug.session import Session
from pyptx.debug.stops import Focus, Stop

__all__ = ["Breakpoint", "Breakpoints", "DebugError", "Focus", "Session", "Stop"]
