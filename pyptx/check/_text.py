"""Reports as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from pyptx.check.finding import Location

if TYPE_CHECKING:
    from pyptx.check.report import Report

__all__ = ["headline", "instruction", "position", "text"]

_COLORS = {"error": "31", "warning": "33", "note": "36", "good": "32"}


def text(report: Report, color: bool = False, width: int | None = None) -> str:
    """Return a report as text, wrapped at `width` columns if given."""
    return "\n".join(_lines(report, _ansi if color else _plain, width))


def headline(report: Report) -> str:
    """Return the kernel, the number of findings of each severity, and the schedules."""
    count = {s: sum(f.severity == s for f in report.findings) for s in ("error", "warning", "note")}
    found = ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in count.items() if n) or "no findings"
    given = ", ".join(f"{name}={value}" for name, value in report.params.items())
    return f"{report.kernel}{f' ({given})' if given else ''}: {found} in {_schedules(report.schedules)}"


def position(location: Location) -> tuple[str, str]:
    """Return the position of a location and its source line."""
    ptx = f"PTX line {location.ptx_line}"
    if location.place is None:
        return (ptx, instruction(location)) if location.ptx_line else (location.ptx, "")
    place = location.place
    if not location.ptx_line:  # a call
        return f"{place}", place.source_line.strip()
    return f"{place} ({ptx})", place.source_line.strip() or instruction(location)


def instruction(location: Location) -> str:
    """Return the instruction, with long register vectors abbreviated."""
    return re.sub(r"\{([^{},]+)(, [^{},]+){4,}, ([^{},]+)\}", r"{\1, ..., \3}", location.ptx)


def _schedules(names: tuple[str, ...]) -> str:
    drawn = [name for name in names if name.startswith("random")]
    words = [name for name in names if name not in drawn]
    if drawn:
        words.append(f"{len(drawn)} random schedule{'s' if len(drawn) > 1 else ''}")
    return ", ".join(words)


def _lines(report: Report, paint: Callable[[str, str], str], width: int | None) -> Iterator[str]:
    yield paint(headline(report), "good" if report.ok else "error")
    for finding in report.findings:
        yield ""
        name = f"{finding.severity}[{finding.rule}]"
        first, *rest = _prose(f"{name}: {finding.message}", width, "  ")
        yield paint(first[: len(name)], finding.severity) + first[len(name) :]
        yield from rest
        for location in finding.places:
            where, source = position(location)
            yield f"  {location.role}: {where}"
            if source:
                yield f"      {source}"
            if location.place is not None:
                yield from (f"      called from {caller}" for caller in location.place.stack[1:])
                if location.ptx not in source:
                    yield f"      {instruction(location)}"
        if finding.ignored:
            yield from _prose(f"  ignored: {finding.ignored}", width, "    ")
        if finding.schedules and finding.schedules != report.schedules:
            yield f"  schedules: {', '.join(finding.schedules)}"
        if finding.fix:
            yield from _prose(f"  hint: {finding.fix}", width, "    ")


def _prose(text: str, width: int | None, indent: str) -> Iterator[str]:
    """Wrap text at `width` columns, with continuation lines indented."""
    for line in text.split("\n"):
        margin = line[: len(line) - len(line.lstrip())]
        broken = (
            wrap(line, width, subsequent_indent=margin + indent, break_long_words=False, break_on_hyphens=False)
            if width
            else None
        )
        yield from broken or [line]


def _ansi(line: str, kind: str) -> str:
    return f"\x1b[{_COLORS[kind]}m{line}\x1b[0m"


def _plain(line: str, kind: str) -> str:
    return line
