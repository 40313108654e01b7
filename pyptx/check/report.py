"""Reports of checks, and their text, HTML, JSON, and SARIF forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyptx.check import _html, _sarif, _text
from pyptx.check.finding import Finding
from pyptx.errors import PtxError

__all__ = ["CheckError", "Report"]


class CheckError(PtxError, RuntimeError):
    """A checked kernel has findings, in `report`. The message is the report unless another one is given."""

    def __init__(self, report: Report, message: str | None = None):
        places = [location.place for finding in report.errors for location in finding.places] if message else []
        super().__init__(message or report.text(), at=next((place for place in places if place), None))
        self.report = report


@dataclass(frozen=True, slots=True)
class Report:
    """The result of checking a kernel.

    Attributes:
        kernel: name of the kernel.
        findings: findings, worst first.
        schedules: all schedules that ran.
        params: sizes and template parameters of the specialization.
        seconds: duration of the check.
    """

    kernel: str
    findings: tuple[Finding, ...]
    schedules: tuple[str, ...]
    params: Mapping[str, Any]
    seconds: float

    @property
    def ok(self) -> bool:
        """True if there are no findings except notes."""
        return all(finding.severity == "note" for finding in self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def raise_if_found(self) -> None:
        """Raise an error unless the report is ok.

        Raises:
            CheckError: there are findings other than notes.
        """
        if not self.ok:
            raise CheckError(self)

    def text(self, color: bool = False, width: int | None = None) -> str:
        """Return the report for a terminal, wrapped at `width` columns if given."""
        return _text.text(self, color, width)

    def to_html(self) -> str:
        """Return the report as self-contained HTML without scripts or style sheets."""
        return _html.html(self)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON."""
        return {
            "kernel": self.kernel,
            "params": {name: _plain(value) for name, value in self.params.items()},
            "ok": self.ok,
            "schedules": list(self.schedules),
            "seconds": self.seconds,
            "findings": [finding.to_json() for finding in self.findings],
        }

    def to_sarif(self) -> dict[str, Any]:
        """Return the report as a SARIF 2.1.0 log, for code review annotations."""
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
