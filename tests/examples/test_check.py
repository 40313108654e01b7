"""No example depends on when asynchronous operations complete: `kernel.check` has no findings in any schedule."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

BF16, F32 = ml_dtypes.bfloat16, np.float32
GEMM, HEADS = [(200, 264), (264, 328)], [(1, 1, 300, 64)] * 3
EXAMPLES = {
    "hopper/gemm": (BF16, GEMM, {}),
    "hopper/stream_k_gemm": (BF16, GEMM, {"CTAS": 3, "W": 128 * 128, "BN": 128}),
    "hopper/persistent_gemm": (BF16, [(700, 264), (264, 328)], {"CTAS": 4}),
    "hopper/convolution": (BF16, [(2, 11, 13, 72), (3, 3, 72, 136)], {"P": 11, "Q": 13, "PAD": 1, "CTAS": 2}),
    "ampere/gemm": (BF16, GEMM, {}),
    "blackwell/gemm": (BF16, GEMM, {"CTAS": 2}),
    "blackwell/pair_gemm": (BF16, [(700, 264), (264, 328)], {"CTAS": 2}),
    "hopper/attention": (BF16, [(1, 1, 300, 128)] * 3, {"CAUSAL": True}),
    "hopper/persistent_attention": (BF16, [(1, 2, 300, 64), *[(1, 1, 300, 64)] * 2], {"CTAS": 2}),
    "ampere/attention": (BF16, HEADS, {"CAUSAL": True, "STAGES": 3}),
    "blackwell/attention": (BF16, HEADS, {"CAUSAL": True}),
    "rms_norm": (F32, [(3, 4100), (4100,)], {}),
    "rms_norm_backward": (BF16, [(3, 1000), (1000,), (3, 1000)], {"PARTS": 2}),
    "sgemm": (F32, [(64, 32), (32, 64)], {}),
    "softmax": (F32, [(3, 3001)], {}),
    "layer_norm": (F32, [(3, 3001), (3001,), (3001,)], {}),
    "vector_add": (F32, [(3001,)] * 2, {}),
    "reduce_sum": (F32, [(30_001,)], {"CTAS": 3}),
    "transpose": (F32, [(70, 45)], {}),
    "swiglu": (F32, [(5, 301)] * 2, {}),
}
# Of inputs that are not arrays of normal numbers: the tests below, test_attention_backward.py, test_gradients.py and test_warp_image.py.
OTHERS = {
    "hopper/fp8_gemm",
    "hopper/grouped_gemm",
    "hopper/moe_backward",
    "blackwell/nvfp4_gemm",
    "cross_entropy",
    "rms_norm_fp8",
    "moe_routing",
    "sampling",
    "selective_scan",
    "ampere/paged_attention",
    "hopper/attention_backward",
    "warp_image",
}


def test_no_example_is_left_out():
    folder = Path(__file__).parents[2] / "examples"
    files = {
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.py")
        if "def main(" in path.read_text()
    }
    assert files == {*EXAMPLES, *OTHERS}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", EXAMPLES)
def test_every_order_gives_the_same_bits(example, path: str):
    dtype, shapes, options = EXAMPLES[path]
    random = np.random.default_rng(5)
    kernel = getattr(example(path), path.rpartition("/")[2])
    report = kernel.check(*(random.standard_normal(shape).astype(dtype) for shape in shapes), **options)
    assert report.ok, report


@pytest.mark.slow
def test_every_order_gives_the_same_bits_of_block_scaled_and_grouped_products(example):
    random = np.random.default_rng(5)
    fp8, grouped = example("hopper/fp8_gemm"), example("hopper/grouped_gemm")
    arrays = fp8.inputs(random.standard_normal((600, 400), F32), random.standard_normal((264, 400), F32))
    report = fp8.fp8_gemm.check(*arrays, CTAS=4)
    assert report.ok, report
    a, b = (random.standard_normal(shape).astype(BF16) for shape in ((500, 264), (3, 264, 136)))
    report = grouped.grouped_gemm.check(a, b, np.array([0, 130, 333, 500], np.int32), BN=128, CTAS=3)
    assert report.ok, report
    nvfp4 = example("blackwell/nvfp4_gemm")
    arrays, alpha = nvfp4.inputs(random.standard_normal((300, 512), F32), random.standard_normal((130, 512), F32))
    report = nvfp4.nvfp4_gemm.check(*arrays, alpha=alpha, CTAS=2)
    assert report.ok, report


def test_every_order_gives_the_same_bits_of_inference_kernels(example):
    random = np.random.default_rng(5)
    norm, paged = example("rms_norm_fp8"), example("ampere/paged_attention")
    report = norm.rms_norm_fp8.check(*(random.standard_normal(shape).astype(BF16) for shape in ((3, 3000), (3000,))))
    assert report.ok, report
    logits, uniforms = random.standard_normal((2, 1000)).astype(BF16), random.random(2, F32)
    report = example("sampling").sampling.check(logits, uniforms, top_k=40, top_p=0.9, temperature=0.8)
    assert report.ok, report
    arrays = paged.inputs(2, 8, 2, 64, 32, [70, 200], BF16)
    report = paged.paged_attention.check(*arrays, SPLITS=3)
    assert report.ok, report
    report = paged.combine_parts.check(*paged.paged_attention(*arrays, SPLITS=3))
    assert report.ok, report


def test_every_order_gives_the_same_bits_of_a_scan_and_its_gradients(example):
    scan = example("selective_scan")
    arrays = scan.inputs(1, 20, 64)
    report = scan.selective_scan.check(*arrays, LC=2)
    assert report.ok, report
    y, states = scan.selective_scan(*arrays, LC=2)
    report = scan.selective_scan_backward.check(*arrays, states, y, DW=2)
    assert report.ok, report


def test_every_order_gives_the_same_bits_of_routing(example):
    moe, random = example("moe_routing"), np.random.default_rng(5)
    logits, x = random.standard_normal((50, 6), F32), random.standard_normal((50, 64)).astype(BF16)
    weights, chosen = moe.moe_routing(logits, TOP=2)
    order, places, _ = moe.sort_by_expert(chosen.reshape(-1), E1=7)
    rows = moe.gather_rows(x, order, TOP=2)
    for kernel, given, options in (
        (moe.moe_routing, [logits], {"TOP": 2}),
        (moe.sort_by_expert, [chosen.reshape(-1)], {"E1": 7}),
        (moe.gather_rows, [x, order], {"TOP": 2}),
        (moe.combine_rows, [rows, weights, places], {}),
    ):
        report = kernel.check(*given, **options)
        assert report.ok, report


def test_every_order_gives_the_same_bits_of_losses_and_gradients(example):
    random = np.random.default_rng(5)
    x, targets = random.standard_normal((5, 3001), F32), np.array([0, 3000, -1, 7, 3001], np.int32)
    report = example("cross_entropy").cross_entropy.check(x, targets)
    assert report.ok, report
    report = example("swiglu").swiglu_backward.check(*(random.standard_normal((5, 301), F32) for _ in range(3)))
    assert report.ok, report
