"""Selective scan: against NumPy for many lengths in every schedule, its gradients against torch's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pyptx import use
from pyptx.types import bf16, f16, f32

NUMPY = {bf16: ml_dtypes.bfloat16, f16: np.float16, f32: np.float32}
CLOSE = {f32: 1e-4, f16: 4e-3, bf16: 3e-2}


@pytest.mark.parametrize("dtype", NUMPY, ids=str)
@pytest.mark.parametrize("length", [1, 16, 37])
@pytest.mark.parametrize("schedule", ["late", *(pytest.param(s, marks=pytest.mark.slow) for s in ("eager", "random"))])
def test_a_scan_equals_numpy(example, dtype, length, schedule):
    module = example("selective_scan")
    arrays = module.inputs(2, length, 64, NUMPY[dtype])
    with use("sim", schedule=schedule):
        y, states = module.kernels_of(dtype)[0](*arrays, LC=-(-length // 16), UNROLL=2)
    np.testing.assert_allclose(y.astype(np.float64), module.reference(*arrays), rtol=CLOSE[dtype], atol=CLOSE[dtype])
    assert not states[:, 0].any()


@pytest.mark.parametrize("length", [5, pytest.param(33, marks=pytest.mark.slow)])
def test_gradients_equal_those_of_torch(example, length):
    torch = pytest.importorskip("torch")
    module = example("selective_scan")
    arrays = module.inputs(2, length, 128)
    ours = [torch.tensor(array, requires_grad=True) for array in arrays]
    theirs = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    y = module.with_gradients()(*ours)

    x, delta, a, b, c, skip = theirs
    h, steps = torch.zeros(2, 128, 16, dtype=torch.float64), []
    for t in range(length):
        d = delta[:, t, :, None]
        h = torch.exp(d * a) * h + d * x[:, t, :, None] * b[:, t, None]
        steps.append((h * c[:, t, None]).sum(2) + skip * x[:, t])
    wanted = torch.stack(steps, 1)
    assert torch.allclose(y.double(), wanted, rtol=1e-4, atol=1e-4)

    d_y = torch.randn(y.shape, generator=torch.Generator().manual_seed(0))
    y.backward(d_y)
    wanted.backward(d_y.double())
    for mine, exact in zip(ours, theirs, strict=True):
        assert (mine.grad - exact.grad).abs().max() <= 1e-5 * exact.grad.abs().max()


def test_sizes_that_are_not_supported_are_named(example):
    module = example("selective_scan")
    arrays = module.inputs(1, 20, 96)
    with pytest.raises(ValueError, match="selective_scan: D=96, 16 states, L=20, LC=2"):
        module.selective_scan(*arrays, LC=2)
