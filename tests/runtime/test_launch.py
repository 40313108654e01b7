"""Calling and launching kernels on NumPy arrays."""

import os
import subprocess
import sys

import numpy as np
import pytest
from runtime.kernels import scale

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import CompileError, LaunchError
from pyptx.types import b64, f32

X = np.arange(100, dtype=np.float32)


def test_a_call_allocates_and_returns_the_output():
    y = scale(X, factor=3.0)
    assert isinstance(y, np.ndarray) and np.array_equal(y, 3 * X)
    assert scale.last_run.backend == "sim" and scale.last_run.outputs[0] is y


def test_outputs_may_be_given():
    y = np.empty_like(X)
    assert scale(X, factor=0.5, out=y) is y
    assert np.array_equal(y, X / 2)


def test_surplus_arrays_are_ignored_with_a_warning():
    with pytest.warns(UserWarning, match="out="):
        scale(X, np.empty_like(X), factor=1.0)


def test_a_raw_parameter_without_a_value_is_named():
    with pytest.raises(TypeError, match="'factor'"):
        scale(X)


def test_sizes_are_traced_once_and_launched_often():
    scale(X, factor=1.0)
    traced = len(scale._cache)
    scale(X + 1, factor=2.0)
    assert len(scale._cache) == traced
    scale(X[:50].copy(), factor=2.0)
    assert len(scale._cache) == traced + 1


def test_counters_count_the_launch():
    scale(X, factor=1.0)
    counters = scale.last_run.counters
    stores = [i for i, instruction in enumerate(_instructions(scale)) if instruction.opcode == "st"]
    assert [int(counters.lanes[i]) for i in stores] == [100] and [int(counters.issues[i]) for i in stores] == [4]


def _instructions(k):
    from pyptx.ir.visit import instructions

    return list(instructions(k.module(N=100).entries[0]))


def test_launch_takes_arguments_in_parameter_order_and_writes_in_place():
    y = np.zeros(64, np.float32)
    result = scale.launch(1, 64, X, y, 2.0, 64)
    assert result.backend == "sim" and np.array_equal(y, 2 * X[:64])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((X, X.copy(), 2.0), "4"),  # one too few
        ((X, X.copy(), 2.0, -(1 << 31) - 1), "N"),  # out of range for u32
        ((X, X.copy(), 2.0, 1 << 32), "N"),
        ((X, 3.5, 2.0, 64), "y"),  # a float for a pointer
    ],
)
def test_launch_refuses_arguments_that_do_not_fit(args, message):
    with pytest.raises(LaunchError, match=message):
        scale.launch(1, 64, *args)


def test_launch_dimensions_are_checked():
    with pytest.raises(LaunchError, match="2048 threads"):
        scale.launch(1, (64, 32), X, X.copy(), 2.0, 64)
    with pytest.raises(LaunchError, match="at least 1"):
        scale.launch(1, 0, X, X.copy(), 2.0, 64)
    with pytest.raises(LaunchError, match="one to three ints"):
        scale.launch(1, (1, 1, 1, 1), X, X.copy(), 2.0, 64)


def test_a_refused_kernel_is_not_launched():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)])
    def broken(x, y):
        (pointer,) = ptx.global_ptrs(y)
        ptx.inst.st.global_.f32(ptx.addr(pointer), reg.scalar(f32, 1.0))
        ptx.inst.bogus.f32(pointer)

    y = np.zeros(4, np.float32)
    with pytest.raises(CompileError, match="bogus"):
        broken(np.ones(4, np.float32), out=y)
    assert not y.any()


def test_an_output_the_kernel_forgets_shows_as_nan():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)])
    def lazy(x, y):
        ptx.ret()

    assert np.isnan(lazy(X)).all()


def test_an_access_beyond_an_array_names_it_and_the_line():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)])
    def beyond(x, y):
        (pointer,) = ptx.global_ptrs(x)
        ptx.inst.ld.global_.f32(reg.scalar(f32), ptx.addr(pointer, 400))

    with pytest.raises(pyptx.PtxError, match=r"ld\.global") as caught:
        beyond(X)
    assert caught.value.place.line == beyond._fn.__code__.co_firstlineno + 3
    assert "x" in caught.value.message


def test_a_register_pointer_of_64_bits_is_dereferenced():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)])
    def first(x, y):
        a, b = ptx.global_ptrs(x, y)
        assert a.dtype == b64
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(a))
        ptx.inst.st.global_.f32(ptx.addr(b), value)

    assert first(X + 7)[0] == 7


def test_use_chooses_the_backend_and_refuses_unknown_ones():
    with pyptx.use("sim", engine="reference"):
        assert np.array_equal(scale(X, factor=3.0), 3 * X)
    with pytest.raises(LaunchError, match="'sim'"):
        pyptx.use("gpu")


def test_the_environment_chooses_the_backend():
    code = (
        "import numpy as np; from pyptx import kernel, ptx, Tile; from pyptx.types import f32\n"
        "k = kernel(lambda x: ptx.ret(), in_specs=[Tile('N', f32)])\nk(np.zeros(4, np.float32))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYPTX_BACKEND": "tpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode and "backend 'tpu' does not exist" in run.stderr
