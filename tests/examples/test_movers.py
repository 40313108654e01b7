"""Vector add, sum and transpose: any size and supported type, coalesced accesses, no bank conflicts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}
types = pytest.mark.parametrize("dtype", NUMPY, ids=str)


schedules = pytest.mark.parametrize("schedule", ["eager", "late", "random"])


@schedules
def test_they_are_right_in_every_schedule(example, schedule: str):
    add, sums, transpose = example("vector_add"), example("reduce_sum"), example("transpose")
    a, b, x = array(f16, 3001), array(f16, 3001)[::-1].copy(), array(bf16, 70, 45)
    with use("sim", schedule=schedule):
        np.testing.assert_array_equal(add.vector_add_of(f16)(a, b, ROUNDS=2), a + b)
        np.testing.assert_allclose(sums.total(a, sums.reduce_sum_of(f16), CTAS=2), sums.reference(a), rtol=1e-4)
        np.testing.assert_array_equal(transpose.transpose_of(bf16)(x, TILES=1), x.T)


def array(dtype, *shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(NUMPY[dtype])


@types
@pytest.mark.parametrize("length", [1, 3, 8, 1000, 4097, 20_001])
@pytest.mark.parametrize("rounds", [1, 4])
def test_vector_add_equals_numpy(example, dtype, length: int, rounds: int):
    a, b = array(dtype, length), array(dtype, length)[::-1].copy()
    c = example("vector_add").vector_add_of(dtype)(a, b, ROUNDS=rounds)
    np.testing.assert_array_equal(c, example("vector_add").reference(a, b).astype(NUMPY[dtype]))


@types
@pytest.mark.parametrize("length, ctas", [(1, 1), (7, 2), (4096, 1), (50_001, 3), (100_000, 2)])
def test_the_sum_is_exact_for_small_integers(example, dtype, length: int, ctas: int):
    x = np.random.default_rng(length).integers(-4, 5, length).astype(NUMPY[dtype])
    kernel = example("reduce_sum").reduce_sum_of(dtype)
    total = example("reduce_sum").total(x, kernel, CTAS=ctas)
    assert total.dtype == np.float32 and total.shape == (1,)
    assert total[0] == x.astype(np.float64).sum()


def test_the_sum_has_the_same_bits_in_every_schedule(example):
    report = example("reduce_sum").reduce_sum.check(array(f32, 30_001), CTAS=3)
    assert report.ok, report


def test_empty_arrays_give_empty_results(example):
    nothing = np.zeros((3, 0), np.float32)
    assert example("transpose").transpose(nothing).shape == (0, 3)
    assert example("transpose").transpose(nothing.T).shape == (3, 0)
    assert example("vector_add").vector_add(nothing[0], nothing[0]).shape == (0,)
    assert example("swiglu").swiglu(nothing, nothing).shape == (3, 0)
    assert example("reduce_sum").total(nothing[0])[0] == 0
    assert example("softmax").softmax(nothing).shape == (3, 0)
    assert example("rms_norm").rms_norm(nothing, nothing[0]).shape == (3, 0)
    assert example("layer_norm").layer_norm(nothing, nothing[0], nothing[0]).shape == (3, 0)


def test_a_transpose_may_have_many_rows(example):
    assert example("transpose").transpose.binder.grid({"M": 10_000_000, "N": 8}, {"TILES": 2}) == (156_250, 1, 1)


@pytest.mark.sampled(2)
@types
@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (64, 64), (130, 72), (65, 33), (100, 258)], ids=str)
def test_transpose_equals_numpy(example, dtype, shape):
    x = array(dtype, *shape)
    y = example("transpose").transpose_of(dtype)(x)
    np.testing.assert_array_equal(y, x.T)


@types
def test_transpose_has_no_bank_conflicts_and_moves_whole_sectors(example, dtype):
    transpose = example("transpose").transpose_of(dtype)
    x = array(dtype, 128, 256)
    transpose(x, TILES=1)
    counters = transpose.last_run.counters
    assert counters.shared_conflicts.sum() == 0
    assert counters.global_sectors.sum() == 2 * x.nbytes / 32


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
def test_they_assemble_without_spills_and_move_sixteen_bytes_at_a_time(example, dtype):
    compiled = [
        example("vector_add").vector_add_of(dtype).compile(N=1 << 20),
        example("reduce_sum").reduce_sum_of(dtype).compile(N=1 << 20, CTAS=264),
        example("transpose").transpose_of(dtype).compile(M=1024, N=1024),
    ]
    for one in compiled:
        used = one.resources[one.name]
        assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
        assert used.registers <= 64 and not one.warnings
        moves = [line.opcode for line in one.sass if line.opcode.startswith(("LDG", "STG"))]
        assert all(".128" in opcode for opcode in moves if not (one.name == "reduce_sum" and opcode.startswith("STG")))
    assert sum(line.opcode.startswith("LDG") for line in compiled[0].sass) == 8, "ROUNDS of each vector"
