"""Findings of a check, and the instructions that take part in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyptx._loc import SourceLocation

__all__ = ["SEVERITIES", "Finding", "Location"]

SEVERITIES = ("error", "warning", "note")  # worst first


@dataclass(frozen=True, slots=True)
class Location:
    """An instruction that takes part in a finding.

    Attributes:
        role: its role in the finding, such as "reads" or "at fault".
        place: the Python line that emitted it; None for loaded PTX.
        ptx_line, ptx: 1-based line in the PTX text, and the instruction.
    """

    role: str
    place: SourceLocation | None
    ptx_line: int
    ptx: str

    def to_json(self) -> dict[str, Any]:
        """Return the location as plain JSON."""
        return {
            "role": self.role,
            "python": self.place.as_dict() if self.place else None,
            "ptx_line": self.ptx_line,
            "ptx": self.ptx,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a check.

    Attributes:
        rule: its name in RULES.
        severity: "error", "warning", or "note".
        message, fix: what happens, and the usual fix.
        places: the instructions that take part, the cause first; empty if unknown.
        tensor, index: the array and the first element that is affected, if any.
        schedules: the schedules that show it, such as "late" or "random (seed 3)".
        ignored: why the rule is ignored, if it is; the severity is then "note".
    """

    rule: str
    severity: str
    message: str
    fix: str | None = None
    places: tuple[Location, ...] = ()
    tensor: str | None = None
    index: tuple[int, ...] | None = None
    schedules: tuple[str, ...] = ()
    ignored: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "message": self.message,
            "fix": self.fix,
            "places": [place.to_json() for place in self.places],
            "tensor": self.tensor,
            "index": list(self.index) if self.index is not None else None,
            "schedules": list(self.schedules),
            **({"ignored": self.ignored} if self.ignored else {}),
        }
