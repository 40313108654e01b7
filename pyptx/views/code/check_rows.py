"""The verdict of a check as data of a linked view: its findings with the PTX rows that take part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyptx.analysis.ptx_rows import statement_rows
from pyptx.ir.nodes import Module

__all__ = ["check_rows", "finding_text"]


def check_rows(
    report: Mapping[str, Any], headline: str, checked: tuple[Module, str], shown: tuple[Module, str]
) -> dict[str, Any]:
    """Return {"headline", "ok", "findings"}; each finding has severity, rule, message, fix, `rows` of the PTX and their `roles`.

    Args:
        report: of `Report.to_json`; its PTX lines are those of the text that was checked.
        headline: its first line.
        checked, shown: the module and its text, as checked and as shown; they differ in directives such as `.loc` at most.
    """
    rows = _row_map(checked, shown)
    findings = []
    for found in report["findings"]:
        places = [(rows.get(place["ptx_line"] - 1), place["role"]) for place in found["places"]]
        known = [(row, role) for row, role in places if row is not None]
        findings.append(
            {
                **{name: found[name] for name in ("severity", "rule", "message", "fix")},
                "rows": [row for row, _ in known],
                "roles": [role for _, role in known],
            }
        )
    return {"headline": headline, "ok": report["ok"], "findings": findings}


def finding_text(found: Mapping[str, Any]) -> str:
    """Return a finding in one line, with its PTX lines."""
    lines = ", ".join(f"PTX {row + 1} {role}" for row, role in zip(found["rows"], found["roles"], strict=True))
    return f"{found['severity']}[{found['rule']}]{f' at {lines}' if lines else ''}: {found['message']}"


def _row_map(checked: tuple[Module, str], shown: tuple[Module, str]) -> Mapping[int, int]:
    """Return the shown row of each checked row of a statement."""
    before, after = (_statement_rows(*one) for one in (checked, shown))
    if checked[1] == shown[1]:
        return {row: row for row in before}
    return dict(zip(before, after, strict=True)) if len(before) == len(after) else {}


def _statement_rows(module: Module, text: str) -> Sequence[int]:
    return list(statement_rows(module, text.removesuffix("\n").split("\n")))
