"""Triton kernels in functions that torch compiles: traced into the graph, and run on the simulator."""

from __future__ import annotations

from functools import cache

import pytest
import torch
import triton
import triton.language as tl

import pyptx.triton
from pyptx.check import CheckError


@triton.jit
def scaled_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 3 * tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@triton.jit
def shift(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + (at + 1) % BLOCK))


tuned = triton.autotune([triton.Config({"BLOCK": size}) for size in (64, 128)], key=["n"])(scaled_add)


def total(x, y, kernel=scaled_add, **meta):
    out = torch.empty_like(x)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel(), **meta)
    return out


@cache
def operator():
    """Return an operator of torch whose making loads torch's compiler, which takes two seconds."""
    from torch.library import triton_op, wrap_triton

    @triton_op("pyptx_tests::scaled_add", mutates_args={})
    def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        wrap_triton(scaled_add)[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
        return out

    return scaled


def test_an_operator_of_torch_launches_its_kernel():
    x, y = torch.rand(100), torch.rand(100)
    with pyptx.triton.simulate("sm_80"):
        torch.testing.assert_close(operator()(x, y), 3 * x + y)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_functions_launch_kernels_on_the_simulator(backend):
    x, y, scaled = torch.rand(1000), torch.rand(1000), operator()

    @torch.compile(backend=backend, fullgraph=True)
    def compiled(x, y):
        return total(x.sin(), y, BLOCK=128) * 2 + scaled(x, y)

    with pyptx.triton.simulate("sm_90a", keep_launches=True) as session:
        torch.testing.assert_close(compiled(x, y), (3 * x.sin() + y) * 2 + 3 * x + y)
    assert [launch.name for launch in session.launches] == ["scaled_add"] * 2
    assert "tt.load" in session.launches[0].ttgir


@pytest.mark.slow
def test_findings_and_autotuned_kernels_in_compiled_functions():
    x, y = torch.rand(1000), torch.rand(1000)

    @torch.compile(backend="aot_eager", fullgraph=True)
    def compiled(x, y):
        return total(x, y, tuned)

    @torch.compile(backend="aot_eager")
    def racy(x):
        shift[(1,)](x, 64, num_warps=2)
        return x

    with pyptx.triton.simulate("sm_90a"):
        torch.testing.assert_close(compiled(x, y), 3 * x + y)
    with pyptx.triton.simulate("sm_90a", check=True), pytest.raises(CheckError, match="data-race"):
        racy(torch.rand(64))
