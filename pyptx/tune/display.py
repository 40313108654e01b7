"""Text and HTML tables of a study: progress, the fastest configurations, and reasons for refusals."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from pyptx.tune.points import point_of
from pyptx.tune.trial import Trial, format_time
from pyptx.views.sweeps.sweep import point_columns

if TYPE_CHECKING:
    from pyptx.tune.study import Study

__all__ = ["html", "refusal_counts", "text"]

_ROWS, _REASONS = 12, 8
_INK = "color:var(--jp-content-font-color1,#1b1f24);background:var(--jp-layout-color1,#fff)"
_HEAD = "color:var(--jp-content-font-color1,#1b1f24);background:var(--jp-layout-color2,#f0f2f5)"


def text(study: Study) -> str:
    """Return a study as text."""
    table = _table(study)
    lines = [_title(study), _counts(study), *study.remarks()]
    if len(table) > 1:
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines += [
            "",
            *("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table),
        ]
    reasons = refusal_counts(study)
    if reasons:
        lines += ["", "refused or failed:", *(f"  {count:4} x {reason}" for reason, count in reasons[:_REASONS])]
        if len(reasons) > _REASONS:
            lines.append(f"  and {len(reasons) - _REASONS} more reasons")
    return "\n".join(lines)


def html(study: Study) -> str:
    """Return a study as HTML with inline styles only, for GitHub, nbviewer and dark themes."""

    def cells(row: list[str], tag: str, style: str) -> str:
        return "".join(
            f'<{tag} style="{style};padding:2px 8px;text-align:left;white-space:nowrap">{escape(cell)}</{tag}>'
            for cell in row
        )

    head, *body = (
        "".join(["<tr>", cells(row, "td" if n else "th", _INK if n else _HEAD), "</tr>"])
        for n, row in enumerate(_table(study))
    )
    reasons = "".join(f"<li>{count} × {escape(reason)}</li>" for reason, count in refusal_counts(study)[:_REASONS])
    notes = "".join(f"<div>{escape(note)}</div>" for note in study.remarks())
    refused = f"<details><summary>refused or failed</summary><ul>{reasons}</ul></details>" if reasons else ""
    return (
        f'<div style="{_INK};overflow-x:auto"><b>{escape(_title(study))}</b><div>{escape(_counts(study))}</div>'
        f'{notes}<table style="border-collapse:collapse;{_INK}"><thead>{head}</thead>'
        f"<tbody>{''.join(body)}</tbody></table>{refused}</div>"
    )


def refusal_counts(study: Study) -> list[tuple[str, int]]:
    """Return the reasons for refused, failed and wrong configurations with their counts, most frequent first."""
    found = Counter(
        trial.reason for trial in study.trials if trial.state in ("refused", "failed", "wrong") and trial.reason
    )
    return found.most_common()


def _title(study: Study) -> str:
    environment = study.environment
    gpu, kind = environment["gpu"], environment["kind"]
    where = f"modeled for {gpu}" if kind == "modeled" else f"measured on {gpu}"
    return f"{study.problem}, {where}: {study.state}"


def _counts(study: Study) -> str:
    done, total, left = study.progress
    counts = ", ".join(f"{count} {state}" for state, count in study.counts().items())
    return f"{done} of {total} configurations done" + (f", about {left:.0f} s left" if left else "") + f": {counts}"


def _shown(study: Study) -> list[Trial]:
    usable = [trial for trial in list(study.trials) if trial.usable]
    kind = "measured" if any(trial.kind == "measured" for trial in usable) else "modeled"
    return sorted((t for t in usable if t.kind == kind), key=study.value)[:_ROWS]


def _table(study: Study) -> list[list[str]]:
    """Return a header and the fastest trials, without empty columns."""
    rows = [_row(study, trial) for trial in _shown(study)]
    head = _columns(study)
    kept = [i for i in range(len(head)) if not rows or any(row[i] for row in rows)]
    return [[row[i] for i in kept] for row in (head, *rows)]


def _columns(study: Study) -> list[str]:
    return [*study.space.names, "time", "interval", *(label for _, label, _ in point_columns()), "checked"]


def _row(study: Study, trial: Trial) -> list[str]:
    point = point_of(trial)
    interval = " to ".join(map(format_time, trial.interval)) if trial.interval else ""
    return [
        *(str(trial.config[name]) for name in study.space.names),
        f"{format_time(trial.seconds)} ({trial.kind})" if trial.seconds is not None else "",
        interval,
        *(shown(getattr(point, name)) for name, _, shown in point_columns()),
        "yes" if trial.checked else "no",
    ]
