"""Compare the GEMMs of the examples with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

from pyptx import use
from pyptx.kernel import Kernel
from pyptx.types import PtxType, bf16, f16, f32

__all__ = ["NUMPY", "equals_numpy"]

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}


def equals_numpy(
    module: ModuleType,
    kernel_of: Callable[[PtxType, PtxType], Kernel],
    sizes: tuple[int, int, int],
    tiling: Mapping[str, Any],
    dtype: PtxType,
    out: PtxType,
    schedule: str,
) -> None:
    """Compare the product of random matrices, M x K and K x N, in a schedule with the module's reference."""
    m, n, k = sizes
    random = np.random.default_rng(m + n + k)
    a, b = (random.standard_normal(shape).astype(NUMPY[dtype]) for shape in ((m, k), (k, n)))
    with use("sim", schedule=schedule):
        c = kernel_of(dtype, out)(a, b, **tiling)
    assert c.dtype == NUMPY[out]
    digits = {f32: 1e-5, f16: 1e-3, bf16: 8e-3}[out]
    np.testing.assert_allclose(c.astype(np.float32), module.reference(a, b), rtol=digits, atol=digits * np.sqrt(k))
