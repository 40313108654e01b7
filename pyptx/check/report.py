"""What a check found, in every form it is shown or kept in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyptx.check import _html, _sarif, _text
from pyptx.check.finding import Finding
from pyptx.errors import PtxError

__all__ = ["CheckError", "Report"]

class CheckError(PtxError):
    """A checked kernel has findings; `report` holds them. Its text is the report, unless that was shown already."""

    def __init__(self, report: Report, message: str | None = None):
        places = [location.place for finding in report.errors for location in finding.places] if message else []
        super().__init__(message or report.text(), at=next((place for place in places if place), None))
        self.report = report


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

    def text(self, colour: bool = False, width: int | None = None) -> str:
        """The report for a terminal, prose broken into lines of `width` where that is given."""
        return _text.text(self, colour, width)

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
        return _sarif.sarif(self)

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
