"""A diff as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyptx.analysis.diff.comparison import CLASSES, Hunk, Row
from pyptx.views.diffs.facts import delta_text, shown

if TYPE_CHECKING:
    from pyptx.views.diffs.diff import Diff

__all__ = ["LEVELS", "MARKS", "cause_text", "other_verdicts", "row_label", "sections", "text"]

MARKS = (" ", "≈", "↕", "!")  # of a row: identical, renamed, rescheduled, different
FOLD = -1  # instead of a class, for folded rows
LEVELS = {"sass": "SASS", "ptx": "PTX", "python": "Python"}
WIDTH = 56  # of the left side
COLORS = ("", "36", "33", "31")  # ANSI codes of the classes
BOLD = "1"


def text(diff: Diff, context: int = 3, limit: int | None = None, color: bool = False) -> str:
    """Render the verdict, the resources, then the rows side by side with identical runs folded."""
    lines = [f"\033[{code}m{line}\033[0m" if color and code and line else line for code, line in _lines(diff, context)]
    if limit is not None and len(lines) > limit:
        lines[limit:] = [f"... {len(lines) - limit} more lines; .text() shows all, .page() is the live view"]
    return "\n".join(lines)


def _lines(diff: Diff, context: int) -> Iterator[tuple[str, str]]:
    """Yield (ANSI code, line)."""
    left, right = diff.left, diff.right
    yield BOLD, f"{left.title} ({left.target})  |  {right.title} ({right.target})   {diff.level}"
    yield BOLD, diff.verdict
    yield from (("", f"  {line}") for line in other_verdicts(diff))
    for fact in diff.facts:
        if fact.kind == "use" and (fact.left != fact.right or fact.good):
            yield (
                "",
                (
                    f"  {fact.label:<32}{shown(fact, fact.left):>10} → {shown(fact, fact.right):<10} {delta_text(fact)}"
                ).rstrip(),
            )
    groups = [
        f"{fact.label} {fact.left} → {fact.right}"
        for fact in diff.facts
        if fact.kind == "group" and fact.left != fact.right
    ]
    if groups:
        yield "", "  by group: " + ", ".join(groups)
    if diff.identical:
        return
    yield "", f"  {MARKS[1]} renamed   {MARKS[2]} rescheduled   {MARKS[3]} different"
    for kind, first, last in sections(diff, context):
        if kind == FOLD:
            yield "", f"      ... {last - first} identical ..."
            continue
        if kind != 0:
            rows = f"{last - first} {'row' if last - first == 1 else 'rows'}"
            yield BOLD, f"--- {CLASSES[kind]}, {rows}{cause_text(diff, first, last, kind)}"
        for row in diff.compared.rows[first:last]:
            one, other = (_cell(diff, side, line) for side, line in (("left", row.a), ("right", row.b)))
            yield COLORS[row.kind], f"{MARKS[row.kind]} {one:<{WIDTH}} | {other}{row_label(diff, row)}".rstrip()


def other_verdicts(diff: Diff) -> list[str]:
    """Return "PTX: Different: 3 lines differ." for each of the other levels."""
    return [
        one.verdict if LEVELS[one.name] in one.verdict else f"{LEVELS[one.name]}: {one.verdict}" for one in diff.others
    ]


def sections(diff: Diff, context: int) -> Iterator[tuple[int, int, int]]:
    """Yield (class or FOLD, first row, end) of hunks; identical ones are folded except near another hunk."""
    hunks = diff.compared.hunks
    for number, hunk in enumerate(hunks):
        if hunk.kind:
            yield hunk.kind, hunk.start, hunk.end
            continue
        head = hunk.start + (context if number else 0)
        tail = hunk.end - (context if number + 1 < len(hunks) else 0)
        if tail - head < 2:
            yield 0, hunk.start, hunk.end
            continue
        if head > hunk.start:
            yield 0, hunk.start, head
        yield FOLD, head, tail
        if tail < hunk.end:
            yield 0, tail, hunk.end


def cause_text(diff: Diff, first: int, last: int, kind: int) -> str:
    """Return the Python lines that caused rows, ": sgemm.py line 41, 52 | sgemm.py line 41", at most three per side."""
    if diff.level == "python":
        return ""
    causes = diff.causes(Hunk(first, last, kind))
    words = []
    for side in ("left", "right"):
        files: dict[str, list[int]] = {}
        for file, line in causes[side][:3]:
            files.setdefault(file, []).append(line)
        more = f" and {len(causes[side]) - 3} more" if len(causes[side]) > 3 else ""
        words.append(", ".join(f"{file} line {', '.join(map(str, lines))}" for file, lines in files.items()) + more)
    if not any(words):
        return ""
    return ": " + (words[0] if words[0] == words[1] else " | ".join(word or "-" for word in words))


def row_label(diff: Diff, row: Row) -> str:
    """Return the remark of a row: the partner of a moved line, or the reason of a difference."""
    if row.partner >= 0:
        other = diff.right if row.a >= 0 else diff.left
        return f"   [moved, {'right' if row.a >= 0 else 'left'} {other.sass.address[row.partner]:04x}]"
    return f"   [{row.why}]" if row.why and row.a >= 0 and row.b >= 0 else ""


def _cell(diff: Diff, side: str, line: int) -> str:
    if line < 0:
        return ""
    view = getattr(diff, side)
    if diff.level == "sass":
        return f"{view.sass.address[line]:04x}  {view.sass.text[line]}"
    number = line + 1 if diff.level == "ptx" else view.python.line[line] or ""  # "": between two functions
    return f"{number:>4}  {getattr(view, diff.level).text[line].expandtabs(4)}"
