"""A debugged kernel as text, and the phrases shared with HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyptx.views.debugger.excerpts import (
    SIGNS,
    CodeLine,
    code,
    lane_text,
    matrix,
    registers,
    size_text,
    span,
    warps,
    where,
)

if TYPE_CHECKING:
    from pyptx.views.debugger.view import DebugView

__all__ = [
    "TIMES",
    "barrier_text",
    "headline",
    "matrix_title",
    "stop_text",
    "text",
    "timeline",
    "warp_text",
    "watch_text",
]

MAX_WARPS, MAX_REGISTERS, MAX_BARRIERS, MAX_LANES, MAX_ROWS, MAX_COLUMNS = 16, 16, 12, 24, 16, 16
TIMES = {"run": "=", "wait": ".", "issued": "'", "in flight": "~", "completed": "#", "waited": "+"}


def text(view: DebugView, context: int, width: int) -> str:
    return "\n".join(_lines(view, context, width))


def headline(view: DebugView) -> str:
    """Return the kernel, target, launch and step as one line."""
    document = view.document
    last = document.get("last")
    of = f" of {last}" if last and last > document["step"] else ""
    return (
        f"{document['kernel']} on {document['arch']}, grid {size_text(document['grid'])}, block "
        f"{size_text(document['block'])}, {document['schedule']} schedule: step {document['step']}{of}"
    )


def stop_text(document: Mapping[str, Any]) -> str:
    """Return the stop reason and place."""
    stop, place, focus = document["stop"], document["place"], document["focus"]
    at = ", ".join(
        part
        for part in (
            where(document, focus["cta"], focus["warp"]),
            f"lane {focus['lane']}",
            f"line {place['line']}" if place["line"] else "",
            f"PTX {place['ptx']}" if place["ptx"] else "",
        )
        if part
    )
    words = (
        stop["text"]
        if stop["text"].startswith(stop["reason"])
        else f"{stop['reason']}: {stop['text']}"
        if stop["text"]
        else stop["reason"]
    )
    first, *more = words.split("\n")
    return "\n".join((f"{SIGNS.get(stop['reason'], '>')} {first}  ({at})", *more))


def warp_text(document: Mapping[str, Any], warp: Mapping[str, Any]) -> str:
    """Describe a warp: state, place, active lanes, and the barrier it waits for."""
    role = f" {warp['role']}" if warp.get("role") else ""
    lanes = bin(warp["active"] & 0xFFFFFFFF).count("1")
    part = f", {lanes} of 32 lanes" if 0 < lanes < 32 else ""
    line = f"line {warp['line']}, " if warp["line"] else ""
    at = f" at {line}PTX {warp['ptx']}" if warp["ptx"] and warp["state"] != "exited" else ""
    waits = f", waits for {warp['waits']}" if warp["waits"] else ""
    return (
        f"{SIGNS.get(warp['state'], '?')} {where(document, warp['cta'], warp['warp'])}{role}: "
        f"{warp['state']}{at}{part}{waits}"
    )


def barrier_text(barrier: Mapping[str, Any]) -> str:
    """Describe a barrier: phase, arrivals, pending bytes, waiting warps."""
    parts = [f"{barrier['expected'] - barrier['pending']} of {barrier['expected']} arrived"]
    if barrier["phase"] is not None:
        parts.insert(0, f"phase {barrier['phase']}")
    if barrier["tx"]:
        parts.append(f"{barrier['tx']} bytes pending")
    if barrier["waiters"]:
        parts.append("waiting: " + ", ".join(f"warp {warp}" for _, warp in barrier["waiters"]))
    return f"{barrier['name']} ({barrier['kind']}): {', '.join(parts)}"


def watch_text(watch: Mapping[str, Any]) -> str:
    """Return the value of a watched expression, or its error."""
    return watch["error"] or f"{watch['text']} = {watch['value']}"


def matrix_title(part: Mapping[str, Any]) -> str:
    """Return the title of a tile or fragment."""
    if not part["values"]:
        return part.get("title") or f"{part['name']}: not available here"
    size = " x ".join(map(str, part["shape"]))
    if "matrix" in part:
        return f"{part['name']}: {part['matrix']} {size} of {part['instruction']}"
    swizzle = f", swizzle {part['swizzle']}" if part["swizzle"] else ""
    return (
        f"{part['name']}: {size} {part['type'].removeprefix('.')} in {part['space']} memory at "
        f"{part['address']:#x}{swizzle}"
    )


def timeline(document: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield a line per row, and one that points at the current step."""
    rows, now = document["timeline"]["rows"], document["timeline"]["now"]
    if not rows:
        return
    last = max(document.get("last") or 0, now, 1)
    names = max(len(row["name"]) for row in rows)
    room = max(20, width - names - 2)
    for row in rows[:MAX_LANES]:
        yield f"{row['name']:>{names}}  {span(row['spans'], last, now, room, TIMES).rstrip()}"
    if len(rows) > MAX_LANES:
        yield f"{'':>{names}}  and {len(rows) - MAX_LANES} more rows"
    yield f"{'':>{names}}  {'':>{min(room - 1, int(now * room / last))}}^ step {now}"
    for number, mark in enumerate(document["timeline"].get("marks", ()), 1):
        yield f"{'':>{names}}  access {number} at step {mark['step']}: {mark['text']}"


def _lines(view: DebugView, context: int, width: int) -> Iterator[str]:
    document = view.document
    yield headline(view)
    yield stop_text(document)
    file, python, ptx = code(view, context)
    if python:
        yield f"\n{file}"
        yield from map(_code, python)
    yield "\nPTX"
    yield from map(_code, ptx)
    shown, left = warps(document, MAX_WARPS)
    yield "\nWarps"
    yield from (f"{'>' if focused else ' '} {warp_text(document, warp)}" for focused, warp in shown)
    yield from _more(left, "warps")
    found, left = registers(document, MAX_REGISTERS)
    if found:
        yield "\nRegisters (Δ: changed)"
        lane = document["focus"]["lane"]
        for one in found:
            name = f"{one['python']} {one['name']}" if one["python"] else one["name"]
            own = one["lanes"][lane]
            yield (
                f"{'Δ' if one['changed'] else ' '} {name:<16} {one['type']:<6} {'–' if own is None else own:>12}   "
                f"{lane_text(one)}"
            )[:width]
        yield from _more(left, "registers")
    for watch in document["watches"]:
        yield f"\n{watch_text(watch)}"
    if document["barriers"]:
        yield "\nBarriers"
        yield from (f"  {barrier_text(barrier)}" for barrier in document["barriers"][:MAX_BARRIERS])
        yield from _more(len(document["barriers"]) - MAX_BARRIERS, "barriers")
    for part in (*document["fragments"], *document["memory"]):
        values, rest = matrix(part, MAX_ROWS, MAX_COLUMNS)
        wide = max((len(value) for line in values for value in line), default=1)
        yield f"\n{matrix_title(part)}"
        yield from ("  " + " ".join(f"{value:>{wide}}" for value in line) for line in values)
        if rest:
            yield f"  {rest}"
    if document["timeline"]["rows"]:
        yield f"\nTimeline ({', '.join(f'{sign} {kind}' for kind, sign in TIMES.items())})"
        yield from timeline(document, width)


def _code(line: CodeLine) -> str:
    others = str(line.others) if line.others else ""
    return f"{'>' if line.here else ' '}{line.stops or ' '}{others:>2} {line.number:>5}  {line.text.expandtabs(4)}"


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"  and {count} more {what}"
