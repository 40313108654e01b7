"""Loaded launches of Triton kernels with the tools of the workbench."""

import numpy as np
import pytest
from support.triton_kernels import arguments as kernels

import pyptx.triton
from pyptx.errors import LaunchError


@pytest.fixture(scope="module")
def entry():
    x = np.arange(1000, dtype=np.float32)
    return pyptx.triton.load(
        kernels.add, x, x, np.zeros_like(x), 1000, grid=lambda meta: -(-1000 // meta["BLOCK"]), BLOCK=128
    )


def test_the_view_links_triton_lines_to_ptx_and_sass(entry):
    text = entry.view().text()
    head, _, line = text.partition("x = tl.load(x_ptr + at, mask=inside)")
    assert "@triton.jit" in head
    assert "ld.global" in line.partition(" | ")[0] and "LDG" in line.partition(" | ")[0]
    assert "return x * 2 + 1" in text  # of a helper


def test_loading_does_not_execute_and_launching_does(entry):
    assert entry.last_run is None or entry.last_run.outputs == ()
    result = entry.launch()
    assert result.counters.issues.sum() > 0 and entry.config.grid == (8, 1, 1)


def test_the_tools_use_the_launch_without_arguments(entry):
    assert entry.check(random=1).ok
    assert entry.estimate(device="h200").seconds > 0
    assert entry.roofline(device="h200").points[0].flops
    assert "#ttg.blocked" in entry.ttgir and "tt.func" in entry.ttir and "define" in entry.llir


def test_a_debugging_session_steps_by_triton_lines(entry):
    session = entry.debug()
    session.breakpoints.add("arguments.py:17")
    session.resume()
    assert "arguments.py:17" in repr(session)


def test_a_diff_of_configurations_names_what_differs(entry):
    found = entry.diff(num_warps=8)
    assert "num_warps=4" in repr(found) and "num_warps=8" in repr(found)


def test_other_targets_are_compiled_by_triton(entry):
    assert ".target sm_80" in entry.with_meta(target="sm_80").ptx()


def test_only_triton_kernels_are_loaded():
    with pytest.raises(LaunchError, match="is not a Triton kernel"):
        pyptx.triton.load(print, grid=1)


def test_a_sweep_models_each_configuration_and_gives_reasons(entry):
    found = entry.sweep({"BLOCK": [64, 1000, 1024], "num_warps": [2, 4]}, device="h200")
    states = found.view.counts
    assert states == {"refused": 2, "modeled": 4}  # tl.arange takes powers of two
    assert found.entry()._specialization.params["BLOCK"] == found.best["BLOCK"]
    assert "power of 2" in found.view.text()


def test_an_estimate_writes_copies_where_only_later_programs_write():
    x = np.zeros(64, np.int32)
    assert pyptx.triton.load(kernels.all_but_the_first_write, x, grid=64).estimate().seconds > 0
    assert not x.any()
