"""Registers and machine code of PTX text by its lines, for editors.

    python -m pyptx.workbench.line_costs [TARGET] < FILE.ptx

prints the JSON of `LineCosts`, or `{"message": text}` with status 1. An editor runs it as a process that it can stop.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

from pyptx.errors import PtxError
from pyptx.workbench.program import load

__all__ = ["EntryCosts", "LineCosts", "line_costs"]


@dataclass(frozen=True, slots=True)
class EntryCosts:
    """Resource usage of a kernel: registers of a thread, bytes that spill, machine instructions."""

    name: str
    registers: int
    spill_bytes: int
    instructions: int


@dataclass(frozen=True)
class LineCosts:
    """Machine code of a module.

    Attributes:
        target: "sm_90a".
        lines: 1-based PTX line -> (machine instructions, maximum of the general registers live at any of them).
        listing: the machine code as text.
    """

    target: str
    entries: tuple[EntryCosts, ...]
    lines: dict[int, tuple[int, int]]
    listing: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values, which `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LineCosts:
        """Return what `to_json` wrote, also after it was text."""
        entries = tuple(EntryCosts(**entry) for entry in data["entries"])
        lines = {int(line): (counts[0], counts[1]) for line, counts in data["lines"].items()}
        return cls(data["target"], entries, lines, data["listing"])


def line_costs(text: str, target: str | None = None) -> LineCosts:
    """Assemble a module and return its costs by line.

    Args:
        target: assemble for this target instead of the one in the text.
    Raises:
        PtxError: it is not valid, it has no entry, or ptxas or nvdisasm is missing or refuses it.
    """
    compiled = load(text.encode("utf-8", "replace")).compile(arch=target)  # half a character may be in a comment only
    lines: dict[int, tuple[int, int]] = {}
    for one in compiled.sass:
        if one.ptx_line is not None:
            count, live = lines.get(one.ptx_line, (0, 0))
            lines[one.ptx_line] = count + 1, max(live, one.live.gpr if one.live else 0)
    entries = []
    for name in compiled.resources:
        used = compiled.summary(name)
        entries.append(EntryCosts(name, used["registers"], used["spill_bytes"], used["instructions"]))
    return LineCosts(compiled.target, tuple(entries), lines, compiled.listing(control=True))


def main() -> int:
    """Read PTX from standard input and print its costs as JSON."""
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    try:
        answer, status = line_costs(text, sys.argv[1] if len(sys.argv) > 1 else None).to_json(), 0
    except PtxError as error:
        answer, status = {"message": str(error)}, 1
    print(json.dumps(answer, separators=(",", ":")))
    return status


if __name__ == "__main__":
    sys.exit(main())
