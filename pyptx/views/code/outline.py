"""The linked view as one sequence of lines, for text and static HTML."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pyptx._frozen import frozen
from pyptx.views.code.panes import Entry, PtxPane, SassPane

if TYPE_CHECKING:
    from pyptx.views.code.linked import LinkedView

__all__ = [
    "Line",
    "Rest",
    "callers_text",
    "control_text",
    "facts",
    "launch_limit",
    "live_peak_text",
    "live_text",
    "loop_mark",
    "loops_text",
    "mix_text",
    "outline",
    "profile_text",
    "samples_text",
    "share_text",
    "size_text",
]


class Rest(IntEnum):
    """Lines of the outline that are not Python lines."""

    NO_PYTHON = -1  # PTX or IR without a Python line
    BY_PTXAS = -2  # SASS without a PTX line
    ALL = -3  # all PTX, or all SASS, of a view without the Python pane


@frozen
class Line:
    """A Python row, or a member of `Rest`, with the code generated from it.

    `ptx` holds (PTX row, its SASS rows); a PTX row is listed under the innermost line that wrote it. The row is -1 where
    the PTX pane is hidden. `ir` holds rows of the IR.
    """

    python: int
    ptx: tuple[tuple[int, tuple[int, ...]], ...] = ()
    section: int | None = None  # set on the first line of a section
    ir: tuple[int, ...] = ()


def outline(view: LinkedView) -> Iterator[Line]:
    """Yield every Python row in order, then PTX and SASS without a Python line; only the panes of `view.panes`."""
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

    ir_of: dict[int, list[int]] = defaultdict(list)
    for row, stack in enumerate(view.ir.stack if view.ir else ()):
        ir_of[view.stacks[stack][0] if stack >= 0 else -1].append(row)

    def below(python: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
        if "ptx" in view.panes:
            return tuple((row, tuple(sass_of[row])) for row in ptx_of[python])
        rows = tuple(sorted(sass for row in ptx_of[python] for sass in sass_of[row]))
        return ((-1, rows),) if rows else ()

    for number, section in enumerate(view.python.sections):
        for row in range(section.start, section.start + section.count):
            yield Line(row, below(row), number if row == section.start else None, tuple(ir_of[row]))
    if (rest := below(-1)) or ir_of[-1]:
        yield Line(Rest.NO_PYTHON, rest, ir=tuple(ir_of[-1]))
    if sass_of[-1]:
        yield Line(Rest.BY_PTXAS, ((-1, tuple(sass_of[-1])),))


def _without_python(view: LinkedView, sass_of: dict[int, list[int]]) -> Iterator[Line]:
    ir = tuple(range(len(view.ir.text) if view.ir else 0))
    if "ptx" not in view.panes:
        yield Line(Rest.ALL, ((-1, tuple(range(len(view.sass.text)))),), ir=ir)
        return
    yield Line(Rest.ALL, ir=ir, ptx=tuple((row, tuple(sass_of[row])) for row in range(len(view.ptx.text))))
    if sass_of[-1]:
        yield Line(Rest.BY_PTXAS, ((-1, tuple(sass_of[-1])),))


def facts(entry: Entry) -> list[tuple[str, str, str]]:
    """Return (label, value, note) of each resource of an entry, the same in text, HTML, JSON and the live view."""
    spills = entry.spill_stores + entry.spill_loads
    found = [
        ("registers", str(entry.registers), f"at most {entry.live} live" if entry.live else ""),
        (
            "spills",
            size_text(spills) if spills else "none",
            f"{size_text(entry.spill_stores)} stored, {size_text(entry.spill_loads)} loaded" if spills else "",
        ),
        (
            "shared memory",
            size_text(entry.shared_bytes + entry.dynamic_shared_bytes),
            f"{size_text(entry.shared_bytes)} static, {size_text(entry.dynamic_shared_bytes)} dynamic"
            if entry.dynamic_shared_bytes
            else "",
        ),
        ("SASS instructions", str(entry.count), f"{size_text(entry.code_bytes)} of code" if entry.code_bytes else ""),
    ]
    if entry.stack_bytes:
        found.append(("stack", size_text(entry.stack_bytes), ""))
    if entry.barriers:
        found.append(("barriers", str(entry.barriers), ""))
    if entry.occupancy:
        fits = entry.occupancy
        limits = " and ".join(fits["limiters"])
        if fits["blocks"]:
            share = f"{100 * fits['warps'] / fits['max_warps']:.0f} %"
            found.append(
                ("occupancy", share, f"{fits['blocks']} × {fits['threads']} threads on an SM, limited by {limits}")
            )
        else:
            found.append(("launch", "impossible", launch_limit(fits)))
    return found


def launch_limit(fits: Mapping[str, Any]) -> str:
    """Return why no block of this size fits on an SM, given the occupancy of an entry."""
    return str(fits["why"]).partition(": ")[2] or f"a block of {fits['threads']} threads exceeds a limit of the target"


def live_peak_text(view: LinkedView, entry: Entry, most: int = 6) -> str:
    """Return "peak live registers at SASS 07c0: 129 from line 101, 3 from line 88, 1 from ptxas"; empty if unknown."""
    if not entry.holders:
        return ""
    lines: Counter[str] = Counter()
    for ptx, count in entry.holders:
        stack = view.ptx.stack[ptx] if ptx >= 0 else -1
        lines[
            f"line {view.python.line[view.stacks[stack][0]]}"
            if stack >= 0
            else f"PTX {ptx + 1}"
            if ptx >= 0
            else "ptxas"
        ] += count
    peak = entry.start + view.sass.live[entry.start : entry.start + entry.count].index(entry.live)
    named = [f"{count} from {line}" for line, count in lines.most_common(most)]
    more = f", and {len(lines) - most} more lines" if len(lines) > most else ""
    return f"peak live registers at SASS {view.sass.address[peak]:04x}: {', '.join(named)}{more}"


def mix_text(entry: Entry) -> str:
    return ", ".join(f"{count} {group}" for group, count in entry.mix.items())


def size_text(size: int) -> str:
    """Return a size in bytes as text: "0 B", "1.5 KiB"."""
    return f"{size} B" if size < 1024 else f"{size / 1024:g} KiB"


def share_text(view: LinkedView, python: int) -> str:
    """Summarize the code of a Python line and of the helpers it calls: "4 PTX, 4 SASS, 3 live, 12.5 % issued"."""
    pane = view.python
    parts = [f"{pane.ptx[python]} PTX", f"{pane.sass[python]} SASS"]
    if pane.live[python]:
        parts.append(f"{pane.live[python]} live")
    if pane.spill and pane.spill[python]:
        parts.append(f"{size_text(pane.spill[python])} spilled")
    if conflicts := pane.counters.get("shared_conflicts"):
        parts += [f"{conflicts[python]} bank conflicts"] if conflicts[python] else []
    if excess := pane.counters.get("global_excess"):
        parts += [f"{excess[python]} excess sectors"] if excess[python] else []
    if pane.issues and pane.issues[python]:
        total = sum(view.sass.issues)
        percent = 100 * pane.issues[python] / total
        parts.append(f"{percent:.1f} % issued" if percent >= 0.05 else "under 0.1 % issued")
    if samples := pane.profile.get("samples"):
        parts += [f"{samples_text(samples[python], view)} sampled"] if samples[python] else []
    return ", ".join(parts)


def samples_text(samples: int, view: LinkedView) -> str:
    """Return the share of the profile's samples: "12.5 %"."""
    percent = 100 * samples / max(1, view.profiled["samples"])
    return f"{percent:.1f} %" if percent >= 0.05 else "under 0.1 %"


