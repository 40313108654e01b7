"""Reports of checks, and their text, HTML, JSON, and SARIF forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx._notebook import front_end
from pyptx.check import _html, _sarif, _text
from pyptx.check._view import ReportView
from pyptx.check.finding import Finding
from pyptx.errors import ArgumentValueError, PtxError

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
        replayer: opens the debugger at a finding; None if the report has no errors or warnings.
    """

    kernel: str
    findings: tuple[Finding, ...]
    schedules: tuple[str, ...]
    params: Mapping[str, Any]
    seconds: float
    replayer: Callable[[Finding], Any] | None = field(default=None, compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """True if there are no findings except notes."""
        return all(finding.severity == "note" for finding in self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def headline(self) -> str:
        """The kernel, the number of findings of each severity, and the schedules, in one line."""
        return _text.headline(self)

    def raise_if_found(self) -> None:
        """Raise an error unless the report is ok.

        Raises:
            CheckError: there are findings other than notes.
        """
        if not self.ok:
            raise CheckError(self)

    def replay(self, finding: Finding | int | str = 0) -> Any:
        """Open the debugger in the first schedule that shows a finding, on copies of the arrays of the check.

        A race is stopped at its second access, with both accesses on the timeline; a fault or deadlock where it occurs.

        Args:
            finding: one of `findings`, its number, counted from 0, or the name of its rule, such as "data-race".
        Returns:
            The session, as of `Kernel.debug`.
        Raises:
            ArgumentValueError: there is no such finding, or the report has only notes.
            DebugError, LaunchError: the launch cannot be simulated again.
        """
        if isinstance(finding, str):
            finding = self._first_of(finding)
        elif isinstance(finding, int):
            if not 0 <= finding < len(self.findings):
                raise ArgumentValueError(
                    f"finding {finding}: the report of {self.kernel} has {len(self.findings)}",
                    hint="findings count from 0; report.findings lists them",
                )
            finding = self.findings[finding]
        if self.replayer is None:
            raise ArgumentValueError(
                f"the launch behind this report of {self.kernel} is not recorded",
                hint="a check with errors or warnings records it; run it again, or use debug(..., sanitize=True)",
            )
        return self.replayer(finding)

    def _first_of(self, rule: str) -> Finding:
        found = next((one for one in self.findings if one.rule == rule), None)
        if found is None:
            rules = ", ".join(dict.fromkeys(one.rule for one in self.findings)) or "none"
            raise ArgumentValueError(
                f"the report of {self.kernel} has no finding of the rule {rule!r}; it has: {rules}"
            )
        return found

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

    def _display_(self) -> Any:
        """Display in marimo: the live report as an anywidget."""
        return front_end().any_widget(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return ReportView(self)._repr_mimebundle_()

    def _ipython_display_(self) -> None:
        """Display the report; in a notebook that has anywidget, with buttons that replay its findings."""
        front_end().show_report(self)


def _plain(value: Any) -> Any:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return repr(value)
    return value
