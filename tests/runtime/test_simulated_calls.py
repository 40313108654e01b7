"""Repeated calls on the simulator: found by their signature, run without new checks."""

from __future__ import annotations

import gc
import re
import weakref

import numpy as np
import pytest
from runtime.kernels import scale

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import LaunchError, SimulationError
from pyptx.sim.core import library
from pyptx.sim.reference import engine as reference
from pyptx.types import f32, u32


@pytest.fixture(autouse=True)
def forgotten():
    scale.launch_cache.entries.clear()
    yield
    scale.launch_cache.entries.clear()


def floats(n: int, first: float = 0.0) -> np.ndarray:
    return np.arange(n, dtype=np.float32) + np.float32(first)


@kernel(arch="sm_80", in_specs=[Tile("N", f32), Tile("N", f32)], out_specs=[Tile("N", f32)], block=32, grid=1)
def difference(a, b, y):
    first, second, target = ptx.global_ptrs(a, b, y)
    at = reg.scalar(u32)
    ptx.inst.mov.u32(at, ptx.special.tid.x())
    x, z = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(first + at * 4))
    ptx.inst.ld.global_.f32(z, ptx.addr(second + at * 4))
    ptx.inst.sub.f32(x, x, z)
    ptx.inst.st.global_.f32(ptx.addr(target + at * 4), x)


def test_a_second_call_of_a_kind_looks_at_nothing_again(monkeypatch):
    scale(floats(100), factor=2.0)
    first = scale.last_run.counters
    assert len(scale.launch_cache) == 1
    monkeypatch.setattr(scale.binder, "sizes_of", None)  # would fail if it were looked at again
    for factor in (2.0, -0.5, 0.25):
        x = floats(100, factor)
        np.testing.assert_array_equal(scale(x, factor=factor), x * np.float32(factor))
    assert scale.last_run.counters == first and scale.last_run.backend == "sim" and scale.last_run.seconds > 0
    out = np.empty(100, np.float32)
    monkeypatch.undo()
    for _ in range(3):
        assert scale(x, factor=3.0, out=out) is out and scale.last_run.outputs == (out,)
        np.testing.assert_array_equal(out, x * np.float32(3))


def test_what_does_not_fit_is_refused_the_second_time_too():
    x, out = floats(64), np.empty(64, np.float32)
    locked = np.empty(64, np.float32)
    locked.flags.writeable = False
    for _ in range(2):
        scale(x, factor=1.0, out=out)
    for wrong, message in [
        (dict(factor="two"), "factor"),
        (dict(factor=1.0, out=np.empty(63, np.float32)), "y"),
        (dict(factor=1.0, out=x), "y shares memory with x"),
        ({}, "factor"),
        (dict(factor=1.0, out=locked), "is read-only"),
        (dict(factor=1.0, out=np.empty(128, np.float32)[::2]), "not contiguous"),
        (dict(factor=1.0, out=np.empty(64, np.int8)), "y has dtype int8"),
    ]:
        with pytest.raises((LaunchError, TypeError), match=message):
            scale(x, **wrong)
    both = np.zeros(96, np.float32)
    for _ in range(2):
        with pytest.raises(LaunchError, match="y shares memory with x"):
            scale(both[:64], factor=1.0, out=both[32:])
    whole = np.concatenate([floats(64), np.zeros(64, np.float32)])
    for _ in range(2):
        np.testing.assert_array_equal(scale(whole[:64], factor=2.0, out=whole[64:]), 2 * floats(64))


def test_arrays_that_are_one_buffer_are_looked_at_each_time():
    a, b = floats(32, 5), floats(32)
    for left, right in [(a, b), (a, a), (b, a), (b, b), (a, b[:]), (a[:], a)]:
        np.testing.assert_array_equal(difference(left, right), left - right)
    assert len(difference.launch_cache) == 1


def test_a_fault_names_the_arrays_of_its_own_call():
    @kernel(
        arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile(4, f32)], block=32, grid=1, raw_params=[("u32", "far")]
    )
    def reads(x, y):
        source, target = ptx.global_ptrs(x, y)
        far, value = ptx.param(u32, "far"), reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(source + far * 4))
        ptx.inst.st.global_.f32(ptx.addr(target), value)

    x = floats(8)
    assert [reads(x, far=far)[0] for far in (0, 1, 7)] == [0, 1, 7]
    messages = []
    for _ in range(2):
        with pytest.raises(SimulationError, match=r"x\[8\] float32") as caught:
            reads(x, far=8)
        messages.append(str(caught.value))
        reads.launch_cache.entries.clear()  # now all of it is looked at
    assert messages[0] == messages[1] and reads(x, far=2)[0] == 2


def test_it_keeps_no_array_of_an_earlier_call():
    x = floats(16)
    died = weakref.ref(x)
    y = scale(x, factor=1.0)
    for _ in range(3):
        y = scale(y, factor=1.0)
    del x
    gc.collect()
    assert died() is None


def test_options_and_a_missing_core_are_not_passed_over(monkeypatch):
    x = floats(8)
    scale(x, factor=1.0)
    ran, run = [], reference.run
    monkeypatch.setattr(reference, "run", lambda *args: ran.append(args) or run(*args))
    with pyptx.use("sim", engine="reference"):
        scale(x, factor=1.0)
    assert len(ran) == 1
    monkeypatch.setattr(library, "problem", lambda: "it is not there")
    with pytest.warns(RuntimeWarning, match="uses its slow Python engine"):
        np.testing.assert_array_equal(scale(x, factor=2.0), 2 * x)


def test_results_are_shown_in_one_line_and_as_a_table():
    difference(floats(32), floats(32))
    assert re.fullmatch(
        r"<LaunchResult: simulated in \S+ ms, issues=\d+, lanes=[\d,]+, global_requests=3, global_sectors=12>",
        repr(difference.last_run),
    )
    html = difference.last_run._repr_html_()
    assert html.startswith("<table><caption>simulated in ") and "global sectors</td><td>12</td>" in html
    assert re.fullmatch(r"<Counters of \d+ instructions: issues=\d+, .*>", repr(difference.last_run.counters))
