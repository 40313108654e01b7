"""The compatibility GEMM for Blackwell: TMA into a ring of stages, tcgen05.mma into tensor memory, tcgen05.ld."""

from __future__ import annotations

import numpy as np
import pytest
from compat.kernels_blackwell import blackwell_gemm

import pyptx


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
def test_the_blackwell_compatibility_matrix_product(schedule):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(4)
    a, b = (rng.choice([-1.0, -0.5, 0, 0.5, 1, 2], (rows, 448)).astype(ml_dtypes.bfloat16) for rows in (256, 512))
    with pyptx.use("sim", schedule=schedule):
        c = blackwell_gemm(a, b)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T)
    assert blackwell_gemm.last_run.counters.tensor_flops.sum() == 2 * 256 * 512 * 448
