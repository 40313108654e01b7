"""The SASS pane of a linked view."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    targets = target_rows(sass)
    lines = [-1 if owner.added_by_ptxas or owner.ptx_line is None else owner.ptx_line - 1 for owner in owners]
    _assign_subroutines(lines, [line.opcode for line in sass], targets)
    controls, live = [line.control for line in sass], [line.live for line in sass]
    needs = dataflow.dependences()
    return SassPane(
        text=tuple(re.sub(r"\s{2,}", "  ", line.text.rstrip(" ;")) for line in sass),
        address=tuple(line.address for line in sass),
        ptx=tuple(lines),
        group=tuple(GROUPS.index(opcode_group(line.opcode)) for line in sass),
        target=targets,
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


def _assign_subroutines(lines: list[int], opcodes: Sequence[str], targets: Sequence[int]) -> None:
    """Assign the functions that ptxas appends to a kernel, such as a division's slow path, to the PTX line that calls them.

    The line table gives them the last line of the kernel. A function that several lines call belongs to none.
    """
    callers: dict[int, set[int]] = {}
    for row, opcode in enumerate(opcodes):
        if opcode.startswith("CALL") and targets[row] > row:
            callers.setdefault(targets[row], set()).add(lines[row])
    for start, found in callers.items():
        if not any(opcode.startswith("EXIT") for opcode in opcodes[:start]):
            continue
        end = next((row for row in range(start, len(opcodes)) if opcodes[row].startswith("RET")), start - 1)
        own = set(lines[start : end + 1]) - {-1}
        if len(own) == 1:  # of the line table's last line alone, so not a function with lines of its own
            lines[start : end + 1] = [min(found) if len(found) == 1 else -1] * (end + 1 - start)


def _barrier(number: int | None) -> int:
    return -1 if number is None or number > 5 else number
