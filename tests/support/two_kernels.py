"""Source of a module with two kernels, for tests that run it in several processes."""

__all__ = ["KERNELS"]

KERNELS = """
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

FACTOR = {factor}

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile({size}, f32),), grid=lambda N: (N + 31) // 32, block=32)
def scaled(x, y):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i < x.shape[0]):
        x_at, y_at = ptx.global_ptrs(x, y)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
        ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), value * FACTOR)

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: (N + 31) // 32, block=32)
def negated(x, y):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i < x.shape[0]):
        x_at, y_at = ptx.global_ptrs(x, y)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
        ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), -value)
"""
