"""The CPU simulator: PTX runs on NumPy arrays, bit for bit as the manual says, with counters for each instruction.

    program = sim.load(module)
    result = sim.launch(program, grid, block, (x, y, n))
    result.counters.issues

What is exact, and what is not:

- Integers, logic, conversions, and arithmetic with a rounding (.rn, .rz, .rm, .rp) in f16, bf16, f32 and f64 are exact
  to the bit: what the manual defines has one answer.
- Approximations are computed in double and rounded once, so they are closer than hardware, whose bits the manual leaves
  open. A device may differ from the simulator by the manual's bounds:

        ex2 2 ulp (f16 2^-9.9, bf16 2^-7 relative)     rcp 1 ulp, div.approx and div.full 2 ulp
        lg2 2^-22 absolute in [0.5, 2], else relative    sqrt 2^-23, rsqrt 2^-22.9 relative
        sin, cos 2^-20.5 absolute in [-2pi, 2pi]          tanh 2^-11 relative (f16 2^-10.987 absolute, bf16 2^-8)

- Tensor cores: `tensor_cores="fast"` rounds to nearest after each product added; "hw" adds as the hardware of the
  kernel's target does (aligned to the largest exponent, cut, several products at once). Sums of 256 to 4096 normally
  distributed products are this far from exact, in parts of the largest: fast 4e-7 to 2e-6; hw 5e-7 to 5e-6 for f16 and
  bf16 on sm_90, but 6e-4 to 3e-3 for fp8 by wgmma. `pyptx.sim.actions.products.Model` has the other cases.
- Several threads that add floating-point numbers atomically, or take tickets, do so in the simulator's order.
- Launches run one after the other: griddepcontrol finds the grid before ended.
- Textures: nearest, whole coordinates, address modes, gathers and surfaces are exact. Linear filters have weights of 8
  bits, rounded to nearest, and sums in double, rounded once; a GPU may be off by a weight's last bit, 1/256 of the
  difference of neighbours along each dimension. docs/guide/running.md has what no document says.
- multimem stands for one replica; nothing reports to an mbarrier of layout v1; the NaN that fma.oob looks for is the
  one tensor copies fill with, 0x7ff7, in f16 and in bf16. What is refused, by name at load, and why:
  decode/refusals.py.
"""

from pyptx.sim.counters import Counters
from pyptx.sim.launch import Result, launch
from pyptx.sim.memory.spaces import Buffer
from pyptx.sim.observe import Observed, Observer
from pyptx.sim.program.program import Program, load

__all__ = ["Buffer", "Counters", "Observed", "Observer", "Program", "Result", "launch", "load"]
