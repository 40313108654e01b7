"""SwiGLU: y = silu(gate) * up with silu(g) = g / (1 + exp(-g)), and its gradients, each in one pass over memory.

    python examples/swiglu.py
    pyptx view examples/swiglu.py:swiglu -p M=512 N=1024

Source of the function: Shazeer, "GLU Variants Improve Transformer". The gradients, with s = 1 / (1 + exp(-gate)):

    d_gate = d_y * up * s * (1 + gate * (1 - s))        d_up = d_y * gate * s

Accesses of 16 bytes wherever the number of elements allows them; arithmetic in f32 whatever the type. Autograd of torch
and JAX: see `swiglu_with_gradients` and `with_gradients_for_jax`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from vectors import load, moved, store, widest

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, f32, u32

THREADS = 256
LOG2_E = math.log2(math.e)


def forward(gate, up, y):
    """y = silu(gate) * up, all M x N."""
    count = widest(math.prod(gate.shape), gate.dtype)
    (gate_at, up_at, to), guard = place(gate.shape, count, gate.dtype, gate, up, y)
    results = []
    for g, u in zip(*(load(at, count, gate.dtype, guard) for at in (gate_at, up_at)), strict=True):
        result = reg.scalar(f32)
        ptx.inst.mul.f32(result, g, sigmoid(g))
        ptx.inst.mul.f32(result, result, u)
        results.append(result)
    store(to, results, y.dtype, guard)


def backward(gate, up, d_y, d_gate, d_up):
    """The gradients of gate and up from that of y, all M x N."""
    count = widest(math.prod(gate.shape), gate.dtype)
    places, guard = place(gate.shape, count, gate.dtype, gate, up, d_y, d_gate, d_up)
    to_gate, to_up = places[3:]
    gates, ups = [], []
    for g, u, d in zip(*(load(at, count, gate.dtype, guard) for at in places[:3]), strict=True):
        s, of_gate, of_up = sigmoid(g), reg.scalar(f32), reg.scalar(f32)
        ptx.inst.sub.f32(of_gate, 1.0, s)
        ptx.inst.fma.rn.f32(of_gate, g, of_gate, 1.0)
        for factor in (s, u, d):
            ptx.inst.mul.f32(of_gate, of_gate, factor)
        ptx.inst.mul.f32(of_up, g, s)
        ptx.inst.mul.f32(of_up, of_up, d)
        gates.append(of_gate)
        ups.append(of_up)
    store(to_gate, gates, d_gate.dtype, guard)
    store(to_up, ups, d_up.dtype, guard)


def sigmoid(value: Reg) -> Reg:
    """1 / (1 + exp(-value)), f32."""
    result = reg.scalar(f32)
    ptx.inst.mul.f32(result, value, -LOG2_E)
    ptx.inst.ex2.approx.f32(result, result)
    ptx.inst.add.f32(result, result, 1.0)
    ptx.inst.rcp.approx.f32(result, result)
    return result


def place(shape: tuple[int, int], count: int, dtype: PtxType, *tensors) -> tuple[list[Reg], Reg | None]:
    """Where this thread's numbers are in each tensor, and the predicate that there are any; None where all have."""
    threads = shape[0] * shape[1] // count
    at = reg.from_(ptx.special.ctaid.x(), u32) * THREADS + reg.from_(ptx.special.tid.x(), u32)
    places = [moved(start, at, count * dtype.bits // 8) for start in ptx.global_ptrs(*tensors)]
    return places, at < threads if threads % THREADS else None


def kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel]:
    """The forward and the backward kernel for arrays of `dtype` (f32, bf16 or f16)."""
    tile = Tile("M", "N", dtype)

    def blocks(M: int, N: int) -> int:
        return -(-M * N // widest(M * N, dtype) // THREADS)

    def made(body: Callable, name: str, inputs: int, outputs: int) -> Kernel:
        return kernel(body, name=name, arch="sm_80", in_specs=[tile] * inputs, out_specs=[tile] * outputs, grid=blocks,
                      block=(THREADS, 1, 1), reqntid=(THREADS, 1, 1))
    return made(forward, "swiglu", 2, 1), made(backward, "swiglu_backward", 3, 2)


swiglu, swiglu_backward = kernels_of(f32)


def swiglu_with_gradients(dtype: PtxType = f32):
    """SwiGLU of torch tensors that torch.autograd and torch.compile know."""
    return pyptx.differentiable_kernel(*kernels_of(dtype))


def with_gradients_for_jax(dtype: PtxType = f32) -> Callable:
    """SwiGLU of JAX arrays that jax.grad and jax.jit know."""
    import jax
    first, second = kernels_of(dtype)
    function = jax.custom_vjp(lambda gate, up: first(gate, up))
    function.defvjp(lambda gate, up: (first(gate, up), (gate, up)), lambda saved, d_y: second(*saved, d_y))
    return function


def reference(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The same in NumPy, in f32."""
    gate, up = gate.astype(np.float32), up.astype(np.float32)
    return gate / (1 + np.exp(-gate)) * up


def reference_backward(gate: np.ndarray, up: np.ndarray, d_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients in NumPy, in f32."""
    gate, up, d_y = (array.astype(np.float32) for array in (gate, up, d_y))
    s = 1 / (1 + np.exp(-gate))
    return d_y * up * s * (1 + gate * (1 - s)), d_y * gate * s


def main() -> None:
    random = np.random.default_rng(0)
    gate, up, d_y = (random.standard_normal((300, 1000), dtype=np.float32) for _ in range(3))
    compare(swiglu, [gate, up], reference(gate, up), rtol=1e-4, atol=1e-5)
    compare(swiglu_backward, [gate, up, d_y], reference_backward(gate, up, d_y), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
