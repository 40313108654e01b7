"""The convolution for Hopper: every schedule, stride, padding, dilation and tail; equal to torch's and JAX's."""

from __future__ import annotations

import numpy as np
import pytest
from support.products import NUMPY

from pyptx import use
from pyptx.analysis.occupancy import occupancy
from pyptx.types import bf16, f16, f32


@pytest.fixture(scope="module")
def hopper(example):
    return example("hopper/convolution")


def arrays(image: tuple[int, ...], filters: tuple[int, ...], dtype=np.float32) -> list[np.ndarray]:
    random = np.random.default_rng(sum(image))
    return [random.standard_normal(shape).astype(dtype) for shape in (image, filters)]


CASES = [
    ((1, 8, 16, 64), (1, 1, 64, 128), {}, {}, bf16, bf16),
    ((2, 9, 7, 72), (3, 3, 72, 136), {"PAD": 1}, {"CTAS": 2}, bf16, bf16),
    ((3, 17, 14, 64), (3, 3, 64, 64), {"PAD": 1, "STRIDE": 2}, {"BN": 64, "STAGES": 3, "CLUSTER": 1}, f16, f32),
    ((1, 20, 23, 8), (7, 7, 8, 64), {"PAD": 3, "STRIDE": 2}, {"BN": 64, "CTAS": 1, "CLUSTER": 1}, f16, f16),
    ((2, 19, 16, 40), (3, 5, 40, 72), {"DILATION": 3, "PAD": 4}, {"BM": 256, "BN": 128, "STAGES": 3}, bf16, f32),
    ((1, 5, 5, 136), (5, 5, 136, 8), {}, {"BN": 128}, bf16, bf16),
    ((5, 4, 4, 64), (4, 4, 64, 320), {"STRIDE": 4}, {"GROUP": 1}, f16, f32),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("schedule", ["eager", "late", pytest.param("random", marks=pytest.mark.slow)])
@pytest.mark.parametrize("image, filters, choice, tiling, dtype, out", CASES, ids=str)
def test_it_equals_a_convolution_written_out(hopper, image, filters, choice, tiling, dtype, out, schedule: str):
    x, w = arrays(image, filters, NUMPY[dtype])
    with use("sim", schedule=schedule):
        y = hopper.convolve(x, w, of=hopper.convolution_of(dtype, out), **choice, **tiling)
    digits = {f32: 1e-5, f16: 1e-3, bf16: 8e-3}[out]
    sums = np.sqrt(np.prod(filters[:3]))
    np.testing.assert_allclose(y.astype(np.float32), written_out(x, w, **choice), rtol=digits, atol=digits * sums)


def written_out(x: np.ndarray, w: np.ndarray, STRIDE: int = 1, PAD: int = 0, DILATION: int = 1) -> np.ndarray:
    """One pixel at a time, from the formula."""
    x, w = x.astype(np.float32), w.astype(np.float32)
    (N, H, W, _), (R, S, _, F) = x.shape, w.shape
    P, Q = (1 + (size + 2 * PAD - DILATION * (taps - 1) - 1) // STRIDE for size, taps in ((H, R), (W, S)))
    y = np.zeros((N, P, Q, F), np.float32)
    for p, q, r, s in np.ndindex(P, Q, R, S):
        row, column = p * STRIDE - PAD + r * DILATION, q * STRIDE - PAD + s * DILATION
        if 0 <= row < H and 0 <= column < W:
            y[:, p, q] += x[:, row, column] @ w[r, s]
    return y


@pytest.mark.slow
@pytest.mark.parametrize("choice", [{"PAD": 1}, {"STRIDE": 2, "PAD": 1}, {"DILATION": 2}], ids=str)
def test_torch_and_jax_agree(hopper, choice):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x, w = arrays((2, 10, 11, 64), (3, 3, 64, 72), np.float16)
    step, pad, dilation = (choice.get(name, least) for name, least in (("STRIDE", 1), ("PAD", 0), ("DILATION", 1)))
    of_torch = (
        torch.nn.functional.conv2d(
            torch.from_numpy(x).permute(0, 3, 1, 2).float(),
            torch.from_numpy(w).permute(3, 2, 0, 1).float(),
            stride=step,
            padding=pad,
            dilation=dilation,
        )
        .permute(0, 2, 3, 1)
        .numpy()
    )
    of_jax = jax.lax.conv_general_dilated(
        x.astype(np.float32),
        w.astype(np.float32),
        (step, step),
        [(pad, pad)] * 2,
        rhs_dilation=(dilation, dilation),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    y = hopper.convolve(x, w, of=hopper.convolution_of(f16, f32), BN=128, **choice)
    np.testing.assert_allclose(y, of_torch, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(y, of_jax, rtol=1e-4, atol=1e-4)


def test_missing_channels_do_not_change_the_sums(hopper):
    """Filters of the next tap lie behind the last channel: their infinities must not meet the zeros of x."""
    x, w = arrays((1, 8, 8, 72), (1, 2, 72, 64), np.float16)
    w[0, 1, 0] = np.inf
    x[:, :, :, 0] = 0
    y = hopper.convolve(x[:, :, 1:].copy(), w[:, :1].copy(), of=hopper.convolution_of(f16, f32), BN=128)
    assert np.isfinite(y).all()
    both = hopper.convolve(x, w, of=hopper.convolution_of(f16, f32), BN=128)
    assert np.isnan(both).all(), "zero times infinity is the second tap's own"


@pytest.mark.parametrize(
    "pixels, filters, tile",
    [(100352, 128, (256, 128)), (25088, 256, (128, 128)), (6272, 512, (128, 256)), (1, 8, (128, 128))],
)
def test_tiles_fill_the_last_wave(hopper, pixels: int, filters: int, tile: tuple[int, int]):
    chosen = hopper.tiling(pixels, filters)
    assert (chosen["BM"], chosen["BN"]) == tile


@pytest.mark.parametrize(
    "image, filters, choice, message",
    [
        ((1, 8, 8, 60), (3, 3, 60, 64), {}, "C=60 is not a multiple of 8"),
        ((1, 8, 8, 64), (3, 3, 64, 60), {}, "F=60 is not a multiple of 8"),
        ((1, 8, 8, 64), (3, 3, 64, 64), {"STRIDE": 9}, "STRIDE=9; expected one of"),
        ((1, 2, 8, 64), (3, 3, 64, 64), {}, "3 taps with DILATION=1 do not fit into 2 pixels with PAD=0"),
        ((1, 8, 8, 64), (3, 3, 64, 64), {"STAGES": 5}, "5 stages need"),
        ((1, 8, 8, 64), (3, 3, 64, 64), {"BN": 64}, "2 CTAs cannot share 64 filters in boxes of 64"),
        ((1, 8, 8, 64), (3, 3, 64, 64), {"BM": 256, "BN": 256}, "more sums than the consumers have registers for"),
        ((1, 8, 8, 64), (3, 3, 64, 64), {"PAD": 200}, "expected offsets from -128 to 127 for rank 4"),
    ],
    ids=str,
)
def test_unsupported_sizes_are_refused_by_name(hopper, image, filters, choice, message: str):
    with pytest.raises(ValueError, match=message):
        hopper.convolve(*arrays(image, filters, NUMPY[bf16]), **choice)


def test_a_result_of_another_size_is_refused(hopper):
    with pytest.raises(ValueError, match=r"the result is 8 x 8; .* it is P=6, Q=6"):
        hopper.convolution(*arrays((1, 8, 8, 64), (3, 3, 64, 64), NUMPY[bf16]), P=8, Q=8)


def test_the_matrix_is_never_written(hopper):
    """Each pixel is read for each tap that uses it, from L2 or DRAM to shared memory: nothing else is moved."""
    x, w = arrays((1, 16, 16, 64), (3, 3, 64, 128), NUMPY[bf16])
    kernel = hopper.convolution_of(bf16, bf16)
    hopper.convolve(x, w, of=kernel, PAD=1, BN=128)
    pixels, filters = 2 * 128, 128  # of a cluster; what is copied to both CTAs is read once
    assert kernel.last_run.counters.tma_bytes.sum() == 9 * (pixels + filters) * 64 * 2 + pixels * filters * 2
    assert kernel.last_run.counters.shared_conflicts.sum() == 0


@pytest.mark.slow
@pytest.mark.parametrize("tiling", [{}, {"BM": 256, "BN": 128}, {"BM": 256, "BN": 64, "CLUSTER": 1}], ids=str)
def test_it_assembles_without_spills_or_complaints(hopper, tiling):
    sizes = {"N": 32, "H": 56, "W": 56, "C": 128, "R": 3, "S": 3, "F": 256, "P": 56, "Q": 56, "PAD": 1}
    compiled = hopper.convolution.compile(**sizes, **tiling)
    used = compiled.resources["convolution"]
    assert (used.spill_stores, used.spill_loads, used.stack_bytes) == (0, 0, 0)
    assert not compiled.warnings, "wgmma must not be serialised, nor setmaxnreg ignored"
    specialization = hopper.convolution.specialize(**sizes, **tiling)
    fits = occupancy("sm_90a", threads=384, registers=used.registers, dynamic_shared_bytes=specialization.dynamic_bytes)
    assert fits.blocks == 1
