"""Gradients of attention on Hopper: right for any length, causal or not, in every schedule, and without spills."""

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
    return [random.standard_normal((batch, heads, length, d)).astype(NUMPY[dtype])
            for length in (queries, keys, keys, queries)]


@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize("sizes, options, dtype", [
    ((1, 1, 128, 128, 128), {}, bf16),
    ((1, 2, 100, 300, 64), {"STAGES": 3}, f16),
    ((1, 1, 70, 40, 64), {"BN": 32, "STAGES": 1}, f16),
    ((1, 1, 300, 300, 128), {"CAUSAL": True}, f16),
    ((2, 1, 200, 200, 64), {"CAUSAL": True, "BN": 128}, bf16),
], ids=str)
def test_they_equal_numpy(backward, sizes, options, dtype, schedule: str):
    given = arrays(dtype, *sizes)
    gradients, _ = backward.gradients_of(dtype)
    with use("sim", schedule=schedule):
        results = gradients(*given, **options)
    wanted = backward.reference(*given, causal=options.get("CAUSAL", False))
    digits = {f16: 4e-3, bf16: 3e-2}[dtype]
    for result, value in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result.astype(np.float32), value, rtol=digits, atol=digits)


@pytest.mark.parametrize("causal", [False, True])
def test_the_reference_is_what_autograd_finds(backward, causal: bool):
    torch = pytest.importorskip("torch")
    given = arrays(f16, 1, 2, 30, 30, 64)
    q, k, v = (torch.from_numpy(x).float().requires_grad_() for x in given[:3])
    o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    o.backward(torch.from_numpy(given[3]).float())
    for value, wanted in zip(backward.reference(*given, causal=causal), (o, q.grad, k.grad, v.grad), strict=True):
        np.testing.assert_allclose(value, wanted.detach().numpy(), rtol=1e-4, atol=1e-4)


def test_every_order_gives_the_same_bits(backward):
    q, k, v, d_o = arrays(f16, 1, 1, 200, 200, 64)
    forward = backward.FORWARD.attention_of(f16, with_sums=True)
    delta_of, of_queries, of_keys = backward.kernels_of(f16)
    o, sums = forward(q, k, v, SP=256, CAUSAL=True)
    delta = delta_of(o, d_o, SP=256)
    for kernel in (of_queries, of_keys):
        report = kernel.check(q, k, v, d_o, sums, delta, CAUSAL=True)
        assert report.ok, report


@pytest.mark.parametrize("sizes, message", [
    ({"D": 96}, "head dimension D=96; expected 64 or 128"),
    ({"BN": 48}, "BN=48; expected 32 or 64"),
    ({"T": 32}, "32 rows are less than a block of BN=64"),
    ({"SP": 300}, "SP=300; expected the next multiple of 128"),
    ({"STAGES": 6}, "6 stages need 268288 bytes of shared memory"),
], ids=str)
def test_sizes_they_cannot_take_are_named(backward, sizes, message: str):
    with pytest.raises(ValueError, match=message):
        backward.attention_backward.compile(**{"B": 1, "H": 1, "S": 300, "T": 300, "SP": 384, "D": 128} | sizes)


@pytest.mark.slow
@pytest.mark.parametrize("name, d, causal", [
    ("attention_backward", 128, False), ("attention_backward_keys", 128, True), ("attention_backward", 64, True),
    ("attention_backward_keys", 64, False)])
def test_they_assemble_without_spills_or_complaints(backward, name: str, d: int, causal: bool):
    compiled = getattr(backward, name).compile(B=1, H=16, S=4096, T=4096, SP=4096, D=d, CAUSAL=causal)
    used = compiled.resources[name]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    assert {line.opcode.partition(".")[0] for line in compiled.sass} >= {"UTMALDG", "HGMMA", "MUFU", "STSM", "UTMASTG"}
