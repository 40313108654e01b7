"""One thing a check found, and the instructions that take part in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyptx._loc import Place

__all__ = ["SEVERITIES", "Finding", "Location"]

SEVERITIES = ("error", "warning", "note")               # worst first


@dataclass(frozen=True, slots=True)
class Location:
    """An instruction that takes part in a finding.

    Attributes:
        role: what it does there, such as "lands late" or "faults".
        place: the Python line that wrote it; None for PTX that was loaded.
        ptx_line, ptx: 1-based line in the PTX text, and the instruction.
    """

    role: str
    place: Place | None
    ptx_line: int
    ptx: str

    def to_json(self) -> dict[str, Any]:
        """The place as numbers, strings and dicts."""
        return {"role": self.role, "python": self.place.as_dict() if self.place else None, "ptx_line": self.ptx_line,
                "ptx": self.ptx}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or worth knowing.

    Attributes:
        rule: its name in RULES.
        severity: "error", "warning" or "note".
        message, fix: what happens; what usually repairs it.
        places: the instructions it is about, those that cause it first; empty when they are not known.
        tensor, index: the array and the first element it shows in, when it is about one.
        schedules: those in which it shows, "late" or "random (seed 3)".
    """

    rule: str
    severity: str
    message: str
    fix: str | None = None
    places: tuple[Location, ...] = ()
    tensor: str | None = None
    index: tuple[int, ...] | None = None
    schedules: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The finding as numbers, strings, lists and dicts."""
        return {"rule": self.rule, "severity": self.severity, "message": self.message, "fix": self.fix,
                "places": [place.to_json() for place in self.places], "tensor": self.tensor,
                "index": list(self.index) if self.index is not None else None, "schedules": list(self.schedules)}
