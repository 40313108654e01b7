"""Find the bug: a kernel run in every schedule that the hardware may choose, and what they disagree about.

    report = kernel.check(a, b)
    report.ok, report.findings, report.text(), report.to_json(), report.to_sarif(), report.raise_if_found()
"""

from pyptx.check.finding import Finding, Location
from pyptx.check.report import CheckError, Report
from pyptx.check.rules import RULES
from pyptx.check.run import check

__all__ = ["RULES", "CheckError", "Finding", "Location", "Report", "check"]