def profile_text(view: LinkedView) -> str:
    """Return where measured counters come from: "run.csv (NVIDIA H100, 1234 samples)"."""
    about = view.profiled
    parts = [*([about["gpu"]] if about["gpu"] else []), f"{about['samples']} samples"]
    return f"{about['source']} ({', '.join(parts)})"


def loop_mark(pane: PtxPane | SassPane, row: int) -> str:
    """Return "↻ " for a row in a loop, "↻2" in a nested loop, two blanks elsewhere."""
    depth = pane.flow.depth[row] if pane.flow.depth else 0
    return f"↻{depth}" if depth > 1 else "↻ " if depth else "  "


def loops_text(view: LinkedView) -> str:
    """Return the extent of loops, "loops (↻): PTX 31-40, 33-36; SASS 0100-0180"; empty without loops."""
    ptx = [f"{first + 1}-{last + 1}" for first, last in view.ptx.flow.loops]
    sass = [f"{view.sass.address[first]:04x}-{view.sass.address[last]:04x}" for first, last in view.sass.flow.loops]
    parts = [
        f"{name} {', '.join(found[:8])}{f' and {len(found) - 8} more' if len(found) > 8 else ''}"
        for name, found in (("PTX", ptx), ("SASS", sass))
        if found
    ]
    return f"loops (↻): {'; '.join(parts)}" if parts else ""


def callers_text(view: LinkedView, ptx: int) -> str:
    """Return the callers of the helper that wrote a PTX line, "from line 12, 40"; empty for lines of the kernel."""
    stack = view.ptx.stack[ptx]
    rows = view.stacks[stack][1:] if stack >= 0 else ()
    return f"from line {', '.join(str(view.python.line[row]) for row in rows)}" if rows else ""


def live_text(sass: SassPane, row: int) -> str:
    """Return "live  17", or blanks if unknown."""
    return f"live {sass.live[row]:>3}" if sass.live[row] >= 0 else " " * 8


def control_text(sass: SassPane, row: int) -> str:
    """Return the control fields: wait mask, read and write barrier, yield, stall: `01---- R- W2 Y S04`."""
    wait = "".join(str(bit) if sass.wait[row] >> bit & 1 else "-" for bit in range(6))
    read, write = ("-" if number < 0 else str(number) for number in (sass.read_barrier[row], sass.write_barrier[row]))
    return f"{wait} R{read} W{write} {'Y' if sass.yields[row] else '-'} S{sass.stall[row]:02}"
