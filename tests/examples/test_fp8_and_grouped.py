"""Hopper GEMMs of 8-bit floats with block scales, and of groups: every schedule, no spills."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}
schedules = pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])


@pytest.mark.sampled(2)
@schedules
@pytest.mark.parametrize(
    "sizes, tiling, out",
    [
        ((128, 128, 128), {}, bf16),
        ((700, 392, 400), {"CTAS": 4}, f32),
        ((132, 264, 4240), {"CTAS": 2, "STAGES": 3}, f32),  # more steps than a warp has lanes for their scales
        ((260, 520, 400), {"BN": 128, "CTAS": 2}, f32),
        ((300, 264, 656), {"BN": 64, "CLUSTER": 1, "STAGES": 2, "CTAS": 3, "GROUP": 2}, bf16),
        ((4, 64, 144), {"CLUSTER": 1, "STAGES": 3}, f32),
        ((4, 24, 16), {}, bf16),
    ],
    ids=str,
)
def test_fp8_equals_numpy(example, sizes, tiling, out, schedule: str):
    fp8 = example("hopper/fp8_gemm")
    m, n, k = sizes
    random = np.random.default_rng(m + n + k)
    arrays = fp8.inputs(
        random.standard_normal((m, k), np.float32) * np.exp2(random.integers(-20, 20, (m, 1))),
        random.standard_normal((n, k), np.float32),
    )
    with use("sim", schedule=schedule):
        c = fp8.fp8_gemm_of(out)(*arrays, **tiling).astype(np.float32)
    wanted = fp8.reference(*arrays)
    largest = np.abs(wanted).max(axis=1, keepdims=True)  # rows differ by factors of up to 2**40
    np.testing.assert_allclose(c / largest, wanted / largest, rtol=0, atol={f32: 1e-5, bf16: 4e-3}[out])


def test_scales_bring_a_matrix_back(example):
    fp8 = example("hopper/fp8_gemm")
    x = np.random.default_rng(1).standard_normal((130, 300), np.float32)
    small, scales = fp8.quantized(x, 128)
    assert small.dtype == ml_dtypes.float8_e4m3fn and scales.shape == (2, 3)
    back = small.astype(np.float32) * np.repeat(np.repeat(scales, 128, 0), 128, 1)[:130, :300]
    np.testing.assert_allclose(back, x, rtol=2**-4, atol=0.02)


@pytest.mark.sampled(2)
@schedules
@pytest.mark.parametrize(
    "ends, sizes, tiling, dtype, out",
    [
        ([0, 130, 130, 333, 500], (136, 264), {"CTAS": 3, "CLUSTER": 1}, bf16, bf16),
        ([0, 130, 130, 333, 900], (136, 264), {"CTAS": 4}, bf16, bf16),
        ([0, 0, 1, 20, 20], (64, 72), {"BN": 64, "STAGES": 2, "CTAS": 2, "CLUSTER": 1}, f16, f32),
        ([0, 3, 10], (8, 24), {"BN": 128}, bf16, f32),
        ([0, 128, 256], (200, 128), {"BN": 128, "BK": 128, "STAGES": 2}, f16, f16),
    ],
    ids=str,
)
def test_groups_equal_numpy(example, ends, sizes, tiling, dtype, out, schedule: str):
    grouped = example("hopper/grouped_gemm")
    k, n = sizes
    random = np.random.default_rng(k + n)
    a, b = (random.standard_normal(shape).astype(NUMPY[dtype]) for shape in ((ends[-1], k), (len(ends) - 1, k, n)))
    ends = np.array(ends, np.int32)
    with use("sim", schedule=schedule):
        c = grouped.grouped_gemm_of(dtype, out)(a, b, ends, **tiling)
    digits = {f32: 1e-5, f16: 1e-3, bf16: 8e-3}[out]
    np.testing.assert_allclose(
        c.astype(np.float32), grouped.reference(a, b, ends), rtol=digits, atol=digits * np.sqrt(k)
    )


@pytest.mark.parametrize("ends", [[0, 90, 150], [0, 0, 0]], ids=str)
def test_rows_of_no_group_are_left_alone(example, ends: list[int]):
    grouped = example("hopper/grouped_gemm")
    c = np.full((200, 64), 7, np.float32)
    grouped.grouped_gemm_of(bf16, f32)(
        np.ones((200, 64), NUMPY[bf16]), np.ones((2, 64, 64), NUMPY[bf16]), np.array(ends, np.int32), out=c, BN=128
    )
    assert (c[: ends[-1]] == 64).all() and (c[ends[-1] :] == 7).all()


def test_groups_of_equal_length_are_a_batch(example):
    grouped = example("hopper/grouped_gemm")
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(shape).astype(NUMPY[bf16]) for shape in ((3, 100, 72), (3, 72, 64)))
    c = grouped.uniform(a, b, grouped.grouped_gemm_of(bf16, f32), BN=128)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "path, sizes, message",
    [
        ("hopper/fp8_gemm", {"M": 130, "N": 64, "K": 128, "KB": 1, "NB": 1}, "M=130 is not a multiple of 4"),
        ("hopper/fp8_gemm", {"M": 128, "N": 64, "K": 136, "KB": 2, "NB": 1}, "K=136 is not a multiple of 16"),
        ("hopper/fp8_gemm", {"M": 128, "N": 64, "K": 128, "KB": 1, "NB": 1, "BN": 64}, "2 CTAs cannot share 64 rows"),
        ("hopper/grouped_gemm", {"M": 64, "N": 64, "K": 64, "G": 2, "GP": 2}, "ends has 2 numbers for 2 groups"),
        (
            "hopper/grouped_gemm",
            {"M": 64, "N": 64, "K": 64, "G": 2, "GP": 3, "BN": 64},
            "2 CTAs cannot share 64 columns",
        ),
        ("hopper/grouped_gemm", {"M": 64, "N": 60, "K": 64, "G": 2, "GP": 3}, "N=60 is not a multiple of 8"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(example, path: str, sizes, message: str):
    with pytest.raises(ValueError, match=message):
        getattr(example(path), path.rpartition("/")[2]).compile(**sizes)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "path, sizes, instructions",
    [
        ("hopper/fp8_gemm", {"KB": 32, "NB": 32}, ("QGMMA", "FFMA", "UTMALDG", "UTMASTG", "STSM")),
        ("hopper/fp8_gemm", {"KB": 32, "NB": 32, "BN": 64, "CLUSTER": 1}, ("QGMMA",)),
        ("hopper/grouped_gemm", {"G": 8, "GP": 9}, ("HGMMA", "UTMALDG", "UTMASTG", "STSM", "STG")),
        ("hopper/grouped_gemm", {"G": 8, "GP": 9, "BN": 64, "CLUSTER": 1}, ("HGMMA",)),
    ],
    ids=str,
)
def test_they_assemble_without_spills_or_complaints(example, path: str, sizes, instructions: tuple[str, ...]):
    compiled = getattr(example(path), path.rpartition("/")[2]).compile(M=4096, N=4096, K=4096, **sizes)
    used = compiled.resources[compiled.name]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    assert {line.opcode.partition(".")[0] for line in compiled.sass}.issuperset(instructions)


def test_shared_memory_accesses_have_no_bank_conflicts(example):
    fp8 = example("hopper/fp8_gemm")
    fp8.fp8_gemm(*fp8.inputs(np.ones((256, 128), np.float32), np.ones((128, 128), np.float32)))
    assert fp8.fp8_gemm.last_run.counters.shared_conflicts.sum() == 0
