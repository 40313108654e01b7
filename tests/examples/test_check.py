"""No example depends on when asynchronous operations land: `kernel.check` finds nothing in any order it tries."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

BF16, F32 = ml_dtypes.bfloat16, np.float32
GEMM = [(200, 264), (264, 328)]
EXAMPLES = {
    "hopper/gemm": (BF16, GEMM, {}),
    "hopper/persistent_gemm": (BF16, [(700, 264), (264, 328)], {"CTAS": 4}),
    "ampere/gemm": (BF16, GEMM, {}),
    "blackwell/gemm": (BF16, GEMM, {"CTAS": 2}),
    "hopper/attention": (BF16, [(1, 1, 300, 128)] * 3, {"CAUSAL": True}),
    "rms_norm": (F32, [(3, 4100), (4100,)], {}),
    "sgemm": (F32, [(64, 32), (32, 64)], {}),
    "softmax": (F32, [(3, 3001)], {}),
    "layer_norm": (F32, [(3, 3001), (3001,), (3001,)], {}),
    "vector_add": (F32, [(3001,)] * 2, {}),
    "transpose": (F32, [(70, 45)], {}),
    "swiglu": (F32, [(5, 301)] * 2, {}),
}


def test_every_order_gives_the_same_bits_of_block_scaled_and_grouped_products(example):
    random = np.random.default_rng(5)
    fp8, grouped = example("hopper/fp8_gemm"), example("hopper/grouped_gemm")
    arrays = fp8.inputs(random.standard_normal((600, 400), F32), random.standard_normal((264, 400), F32))
    report = fp8.fp8_gemm.check(*arrays, CTAS=4)
    assert report.ok, report
    a, b = (random.standard_normal(shape).astype(BF16) for shape in ((500, 264), (3, 264, 136)))
    report = grouped.grouped_gemm.check(a, b, np.array([0, 130, 333, 500], np.int32), BN=128, CTAS=3)
    assert report.ok, report


@pytest.mark.parametrize("path", EXAMPLES)
def test_every_order_gives_the_same_bits(example, path: str):
    dtype, shapes, options = EXAMPLES[path]
    random = np.random.default_rng(5)
    kernel = getattr(example(path), path.rpartition("/")[2])
    report = kernel.check(*(random.standard_normal(shape).astype(dtype) for shape in shapes), **options)
    assert report.ok, report
