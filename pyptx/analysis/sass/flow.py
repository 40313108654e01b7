"""Basic blocks and loops of machine code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from pyptx.analysis.flow import Ending, Flow, flow_of
from pyptx.toolchain import SassLine

__all__ = ["sass_flow", "target_rows"]

_ENDS = re.compile(r"BRA|BRXU?|CALLU?|JMP|JMXU?|EXIT|RET|KILL|RTT")
_BY_REGISTER = re.compile(r"BRXU?|CALLU?|JMXU?|RET")
_ALWAYS = ("PT", "!UPT", "UPT", "")             # guards under which a row is always, or always not, left


def target_rows(sass: Sequence[SassLine]) -> tuple[int, ...]:
    """Row that each branch, call or BSSY names, -1: none, or one that only a register tells."""
    row_at = {(line.entry, line.address): row for row, line in enumerate(sass)}
    return tuple(-1 if line.target_address is None or _by_register(line) else
                 row_at.get((line.entry, line.target_address), -1) for line in sass)


def _by_register(line: SassLine) -> bool:
    """Whether the address is a sum with a register: what is written is its base, the beginning of the function."""
    return bool(_BY_REGISTER.fullmatch(line.opcode.partition(".")[0])
                and re.search(r"\bU?R\d+\b", line.text.partition(line.opcode)[2]))


def sass_flow(sass: Sequence[SassLine]) -> Flow:
    """Blocks and loops of machine code. Where a branch through a register goes is not known.

    A call counts as a branch that may pass: what ptxas puts behind a kernel as a function is reached by it.
    """
    functions, first = [], 0
    for _, lines in groupby(sass, key=lambda line: line.entry):
        functions.append((first, first := first + len(list(lines))))
    endings = {row: Ending(() if target < 0 else (target,), _may_pass(line))
               for row, (line, target) in enumerate(zip(sass, target_rows(sass), strict=True))
               if _ENDS.fullmatch(line.opcode.partition(".")[0])}
    return flow_of(len(sass), functions, endings)


def _may_pass(line: SassLine) -> bool:
    """Whether control may go on with the next row: under a guard, after a call, or where a branch asks a predicate."""
    if line.opcode.startswith("CALL") or (line.predicate or "").lstrip("@") not in _ALWAYS:
        return True
    guards = re.findall(r"\bU?P(?:\d+|T)\b", line.text.partition(line.opcode)[2])
    return line.opcode.startswith("BRA") and any(not guard.endswith("PT") for guard in guards)
