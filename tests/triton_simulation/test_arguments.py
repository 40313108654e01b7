"""Arguments of Triton launches: results are compared with NumPy."""

import numpy as np
import pytest
import torch
import triton
from support.triton_kernels import arguments as kernels
from triton.tools.tensor_descriptor import TensorDescriptor

import pyptx.triton
from pyptx.errors import LaunchError


@pytest.mark.parametrize("target", pyptx.triton.TARGETS)
def test_a_kernel_runs_on_tensors_and_arrays_for_each_target(target: str):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    out, tensor = np.zeros_like(x), torch.zeros(1000)
    with pyptx.triton.simulate(target):
        kernels.add[(8,)](x, y, out, 1000, BLOCK=128)
        kernels.add[(8,)](torch.from_numpy(x), torch.from_numpy(y), tensor, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, x * 2 + 1 + y)
    np.testing.assert_array_equal(tensor, out)


@pytest.mark.parametrize("make", [np.zeros, torch.zeros], ids=["numpy", "torch"])
def test_views_of_one_storage_are_aliases(make):
    whole = make(300)
    whole[:] = 1
    x, y = whole[1:101], whole[150:250]
    with pyptx.triton.simulate():
        kernels.add[(1,)](x, y, x, 100, BLOCK=128)  # x in place
        kernels.add[(1,)](x, x, whole[199:299], 100, BLOCK=128)  # overlaps y
    expected = np.ones(300)
    expected[1:101] = 4
    expected[199:299] = 13
    np.testing.assert_array_equal(whole, expected)


def test_scalars_arrive_by_their_types():
    out = np.zeros(1)
    with pyptx.triton.simulate():
        kernels.scalars[(1,)](out, 7, 0.5, 1.0078125, 0.1, -2.5, True, 1 << 40, None)
    assert out[0] == pytest.approx(7 + 0.5 + 1.0078125 + 0.1 - 2.5 + 1000 + (1 << 40) + 10000, rel=1e-7)


def test_tuples_are_flattened():
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with pyptx.triton.simulate():
        kernels.tuples[(1,)](out, ((x, 3.0), 4), 64)
    np.testing.assert_array_equal(out, x * 3 + 4)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])  # pointers, TMA
def test_tensor_descriptors_of_the_host_describe_views(target: str):
    storage = torch.arange(64 * 256, dtype=torch.float32).to(torch.float16).reshape(64, 256)
    x, out = storage[:, 64:192], torch.zeros(64, 128, dtype=torch.float16)
    with pyptx.triton.simulate(target):
        source, target_ = (TensorDescriptor.from_tensor(t, [32, 64]) for t in (x, out))
        kernels.copy_by_descriptor[(2, 2)](source, target_, 32, 64)
    assert torch.equal(out, x + 1)


def test_tensor_descriptors_of_the_device_need_no_allocator():
    x = torch.randn(50, 96)
    out = torch.zeros_like(x)
    with pyptx.triton.simulate("sm_90a"):
        kernels.copy_by_device_descriptor[(2, 3)](x, out, 50, 96, 32, 32)
    assert torch.equal(out, x + 1)


def test_heuristics_set_constants():
    x = np.ones(100, np.int32)
    with pyptx.triton.simulate():
        kernels.doubled_with_heuristics[(2,)](x, 100, BLOCK=64)
    assert (x == 2).all()


def test_the_autotuner_uses_modeled_times_and_executes_once():
    x = np.ones(4096, np.int32)
    with pyptx.triton.simulate():
        kernels.doubled_with_autotuning[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](x, 4096)
    assert (x == 2).all()
    times = kernels.doubled_with_autotuning.configs_timings
    assert len(times) == 2 and all(1e-4 < time[0] < 1 for time in times.values())  # milliseconds


def test_prints_and_assertions_of_the_device(capfd):
    x = np.arange(32, dtype=np.int32)
    with pyptx.triton.simulate():
        kernels.prints_and_asserts[(1,)](x, 100, 32, num_warps=1, debug=True)
        assert "x is: 31" in capfd.readouterr().out
        with pytest.raises(pyptx.PtxError, match="x is too large") as raised:
            kernels.prints_and_asserts[(1,)](x, 10, 32, num_warps=1, debug=True)
    assert "arguments.py" in str(raised.value)


def test_an_argument_that_is_not_on_the_cpu_is_named():
    with pyptx.triton.simulate(), pytest.raises(LaunchError, match="x_ptr is on meta"):
        kernels.add[(1,)](torch.zeros(8, device="meta"), np.zeros(8), np.zeros(8), 8, BLOCK=8)
