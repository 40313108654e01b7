"""SwiGLU: y = silu(gate) * up with silu(g) = g / (1 + exp(-g)), and its gradients, each in one pass over memory.

    python examples/swiglu.py
    pyptx view examples/swiglu.py:swiglu -p M=512 N=1024

Source of the function: Shazeer, "GLU Variants Improve Transformer". The gradients, with s = 1 / (1 + exp(-gate)):

    d_gate = d_y * up * s * (1 + gate * (1 - s))        d_up = d_y * gate * s

Techniques and their sources:

- Accesses of 16 bytes (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"); the elements after the last
  whole vector one by one: see `elementwise`. Arithmetic in f32 for every type.
- A thread has ROUNDS vectors of each array in flight before it uses the first (Little's law; Volkov, "Better Performance
  at Lower Occupancy").
- exp(x) as 2**(x * log2(e)), by ex2 (PTX ISA, "ex2").

Autograd of torch and JAX: see `swiglu_with_gradients` and `with_gradients_for_jax`.

Cost of both kernels: 32 registers per thread, eight CTAs per SM.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import pyptx
from examples.vectors import THREADS, blocks_of, elementwise
from pyptx import Tile, kernel, ptx, reg
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, f32

LOG2_E = math.log2(math.e)
SPACE = {"ROUNDS": (1, 2, 4)}  # tuning space


def forward(gate, up, y, *, ROUNDS=2):
    """Compute y = silu(gate) * up, all M x N."""
    elementwise([gate, up], [y], product, ROUNDS)


def backward(gate, up, d_y, d_gate, d_up, *, ROUNDS=1):
    """Compute the gradients of gate and up from that of y, all M x N."""
    elementwise([gate, up, d_y], [d_gate, d_up], gradients, ROUNDS)


def product(g: Reg, u: Reg) -> list[Reg]:
    """Return silu(g) * u."""
    result = reg.scalar(f32)
    ptx.inst.mul.f32(result, g, sigmoid(g))
    ptx.inst.mul.f32(result, result, u)
    return [result]


def gradients(g: Reg, u: Reg, d: Reg) -> list[Reg]:
    """Return the gradients of g and u for a gradient d of the product."""
    s, of_gate, of_up = sigmoid(g), reg.scalar(f32), reg.scalar(f32)
    ptx.inst.sub.f32(of_gate, 1.0, s)
    ptx.inst.fma.rn.f32(of_gate, g, of_gate, 1.0)
    for factor in (s, u, d):
        ptx.inst.mul.f32(of_gate, of_gate, factor)
    ptx.inst.mul.f32(of_up, g, s)
    ptx.inst.mul.f32(of_up, of_up, d)
    return [of_gate, of_up]


def sigmoid(value: Reg) -> Reg:
    """Return 1 / (1 + exp(-value)), f32."""
    result = reg.scalar(f32)
    ptx.inst.mul.f32(result, value, -LOG2_E)
    ptx.inst.ex2.approx.ftz.f32(result, result)
    ptx.inst.add.f32(result, result, 1.0)
    ptx.inst.rcp.approx.ftz.f32(result, result)
    return result


def kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel]:
    """Return the forward and backward kernels for arrays of `dtype` (f32, bf16 or f16)."""
    tile = Tile("M", "N", dtype, align=16)

    def made(body: Callable, name: str, inputs: int, outputs: int) -> Kernel:
        return kernel(
            body,
            name=name,
            arch="sm_80",
            in_specs=[tile] * inputs,
            out_specs=[tile] * outputs,
            grid=lambda M, N, ROUNDS: blocks_of(M * N, dtype, ROUNDS),
            block=(THREADS, 1, 1),
            reqntid=(THREADS, 1, 1),
        )

    return made(forward, "swiglu", 2, 1), made(backward, "swiglu_backward", 3, 2)


swiglu, swiglu_backward = kernels_of(f32)


def swiglu_with_gradients(dtype: PtxType = f32):
    """Return SwiGLU for torch tensors, with support for torch.autograd and torch.compile."""
    return pyptx.differentiable_kernel(*kernels_of(dtype))


def with_gradients_for_jax(dtype: PtxType = f32) -> Callable:
    """Return SwiGLU for JAX arrays, with support for jax.grad and jax.jit."""
    import jax

    first, second = kernels_of(dtype)
    function = jax.custom_vjp(lambda gate, up: first(gate, up))
    function.defvjp(lambda gate, up: (first(gate, up), (gate, up)), lambda saved, d_y: second(*saved, d_y))
    return function


def reference(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return the reference result in NumPy, in f32."""
    gate, up = gate.astype(np.float32), up.astype(np.float32)
    return gate / (1 + np.exp(-gate)) * up


def reference_backward(gate: np.ndarray, up: np.ndarray, d_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients in NumPy, in f32."""
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
