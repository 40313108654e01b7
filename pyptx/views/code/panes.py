"""What the panes of a linked view hold: columns, one item a row, and their plain form for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from pyptx.analysis.flow import Flow
from pyptx.views.code.sources import Section

__all__ = ["Entry", "Note", "PtxPane", "PythonPane", "SassPane", "from_plain", "plain"]

NO_FLOW = Flow()


@dataclass(frozen=True, slots=True)
class PythonPane:
    """The kernel's function and the helpers it called. Numbers are of all PTX written by the line or below it."""

    sections: tuple[Section, ...]
    text: tuple[str, ...]
    line: tuple[int, ...]
    ptx: tuple[int, ...]                # PTX lines
    sass: tuple[int, ...]               # SASS instructions
    live: tuple[int, ...]               # most general registers live at any of them
    issues: tuple[int, ...] = ()        # warp instructions issued in the simulated launch; empty: nothing was counted
    spill: tuple[int, ...] = ()         # bytes a thread moves because registers were spilled; empty: none are
    counters: dict[str, tuple[int, ...]] = field(default_factory=dict)      # other counts of the simulated launch


@dataclass(frozen=True, slots=True)
class PtxPane:
    """`stack[i]` numbers the call stack (in LinkedView.stacks) that wrote line i, -1 where no Python line did."""

    text: tuple[str, ...]
    stack: tuple[int, ...]
    sass: tuple[int, ...]               # SASS instructions
    live: tuple[int, ...]
    counters: dict[str, tuple[int, ...]] = field(default_factory=dict)      # of a simulated launch; -1: no instruction
    spill: tuple[int, ...] = ()
    flow: Flow = NO_FLOW
    links: tuple[tuple[int, str, int], ...] = ()    # (row, word in it, row of the label or function it names)


@dataclass(frozen=True, slots=True)
class SassPane:
    """Control fields as in the encoding: a barrier is 0..5, -1 for none; `wait` and `reuse` are bit masks."""

    text: tuple[str, ...]
    address: tuple[int, ...]
    ptx: tuple[int, ...]                # PTX row, -1: added by ptxas
    group: tuple[int, ...]              # index into LinkedView.groups
    target: tuple[int, ...]             # row a branch goes to
    stall: tuple[int, ...]              # cycles
    yields: tuple[int, ...]             # 0 | 1
    write_barrier: tuple[int, ...]
    read_barrier: tuple[int, ...]
    wait: tuple[int, ...]
    reuse: tuple[int, ...]
    live: tuple[int, ...]               # general registers; -1: not known
    live_pred: tuple[int, ...]
    live_uniform: tuple[int, ...]
    spill: tuple[int, ...] = ()         # bytes a thread stores or loads because a register was spilled
    flow: Flow = NO_FLOW
    takes: tuple[tuple[int, ...], ...] = ()     # how many rows above it those stand whose results it reads
    awaits: tuple[tuple[int, ...], ...] = ()    # the same of those that set a barrier it waits for


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry point: its SASS rows [start, start + count), what it uses, and its instruction mix."""

    name: str
    start: int
    count: int
    registers: int
    spill_stores: int                   # bytes
    spill_loads: int                    # bytes
    shared_bytes: int
    constant_bytes: int
    stack_bytes: int
    barriers: int
    live: int                           # most general registers live at once
    mix: dict[str, int]
    occupancy: dict[str, Any] | None = None     # threads, blocks, warps, max_warps, limiters, why
    dynamic_shared_bytes: int = 0       # what the launch adds
    code_bytes: int = 0                 # of its instructions, without the padding behind them
    holders: tuple[tuple[int, int], ...] = ()   # where most registers are live: (PTX row that fills them, how many)


@dataclass(frozen=True, slots=True)
class Note:
    """What the assembler or the table remarked; rows of the lines it is about, -1: none."""

    severity: str
    message: str
    ptx: int
    python: int


def plain(value: Any) -> Any:
    """The value as JSON knows it: dataclasses and dicts become dicts, tuples lists."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value) if not value or isinstance(value[0], int | str) else [plain(item) for item in value]
    return value


def from_plain(kind: type, data: Mapping[str, Any]) -> Any:
    """The pane of this class that `plain` wrote; what an older pyptx did not write is left at its default."""
    return kind(**{f.name: _value(f.name, data[f.name]) for f in fields(kind)
                   if f.name in data or f.default is f.default_factory})


def _value(name: str, value: Any) -> Any:
    if name == "flow":
        return Flow(**{part: _frozen(rows) for part, rows in value.items()})
    return _frozen(value)


def _frozen(value: Any) -> Any:
    match value:
        case list():
            return tuple(value) if not value or isinstance(value[0], int | str) else tuple(map(_frozen, value))
        case dict():
            return {name: _frozen(item) for name, item in value.items()}
    return value
