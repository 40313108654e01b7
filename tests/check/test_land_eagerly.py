"""Launches in which the operations of some instructions complete immediately: both engines agree."""

from __future__ import annotations

import numpy as np
import pytest
from check import racy
from check.kernels import CLEAN
from sim.engines import run_both

from pyptx import sim

X = np.arange(racy.N, dtype=np.float32)


def test_an_operation_that_completes_immediately_needs_no_wait():
    program = sim.load(racy.copy_not_waited_for.module())
    (copy,) = [i for i, node in enumerate(program.instructions) if ".shared.global" in node.mnemonic]
    for eager, right in (((), False), ((copy,), True), ((copy + 1,), False)):
        y = np.zeros_like(X)
        run_both(program, 1, racy.N, [X, y], schedule="late", land_eagerly=eager)
        assert np.array_equal(y, np.roll(X, 64)) == right


@pytest.mark.parametrize("schedule", ["late", "random"])
@pytest.mark.parametrize("every", [2, 3])
def test_engines_agree_when_some_operations_complete_immediately(schedule, every):
    clean = CLEAN["row_sums"]
    (x,) = clean.inputs()
    kernel = clean.kernel
    specialization = kernel.specialize(M=16, N=224)
    program, y = sim.load(specialization.module), np.zeros(16, np.float32)
    args = [x, y, *kernel.launcher.maps(specialization, [x, y])]
    run_both(program, 2, 64, args, schedule=schedule, seed=3, land_eagerly=range(0, len(program.actions), every))
    np.testing.assert_allclose(y, x.sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("schedule", ["late", "random"])
def test_chained_wgmma_stay_in_order(schedule):
    clean = CLEAN["hopper_gemm"]
    a, b = clean.inputs()
    kernel = clean.kernel
    specialization = kernel.specialize(M=128, N=256, K=576)
    program, c = sim.load(specialization.module), np.zeros((128, 256), a.dtype)
    products = [i for i, node in enumerate(program.instructions) if "mma_async" in node.mnemonic]
    for eager in (products, products[1:], products[::2], products[-1:]):
        sim.launch(
            program,
            1,
            kernel.block,
            [a, b, c, *kernel.launcher.maps(specialization, [a, b, c])],
            schedule=schedule,
            seed=1,
            smem_bytes=max(kernel.smem, specialization.dynamic_bytes),
            land_eagerly=eager,
        )
        np.testing.assert_allclose(
            c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32).T, rtol=2**-7, atol=1e-3
        )
