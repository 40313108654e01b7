"""The linked view as one sequence, for the forms that are read from top to bottom: text and static HTML."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Line", "Rest", "callers_text", "control_text", "facts", "held_text", "live_text", "loop_mark", "loops_text",
           "mix_text", "outline", "share_text", "size_text"]


class Rest(IntEnum):
    """What a Line is that is no Python line."""

    NO_PYTHON = -1                      # PTX that no Python line wrote
    BY_PTXAS = -2                       # SASS that no PTX line asked for
    ALL = -3                            # all PTX, or all SASS, of a view without the Python


@dataclass(frozen=True, slots=True)
class Line:
    """A Python line, or what `Rest` says, with what came of it.

    `ptx` holds (PTX row, its SASS rows); a PTX row stands under the innermost line that wrote it. The row is -1 where
    no PTX is to be shown.
    """

    python: int
    ptx: tuple[tuple[int, tuple[int, ...]], ...] = ()
    section: int | None = None          # set on the first line of a section


def outline(view) -> Iterator[Line]:
    """Every Python row in order, then the PTX and the SASS that have no Python line; only what `view.panes` names."""
    sass_of: dict[int, list[int]] = defaultdict(list)
    if "sass" in view.panes:
        for row, ptx in enumerate(view.sass.ptx):
            sass_of[ptx].append(row)
    if "python" not in view.panes:
        yield from _without_python(view, sass_of)
        return
    ptx_of: dict[int, list[int]] = defaultdict(list)
    for row, stack in enumerate(view.ptx.stack):
        ptx_of[view.stacks[stack][0] if stack >= 0 else -1].append(row)

    def below(python: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
        if "ptx" in view.panes:
            return tuple((row, tuple(sass_of[row])) for row in ptx_of[python])
        rows = tuple(sorted(sass for row in ptx_of[python] for sass in sass_of[row]))
        return ((-1, rows),) if rows else ()

    for number, section in enumerate(view.python.sections):
        for row in range(section.start, section.start + section.count):
            yield Line(row, below(row), number if row == section.start else None)
    if rest := below(-1):
        yield Line(Rest.NO_PYTHON, rest)
    if sass_of[-1]:
        yield Line(Rest.BY_PTXAS, ((-1, tuple(sass_of[-1])),))


def _without_python(view, sass_of: dict[int, list[int]]) -> Iterator[Line]:
    if "ptx" not in view.panes:
        yield Line(Rest.ALL, ((-1, tuple(range(len(view.sass.text)))),))
        return
    yield Line(Rest.ALL, tuple((row, tuple(sass_of[row])) for row in range(len(view.ptx.text))))
    if sass_of[-1]:
        yield Line(Rest.BY_PTXAS, ((-1, tuple(sass_of[-1])),))


def facts(entry) -> list[tuple[str, str, str]]:
    """(label, value, note) of what an entry uses; the same facts in all four forms."""
    spills = entry.spill_stores + entry.spill_loads
    found = [
        ("registers", str(entry.registers), f"{entry.live} live at most" if entry.live else ""),
        ("spills", size_text(spills) if spills else "none",
         f"{size_text(entry.spill_stores)} stored, {size_text(entry.spill_loads)} loaded" if spills else ""),
        ("shared memory", size_text(entry.shared_bytes + entry.dynamic_shared_bytes),
         f"{size_text(entry.shared_bytes)} static, {size_text(entry.dynamic_shared_bytes)} dynamic"
         if entry.dynamic_shared_bytes else ""),
        ("SASS instructions", str(entry.count), f"{size_text(entry.code_bytes)} of code" if entry.code_bytes else "")]
    if entry.stack_bytes:
        found.append(("stack", size_text(entry.stack_bytes), ""))
    if entry.barriers:
        found.append(("barriers", str(entry.barriers), ""))
    if entry.occupancy:
        fits = entry.occupancy
        limits = " and ".join(fits["limiters"])
        found.append(("occupancy", f"{100 * fits['warps'] / fits['max_warps']:.0f} %",
                      f"{fits['blocks']} × {fits['threads']} threads on an SM, limited by {limits}"))
    return found


def held_text(view, entry, most: int = 6) -> str:
    """ "most registers are live at SASS 07c0: 129 of line 101, 3 of line 88, 1 of ptxas"; empty when not known."""
    if not entry.holders:
        return ""
    lines: Counter[str] = Counter()
    for ptx, count in entry.holders:
        stack = view.ptx.stack[ptx] if ptx >= 0 else -1
        lines[f"line {view.python.line[view.stacks[stack][0]]}" if stack >= 0 else f"PTX {ptx + 1}" if ptx >= 0
              else "ptxas"] += count
    peak = entry.start + view.sass.live[entry.start:entry.start + entry.count].index(entry.live)
    named = [f"{count} of {line}" for line, count in lines.most_common(most)]
    more = f", and of {len(lines) - most} lines more" if len(lines) > most else ""
    return f"most registers are live at SASS {view.sass.address[peak]:04x}: {', '.join(named)}{more}"


def mix_text(entry) -> str:
    return ", ".join(f"{count} {group}" for group, count in entry.mix.items())


def size_text(size: int) -> str:
    """Bytes for people: "0 B", "1.5 KiB"."""
    return f"{size} B" if size < 1024 else f"{size / 1024:g} KiB"


def share_text(view, python: int) -> str:
    """ "4 PTX, 4 SASS, 3 live, 12.5 % issued": what a Python line and the helpers it calls became."""
    pane = view.python
    parts = [f"{pane.ptx[python]} PTX", f"{pane.sass[python]} SASS"]
    if pane.live[python]:
        parts.append(f"{pane.live[python]} live")
    if pane.spill and pane.spill[python]:
        parts.append(f"{size_text(pane.spill[python])} spilled")
    if conflicts := pane.counters.get("shared_conflicts"):
        parts += [f"{conflicts[python]} bank conflicts"] if conflicts[python] else []
    if excess := pane.counters.get("global_excess"):
        parts += [f"{excess[python]} sectors too many"] if excess[python] else []
    if pane.issues and pane.issues[python]:
        total = sum(max(0, number) for number in view.ptx.counters["issues"])
        percent = 100 * pane.issues[python] / total
        parts.append(f"{percent:.1f} % issued" if percent >= 0.05 else "under 0.1 % issued")
    return ", ".join(parts)


def loop_mark(pane, row: int) -> str:
    """ "↻ " for a row in a loop, "↻2" in a loop inside one, two blanks elsewhere."""
    depth = pane.flow.depth[row] if pane.flow.depth else 0
    return f"↻{depth}" if depth > 1 else "↻ " if depth else "  "


def loops_text(view) -> str:
    """ "loops (↻): PTX 31-40, 33-36; SASS 0100-0180": where loops begin and jump back; empty without any."""
    ptx = [f"{first + 1}-{last + 1}" for first, last in view.ptx.flow.loops]
    sass = [f"{view.sass.address[first]:04x}-{view.sass.address[last]:04x}" for first, last in view.sass.flow.loops]
    parts = [f"{name} {', '.join(found[:8])}{f' and {len(found) - 8} more' if len(found) > 8 else ''}"
             for name, found in (("PTX", ptx), ("SASS", sass)) if found]
    return f"loops (↻): {'; '.join(parts)}" if parts else ""


def callers_text(view, ptx: int) -> str:
    """ "from line 12, 40": the calls through which a helper wrote a PTX line; empty for the kernel's own lines."""
    stack = view.ptx.stack[ptx]
    rows = view.stacks[stack][1:] if stack >= 0 else ()
    return f"from line {', '.join(str(view.python.line[row]) for row in rows)}" if rows else ""


def live_text(sass, row: int) -> str:
    """ "live  17", or as many blanks where it is not known."""
    return f"live {sass.live[row]:>3}" if sass.live[row] >= 0 else " " * 8


def control_text(sass, row: int) -> str:
    """Control fields in the usual short form: waits, read and write barrier, yield, stall: `01---- R- W2 Y S04`."""
    wait = "".join(str(bit) if sass.wait[row] >> bit & 1 else "-" for bit in range(6))
    read, write = ("-" if number < 0 else str(number) for number in (sass.read_barrier[row], sass.write_barrier[row]))
    return f"{wait} R{read} W{write} {'Y' if sass.yields[row] else '-'} S{sass.stall[row]:02}"
