"""`%%tritonkernel`: a cell of Triton kernels that run on the simulator."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from pyptx.check import CheckError
from pyptx.debug import Session

CELL = """import triton
import triton.language as tl
import numpy as np

@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, x * 2, mask=at < n)

@triton.jit
def shift(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + (at + 1) % BLOCK))

x = np.ones(100, np.float32)
"""
CHECK = '--check "shift[(1,)](np.zeros(64, np.float32), 64, num_warps=2)"'


def test_a_launched_kernel_is_shown_with_its_counters(run, shell):
    ran = run(f'%%tritonkernel --run "double[(2,)](x, 100, BLOCK=64)"\n{CELL}')
    assert ran.error is None and (shell.user_ns["x"] == 2).all()
    text = str(ran.result)
    assert "tl.load(x_ptr + at, mask=at < n)" in ran.result.text() and "ld.global" in ran.result.text(), text


def test_launches_of_the_cell_itself_are_shown(run):
    ran = run(f"%%tritonkernel --arch sm_80 --name entry\n{CELL}double[(2,)](x, 100, 64)\n")
    assert ran.error is None and "for sm_80" in ran.result.text()


def test_an_ir_is_shown_in_a_pane_of_its_own(run):
    ran = run(f'%%tritonkernel --ir ttgir --run "double[(2,)](x, 100, BLOCK=64)"\n{CELL}')
    assert ran.error is None and ran.result.ir.name == "TTGIR" and "tt.load" in ran.result.text()
    assert "ttir" in str(run(f"%%tritonkernel --ir llvm\n{CELL}").error)


def test_findings_fail_the_cell_at_the_line(run):
    ran = run(f"%%tritonkernel {CHECK}\n{CELL}")
    assert isinstance(ran.error, CheckError)
    assert ran.error.place.source_line.strip().startswith("tl.store(x_ptr + at, tl.load(")


def test_a_debugging_session_is_the_value_of_the_cell(run, shell):
    ran = run(f'%%tritonkernel --debug "double[(2,)](x, 100, BLOCK=64)"\n{CELL}')
    assert isinstance(ran.result, Session)
    assert (shell.user_ns["x"] == 1).all()  # nothing was launched


@pytest.mark.parametrize("options, words", [("", "launches no Triton kernel"), ('--run "x.sum()"', "launched no Triton kernel"),
                                            ('--check "x.sum()"', "launches no Triton kernel"), ("--arch sm_75", "sm_120a")])  # fmt: skip
def test_mistakes_are_explained(run, options, words):
    error = run(f"%%tritonkernel {options}\n{CELL}").error
    assert words in str(error) and (isinstance(error, UsageError) or "sm_75" in options)
