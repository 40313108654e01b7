"""Three ways in: every tool takes input arrays, sizes by keyword, or arguments with a launch configuration."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx import LaunchConfig, LaunchError, Tile, kernel, ptx, reg
from pyptx.launch_config import split_launch
from pyptx.types import f32, u32, u64

X = np.arange(64, dtype=np.float32)


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def double(x, y):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
    x_at, y_at = ptx.global_ptrs(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
    ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), value + value)


@kernel(raw_params=[("u64", "out"), ("u32", "value")], block=4)
def fill():
    at = ptx.param(u64, "out") + reg.from_(ptx.special.tid.x(), u32) * 4
    ptx.inst.st.global_.u32(ptx.addr(at), ptx.param(u32, "value"))


def entry():
    return pyptx.load(fill.ptx())["fill"]


# Each way in, as positional arguments and keywords; all of them launch 64 elements.
WAYS = {
    "arrays": lambda: ((X,), {}),
    "sizes": lambda: ((), {"N": 64}),
    "configuration": lambda: ((LaunchConfig(2, 32), X.copy(), np.zeros_like(X)), {"N": 64}),
}
TOOLS = {
    "launch": lambda *args, **params: double.launch(*args, **params).backend == "sim",
    "check": lambda *args, **params: double.check(*args, **params).ok,
    "debug": lambda *args, **params: double.debug(*args, **params).resume().reason == "exit",
    "estimate": lambda *args, **params: double.estimate(*args, **params).seconds > 0,
    "roofline": lambda *args, **params: len(double.roofline(*args, **params).points) == 1,
    "view": lambda *args, **params: double.view(*args, **params).entries[0].name == "double",
    "compile": lambda *args, **params: double.compile(*args, **params).name == "double",
    "ptx": lambda *args, **params: ".entry double" in double.ptx(*args, **params),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_takes_every_way_in(tool: str, way: str):
    args, params = WAYS[way]()
    assert TOOLS[tool](*args, **params)


def test_random_arrays_of_the_sizes_are_launched():
    (y,) = double.launch(N=64).outputs
    assert y.shape == (64,) and y.dtype == np.float32 and y.any()


def test_a_missing_size_is_named():
    with pytest.raises(LaunchError, match="the size N of .* is not known") as caught:
        double.check()
    assert "N=128" in caught.value.hint


def test_a_kernel_without_in_specs_is_checked_with_a_configuration():
    out = np.zeros(4, np.uint32)
    assert fill.check(LaunchConfig(1), out, 7).ok, "the block is the kernel's"
    assert fill.check(1, 4, out, 7).ok
    assert fill.check(out, 7, grid=1, block=4).ok
    assert not out.any(), "on copies of the arrays"
    with pytest.raises(LaunchError, match="has no in_specs") as caught:
        fill.check(out, 7)
    assert "LaunchConfig" in caught.value.hint


def test_an_entry_takes_a_configuration_or_a_grid_and_a_block():
    for args in ((LaunchConfig(1, 4),), (1, 4)):
        out = np.zeros(4, np.uint32)
        entry().launch(*args, out, 7)
        np.testing.assert_array_equal(out, 7)
        assert entry().check(*args, out, 7).ok
        assert entry().debug(*args, out, 7).resume().reason == "exit"
        assert entry().estimate(*args, out, 7).seconds > 0
    with pytest.raises(LaunchError, match=r"no \.reqntid") as caught:
        entry().launch(LaunchConfig(1), np.zeros(4, np.uint32), 7)
    assert "block=" in caught.value.hint
    with pytest.raises(LaunchError, match="is loaded PTX"):
        entry().check(np.zeros(4, np.uint32), 7)


def test_a_call_takes_backend_options_as_a_launch_does():
    np.testing.assert_array_equal(double(X, threads=2, backend="sim"), 2 * X)
    np.testing.assert_array_equal(double(X, schedule="random", seed=3), 2 * X)
    with pytest.raises(TypeError, match="no template parameter thread;"):
        double(X, thread=2)


@pytest.mark.parametrize("shape", [(0,), (0, 32)])
def test_empty_arrays_launch_nothing_and_return_the_right_shape(shape):
    @kernel(
        in_specs=(Tile(*"MN"[: len(shape)], f32),),
        out_specs=(Tile(*"MN"[: len(shape)], f32),),
        grid=lambda M: M // 32,
        block=32,
    )
    def never(x, y):
        raise AssertionError("traced")

    x = np.zeros(shape, np.float32)
    assert never(x).shape == shape
    assert never.launch(x).outputs[0].shape == shape
    out = np.zeros(shape, np.float32)
    assert never(x, out=out) is out
    torch = pytest.importorskip("torch")
    assert tuple(never(torch.zeros(shape)).shape) == shape
    assert tuple(torch.compile(never, backend="eager")(torch.zeros(shape)).shape) == shape
    jax = pytest.importorskip("jax")
    assert never(jax.numpy.zeros(shape)).shape == shape
    assert jax.jit(never)(jax.numpy.zeros(shape)).shape == shape


def test_an_empty_grid_launches_nothing():
    out = np.zeros(4, np.uint32)
    assert fill.launch(0, 4, out, 7).outputs[0] is out and not out.any()
    assert entry().launch(LaunchConfig((4, 0), 4), out, 7).backend == "sim" and not out.any()
    with pytest.raises(LaunchError, match="is empty, so nothing is executed"):
        fill.check(0, 4, out, 7)


def test_an_array_on_a_gpu_that_is_not_accessible_is_named():
    class Array:
        shape, dtype = (64,), np.dtype(np.float32)

        @property
        def __cuda_array_interface__(self):
            return {"shape": (64,), "typestr": "<f4", "data": (1 << 40, False), "version": 3}

    try:
        with pyptx.use("sim"), pytest.raises(LaunchError, match=r"an array of .*Array is in the memory of a GPU"):
            double(Array())
    except pyptx.errors.DeviceError:
        pytest.skip("there is a GPU")


def test_a_configuration_carries_backend_options():
    out = np.zeros(4, np.uint32)
    result = fill.launch(LaunchConfig(1, 4, backend="sim", options={"schedule": "late"}), out, 7)
    assert result.backend == "sim" and (out == 7).all()


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda: LaunchConfig(-1), "grid=-1; every dimension"),
        (lambda: LaunchConfig(1, (1, 2, 3, 4)), "block=.*; expected one to three ints"),
        (lambda: LaunchConfig(1, smem_bytes=-1), "smem_bytes=-1"),
        (lambda: split_launch((LaunchConfig(1),), block=32), "block and a LaunchConfig are both given"),
        (lambda: split_launch((X,), block=32), "block= is given without a grid"),
    ],
)
def test_a_wrong_configuration_is_refused(build, message):
    with pytest.raises(LaunchError, match=message):
        build()


def test_sizes_of_a_configuration_are_complete():
    config = LaunchConfig((4, 2), 128)
    assert (config.grid, config.block, config.cluster) == ((4, 2, 1), (128, 1, 1), None)
    assert split_launch((4, 128, X))[1] == (X,) and split_launch((X,)) == (None, (X,))
