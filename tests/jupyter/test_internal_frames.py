"""Errors of ordinary cells: the cell, the kernel, the message; internal frames on request."""

from __future__ import annotations

import pytest

from pyptx._loc import PACKAGE_DIR

KERNEL = """
import numpy as np
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=(32, 1, 1))
def copy(x, y):
    if x.shape[0] != 32:
        raise ValueError("one warp, 32 numbers")
    x_at, y_at = ptx.global_ptrs(x, y)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at, 4096))
    ptx.inst.st.global_.f32(ptx.addr(y_at), value)
"""
LEFT_OUT = "(frames of pyptx are hidden; %tb shows them)"


@pytest.fixture
def ready(run):
    assert run(KERNEL).error is None
    return run


@pytest.mark.parametrize(
    "call, says",
    [
        ("copy(3)", "ArgumentTypeError: copy: x is a int"),
        ("copy(np.zeros(32))", "ArgumentTypeError: copy: x has dtype float64"),
        ("copy(np.zeros(32, np.float32))", "outside every buffer"),
        ("copy.compile(M=3)", "no template parameter M"),
    ],
)
def test_errors_of_pyptx_are_shown_at_the_cell(ready, call, says):
    ran = ready(call)
    assert ran.error is not None and says in ran.stdout and LEFT_OUT in ran.stdout
    assert f"----> 1 {call}" in ran.stdout and PACKAGE_DIR not in ran.stdout


def test_an_error_of_the_kernels_own_python_shows_cell_and_kernel(ready):
    shown = ready("copy(np.zeros(64, np.float32))").stdout
    assert (
        shown.index("----> 1 copy(")
        < shown.index('raise ValueError("one warp, 32 numbers")')
        < shown.index("ValueError: one warp, 32 numbers")
        and PACKAGE_DIR not in shown
    )


def test_verbose_tracebacks_show_the_internal_frames(ready):
    error = ready("copy(3)").error
    assert not hasattr(error, "_render_traceback_")
    assert PACKAGE_DIR in ready("%tb").stdout
    ready("%xmode Verbose")
    try:
        assert PACKAGE_DIR in ready("copy(3)").stdout
    finally:
        ready("%xmode Context")


def test_errors_without_pyptx_are_shown_as_ever(ready):
    shown = ready("1 / 0").stdout
    assert "ZeroDivisionError" in shown and LEFT_OUT not in shown


def test_a_handler_somebody_else_installed_stays(shell):
    shell.run_line_magic("unload_ext", "pyptx")
    seen = []
    shell.set_custom_exc((ZeroDivisionError,), lambda shell, kind, error, traceback, tb_offset=None: seen.append(error))
    theirs = shell.CustomTB
    shell.run_line_magic("load_ext", "pyptx")
    shell.run_cell("1 / 0")
    assert seen and shell.CustomTB is theirs
    shell.set_custom_exc((), None)


def test_unloading_removes_the_handler(shell):
    shell.run_line_magic("unload_ext", "pyptx")
    assert shell.custom_exceptions == ()
    shell.run_line_magic("load_ext", "pyptx")
