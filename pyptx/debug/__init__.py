"""The debugger: a kernel on the simulator, stopped where one wants to look, going on and back.

    session = gemm.debug(a, b)
    session.breakpoints.add("gemm.py:77", "step == 3 and lane == 0")
    session.resume()
    session.evaluate("sums[0][0]")
    session.back()
"""

from pyptx.debug.errors import DebugError
from pyptx.debug.session import Session
from pyptx.debug.stopping.breakpoints import Breakpoint, Breakpoints
from pyptx.debug.stopping.stops import Focus, Stop

__all__ = ["Breakpoint", "Breakpoints", "DebugError", "Focus", "Session", "Stop"]
