"""Reports as SARIF 2.1.0 logs (OASIS, sarif-v2.1.0-os)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pyptx.check.finding import Finding, Location
from pyptx.check.rules import RULES

if TYPE_CHECKING:
    from pyptx.check.report import Report

__all__ = ["joined_sarif", "sarif"]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(report: Report) -> dict[str, Any]:
    """Return a report as a log with one run; file names are relative to the current folder."""
    base = Path(os.curdir).resolve()
    used = list(dict.fromkeys(finding.rule for finding in report.findings))
    return _log(used, [_result(report.kernel, finding, used, base) for finding in report.findings])


def joined_sarif(logs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the results of several logs of `sarif`, each once, as a log with one run."""
    results = [result for log in logs for run in log["runs"] for result in run["results"]]
    used = list(dict.fromkeys(result["ruleId"] for result in results))
    numbered = [{**result, "ruleIndex": used.index(result["ruleId"])} for result in results]
    return _log(used, list({json.dumps(result, sort_keys=True): result for result in numbered}.values()))


def _log(used: list[str], results: list[dict[str, Any]]) -> dict[str, Any]:
    rules = [{"id": rule, "shortDescription": {"text": RULES[rule]}} for rule in used]
    run = {
        "tool": {"driver": {"name": "pyptx check", "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(kernel: str, finding: Finding, rules: list[str], base: Path) -> dict[str, Any]:
    text = finding.message + (f"\nHint: {finding.fix}" if finding.fix else "")
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": finding.severity,
        "message": {"text": text},
        "properties": {"kernel": kernel, "schedules": list(finding.schedules)},
    }
    if finding.ignored:
        result["suppressions"] = [{"kind": "external", "justification": finding.ignored}]
    physical = [(place, _physical(place, base)) for place in finding.places]
    located = [(place, where) for place, where in physical if where is not None]
    if located:
        result["locations"] = [{"physicalLocation": located[0][1], "message": {"text": located[0][0].role}}]
    related = located[1:]
    if related:
        result["relatedLocations"] = [
            {"id": k, "physicalLocation": where, "message": {"text": place.role}}
            for k, (place, where) in enumerate(related, 1)
        ]
    if not located:
        result["locations"] = [{"logicalLocations": [{"name": kernel, "kind": "function"}]}]
    return result


def _physical(location: Location, base: Path) -> dict[str, Any] | None:
    """Return file and region of a location; None for PTX without a Python line."""
    place = location.place
    if place is None:
        return None
    line, end_line, column, end_column = place.position
    region: dict[str, Any] = {"startLine": line, "snippet": {"text": place.source_line}}
    if end_line >= line:
        region["endLine"] = end_line
    if column is not None:
        region["startColumn"] = column + 1
        if end_column is not None and (end_line > line or end_column > column):
            region["endColumn"] = end_column + 1
    return {"artifactLocation": {"uri": _uri(place.file, base)}, "region": region}


def _uri(file: str, base: Path) -> str:
    path = Path(file)
    if not path.is_file():  # a notebook cell
        return quote(file)
    path = path.resolve()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_uri()
