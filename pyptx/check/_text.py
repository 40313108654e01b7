"""A report for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

__all__ = ["headline", "instruction", "spot", "text"]

_COLOURS = {"error": "31", "warning": "33", "note": "36", "good": "32"}


def text(report: Any, colour: bool = False, width: int | None = None) -> str:
    """All of it; lines of prose are broken at `width`, where that is given."""
    return "\n".join(_lines(report, _ansi if colour else _plain, width))


def headline(report: Any) -> str:
    """What was run and how many findings of each kind there are."""
    count = {s: sum(f.severity == s for f in report.findings) for s in ("error", "warning", "note")}
    found = ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in count.items() if n) or "nothing found"
    given = ", ".join(f"{name}={value}" for name, value in report.params.items())
    return f"{report.kernel}{f' ({given})' if given else ''}: {found} in {_schedules(report.schedules)}"


def spot(location: Any) -> tuple[str, str]:
    """Where a location is, and the source line there."""
    ptx = f"PTX line {location.ptx_line}"
    if location.place is None:
        return ptx, instruction(location)
    place = location.place
    return f"{place} ({ptx})", place.source_line.strip() or instruction(location)


def instruction(location: Any) -> str:
    """The instruction, of long lists of registers the first and the last."""
    return re.sub(r"\{([^{},]+)(, [^{},]+){4,}, ([^{},]+)\}", r"{\1, ..., \3}", location.ptx)


def _schedules(names: tuple[str, ...]) -> str:
    drawn = [name for name in names if name.startswith("random")]
    words = [name for name in names if name not in drawn]
    if drawn:
        words.append(f"{len(drawn)} random schedule{'s' if len(drawn) > 1 else ''}")
    return ", ".join(words)


def _lines(report: Any, paint, width: int | None) -> Iterator[str]:
    yield paint(headline(report), "good" if report.ok else "error")
    for finding in report.findings:
        yield ""
        name = f"{finding.severity}[{finding.rule}]"
        first, *rest = _prose(f"{name}: {finding.message}", width, "  ")
        yield paint(first[:len(name)], finding.severity) + first[len(name):]
        yield from rest
        for location in finding.places:
            where, source = spot(location)
            yield f"  {location.role}: {where}"
            yield f"      {source}"
            if location.place is not None:
                yield from (f"      called from {caller}" for caller in location.place.stack[1:])
                if location.ptx not in source:
                    yield f"      {instruction(location)}"
        if finding.schedules and finding.schedules != report.schedules:
            yield f"  shows in: {', '.join(finding.schedules)}"
        if finding.fix:
            yield from _prose(f"  hint: {finding.fix}", width, "    ")


def _prose(text: str, width: int | None, indent: str) -> Iterator[str]:
    """Lines no longer than `width`, those that go on further in."""
    for line in text.split("\n"):
        margin = line[:len(line) - len(line.lstrip())]
        broken = wrap(line, width, subsequent_indent=margin + indent, break_long_words=False, break_on_hyphens=False) \
            if width else None
        yield from broken or [line]


def _ansi(line: str, kind: str) -> str:
    return f"\x1b[{_COLOURS[kind]}m{line}\x1b[0m"


def _plain(line: str, kind: str) -> str:
    return line
