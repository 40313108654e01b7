"""What a kernel body writes: `ptx.inst.*` for every instruction, and typed wrappers around the frequent ones."""

from pyptx.ptx import warp
from pyptx.ptx.barrier import NamedBarrier, bar, elect_sync, named_barrier, setmaxnreg, setmaxnreg_dec, setmaxnreg_inc
from pyptx.ptx.control import bra, else_, if_, kloop, label, loop, pragma, range_, ret, scope
from pyptx.ptx.instructions import inst, pipe
from pyptx.ptx.memory import addr, cvta, global_ptrs, param, var
from pyptx.ptx.special import ctaid_x, ctaid_y, special, sreg

__all__ = ["NamedBarrier", "addr", "bar", "bra", "ctaid_x", "ctaid_y", "cvta", "elect_sync", "else_",
           "global_ptrs", "if_", "inst", "kloop", "label", "loop", "named_barrier", "param", "pipe", "pragma", "range_",
           "ret", "scope",
           "setmaxnreg", "setmaxnreg_dec", "setmaxnreg_inc", "special", "sreg", "var", "warp"]
