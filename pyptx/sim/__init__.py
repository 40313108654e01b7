"""The CPU simulator: PTX runs on NumPy arrays, bit for bit as the manual says, with counters for each instruction.

    program = sim.load(module)
    result = sim.launch(program, grid, block, (x, y, n))
    result.counters.issues
"""

from pyptx.sim.counters import Counters
from pyptx.sim.launch import Result, launch
from pyptx.sim.memory import Buffer
from pyptx.sim.observe import Observed, Observer
from pyptx.sim.program import Program, load

__all__ = ["Buffer", "Counters", "Observed", "Observer", "Program", "Result", "launch", "load"]
