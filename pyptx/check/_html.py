"""Reports as self-contained HTML without scripts, style sheets, or ids; colors follow the notebook's theme."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pyptx.check._text import headline, instruction, position
from pyptx.check.finding import Finding

if TYPE_CHECKING:
    from pyptx.check.report import Report

__all__ = ["html"]

_BACK = "var(--jp-layout-color1, #fff)"
_FRONT = "var(--jp-content-font-color1, #1f2328)"
_COLORS = {
    "error": "var(--jp-error-color1, #c62828)",
    "warning": "var(--jp-warn-color0, #b25000)",
    "note": "var(--jp-info-color0, #1565c0)",
    "good": "var(--jp-success-color0, #2e7d32)",
}
_CODE = "margin:0;background:none;color:inherit;padding:0;white-space:pre-wrap"
_MARKS = {"error": "✖", "warning": "▲", "note": "ℹ"}


def html(report: Report) -> str:
    """Return a report as HTML: a headline, then a block for each finding."""
    mark, kind = ("✔", "good") if report.ok else ("✖", "error")
    head = f'<div style="color:{_COLORS[kind]};font-weight:600">{mark} {escape(headline(report))}</div>'
    return (
        f'<div style="background:{_BACK};color:{_FRONT};font-size:13px;line-height:1.45;padding:4px 0">{head}'
        + "".join(_finding(finding, report.schedules) for finding in report.findings)
        + "</div>"
    )


def _finding(finding: Finding, schedules: tuple[str, ...]) -> str:
    color = _COLORS[finding.severity]
    lines = "<br>".join(escape(line).replace("    ", "&emsp;") for line in finding.message.split("\n"))
    parts = [
        f'<div><b style="color:{color}">{_MARKS[finding.severity]} {finding.severity}: '
        f"<code>{finding.rule}</code></b></div><div>{lines}</div>"
    ]
    if finding.ignored:
        parts.append(f"<div>Ignored: {escape(finding.ignored)}</div>")
    for location in finding.places:
        where, source = position(location)
        called = "".join(
            f"<div>called from {escape(str(caller))}</div>"
            for caller in (location.place.stack[1:] if location.place else ())
        )
        ptx = f'<pre style="{_CODE}">{escape(instruction(location))}</pre>' if location.ptx not in source else ""
        parts.append(
            f'<div style="margin:4px 0 4px 12px"><i>{escape(location.role)}</i>: <code>{escape(where)}</code>'
            f'<pre style="{_CODE}"><b>{escape(source)}</b></pre>{ptx}{called}</div>'
        )
    if finding.schedules and finding.schedules != schedules:
        parts.append(f"<div>Schedules: {escape(', '.join(finding.schedules))}</div>")
    if finding.fix:
        parts.append(f"<div><b>Hint:</b> {escape(finding.fix)}</div>")
    return (
        f'<div style="border-left:3px solid {color};margin:8px 0;padding:2px 0 2px 10px">' + "".join(parts) + "</div>"
    )
