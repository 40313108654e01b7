"""Basic blocks and loops of machine code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from pyptx._lazy import pattern
from pyptx.analysis.control_flow import BlockEnd, ControlFlow, find_control_flow
from pyptx.toolchain import SassLine

__all__ = ["sass_control_flow", "target_rows"]

_ENDS = pattern(r"BRA|BRXU?|CALLU?|JMP|JMXU?|EXIT|RET|KILL|RTT")
_BY_REGISTER = pattern(r"BRXU?|CALLU?|JMXU?|RET")
_UNCONDITIONAL = ("PT", "!UPT", "UPT", "")  # guards with a constant value


def target_rows(sass: Sequence[SassLine]) -> tuple[int, ...]:
    """Return the target row of each branch, call or BSSY; -1: none, or an indirect target."""
    row_at = {(line.entry, line.address): row for row, line in enumerate(sass)}
    return tuple(
        -1 if line.target_address is None or _is_indirect(line) else row_at.get((line.entry, line.target_address), -1)
        for line in sass
    )


def _is_indirect(line: SassLine) -> bool:
    """Return True when the target is the sum of a base, the start of the function, and a register."""
    return bool(
        _BY_REGISTER.fullmatch(line.opcode.partition(".")[0])
        and re.search(r"\bU?R\d+\b", line.text.partition(line.opcode)[2])
    )


def sass_control_flow(sass: Sequence[SassLine]) -> ControlFlow:
    """Return blocks and loops of machine code; targets of indirect branches are unknown.

    A call counts as a conditional branch: it reaches the functions that ptxas appends to a kernel.
    """
    functions, first = [], 0
    for _, lines in groupby(sass, key=lambda line: line.entry):
        functions.append((first, first := first + len(list(lines))))
    endings = {
        row: BlockEnd(() if target < 0 else (target,), _may_fall_through(line))
        for row, (line, target) in enumerate(zip(sass, target_rows(sass), strict=True))
        if _ENDS.fullmatch(line.opcode.partition(".")[0])
    }
    return find_control_flow(len(sass), functions, endings)


def _may_fall_through(line: SassLine) -> bool:
    """Return True when control may continue with the next row: guarded, a call, or a branch on a predicate."""
    if line.opcode.startswith("CALL") or (line.predicate or "").lstrip("@") not in _UNCONDITIONAL:
        return True
    guards = re.findall(r"\bU?P(?:\d+|T)\b", line.text.partition(line.opcode)[2])
    return line.opcode.startswith("BRA") and any(not guard.endswith("PT") for guard in guards)
