"""Gradients of attention on Hopper: any length, causal or not, every schedule, no spills."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16}


@pytest.fixture(scope="module")
def backward(example):
    return example("hopper/attention_backward")


def arrays(dtype, batch: int, heads: int, queries: int, keys: int, d: int):
    random = np.random.default_rng(queries + keys)
    return [
        random.standard_normal((batch, heads, length, d)).astype(NUMPY[dtype])
        for length in (queries, keys, keys, queries)
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "schedule", ["late", *(pytest.param(one, marks=pytest.mark.slow) for one in ("eager", "random"))]
)
@pytest.mark.parametrize(
    "sizes, options, dtype",
    [
        ((1, 1, 128, 128, 128), {}, bf16),
        ((1, 2, 100, 300, 64), {"STAGES": 1, "CLUSTER": 4}, f16),
        ((1, 1, 5, 3, 64), {"CLUSTER": 1}, f16),
        ((1, 1, 130, 90, 64), {"CLUSTER": 1}, bf16),  # one tile of 192 queries, sums for 256
        ((1, 1, 70, 600, 128), {"CLUSTER": 2}, f16),
        ((1, 1, 300, 300, 128), {"CAUSAL": True, "CLUSTER": 2}, f16),
        ((2, 1, 200, 200, 64), {"CAUSAL": True, "CLUSTER": 2}, bf16),
    ],
    ids=str,
)
def test_they_equal_numpy(backward, sizes, options, dtype, schedule: str):
    given = arrays(dtype, *sizes)
    gradients, _ = backward.gradients_of(dtype)
    with use("sim", schedule=schedule):
        results = gradients(*given, **options)
    wanted = backward.reference(*given, causal=options.get("CAUSAL", False))
    digits = {f16: 4e-3, bf16: 3e-2}[dtype]
    for result, value in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result.astype(np.float32), value, rtol=digits, atol=digits)


def test_a_scale_is_that_of_all_three_kernels(backward):
    given = arrays(f16, 1, 1, 64, 64, 64)
    gradients, _ = backward.gradients_of(f16)
    wanted = backward.reference(*given, scale=0.5)
    for result, value in zip(gradients(*given, CLUSTER=1, SCALE=0.5), wanted, strict=True):
        np.testing.assert_allclose(result.astype(np.float32), value, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("causal", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_reference_is_what_autograd_finds(backward, causal: bool):
    torch = pytest.importorskip("torch")
    given = arrays(f16, 1, 2, 30, 30, 64)
    q, k, v = (torch.from_numpy(x).float().requires_grad_() for x in given[:3])
    o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    o.backward(torch.from_numpy(given[3]).float())
    for value, wanted in zip(backward.reference(*given, causal=causal), (o, q.grad, k.grad, v.grad), strict=True):
        np.testing.assert_allclose(value, wanted.detach().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "length, d, options",
    [
        (300, 64, {"CAUSAL": True, "CLUSTER": 2}),
        (200, 128, {"CLUSTER": 4}),
        pytest.param(520, 64, {"CLUSTER": 2}, marks=pytest.mark.slow),
        (400, 128, {"CLUSTER": 1, "CAUSAL": True, "STAGES": 1}),
    ],
    ids=str,
)
def test_every_order_gives_the_same_bits(backward, length: int, d: int, options):
    q, k, v, d_o = arrays(f16, 1, 1, length, length, d)
    SP = -(-length // 128) * 128
    o, sums = backward.FORWARD.attention_of(f16, with_sums=True)(q, k, v, SP=SP, CAUSAL=options.get("CAUSAL", False))
    assert (sums[..., length:] == 0).all() and sums.shape[2] == SP
    delta = backward.row_products_of(f16)(o, d_o, SP=SP)
    report = backward.attention_backward_of(f16).check(q, k, v, d_o, sums, delta, **options)
    assert not report.findings, report


def test_the_small_kernels_around_it_are_clean(backward):
    o, d_o = (np.random.default_rng(3).standard_normal((1, 2, 50, 64)).astype(np.float16) for _ in range(2))
    assert not (report := backward.row_products_of(f16).check(o, d_o, SP=128)).findings, report
    sums = np.random.default_rng(4).standard_normal((1, 2, 50, 64), np.float32)
    assert not (report := backward.rounded_of(f16).check(sums)).findings, report


@pytest.mark.parametrize(
    "sizes, message",
    [
        ({"D": 96}, "head dimension D=96; expected 64 or 128"),
        ({"CLUSTER": 3}, r"CLUSTER=3; expected one of \(1, 2, 4, 8\)"),
        ({"T": 200, "CAUSAL": True}, r"as many keys as queries \(S=300, T=200\)"),
        ({"SCALE": -0.1}, "SCALE=-0.1; expected a positive number"),
        ({"SP": 300}, "SP=300; expected the next multiple of 128"),
        ({"STAGES": 3}, "3 stages need 232488 bytes of shared memory"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(backward, sizes, message: str):
    with pytest.raises(ValueError, match=message):
        backward.attention_backward.compile(**{"B": 1, "H": 1, "S": 300, "T": 300, "SP": 384, "D": 128} | sizes)


@pytest.mark.slow
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_it_assembles_without_spills_or_complaints(backward, d: int, causal: bool):
    compiled = backward.attention_backward.compile(B=1, H=16, S=4096, T=4096, SP=4096, D=d, CAUSAL=causal)
    used = compiled.resources["attention_backward"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert opcodes >= {"UTMALDG", "HGMMA", "MUFU", "STSM", "UTMASTG", "UTMAREDG"}


def test_it_does_five_products(backward):
    """Each pair of a block of 128 keys and one of 64 queries: 5 * 2 * 128 * 64 * D operations."""
    q, k, v, d_o = arrays(f16, 1, 1, 128, 256, 128)
    gradients, products = backward.gradients_of(f16)
    gradients(q, k, v, d_o, CLUSTER=1)
    assert products.last_run.counters.tensor_flops.sum() == 5 * 2 * 128 * 256 * 128
