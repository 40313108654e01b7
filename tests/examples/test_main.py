"""Every example checks itself: `main` compares with NumPy, on arrays of every installed package."""

from __future__ import annotations

import pytest

EVERY = [
    "rms_norm",
    "sgemm",
    "rms_norm_fp8",
    "rms_norm_backward",
    "softmax",
    "layer_norm",
    "cross_entropy",
    "selective_scan",
    "moe_routing",
    "sampling",
    "swiglu",
    "vector_add",
    "reduce_sum",
    "transpose",
    "warp_image",
    "ampere/gemm",
    "ampere/attention",
    "ampere/paged_attention",
    "hopper/gemm",
    "hopper/persistent_gemm",
    "hopper/stream_k_gemm",
    "hopper/fp8_gemm",
    "hopper/grouped_gemm",
    "hopper/moe_backward",
    "hopper/convolution",
    "hopper/attention",
    "hopper/persistent_attention",
    "hopper/attention_backward",
    "blackwell/gemm",
    "blackwell/pair_gemm",
    "blackwell/attention",
    "blackwell/nvfp4_gemm",
]

COMPARISONS = {"swiglu": 2, "warp_image": 2, "hopper/convolution": 3}  # of files with more than one


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", EVERY)
def test_main_checks_arrays_of_every_package(example, path: str, capsys):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    example(path).main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 * COMPARISONS.get(path, 1)
    for line, package in zip(lines, ("numpy", "torch", "jax") * COMPARISONS.get(path, 1), strict=True):
        assert f"{package} arrays, on 'sim': largest difference from NumPy" in line
