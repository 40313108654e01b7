"""Excerpts of a debugging session for text and static HTML: lines around a place, selected warps and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyptx.views.debugger.view import DebugView

__all__ = ["SIGNS", "CodeLine", "code", "lane_text", "matrix", "registers", "size_text", "span", "where", "warps"]

# sign of a warp's state, and of why the run stopped
SIGNS = {
    "running": "▶",
    "ready": "○",
    "waiting": "◷",
    "exited": "✓",
    "start": "▷",
    "step": "▸",
    "breakpoint": "●",
    "watchpoint": "◆",
    "fault": "✕",
    "deadlock": "⊘",
    "exit": "✓",
    "interrupt": "‖",
    "finding": "!",
}
LANE_TEXT = 56  # characters of the lanes of a register
_STATE_ORDER = {"running": 0, "waiting": 1, "ready": 2, "exited": 3}


class CodeLine(NamedTuple):
    """A line of source with the warps at it."""

    number: int
    text: str
    here: bool  # the focused warp is at this line
    others: int  # number of other warps at this line
    stops: str  # breakpoint: "●", "◆" with a condition, "○" disabled, or ""


def code(view: DebugView, context: int) -> tuple[str, list[CodeLine], list[CodeLine]]:
    """Return the file, and the lines of Python and of PTX around the place of the focused warp."""
    document, sources = view.document, view.sources
    place, ptx = document["place"], sources["ptx"]
    owner = _owner(sources, place["ptx"])
    line = place["line"] or (owner[1] if owner else None)
    file, python = place["file"] or "", []
    found = _source(sources, file, owner)
    if line and found:
        file = found.get("name", found["file"])
        here = [(warp, _owner(sources, warp["ptx"])) for warp in _others(document)]
        python = [
            CodeLine(
                number,
                found["lines"][number - found["first"]],
                number == line,
                sum(at is not None and at[1] == number and sources["python"][at[0]] is found for _, at in here),
                _stops(document, found["file"], number),
            )
            for number in _around(line, context, found["first"], found["first"] + len(found["lines"]) - 1)
        ]
    at = place["ptx"] or len(ptx)  # past the end
    return (
        file,
        python,
        [
            CodeLine(
                number,
                ptx[number - 1],
                number == place["ptx"],
                sum(warp["ptx"] == number for warp in _others(document)),
                _stops(document, None, number),
            )
            for number in _around(at, context, 1, len(ptx))
        ],
    )


def _around(line: int, context: int, first: int, last: int) -> range:
    return range(max(first, line - context), min(last, line + context) + 1)


def _owner(sources: Mapping[str, Any], ptx: int | None) -> tuple[int, int] | None:
    """Return the file (by index) and line of the Python that wrote a line of PTX."""
    if not ptx or not sources["line_of_ptx"][ptx - 1]:
        return None
    files = sources.get("file_of_ptx")
    return (files[ptx - 1] if files else 0) or 0, sources["line_of_ptx"][ptx - 1]


def _source(sources: Mapping[str, Any], file: str, owner: tuple[int, int] | None) -> Mapping[str, Any] | None:
    if owner:
        return sources["python"][owner[0]]
    return next((source for source in sources["python"] if source["file"] == file), None)


def _others(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (warp for warp in document["warps"] if not _focused(document, warp) and warp["state"] != "exited")


def _focused(document: Mapping[str, Any], warp: Mapping[str, Any]) -> bool:
    focus = document["focus"]
    return list(warp["cta"]) == list(focus["cta"]) and warp["warp"] == focus["warp"]


def _stops(document: Mapping[str, Any], file: str | None, line: int) -> str:
    for point in document["breakpoints"]:
        if file is None:
            there = line in point["ptx"]
        else:
            there = point.get("line") == line and (point.get("file") in (None, file))
        if there:
            return "○" if not point["enabled"] else "◆" if point["condition"] else "●"
    return ""


def where(document: Mapping[str, Any], cta: Sequence[int], warp: int) -> str:
    """Return "CTA 1,0 warp 3", or "warp 3" in a grid of one CTA."""
    grid = document["grid"]
    if grid[0] * grid[1] * grid[2] == 1:
        return f"warp {warp}"
    return f"CTA {','.join(map(str, cta[: max(i + 1 for i in range(3) if i == 0 or grid[i] > 1)]))} warp {warp}"


def size_text(sizes: Sequence[int]) -> str:
    """Return "128 x 2", without trailing ones."""
    parts = list(sizes)
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return " x ".join(map(str, parts))


def warps(document: Mapping[str, Any], most: int) -> tuple[list[tuple[bool, Mapping[str, Any]]], int]:
    """Select at most `most` warps, preferring active ones of the focused CTA.

    Returns:
        (is the focused warp, warp) in order, and the number of warps omitted.
    """
    every = [(_focused(document, warp), warp) for warp in document["warps"]]
    own = list(document["focus"]["cta"])
    order = sorted(
        range(len(every)),
        key=lambda i: (not every[i][0], list(every[i][1]["cta"]) != own, _STATE_ORDER.get(every[i][1]["state"], 9), i),
    )
    return [every[i] for i in sorted(order[:most])], max(0, len(every) - most)


def registers(document: Mapping[str, Any], most: int) -> tuple[list[Mapping[str, Any]], int]:
    """Select at most `most` registers, changed and named ones first; return them and the number omitted."""
    every = document["registers"]
    order = sorted(range(len(every)), key=lambda i: (not every[i]["changed"], not every[i]["python"], i))
    return [every[i] for i in order[:most]], max(0, len(every) - most)


def lane_text(register: Mapping[str, Any]) -> str:
    """Return the values of the lanes: "all 3", or the values with runs of equal ones abbreviated."""
    known = [value for value in register["lanes"] if value is not None]
    if not known:
        return "no value"
    if register["uniform"] or len(set(known)) == 1:
        return f"all {known[0]}"
    words, first, lanes = [], 0, register["lanes"]
    for lane in range(1, len(lanes) + 1):
        if lane < len(lanes) and lanes[lane] == lanes[first]:
            continue
        value = "–" if lanes[first] is None else lanes[first]
        words.append(f"{value} x{lane - first}" if lane - first > 3 else " ".join([value] * (lane - first)))
        first = lane
    fits = 0
    while fits < min(10, len(words)) and sum(map(len, words[: fits + 1])) <= LANE_TEXT:
        fits += 1
    return " ".join([*words[:fits], "…"] if fits < len(words) else words)


def matrix(part: Mapping[str, Any], rows: int, columns: int) -> tuple[list[list[str]], str]:
    """Return the upper left of a tile or fragment as text, and a note on the part omitted."""
    values = [[("–" if value is None else str(value)) for value in line[:columns]] for line in part["values"][:rows]]
    whole, shown = part["shape"], (len(values), len(values[0]) if values else 0)
    if tuple(whole) == shown:
        return values, ""
    first = part.get("first") or (0, 0)
    return values, (
        f"rows {first[0]} to {first[0] + shown[0] - 1} and columns {first[1]} to "
        f"{first[1] + shown[1] - 1} of {whole[0]} x {whole[1]}"
    )


def span(bars: Sequence[Mapping[str, Any]], last: int, now: int, width: int, signs: Mapping[str, str]) -> str:
    """Render a row of the timeline as `width` characters; later spans cover earlier ones."""
    cells, scale = [" "] * width, width / max(1, last)
    for bar in bars:
        until = now if bar["to"] is None else bar["to"]
        begin = min(width - 1, int(bar["from"] * scale))
        for i in range(begin, min(width, max(begin + 1, round(until * scale)))):
            cells[i] = signs.get(bar["kind"], "?")
    return "".join(cells)
