"""One statement over columns of numbers, one lane for each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sim.engines import run_both
from sim.text import entry

from pyptx import ir

__all__ = ["bits_of_type", "computed", "over_columns"]

_WIDTH = {"f16": 16, "f16x2": 32, "f32": 32, "f64": 64}


def bits_of_type(type_name: str) -> int:
    return _WIDTH.get(type_name) or int(type_name.lstrip("abcdefghijklmnopqrstuvwxyz"))


def over_columns(stmt: str, types: Sequence[str], dtype: str) -> ir.Module:
    """An entry that computes `stmt`, %d of %a0, %a1 ..., from arrays in0, in1 ... to out, eight bytes a number.

    Registers have the types given; one of a bf16 is a .b16.
    """
    lines = [f".reg .{t} %a{i}; .reg .b{max(bits_of_type(t), 16)} %w{i}" for i, t in enumerate(types)]
    lines.append(f".reg .{dtype} %d; .reg .b64 %p; .reg .b64 %q; .reg .b32 %t; .reg .b64 %o")
    lines.append("mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 8")
    for i, t in enumerate(types):
        lines.append(f"ld.param.u64 %p, [in{i}]; add.u64 %p, %p, %o; ld.global.b{bits_of_type(t)} %a{i}, [%p]")
    lines.append(stmt)
    lines.append(f"ld.param.u64 %q, [out]; add.u64 %q, %q, %o; st.global.b{bits_of_type(dtype)} [%q], %d; ret")
    return entry("\n".join(lines), ", ".join([*(f"u64 in{i}" for i in range(len(types))), "u64 out"]))


def computed(stmt: str, types: Sequence[str], dtype: str, columns: Sequence[np.ndarray]) -> np.ndarray:
    """The bits both engines compute for each row, as u64."""
    out = np.zeros(len(columns[0]), np.uint64)
    run_both(over_columns(stmt, types, dtype), 1, len(out), (*(c.astype(np.uint64) for c in columns), out))
    return out
