"""Attribution of a modeled time to machine instructions, PTX lines and Python lines.

    found = estimate(gemm, a, b).attribution
    print(found)                          # the lines that take the most time
    found.python[0].stalls                # {"TMA": 3.1e-05, "wgmma": 1.2e-05, ...}

At each moment of the replay, every resident warp of the busiest SM executes one instruction or waits to issue it. Each
warp has an equal part of the kernel's time, as in the samples of a profiler; a stall belongs to the instruction that
waits. Time in which a warp has no instruction (launch, CTAs that start or have ended, writes that drain) is overhead.
Instructions and overhead add up to the time of the prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyptx.analysis.model.replay_state import SliceCycles
from pyptx.assembly import Assembly
from pyptx.toolchain import SassLine

__all__ = ["STALL_REASONS", "Attribution", "InstructionTime", "LineTime", "attribute"]

STALL_REASONS: Mapping[str, str] = {
    "stall count": "fixed latency of the instruction, from its control code",
    "scoreboard": "an operand of an earlier instruction is not ready; `waits_for` names the instruction",
    "dispatch": "the issue slot of the sub-core serves another warp",
    "pipe busy": "the queue of a math pipe is full",
    "MIO": "the queue of shared memory, L1 or special functions is full",
    "barrier": "other warps have not arrived at a CTA barrier",
    "mbarrier": "a phase of an mbarrier that warps or tensor cores complete",
    "TMA": "a phase of an mbarrier that bulk or tensor copies complete",
    "copies": "groups of asynchronous copies are not complete",
    "wgmma": "groups of wgmma products are not complete",
    "outstanding work": "copies and products that end after the last instruction",
}
_TOP = 12  # lines in the text


@dataclass(frozen=True)
class LineTime:
    """Time of a PTX or Python line, in seconds.

    Attributes:
        line: 1-based line number; 0 for instructions that ptxas added.
        file: Python file; empty for PTX lines.
        text: the line.
        issue: time in which its instructions issue.
        stalls: reason (of `STALL_REASONS`) -> time.
    """

    line: int
    file: str
    text: str
    issue: float
    stalls: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """Total time."""
        return self.issue + sum(self.stalls.values())


@dataclass(frozen=True)
class InstructionTime:
    """Time of a machine instruction, in seconds.

    Attributes:
        index: index in `Assembly.sass`.
        address: byte offset in its function.
        text: the instruction.
        ptx_line: 1-based line of the PTX text; 0 for an instruction that ptxas added.
        executions: mean number of executions by a warp of the busiest SM.
        issue: time in which it issues.
        stalls: reason (of `STALL_REASONS`) -> time it waits.
        waits_for: index in `Assembly.sass` -> the part of "scoreboard" that waits for that instruction.
    """

    index: int
    address: int
    text: str
    ptx_line: int
    executions: float
    issue: float
    stalls: Mapping[str, float]
    waits_for: Mapping[int, float]

    @property
    def seconds(self) -> float:
        """Total time."""
        return self.issue + sum(self.stalls.values())


@dataclass(frozen=True)
class Attribution:
    """Modeled time by instruction and line. All times are in seconds.

    Attributes:
        entry: the entry.
        seconds: time of the launch.
        instructions: machine instructions that execute, in address order.
        ptx: PTX lines, slowest first.
        python: Python lines, slowest first; empty for PTX without Python source.
        overhead: time that belongs to no instruction: "launch", "start and drain", "CTAs without work", "start of the next CTA",
            "end of the CTA" (a warp has ended and another of its CTA has not), "finished" (a warp has ended before the
            last one), and "<resource> limit" (the resource needs longer than the busiest SM).
    """

    entry: str
    seconds: float
    instructions: Sequence[InstructionTime] = field(repr=False)
    ptx: Sequence[LineTime] = field(repr=False)
    python: Sequence[LineTime] = field(repr=False)
    overhead: Mapping[str, float]

    @property
    def stalls(self) -> dict[str, float]:
        """Return reason -> time over all instructions, longest first."""
        return _longest_first(_sum(instruction.stalls for instruction in self.instructions))

    @property
    def issue(self) -> float:
        """Time in which instructions issue."""
        return sum(instruction.issue for instruction in self.instructions)

    def to_json(self) -> dict[str, Any]:
        """Return plain values. Machine instructions are named by their index in `Assembly.sass`, lines by their number."""

        def line(one: LineTime) -> dict[str, Any]:
            place = {"file": one.file, "line": one.line} if one.file else {"line": one.line}
            return place | {"seconds": one.seconds, "issue": one.issue, "stalls": dict(one.stalls)}

        return {
            "kind": "modeled",
            "entry": self.entry,
            "seconds": self.seconds,
            "sass": [
                {
                    "index": one.index,
                    "address": one.address,
                    "ptx_line": one.ptx_line,
                    "executions": one.executions,
                    "seconds": one.seconds,
                    "issue": one.issue,
                    "stalls": dict(one.stalls),
                    "waits_for": [{"index": index, "seconds": time} for index, time in one.waits_for.items()],
                }
                for one in self.instructions
            ],
            "ptx": [line(one) for one in self.ptx],
            "python": [line(one) for one in self.python],
            "overhead": dict(self.overhead),
        }

    def __str__(self) -> str:
        """Return a table of the slowest lines: Python lines if there are any, otherwise PTX lines."""
        shown = self.python or self.ptx
        rows = [
            (f"{one.seconds / self.seconds:6.1%}", f"{one.issue / self.seconds:6.1%}", _top_reasons(one), _place(one))
            for one in shown[:_TOP]
        ]
        width = max([len(row[2]) for row in rows] + [6])
        found = [f"{'time':>6} {'issue':>6}  {'stalls':{width}}  line"]
        found += [f"{time} {issue}  {reasons:{width}}  {place}" for time, issue, reasons, place in rows]
        if len(shown) > _TOP:
            rest = sum(one.seconds for one in shown[_TOP:])
            found.append(f"{rest / self.seconds:6.1%} {'':6}  {'':{width}}  {len(shown) - _TOP} other lines")
        for what, time in _longest_first(self.overhead).items():
            found.append(f"{time / self.seconds:6.1%} {'':6}  {'':{width}}  ({what})")
        return "\n".join(line.rstrip() for line in found)


def attribute(
    compiled: Assembly,
    entry: str,
    slices: Sequence[tuple[int, SliceCycles]],
    cycles: float,
    clock: float,
    overhead: Mapping[str, float],
) -> Attribution:
    """Attribute the time of a launch to the lines of its machine code.

    Args:
        compiled: the machine code.
        entry: the entry.
        slices: number of warps and cycles of each replayed warp slice.
        cycles: cycles of the replay.
        clock: cycles per second.
        overhead: further seconds by cause.
    """
    offset = next(index for index, line in enumerate(compiled.sass) if line.entry == entry)
    lines = [line for line in compiled.sass if line.entry == entry]
    executions, stalls, spare = _warp_cycles(slices, cycles)
    warps = sum(count for count, _ in slices)
    unit = 1 / (warps * clock)  # seconds of the kernel for one cycle of one warp
    by_row: dict[int, dict[str, float]] = {}
    causes: dict[int, dict[int, float]] = {}
    for (row, reason, cause), time in stalls.items():
        own = by_row.setdefault(row, {})
        own[reason] = own.get(reason, 0.0) + time * unit
        if cause >= 0:
            on = causes.setdefault(row, {})
            on[offset + cause] = on.get(offset + cause, 0.0) + time * unit
    instructions = [
        _instruction(
            offset + row, line, executions.get(row, 0.0), by_row.get(row, {}), causes.get(row, {}), unit, warps
        )
        for row, line in enumerate(lines)
        if row in executions or row in by_row
    ]
    outside = dict(overhead)
    turnover = by_row.get(-1, {})
    for reason, name in (("start of the next CTA", "start of the next CTA"), ("barrier", "end of the CTA")):
        outside[name] = turnover.get(reason, 0.0)
    outside["finished"] = spare * unit
    outside = {name: time for name, time in outside.items() if time > 0}
    total = sum(one.seconds for one in instructions) + sum(outside.values())
    return Attribution(
        entry, total, instructions, _ptx(compiled, instructions), _python(compiled, instructions), outside
    )


def _warp_cycles(
    slices: Iterable[tuple[int, SliceCycles]], cycles: float
) -> tuple[dict[int, float], dict[tuple[int, str, int], float], float]:
    """Return executions and stalls summed over warps, and the cycles of warps that have ended."""
    executions: dict[int, float] = {}
    stalls: dict[tuple[int, str, int], float] = {}
    spare = 0.0
    for count, own in slices:
        for row, times in own.executions.items():
            executions[row] = executions.get(row, 0.0) + count * times
        for stall, time in own.stalls.items():
            stalls[stall] = stalls.get(stall, 0.0) + count * time
        spare += count * (cycles - own.cycles)
    return executions, stalls, spare


def _instruction(
    index: int,
    line: SassLine,
    executions: float,
    stalls: dict[str, float],
    causes: dict[int, float],
    unit: float,
    warps: int,
) -> InstructionTime:
    fixed = (max(1, line.control.stall) - 1) * executions * unit
    stalls = _longest_first(stalls | {"stall count": fixed} if fixed else stalls)
    ptx_line = 0 if line.added_by_ptxas else line.ptx_line or 0
    waits_for = dict(sorted(causes.items(), key=lambda item: -item[1]))
    return InstructionTime(
        index, line.address, line.text, ptx_line, executions / warps, executions * unit, stalls, waits_for
    )


def _ptx(compiled: Assembly, instructions: Sequence[InstructionTime]) -> list[LineTime]:
    """Sum the instructions of each PTX line."""
    text = compiled.ptx.split("\n")
    lines: dict[int, list[InstructionTime]] = {}
    for one in instructions:
        lines.setdefault(one.ptx_line, []).append(one)
    return _slowest_first(
        _line(number, "", text[number - 1].strip() if number else "(added by ptxas)", own)
        for number, own in lines.items()
    )


def _python(compiled: Assembly, instructions: Sequence[InstructionTime]) -> list[LineTime]:
    """Sum the instructions of each Python line; instructions without one are in a line 0 of no file."""
    lines: dict[tuple[str, int], list[InstructionTime]] = {}
    texts = {("", 0): "(no Python line)"}
    for one in instructions:
        place = compiled.lines.python_of_ptx(one.ptx_line) if one.ptx_line else None
        key = (place.file, place.line) if place is not None else ("", 0)
        if place is not None:
            texts[key] = place.source_line.strip()
        lines.setdefault(key, []).append(one)
    if lines.keys() <= {("", 0)}:
        return []
    return _slowest_first(_line(number, file, texts[file, number], own) for (file, number), own in lines.items())


def _line(number: int, file: str, text: str, own: Sequence[InstructionTime]) -> LineTime:
    return LineTime(number, file, text, sum(one.issue for one in own), _longest_first(_sum(one.stalls for one in own)))


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in parts:
        for name, time in part.items():
            found[name] = found.get(name, 0.0) + time
    return found


def _slowest_first(lines: Iterable[LineTime]) -> list[LineTime]:
    return sorted(lines, key=lambda line: -line.seconds)


def _longest_first(times: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def _top_reasons(line: LineTime) -> str:
    """Return the reasons for at least a quarter of a line's stalls: "TMA, barrier"."""
    total = sum(line.stalls.values())
    return ", ".join(reason for reason, time in line.stalls.items() if time >= total / 4) if line.issue < total else ""


def _place(line: LineTime) -> str:
    name = line.file.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{line.line}  {line.text}" if line.line else line.text
