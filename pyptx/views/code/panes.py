"""The panes of a linked view as columns, one item per row, and their JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any

from pyptx._frozen import frozen
from pyptx.analysis.control_flow import ControlFlow
from pyptx.views.code.python_sources import Section

__all__ = ["Entry", "IrPane", "Note", "PtxPane", "PythonPane", "SassPane", "from_plain", "plain"]

NO_FLOW = ControlFlow()


@frozen
class PythonPane:
    """The kernel's function and the helpers it called. Counts include PTX written by the helpers that a line calls."""

    sections: tuple[Section, ...]
    text: tuple[str, ...]
    line: tuple[int, ...]
    ptx: tuple[int, ...]  # PTX lines
    sass: tuple[int, ...]  # SASS instructions
    live: tuple[int, ...]  # maximum of the general registers live at any of them
    issues: tuple[int, ...] = ()  # SASS instructions issued in the simulated launch; empty without counters
    spill: tuple[int, ...] = ()  # bytes of spill traffic per thread; empty without spills
    counters: dict[str, tuple[int, ...]] = field(default_factory=dict)  # other counters of the simulated launch
    modeled: tuple[int, ...] = ()  # modeled time in millionths of the launch's; empty without an estimate
    profile: dict[str, tuple[int, ...]] = field(default_factory=dict)  # measured counters of a profiler report


@frozen
class PtxPane:
    """PTX lines. `stack[i]` is the index in LinkedView.stacks of the call stack that wrote line i, -1 for none."""

    text: tuple[str, ...]
    stack: tuple[int, ...]
    sass: tuple[int, ...]  # SASS instructions
    live: tuple[int, ...]
    counters: dict[str, tuple[int, ...]] = field(
        default_factory=dict
    )  # of a simulated launch; -1: not a counted instruction
    spill: tuple[int, ...] = ()
    flow: ControlFlow = NO_FLOW
    links: tuple[tuple[int, str, int], ...] = ()  # (row, name in it, row of the label or function)
    issues: tuple[int, ...] = ()  # SASS instructions issued in the simulated launch; empty without counters
    modeled: tuple[int, ...] = ()
    profile: dict[str, tuple[int, ...]] = field(default_factory=dict)


@frozen
class IrPane:
    """An IR between source and PTX. `place[i]` is the number of the source location of line i, `ptx_place[i]` that of PTX
    line i, -1 for none; lines with the same number are linked."""

    name: str  # "TTGIR"
    text: tuple[str, ...]
    stack: tuple[int, ...]  # as in PtxPane
    place: tuple[int, ...]
    ptx_place: tuple[int, ...]


@frozen
class SassPane:
    """SASS lines. Control fields are as encoded: a barrier is 0..5, -1 for none; `wait` and `reuse` are bit masks."""

    text: tuple[str, ...]
    address: tuple[int, ...]
    ptx: tuple[int, ...]  # PTX row, -1: added by ptxas
    group: tuple[int, ...]  # index into LinkedView.groups
    target: tuple[int, ...]  # row of a branch target, -1: none
    stall: tuple[int, ...]  # cycles
    yields: tuple[int, ...]  # 0 | 1
    write_barrier: tuple[int, ...]
    read_barrier: tuple[int, ...]
    wait: tuple[int, ...]
    reuse: tuple[int, ...]
    live: tuple[int, ...]  # general registers; -1: unknown
    live_pred: tuple[int, ...]
    live_uniform: tuple[int, ...]
    spill: tuple[int, ...] = ()  # bytes of spill stores and loads per thread
    flow: ControlFlow = NO_FLOW
    takes: tuple[tuple[int, ...], ...] = ()  # distances, in rows above, to the producers of its operands
    awaits: tuple[tuple[int, ...], ...] = ()  # distances to the setters of the scoreboards it waits for
    issues: tuple[int, ...] = ()  # times issued in the simulated launch, from its PTX line; empty without counters
    modeled: tuple[int, ...] = ()
    stalls: tuple[str, ...] = ()  # reasons of the modeled time; empty without an estimate
    stalled_on: tuple[tuple[int, ...], ...] = ()  # distances to the instructions waited for, longest modeled wait first
    profile: dict[str, tuple[int, ...]] = field(default_factory=dict)  # -1: not in the report
    profile_stalls: tuple[str, ...] = ()  # measured samples by reason; empty without a report


@frozen
class Entry:
    """One entry point: its SASS rows [start, start + count), its resources and instruction mix."""

    name: str
    start: int
    count: int
    registers: int
    spill_stores: int  # bytes
    spill_loads: int  # bytes
    shared_bytes: int
    constant_bytes: int
    stack_bytes: int
    barriers: int
    live: int  # maximum of the live general registers
    mix: dict[str, int]
    occupancy: dict[str, Any] | None = None  # threads, blocks, warps, max_warps, limiters, why
    dynamic_shared_bytes: int = 0  # added by the launch
    code_bytes: int = 0  # of its instructions, without trailing padding
    holders: tuple[tuple[int, int], ...] = ()  # live registers at the peak by definition: (PTX row, count)


@frozen
class Note:
    """A diagnostic of ptxas or of the instruction table; rows of its lines, -1 for none."""

    severity: str
    message: str
    ptx: int
    python: int


def plain(value: Any) -> Any:
    """Convert to JSON values: dataclasses and dicts become dicts, tuples become lists."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return list(value) if not value or isinstance(value[0], int | str) else [plain(item) for item in value]
    return value


def from_plain(kind: type, data: Mapping[str, Any]) -> Any:
    """Rebuild a pane from `plain`; fields that an older version did not write keep their defaults."""
    return kind(
        **{
            f.name: _value(f.name, data[f.name])
            for f in fields(kind)
            if f.name in data or f.default is f.default_factory
        }
    )


def _value(name: str, value: Any) -> Any:
    if name == "flow":
        return ControlFlow(**{part: _frozen(rows) for part, rows in value.items()})
    return _frozen(value)


def _frozen(value: Any) -> Any:
    match value:
        case list():
            return tuple(value) if not value or isinstance(value[0], int | str) else tuple(map(_frozen, value))
        case dict():
            return {name: _frozen(item) for name, item in value.items()}
    return value
