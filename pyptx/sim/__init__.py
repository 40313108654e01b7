"""CPU simulator: runs PTX on NumPy arrays, bit for bit as the PTX ISA defines it, with counters for each instruction.

    program = sim.load(module)
    result = sim.launch(program, grid, block, (x, y, n))
    result.counters.issues

Accuracy and limits:

- Integers, logic, conversions, and arithmetic with a rounding (.rn, .rz, .rm, .rp) in f16, bf16, f32 and f64 are exact
  to the bit.
- Approximations are computed in double precision and rounded once, so they are more accurate than hardware, whose bits
  the PTX ISA does not define. A device may differ from the simulator by these bounds:

        ex2 2 ulp (f16 2^-9.9, bf16 2^-7 relative)     rcp 1 ulp, div.approx and div.full 2 ulp
        lg2 2^-22 absolute in [0.5, 2], else relative    sqrt 2^-23, rsqrt 2^-22.9 relative
        sin, cos 2^-20.5 absolute in [-2pi, 2pi]          tanh 2^-11 relative (f16 2^-10.987 absolute, bf16 2^-8)

- Tensor cores: `tensor_cores="fast"` rounds to nearest after each product added; "hw" adds as the hardware of the
  kernel's target does (aligned to the largest exponent, truncated, several products at once). The error of a sum of 256
  to 4096 normally distributed products, relative to the largest, is 4e-7 to 2e-6 (fast), 5e-7 to 5e-6 (hw, f16 and bf16
  on sm_90), 6e-4 to 3e-3 (hw, fp8 by wgmma); see `pyptx.sim.actions.Model` for other cases.
- Atomics of several threads take effect in the order of the simulator.
- Launches run one after the other: at griddepcontrol the previous grid has completed.
- Textures: nearest, whole coordinates, address modes, gathers and surfaces are exact. Linear filters have weights of 8
  bits, rounded to nearest, and sums in double, rounded once; a GPU may differ by the last bit of a weight, 1/256 of the
  difference of neighbors along each dimension. docs/howto/run-kernels.md describes behavior that is not documented elsewhere.
- A multimem address stands for a single replica; nothing reports to an mbarrier of layout v1; the NaN that fma.oob
  recognizes is the one that tensor copies fill with, 0x7ff7, in f16 and in bf16. Unsupported forms are refused when a
  program is loaded; decode/refusals.py lists the reasons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx._lazy import from_modules

if TYPE_CHECKING:
    from pyptx.sim.counters import Counters
    from pyptx.sim.memory.address_space import Buffer
    from pyptx.sim.profile import ClusterProfile, ClusterProfiler
    from pyptx.sim.program.program import Program, load
    from pyptx.sim.simulation import Result, launch

__all__ = ["Buffer", "Counters", "ClusterProfile", "ClusterProfiler", "Program", "Result", "launch", "load"]

if not TYPE_CHECKING:
    __getattr__ = from_modules(
        __name__,
        {  # loaded on first use: launches on a GPU need the layout of arguments only
            "Buffer": "memory.address_space",
            "Counters": "counters",
            "ClusterProfile": "profile",
            "ClusterProfiler": "profile",
            "Program": "program.program",
            "Result": "simulation",
            "launch": "simulation",
            "load": "program.program",
        },
    )
