"""What a check found: findings with their places, and the report that holds them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyptx._loc import Place
from pyptx.check import _html, _text
from pyptx.errors import PtxError

__all__ = ["CheckError", "Finding", "Location", "Report"]

SEVERITIES = ("error", "warning", "note")


class CheckError(PtxError):
    """A checked kernel has findings; `report` holds them. Its text is the report, unless that was shown already."""

    def __init__(self, report: Report, message: str | None = None):
        places = [location.place for finding in report.errors for location in finding.places] if message else []
        super().__init__(message or report.text(), at=next((place for place in places if place), None))
        self.report = report


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
        return {"rule": self.rule, "severity": self.severity, "message": self.message, "fix": self.fix,
                "places": [place.to_json() for place in self.places], "tensor": self.tensor,
                "index": list(self.index) if self.index is not None else None, "schedules": list(self.schedules)}


@dataclass(frozen=True, slots=True)
class Report:
    """What running a kernel in several schedules showed.

    Attributes:
        kernel: its name.               params: sizes and template values it was traced with.
        findings: worst first.          schedules: all that ran.
        seconds: how long the check took.
    """

    kernel: str
    findings: tuple[Finding, ...]
    schedules: tuple[str, ...]
    params: Mapping[str, Any]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether there is nothing but notes."""
        return all(finding.severity == "note" for finding in self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def raise_if_found(self) -> None:
        """Raise when the report is not ok.

        Raises:
            CheckError: with the report as its text.
        """
        if not self.ok:
            raise CheckError(self)

    def text(self, colour: bool = False) -> str:
        """The report for a terminal."""
        return _text.text(self, colour)

    def to_html(self) -> str:
        """The report as HTML that needs no script and no style sheet."""
        return _html.html(self)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {"kernel": self.kernel, "params": {name: _plain(value) for name, value in self.params.items()},
                "ok": self.ok, "schedules": list(self.schedules), "seconds": self.seconds,
                "findings": [finding.to_json() for finding in self.findings]}

    def to_sarif(self) -> dict[str, Any]:
        """The report as a SARIF 2.1.0 log, for services that annotate the lines of a change."""
        from pyptx.check.sarif import sarif

        return sarif([self])

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.to_html()}


def _plain(value: Any) -> Any:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
    return value
