"""The SASS pane of a linked view."""

from __future__ import annotations

import re

from pyptx.analysis.sass.control_flow import sass_control_flow, target_rows
from pyptx.analysis.sass.dependences import SassDataflow
from pyptx.analysis.sass.opcodes import GROUPS, opcode_group
from pyptx.assembly import Assembly
from pyptx.toolchain.cubin_info import spilled_bytes
from pyptx.views.code.panes import SassPane

__all__ = ["sass_pane"]


def sass_pane(compiled: Assembly, dataflow: SassDataflow) -> SassPane:
    """Return the SASS of a compiled module as columns."""
    sass = compiled.sass
    owners = [compiled.lines.owner(index) for index in range(len(sass))]
    controls, live = [line.control for line in sass], [line.live for line in sass]
    needs = dataflow.dependences()
    return SassPane(
        text=tuple(re.sub(r"\s{2,}", "  ", line.text.rstrip(" ;")) for line in sass),
        address=tuple(line.address for line in sass),
        ptx=tuple(-1 if owner.added_by_ptxas or owner.ptx_line is None else owner.ptx_line - 1 for owner in owners),
        group=tuple(GROUPS.index(opcode_group(line.opcode)) for line in sass),
        target=target_rows(sass),
        stall=tuple(control.stall for control in controls),
        yields=tuple(int(control.yield_) for control in controls),
        write_barrier=tuple(_barrier(control.write_barrier) for control in controls),
        read_barrier=tuple(_barrier(control.read_barrier) for control in controls),
        wait=tuple(control.wait_mask for control in controls),
        reuse=tuple(control.reuse for control in controls),
        live=tuple(registers.gpr if registers else -1 for registers in live),
        live_pred=tuple(registers.pred if registers else -1 for registers in live),
        live_uniform=tuple(registers.ugpr if registers else -1 for registers in live),
        spill=tuple(map(spilled_bytes, sass)),
        flow=sass_control_flow(sass),
        takes=tuple(tuple(row - other for other in one.operands) for row, one in enumerate(needs)),
        awaits=tuple(tuple(row - other for other in one.barriers) for row, one in enumerate(needs)),
    )


def _barrier(number: int | None) -> int:
    return -1 if number is None or number > 5 else number
