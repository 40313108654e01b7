"""Suggestions for attributes that `pyptx.ptx` does not have."""

from __future__ import annotations

import sys

from pyptx import isa
from pyptx.errors import UnknownAttributeError
from pyptx.isa.identifiers import from_identifier, to_identifier

__all__ = ["unknown_attribute"]

_CUDA = {  # names of CUDA C++ and Triton, without leading underscores
    "arange": "ptx.tid.x: a kernel is the code of one thread",
    "atomicAdd": "x.atomic_add(i, value)",
    "atomicMax": "x.atomic_max(i, value)",
    "blockDim": "ptx.ntid",
    "blockIdx": "ptx.ctaid",
    "expf": "ptx.exp",
    "fmaf": "ptx.fma",
    "gridDim": "ptx.nctaid",
    "load": "x[i, j]",
    "logf": "ptx.log",
    "program_id": "ptx.ctaid.x",
    "shared": "smem.alloc(dtype, shape), with `from pyptx import smem`",
    **{
        f"shfl{name}{end}": f"{first}ptx.inst.shfl.sync.{mode}.b32(result, value, {operand}, {bound}, -1)"
        for name, first, mode, operand, bound in (
            ("_up", "ptx.warp_scan(value, 'add'), or ", "up", "distance", 0),
            ("_down", "ptx.warp_reduce(value, 'add'), or ", "down", "distance", 31),
            ("_xor", "ptx.warp_reduce(value, 'add'), or ", "bfly", "mask", 31),
            ("", "", "idx", "lane", 31),
        )
        for end in ("", "_sync")
    },
    "sqrtf": "ptx.sqrt",
    "store": "x[i, j] = value",
    "sync": "ptx.bar.sync()",
    "syncthreads": "ptx.bar.sync()",
    "syncwarp": "ptx.inst.bar.warp.sync(-1)",
    "threadIdx": "ptx.tid",
    "warpSize": "32",
    "where": "ptx.select(condition, value, other)",
    "zeros": "reg.scalar(dtype, 0) for a register, smem.alloc(dtype, shape) for shared memory",
}


def unknown_attribute(name: str) -> object:
    """Refuse an attribute that `pyptx.ptx` does not have: the module's `__getattr__`.

    Raises:
        UnknownAttributeError: always, an AttributeError; its hint names the instruction under `ptx.inst`, or the nearest spelling.
    """
    words = [word for word in name.split("_") if word]
    if name.lstrip("_") in _CUDA:
        hint = f"write {_CUDA[name.lstrip('_')]}"
    elif from_identifier(name) in isa.OPS:
        hint = f"every instruction is under ptx.inst: ptx.inst.{name}"
    elif words and words[0] in isa.OPS:
        hint = f"every instruction is under ptx.inst: ptx.inst.{'.'.join(map(to_identifier, words))}"
    else:
        from difflib import get_close_matches  # imported late to keep `import pyptx` fast

        near = get_close_matches(name, sys.modules["pyptx.ptx"].__all__, 1)
        hint = f"did you mean ptx.{near[0]}?" if near else "instructions are under ptx.inst"
    raise UnknownAttributeError(f"pyptx.ptx has no {name!r}", hint=hint)
