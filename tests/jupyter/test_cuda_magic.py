"""`%%cuda`: views, launches, checks, the debugger, history, and errors at the lines of the cell."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pyptx
from pyptx import history
from pyptx.check import CheckError
from pyptx.debug import Session
from pyptx.jupyter.completion import completions
from pyptx.nvrtc import CudaError
from pyptx.views import LinkedView

pytestmark = pytest.mark.usefixtures("own_history")

CELL = """%%cuda
#ifndef TILE
#define TILE 2
#endif
__constant__ float by = 3;
__global__ void triple(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * by;
}
template <typename T> __global__ void add(T *x, T y) { x[threadIdx.x] += y * TILE; }
__global__ void racy(float *x) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def asked(options: str, cell: str = CELL) -> str:
    return cell.replace("%%cuda", f"%%cuda {options}", 1)


@pytest.fixture
def x(shell):
    shell.user_ns["x"] = np.arange(64, dtype=np.float32)
    return shell.user_ns["x"]


def test_a_launch_shows_the_source_with_counters(run, shell, x):
    ran = run(asked('--run "triple(2, 32, x, x.size)" --entry triple --name mine'))
    assert ran.error is None
    view = ran.result
    assert isinstance(view, LinkedView)
    assert view.panes == ("python", "ptx", "sass")
    assert "    if (i < n) x[i] = x[i] * by;" in view.python.text
    assert max(view.ptx.counters["issues"]) == 2
    np.testing.assert_array_equal(x, 3 * np.arange(64))
    assert shell.user_ns["triple"].name == "triple"
    assert isinstance(shell.user_ns["mine"], pyptx.Program)
    assert history.version("mine").ref == "triple@1"
    assert history.version("triple@1").cell == "Cell In[1]"


def test_a_template_runs_with_a_macro_and_its_change_is_shown(run, x):
    assert run(asked('-D TILE=10 --run "add<float>(1, 64, x, 1)" --entry "add<float>"')).error is None
    np.testing.assert_array_equal(x, np.arange(64) + 10)
    view = run(asked('-D TILE={4+7} --entry "add<float>"')).result
    assert view.diff is not None and not view.diff.identical
    assert history.version("add<float>@2").ref == "add<float>@2"


def test_a_check_fails_at_the_line_of_the_cell(run, x):
    ran = run(asked('--check "racy(1, 64, x, random=1)" --quiet'))
    assert isinstance(ran.error, CheckError)
    assert str(ran.error.place) == "Cell In[1], line 13"


def test_the_debugger_steps_through_the_cell(run, x):
    with run(asked('--debug "racy(1, 64, x)"')).result as session:
        assert isinstance(session, Session)
        session.breakpoints.add("14")
        assert session.resume().line == 14


def test_errors_of_the_compiler_are_at_the_line_of_the_cell(run):
    ran = run(CELL.replace("* by;", "* bye;"))
    assert isinstance(ran.error, CudaError)
    said = re.sub(r"\x1b\[\d+m", "", ran.shown)
    assert 'identifier "bye" is undefined' in said and "----> " in said and "Cell In[1], line 8" in said


@pytest.mark.parametrize(
    "options, message",
    [
        ("--run 2,32,x", "expected a call such as"),
        ('--run "none(1, 2)"', "no kernel or variable 'none'"),
        ('--entry "nope<int>"', "cannot instantiate nope<int>"),
        ("-D 3=4", "expected NAME or NAME=VALUE"),
        ("--arch sm_12", "--arch sm_12"),
    ],
)
def test_wrong_options_are_explained(run, x, options, message):
    assert message in str(run(asked(options)).error)


def test_a_cell_of_templates_alone_asks_for_one(run):
    assert "name the arguments of a template with --entry" in str(
        run("%%cuda\ntemplate <class T> __global__ void k(T *x) { *x = 1; }\n").error
    )


def test_options_and_kernels_complete():
    assert ("--nvrtc", "option") in completions("%%cuda --nv")
    assert [text for text, _ in completions("%%cuda --entry ", CELL)] == ["triple", "add", "racy"]


@pytest.mark.slow
def test_a_sweep_over_macros_and_template_arguments_is_the_value_of_the_cell(run, x):
    cell = CELL.replace("template <typename T>", "template <typename T, int W>")
    call = '--sweep "add<float, {W}>(x.size // W, W, x, 2.0)" --values TILE=2,4 W={[16,32,48]} --device h200'
    ran = run(asked(call, cell))
    assert ran.error is None
    assert ran.result.view.counts == {"modeled": 6} and "h200" in repr(ran.result).lower()
    assert ran.result.best.keys() == {"TILE", "W"}
    np.testing.assert_array_equal(x, np.arange(64))  # arrays are not changed
    np.testing.assert_array_equal(ran.result.entry(TILE=4, W=16).launch(1, 16, x, 1.0) and x[:16], np.arange(16) + 4)


@pytest.mark.parametrize("options, words", [
    ('--sweep "triple" --values TILE=1', "expected a call"), ('--sweep "add<float, {W}>(1, 1, x, 2)"', "{W} has no values"),
    ('--sweep "triple(1, 1, x, 2)"', "no values to try"), ("--values TILE=1", "apply to --sweep"),
    ('--sweep "triple(1, 1, x, TILE)" --values TILE=1,2', "depends on TILE"), ('--sweep "triple(1, 1, x)" --values TILE', "NAME=VALUE"),
    ('--sweep "nothing(1, 1, x)" --values TILE=1', "no kernel or variable 'nothing'"),
    ('--sweep "triple(1, 32, x, 1)" --values TILE={3}', "not a sequence"), ('--sweep "triple(1, x, 1" --values TILE=3', "expected a call"),
])  # fmt: skip
def test_mistakes_in_a_sweep_are_explained(run, x, options, words):
    assert words in str(run(asked(options)).error)
