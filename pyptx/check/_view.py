"""Reports in notebooks: the data that the renderer draws (`pyptx/renderer/reports/`), with text and HTML for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyptx._loc import shown_name
from pyptx.check._text import instruction, position

if TYPE_CHECKING:
    from pyptx.check.finding import Finding
    from pyptx.check.report import Report

__all__ = ["MIME", "ReportView"]

MIME = "application/vnd.pyptx.view+json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as JSON values for the renderer. Files are named as users know them, such as "Cell In[3]"."""

    report: Report

    def to_json(self) -> dict[str, Any]:
        """Return the content of the MIME type."""
        report = self.report
        return {
            "kind": "report",
            "version": VERSION,
            "title": report.kernel,
            "headline": report.headline,
            "ok": report.ok,
            "findings": [_finding(finding, report.schedules) for finding in report.findings],
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/plain": self.report.text(), "text/html": self.report.to_html()}


def _finding(finding: Finding, schedules: tuple[str, ...]) -> dict[str, Any]:
    places = []
    for location in finding.places:
        where, source = position(location)
        places.append(
            {
                "role": location.role,
                "where": where,
                "file": shown_name(location.place.file) if location.place else None,
                "line": location.place.line if location.place else None,
                "source": source,
                "ptx": instruction(location),
                "ptx_line": location.ptx_line,
            }
        )
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "fix": finding.fix,
        "ignored": finding.ignored,
        "schedules": list(finding.schedules) if finding.schedules != schedules else [],
        "places": places,
    }
