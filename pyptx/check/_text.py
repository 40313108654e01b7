"""A report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["headline", "spot", "text"]

_COLOURS = {"error": "31", "warning": "33", "note": "36", "good": "32"}


def text(report: Any, colour: bool = False) -> str:
    return "\n".join(_lines(report, _ansi if colour else _plain))


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
        return ptx, location.ptx
    place = location.place
    return f"{place} ({ptx})", place.source_line.strip() or location.ptx


def _schedules(names: tuple[str, ...]) -> str:
    drawn = [name for name in names if name.startswith("random")]
    words = [name for name in names if name not in drawn]
    if drawn:
        words.append(f"{len(drawn)} random schedule{'s' if len(drawn) > 1 else ''}")
    return ", ".join(words)


def _lines(report: Any, paint) -> Iterator[str]:
    yield paint(headline(report), "good" if report.ok else "error")
    for finding in report.findings:
        yield ""
        yield f"{paint(f'{finding.severity}[{finding.rule}]', finding.severity)}: {finding.message}"
        for location in finding.places:
            where, source = spot(location)
            yield f"  {location.role}: {where}"
            yield f"      {source}"
            if location.place is not None:
                yield from (f"      called from {caller}" for caller in location.place.stack[1:])
                if location.ptx not in source:
                    yield f"      {location.ptx}"
        if finding.schedules and finding.schedules != report.schedules:
            yield f"  shows in: {', '.join(finding.schedules)}"
        if finding.fix:
            yield f"  hint: {finding.fix}"


def _ansi(line: str, kind: str) -> str:
    return f"\x1b[{_COLOURS[kind]}m{line}\x1b[0m"


def _plain(line: str, kind: str) -> str:
    return line
