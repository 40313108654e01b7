"""Launches in which some instructions' operations land at once: both engines alike, and what it does to a race."""

from __future__ import annotations

import numpy as np
import pytest
from check import racy
from check.kernels import CLEAN
from sim.both import run_both

from pyptx import sim

X = np.arange(racy.N, dtype=np.float32)


def test_what_lands_at_once_needs_no_wait():
    program = sim.load(racy.copy_not_waited_for.module())
    (copy,) = [i for i, node in enumerate(program.instructions) if ".shared.global" in node.mnemonic]
    for prompt, right in (((), False), ((copy,), True), ((copy + 1,), False)):
        y = np.zeros_like(X)
        run_both(program, 1, racy.N, [X, y], schedule="late", prompt=prompt)
        assert np.array_equal(y, np.roll(X, 64)) == right


@pytest.mark.parametrize("schedule", ["late", "random"])
@pytest.mark.parametrize("every", [2, 3])
def test_engines_agree_whatever_lands_at_once(schedule, every):
    clean = CLEAN["row_sums"]
    (x,) = clean.inputs()
    kernel = clean.kernel
    variant = kernel.variant(M=16, N=224)
    program, y = sim.load(variant.module), np.zeros(16, np.float32)
    args = [x, y, *kernel.maps(variant, [x, y])]
    run_both(program, 2, 64, args, schedule=schedule, seed=3, prompt=range(0, len(program.actions), every))
    np.testing.assert_allclose(y, x.sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("schedule", ["late", "random"])
def test_products_of_a_chain_stay_in_order(schedule):
    clean = CLEAN["hopper_gemm"]
    a, b = clean.inputs()
    kernel = clean.kernel
    variant = kernel.variant(M=128, N=256, K=576)
    program, c = sim.load(variant.module), np.zeros((128, 256), a.dtype)
    products = [i for i, node in enumerate(program.instructions) if "mma_async" in node.mnemonic]
    for prompt in (products, products[1:], products[::2], products[-1:]):
        sim.launch(program, 1, kernel.block, [a, b, c, *kernel.maps(variant, [a, b, c])], schedule=schedule, seed=1,
                   smem_bytes=max(kernel.smem, variant.dynamic_bytes), prompt=prompt)
        np.testing.assert_allclose(c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32).T, rtol=2 ** -7,
                                   atol=1e-3)
