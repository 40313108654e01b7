"""Softmax, RMS and layer norm, cross entropy and SwiGLU: rows of any length, every supported type."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}
CLOSE = {f32: 1e-5, f16: 2e-3, bf16: 1.6e-2}
SHAPES = [(3, 1), (9, 7), (5, 1001), (2, 2048), (3, 2051), (1, 40_000)]

types = pytest.mark.parametrize("dtype", NUMPY, ids=str)
shapes = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
schedules = pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])


def arrays(dtype, *shapes):
    random = np.random.default_rng(len(shapes))
    return [random.standard_normal(shape).astype(NUMPY[dtype]) for shape in shapes]


def close(given, wanted, dtype):
    assert given.dtype == NUMPY[dtype]
    np.testing.assert_allclose(given.astype(np.float32), wanted, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.sampled(2)
@types
@shapes
@schedules
def test_softmax_equals_numpy(example, shape, dtype, schedule: str):
    softmax = example("softmax")
    (x,) = arrays(dtype, shape)
    with use("sim", schedule=schedule):
        y = softmax.softmax_of(dtype)(x)
    close(y, softmax.reference(x), dtype)


@pytest.mark.sampled(3)
@types
@pytest.mark.parametrize("columns, cluster", [(3000, 2), (20_001, 4), (70_003, 8)])
def test_a_row_is_shared_by_a_cluster(example, dtype, columns: int, cluster: int):
    softmax, rms_norm, layer_norm, losses = map(example, ("softmax", "rms_norm", "layer_norm", "cross_entropy"))
    assert example("rows").cluster_for(columns) == max(1, cluster if columns > 8192 else 1)
    assert example("rows").cluster_for(columns, "sm_89") == 1
    x, weight, bias = arrays(dtype, (2, columns), columns, columns)
    for module, name, given in (
        (softmax, "softmax", [x]),
        (rms_norm, "rms_norm", [x, weight]),
        (layer_norm, "layer_norm", [x, weight, bias]),
    ):
        kernel = getattr(module, f"{name}_of")(dtype, "sm_90")
        with use("sim", schedule="late"):
            close(kernel(*given, CLUSTER=cluster), module.reference(*given), dtype)
    targets = np.array([0, columns - 1], np.int32)
    loss = losses.cross_entropy_of(dtype, "sm_90")(x, targets, CLUSTER=cluster)
    np.testing.assert_allclose(loss, losses.reference(x, targets), rtol=1e-5, atol=1e-5)


def test_what_ctas_of_a_cluster_send_each_other_is_ordered(example):
    x, weight, bias = arrays(bf16, (2, 9001), 9001, 9001)
    targets = np.array([5, 9000], np.int32)
    for kernel, given in (
        (example("layer_norm").layer_norm_of(bf16, "sm_90"), (x, weight, bias)),
        (example("cross_entropy").cross_entropy_of(bf16, "sm_90"), (x, targets)),
    ):
        report = kernel.check(*given, random=1, CLUSTER=2)
        assert report.ok, report
        opcodes = [line.opcode for line in kernel.compile(M=2, N=9001, CLUSTER=2).sass]
        assert "STAS" in opcodes and opcodes.count("MEMBAR.ALL.GPU") == 1, "of one warp"


@pytest.mark.sampled(3)
@types
@pytest.mark.parametrize("columns", [2049, 9999, pytest.param(50_257, marks=pytest.mark.slow)])
def test_ragged_rows_are_read_by_sixteen_bytes_and_written_once(example, dtype, columns: int):
    """No row of these but the first starts where 16 divides the address."""
    softmax = example("softmax").softmax_of(dtype)
    (x,) = arrays(dtype, (9, columns))
    report = softmax.check(x[:3], schedules=("eager",), random=0)
    assert report.ok, report
    close(softmax(x), example("softmax").reference(x), dtype)
    wide = [line.opcode for line in softmax.compile(M=9, N=columns).sass if line.opcode.startswith(("LDG", "STG"))]
    assert sum(".128" in opcode for opcode in wide) >= len(wide) - 3, "all but the edge's"


@pytest.mark.parametrize("columns", [64, 20_000])
def test_softmax_of_masked_and_of_large_numbers(example, columns: int):
    softmax = example("softmax")
    x = np.full((5, columns), -np.inf, np.float32)
    x[0, columns // 2] = x[0, 1] = -5.0
    x[1] = 1e30
    x[2, 3:] = 3e38
    x[3] = np.finfo(np.float32).min  # what torch users mask with
    y = softmax.softmax(x)
    np.testing.assert_allclose(y[:4], softmax.reference(x[:4]), rtol=1e-6)
    assert np.isnan(y[4]).all(), "as torch has it"


@pytest.mark.sampled(2)
@types
@shapes
@schedules
def test_layer_norm_equals_numpy(example, shape, dtype, schedule: str):
    layer_norm = example("layer_norm")
    x, weight, bias = arrays(dtype, shape, shape[1], shape[1])
    with use("sim", schedule=schedule):
        y = layer_norm.layer_norm_of(dtype)(x, weight, bias, eps=1e-3)
    close(y, layer_norm.reference(x, weight, bias, 1e-3), dtype)


@pytest.mark.sampled(2)
@types
@shapes
@schedules
def test_rms_norm_equals_numpy(example, shape, dtype, schedule: str):
    rms_norm = example("rms_norm")
    x, weight = arrays(dtype, shape, shape[1])
    with use("sim", schedule=schedule):
        y = rms_norm.rms_norm_of(dtype)(x, weight, eps=1e-3)
    close(y, rms_norm.reference(x, weight, 1e-3), dtype)


def test_layer_norm_of_numbers_far_from_zero(example):
    layer_norm = example("layer_norm")
    x, weight, bias = arrays(f32, (2, 3000), 3000, 3000)
    x += 1000
    wide = x.astype(np.float64)
    exact = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(layer_norm.layer_norm(x, weight, bias), exact, rtol=1e-3, atol=1e-3)


@pytest.mark.sampled(2)
@types
@shapes
@schedules
def test_cross_entropy_equals_numpy(example, shape, dtype, schedule: str):
    cross_entropy = example("cross_entropy")
    (x,) = arrays(dtype, shape)
    targets = np.random.default_rng(1).integers(0, shape[1], shape[0], np.int32)
    targets[-1] = -100 if shape[0] > 1 else shape[1]
    with use("sim", schedule=schedule):
        loss = cross_entropy.cross_entropy_of(dtype)(x, targets)
    assert loss.dtype == np.float32
    np.testing.assert_allclose(loss, cross_entropy.reference(x, targets), rtol=1e-5, atol=1e-5)


@pytest.mark.sampled(2)
@types
@shapes
@schedules
def test_swiglu_and_its_gradients_equal_numpy(example, shape, dtype, schedule: str):
    swiglu = example("swiglu")
    gate, up, d_y = arrays(dtype, shape, shape, shape)
    forward, backward = swiglu.kernels_of(dtype)
    with use("sim", schedule=schedule):
        y, gradients = forward(gate, up), backward(gate, up, d_y)
    close(y, swiglu.reference(gate, up), dtype)
    for given, wanted in zip(gradients, swiglu.reference_backward(gate, up, d_y), strict=True):
        close(given, wanted, dtype)


def test_the_gradients_of_swiglu_are_those_of_the_function(example):
    swiglu = example("swiglu")
    gate, up, d_y = (x.astype(np.float64) for x in arrays(f32, (4, 5), (4, 5), (4, 5)))

    def silu(g):
        return g / (1 + np.exp(-g))

    step = 1e-5
    d_gate = d_y * up * (silu(gate + step) - silu(gate - step)) / (2 * step)
    given = swiglu.reference_backward(gate, up, d_y)
    np.testing.assert_allclose(given[0], d_gate, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(given[1], d_y * silu(gate), rtol=1e-4, atol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("columns", [4096, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", [f32, bf16], ids=str)
def test_they_assemble_without_spills_and_read_sixteen_bytes_at_a_time(example, dtype, columns: int):
    for kernel in (
        example("softmax").softmax_of(dtype),
        example("layer_norm").layer_norm_of(dtype),
        example("rms_norm").rms_norm_of(dtype),
        example("cross_entropy").cross_entropy_of(dtype),
        *example("swiglu").kernels_of(dtype),
    ):
        compiled = kernel.compile(M=512, N=columns)
        used = compiled.resources[kernel.name]
        assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
        assert used.registers <= 64 and not compiled.warnings
        loads = [line.opcode for line in compiled.sass if line.opcode.startswith("LDG")]
        narrow = [opcode for opcode in loads if ".128" not in opcode]
        assert loads and len(narrow) == (2 if kernel.name == "cross_entropy" else 0), "a target, and what it points to"
