"""`%%ptxkernel --check`: a call of a kernel of the cell in several schedules."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from pyptx.check import CheckError, Report

CELL = """
from pyptx import kernel, Tile, ptx, reg, smem
from pyptx.types import f32, u32
import numpy as np
x = np.ones(128, np.float32)

@kernel(arch="sm_90a", in_specs=[Tile(128, f32)], out_specs=[Tile(128, f32)], grid=1, block=(128, 1, 1))
def late(x, y):
    buffer = smem.alloc(f32, (128,), align=16)
    tid = reg.from_(ptx.special.tid.x(), u32)
    source, to = ptx.global_ptrs(x, y)
    for pointer in (source, to):
        ptx.inst.mad.wide.u32(pointer, tid, 4, pointer)
    ptx.inst.cp.async_.ca.shared.global_(ptx.addr(reg.from_(buffer.name, u32) + tid * 4), ptx.addr(source), 4)
    value = reg.scalar(f32)
    ptx.inst.ld.shared.f32(value, ptx.addr(reg.from_(buffer.name, u32) + tid * 4))
    ptx.inst.st.global_.f32(ptx.addr(to), value)
"""


def test_the_report_is_shown_with_the_lines_of_the_cell(run, shell):
    ran = run(f'%%ptxkernel --check "late(x)"\n{CELL}')
    assert isinstance(ran.error, CheckError) and "found the errors listed in the report above" in str(ran.error)
    assert ran.error.place.source_line.strip().startswith("ptx.inst.cp.async_.ca")
    report = next(output for output in ran.outputs if "error:" in str(output.data.get("text/html", "")))
    assert "late: 1 error in eager, late, 4 random schedules" in report.data["text/plain"]
    assert "ptx.inst.cp.async_.ca.shared.global_(" in report.data["text/html"]
    assert isinstance(shell.user_ns["late"].check(shell.user_ns["x"]), Report)


@pytest.mark.parametrize("call", ["x.sum()", "late(", "other(x)", "late"])
def test_only_calls_of_the_cells_kernels_can_be_checked(run, call):
    error = run(f'%%ptxkernel --check "{call}"\n{CELL}').error
    assert isinstance(error, UsageError) and "expected a call of a kernel of this cell" in str(error)


def test_a_kernel_is_shown_with_the_sizes_it_was_checked_with(run):
    ran = run(
        '%%ptxkernel --check "nothing(x)"\n'
        + CELL.split("@kernel")[0]
        + "@kernel(in_specs=[Tile('N', f32)], out_specs=[Tile('N', f32)])\ndef nothing(x, y):\n    x.shape[0]\n"
    )
    assert isinstance(ran.error, CheckError)  # the report's, and not of sizes that are missing
