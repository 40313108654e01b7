"""The modeled timeline of a CTA: waits of its warps, and activity of the units of the SM.

    pyptx.views.timeline(gemm, a, b, STAGES=3)

It shows a CTA (or cluster) alone on its SM, as the performance model replays its machine code
(`pyptx.analysis.model.replay`). Long loops are shortened to their first and steady-state iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyptx.analysis.gpus import Gpu
from pyptx.analysis.model.estimate import replay_call
from pyptx.analysis.work.call import bind_call
from pyptx.views.diagrams.svg import FILLS, Cell, Diagram, grid, label

__all__ = ["Bar", "Lane", "Timeline", "timeline"]

WIDTH, LINE = 900, 22  # pixels of the picture's axis, and of a lane
_COLUMNS = 100  # characters of the text
_UNITS = {
    "tma": "copy engine",
    "l2": "L2",
    "dram": "DRAM",
    "shared": "shared memory",
    "tensor": "tensor pipe",
    "tmem": "tensor memory",
    "fma": "FMA pipe",
    "alu": "ALU pipe",
    "mufu": "special functions",
    "fp64": "f64 pipe",
}


@dataclass(frozen=True)
class Bar:
    """A wait for `what`, or activity if it is empty; in cycles."""

    what: str
    start: float
    end: float


@dataclass(frozen=True)
class Lane:
    """A slice of four warps, active between its waits, or a unit of the SM, idle between its bars."""

    name: str
    team: bool
    bars: tuple[Bar, ...]
    end: float


@dataclass(frozen=True)
class Timeline(Diagram):
    """Lanes over the cycles from `start` to `end`."""

    name: str
    gpu: str
    lanes: tuple[Lane, ...]
    start: float
    end: float

    def between(self, start: float, end: float) -> Timeline:
        """Return the part between two cycles."""
        lanes = tuple(
            Lane(
                lane.name,
                lane.team,
                tuple(
                    Bar(b.what, max(b.start, start), min(b.end, end))
                    for b in lane.bars
                    if b.end > start and b.start < end
                ),
                lane.end,
            )
            for lane in self.lanes
        )
        return Timeline(self.name, self.gpu, lanes, start, end)

    @property
    def reasons(self) -> list[str]:
        """Causes of waits, longest total first."""
        total: dict[str, float] = {}
        for lane in self.lanes:
            if lane.team:
                for bar in lane.bars:
                    total[bar.what] = total.get(bar.what, 0.0) + bar.end - bar.start
        return sorted(total, key=lambda what: -total[what])

    @property
    def title(self) -> str:
        return f"{self.name} on {self.gpu}, modeled: cycles {self.start:.0f} to {self.end:.0f} of one CTA"

    def __str__(self) -> str:
        signs = {what: "abcdefghijklmnopqrstuvwxyz"[i % 26] for i, what in enumerate(self.reasons)}
        lines, step = [self.title], (self.end - self.start) / _COLUMNS or 1.0
        for lane in self.lanes:
            cells = ["=" if lane.team and self.start + i * step < lane.end else " " for i in range(_COLUMNS)]
            for bar in lane.bars:
                first = int((bar.start - self.start) / step)
                for i in range(first, min(_COLUMNS, max(first + 1, round((bar.end - self.start) / step)))):
                    cells[i] = signs[bar.what] if lane.team else "#"
            lines.append(f"{lane.name:>18} {''.join(cells).rstrip()}")
        lines += [f"{'=':>18} works; # the unit is busy"]
        lines += [f"{sign:>18} waits for {what}" for what, sign in signs.items()]
        return "\n".join(lines)

    __repr__ = __str__

    def svg(self) -> str:
        scale = WIDTH / (self.end - self.start or 1.0)
        cells, labels = list(self._cells(scale)), [label(0, 14, self.title, size=12)]
        labels += [label(140, 36 + (i + 0.65) * LINE, lane.name, "end") for i, lane in enumerate(self.lanes)]
        y = 36 + len(self.lanes) * LINE
        ticks = [(146 + WIDTH * i / 10, self.start + (self.end - self.start) * i / 10) for i in range(11)]
        labels += [label(x, y + 14, f"{cycle:.0f}", "middle", 9) for x, cycle in ticks]
        for i, what in enumerate(self.reasons[: len(FILLS)]):
            row, column = divmod(i, 3)
            top = y + 26 + row * 18
            cells.append(Cell(column * 310, (top - 36) / LINE, 14, 0.6, FILLS[i], "", what))
            labels.append(label(146 + column * 310 + 20, top + 11, f"waits for {what}"))
        rows = -(-min(len(self.reasons), len(FILLS)) // 3)
        return grid(
            cells,
            labels,
            width=160 + WIDTH,
            height=y + 30 + 18 * rows,
            left=146,
            top=36,
            unit=(1, LINE),
            title=self.title,
        )

    def _cells(self, scale: float) -> Iterator[Cell]:
        fills = {what: FILLS[i % len(FILLS)] for i, what in enumerate(self.reasons)}
        for row, lane in enumerate(self.lanes):
            if lane.team:
                until = min(lane.end, self.end)
                yield Cell(0, row + 0.1, max(0.0, until - self.start) * scale, 0.8, "#c8d1da", "", f"{lane.name} works")
            for bar in lane.bars:
                about = f"waits for {bar.what}" if lane.team else "busy"
                yield Cell(
                    (bar.start - self.start) * scale,
                    row + 0.1,
                    max(0.4, (bar.end - bar.start) * scale),
                    0.8,
                    fills[bar.what] if lane.team else "#4477aa",
                    "",
                    f"{lane.name} {about}, cycles {bar.start:.0f} to {bar.end:.0f}",
                )


def timeline(kernel: Any, *args: Any, device: str | Gpu | None = None, **params: Any) -> Timeline:
    """Return the timeline of the first CTA of a call.

    Args:
        kernel, args, params: as for `kernel.roofline`: the input arrays, or with `grid=` and `block=` all arguments.
        device: a GPU of `pyptx.analysis.gpus`; default: the representative one of the kernel's target.
    Raises:
        CompileError, LaunchError, SimulationError: the call cannot be assembled, bound or run.
    """
    found = replay_call(bind_call(kernel, *args, **params), device)
    bars: dict[int, list[Bar]] = {}
    ends: dict[int, float] = {}
    for who, what, start, end in found.spans:
        if not what:
            ends[who] = end
        elif what != "issue" and end > start:
            bars.setdefault(who, []).append(Bar(what, start, end))
    last = max(ends.values(), default=0.0)
    closeness = last / WIDTH
    lanes = [
        Lane(name, True, _merged(bars.get(k, ()), closeness), ends.get(k, last)) for k, name in enumerate(found.slices)
    ]
    for unit, name in _UNITS.items():
        busy = [bar for bar in bars.get(-1, ()) if bar.what == unit]
        if busy:
            lanes.append(Lane(name, False, _merged(busy, closeness), last))
    return Timeline(found.name, found.gpu.name, tuple(lanes), 0.0, last)


def _merged(bars: Sequence[Bar], closeness: float) -> tuple[Bar, ...]:
    """Sort bars; merge those of one kind that are closer than a pixel."""
    found: list[Bar] = []
    for bar in sorted(bars, key=lambda bar: bar.start):
        before = found[-1] if found else None
        if before is not None and before.what == bar.what and bar.start - before.end <= closeness:
            found[-1] = Bar(bar.what, before.start, max(before.end, bar.end))
        else:
            found.append(bar)
    return tuple(found)
