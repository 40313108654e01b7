"""Kernel checks: run a kernel in every schedule that the hardware may choose, and report races, faults, and hazards.

report = kernel.check(a, b)
report.ok, report.findings, report.text(), report.to_json(), report.to_sarif(), report.raise_if_found()
"""

from pyptx.check._sarif import joined_sarif
from pyptx.check.checker import check
from pyptx.check.finding import Finding, Location
from pyptx.check.report import CheckError, Report
from pyptx.check.rules import RULES

__all__ = ["RULES", "CheckError", "Finding", "Location", "Report", "check", "joined_sarif"]
