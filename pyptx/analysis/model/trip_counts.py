"""Trip counts: executions of each block of machine code by a warp slice, and their order.

The simulator counts executions of PTX instructions for each warp at the real problem size. A basic block of machine code
runs as often as its PTX instructions, divided by the number of copies that ptxas made of them: in a loop unrolled by
four, memory and tensor instructions, which are never merged, occur four times; in a block without them, floating-point
arithmetic does. When an instruction occurs in several blocks (the remainder of an unrolled loop, the slow path of a
wait), the first block takes the executions it explains and the others the rest. ptxas turns short branches into predicates:
an access that a warp executes less often than its block has no active lane in the other executions. It issues and takes its
turn in the load/store unit as well, but moves no data.
Blocks that only retry an mbarrier are left out: the replay determines waiting times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median

import numpy as np

from pyptx.analysis.control_flow import ControlFlow
from pyptx.analysis.model.register_reads import read_slots
from pyptx.analysis.ptx_rows import instruction_rows
from pyptx.analysis.sass.control_flow import sass_control_flow
from pyptx.analysis.sass.opcodes import opcode_group
from pyptx.assembly import Assembly
from pyptx.sim import Program
from pyptx.sim.actions import Call
from pyptx.toolchain import SassLine

__all__ = [
    "SLICE_WARPS",
    "EntryCode",
    "Loop",
    "InstructionStep",
    "WarpSlice",
    "read_code",
    "find_path",
    "find_slices",
]

SLICE_WARPS = 4  # warps, one for each sub-core, that execute together
_NEVER_MERGED = frozenset(("tensor", "async", "shared", "global", "atomic", "local", "sync", "warp", "special"))
_ONE_TO_ONE = frozenset("FFMA FADD FMUL HFMA2 HADD2 HMUL2 DFMA DADD DMUL".split())  # of a PTX instruction each
_ACCESSES = frozenset(("shared", "global", "atomic", "local"))
_CONVERGENCE = frozenset(("BSSY", "BSYNC", "BMOV"))  # added around branches, with the line of any instruction near


@dataclass(frozen=True, slots=True)
class WarpSlice:
    """Four adjacent warps of a CTA, or those of them that execute about the same code.

    Attributes:
        rank: rank of the CTA in its cluster.
        warps: numbers of the warps in the CTA.
        counts: executions of each PTX instruction by the warp that executes it most.
        width: mean number of warps that execute it, 0..4.
        barrier_bits: bit mask of the CTA's barriers used by each PTX instruction.
    """

    rank: int
    warps: tuple[int, ...]
    counts: np.ndarray
    width: np.ndarray
    barrier_bits: np.ndarray

    @property
    def key(self) -> tuple[bytes, bytes, bytes]:
        """Equal for slices with equal behavior."""
        return self.counts.tobytes(), self.width.tobytes(), self.barrier_bits.tobytes()


def find_slices(issues: np.ndarray, barrier_bits: np.ndarray, cluster: int) -> list[WarpSlice]:
    """Return the slices of a cluster.

    Args:
        issues: executions by (warp of the cluster, instruction).
        barrier_bits: bit masks of the barriers used, by (warp of the cluster, instruction).
        cluster: CTAs of the cluster.
    """
    slices, warps = [], len(issues) // cluster
    for rank in range(cluster):
        own = issues[rank * warps : (rank + 1) * warps].astype(np.float64)
        barriers = barrier_bits[rank * warps : (rank + 1) * warps]
        for first in range(0, warps, SLICE_WARPS):
            for members in _alike(own, range(first, min(first + SLICE_WARPS, warps))):
                few = own[members]
                most = few.max(axis=0)
                slices.append(
                    WarpSlice(
                        rank,
                        tuple(members),
                        most,
                        few.sum(axis=0) / np.maximum(most, 1),
                        np.bitwise_or.reduce(barriers[members], axis=0),
                    )
                )
    return slices


def _alike(issues: np.ndarray, warps: Sequence[int]) -> list[list[int]]:
    """Group warps that execute together: of any two, the one that executes less shares at least half with the other.

    So a warp with its own role forms a group, while one that only waits does not.
    """
    groups: list[list[int]] = []
    for warp in warps:
        for group in groups:
            pair = issues[[warp, group[0]]]
            if 2 * pair.min(axis=0).sum() >= pair.sum(axis=1).min():
                group.append(warp)
                break
        else:
            groups.append([warp])
    return groups


@dataclass(frozen=True, slots=True)
class InstructionStep:
    """One machine instruction on a path.

    Attributes:
        row: its index in the code.
        weight: executions per iteration of its loop, 0..1.
        copies: machine instructions of its kind that one execution of its PTX instruction became.
        inactive: the executions are those of a predicated access without an active lane.
    """

    row: int
    weight: float
    copies: float
    inactive: bool = False


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop on a path: `body` runs `trips` times per entry."""

    trips: float
    body: tuple[InstructionStep | Loop, ...]


WarpPath = tuple[InstructionStep | Loop, ...]


@dataclass(frozen=True, eq=False)
class EntryCode:
    """Machine code of an entry.

    Attributes:
        lines: its instructions.
        owners: number of the PTX instruction each comes from; -1 for instructions added by ptxas.
        blocks: (first, end) rows of the basic blocks.
        loops: (first, last) rows, outer loops first.
        depth: nesting depth of each row.
        cold: retry blocks, and slow paths of divisions and the like, which ordinary numbers do not take.
        reads: cycles in the register read stage of each row.
    """

    lines: tuple[SassLine, ...]
    owners: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    loops: tuple[tuple[int, int], ...]
    depth: tuple[int, ...]
    cold: frozenset[int]
    reads: tuple[float, ...]

    @cached_property
    def elected(self) -> frozenset[int]:
        """PTX instructions that ptxas lets one lane of the warp execute: atomic operations whose values it adds up before."""
        votes = (line.opcode.startswith("VOTE") for line in self.lines)
        return frozenset(owner for owner, vote in zip(self.owners, votes, strict=True) if vote and owner >= 0)

    @cached_property
    def kinds(self) -> list[Counter[tuple[int, str]]]:
        """Number of machine instructions of each block by PTX instruction and opcode."""
        words = [_word(line) for line in self.lines]
        return [
            Counter(
                (self.owners[row], words[row])
                for row in range(*block)
                if self.owners[row] >= 0 and words[row] not in _CONVERGENCE
            )
            for block in self.blocks
        ]

    @cached_property
    def block_owners(self) -> list[frozenset[int]]:
        """For each row, the PTX instructions of its block."""
        found: list[frozenset[int]] = []
        for first, end in self.blocks:
            found += [frozenset(self.owners[first:end]) - {-1}] * (end - first)
        return found


def read_code(compiled: Assembly, program: Program) -> EntryCode:
    """Return the machine code of the entry that `program` runs."""
    entry = program.entry.name
    lines = tuple(line for line in compiled.sass if line.entry == entry)
    number = {id(node): k for k, node in enumerate(program.instructions)}
    rows = instruction_rows(compiled.module, compiled.ptx.split("\n")).get(entry, [])
    at = dict(zip(rows, _numbers(program, len(rows)), strict=False)) if number else {}
    owners = tuple(
        -1 if line.added_by_ptxas or line.ptx_line is None else at.get(line.ptx_line - 1, -1) for line in lines
    )
    flow: ControlFlow = sass_control_flow(lines)
    blocks = tuple(pairwise([*flow.starts, len(lines)]))
    retries = {k for k, block in enumerate(blocks) if _is_retry(lines, block)}
    loops = tuple(loop for loop in flow.loops if not any(blocks[k][0] == loop[0] for k in retries))
    calls = {owner for owner, action in enumerate(program.actions) if isinstance(action, Call)}
    cold = frozenset(retries | _slow_paths(lines, owners, blocks, calls))
    return EntryCode(lines, owners, blocks, loops, flow.depth, cold, read_slots(lines))


def _numbers(program: Program, count: int) -> range:
    """Return the numbers of the entry's instructions, which precede those of the functions it calls."""
    return range(min(count, len(program.instructions)))


def _slow_paths(
    lines: Sequence[SassLine], owners: Sequence[int], blocks: Sequence[tuple[int, int]], calls: set[int]
) -> set[int]:
    """Return blocks with calls that no PTX instruction makes, and the blocks of the called functions."""
    row_at = {line.address: row for row, line in enumerate(lines)}
    found: set[int] = set()
    for number, (_, end) in enumerate(blocks):
        call = lines[end - 1]
        if not call.opcode.startswith("CALL") or owners[end - 1] in calls:
            continue
        first = row_at.get(call.target_address or -1, len(lines))
        ends = (row for row in range(first, len(lines)) if _is_end(lines[row]))
        last = next(ends, None)
        if last is None or lines[last].opcode.startswith("EXIT"):  # no return: ptxas leaves a loop with a call
            continue
        found.add(number)
        found |= {k for k, (start, _) in enumerate(blocks) if first <= start <= last}
    return found


def _is_end(line: SassLine) -> bool:
    return line.opcode.startswith("RET") or (line.opcode.startswith("EXIT") and not line.predicate)


def _is_retry(lines: Sequence[SassLine], block: tuple[int, int]) -> bool:
    """Return True for a loop around an mbarrier test, or around an operation that may have to be retried."""
    own = lines[block[0] : block[1]]
    back = own[-1].target_address == own[0].address
    return back and len(own) <= 4 and any(line.opcode.startswith(("SYNCS.PHASECHK", "USETMAXREG")) for line in own)


def find_path(code: EntryCode, counts: np.ndarray) -> WarpPath:
    """Return the path of a warp with these execution counts of PTX instructions."""
    runs, unrolled = _block_runs(code, counts)
    executed = _executed(code, runs)
    copies = _copies(code, counts, unrolled, executed)
    shares = _active_shares(code, counts, copies, executed)
    at = {row: k for k, block in enumerate(code.blocks) for row in range(*block)}

    def body(first: int, end: int, times: float, loops: list[tuple[int, int]]) -> WarpPath:
        found: list[InstructionStep | Loop] = []
        row = first
        inside = [loop for loop in loops if first <= loop[0] and loop[1] < end]
        while row < end:
            loop = next((loop for loop in inside if loop[0] == row), None)
            if loop is not None:
                head = runs[at[row]]
                rest = [other for other in loops if other != loop]
                if head >= 0.5:
                    trips = head / times
                    found.append(Loop(max(1.0, trips), body(row, loop[1] + 1, max(head, times), rest)))
                row = loop[1] + 1
                continue
            weight, share = min(1.0, runs[at[row]] / times), shares[row]
            if weight * share > 0:
                found.append(InstructionStep(row, weight * share, copies[row]))
            if weight * (1 - share) > 0:
                found.append(InstructionStep(row, weight * (1 - share), copies[row], True))
            row += 1
        return tuple(found)

    return body(0, len(code.lines), 1.0, list(code.loops))


def _block_runs(code: EntryCode, counts: np.ndarray) -> tuple[list[float], list[int]]:
    """Return executions of each block, and the number of copies of its instructions it holds."""
    kinds = code.kinds
    left = {kind: float(counts[kind[0]]) for own in kinds for kind in own}
    blocks_of = Counter(kind for own in kinds for kind in own)
    runs: list[float] = []
    unrolled: list[int] = []
    for number, own in enumerate(kinds):
        open_ = {kind: k for kind, k in own.items() if left[kind] > 0.5}
        times, ran = 1, 0.0
        if not own:
            ran = -1.0
        elif open_ and number not in code.cold:
            times = _copies_of_all(open_, left, blocks_of)
            sure = _counted(open_)
            # an inner loop that ptxas unrolled completely: its instructions have copies here, those of the outer loop none
            single = [kind for kind in sure if open_[kind] == 1 and opcode_group(kind[1]) != "shared"]
            if sure:
                ran = float(median(left[kind] for kind in (times == 1 and single) or sure)) / times
            elif any(opcode_group(word) in _NEVER_MERGED for _, word in own):
                ran = 0.0  # earlier blocks account for all its accesses
            else:
                ran = float(median(left[kind] for kind in open_)) / times
            if times > 1 and any(blocks_of[kind] > 1 for kind in sure):
                ran = float(int(ran + 1e-6))  # the remainder of an unrolled loop is in another block
            if not code.depth[code.blocks[number][0]]:
                ran = min(ran, 1.0)
        for kind, k in own.items():
            blocks_of[kind] -= 1
            left[kind] -= max(0.0, ran) * k
        runs.append(ran)
        unrolled.append(times)
    known = 1.0
    for number in range(len(runs)):  # blocks with instructions added by ptxas only
        known = runs[number] = known if runs[number] < 0 else runs[number]
    return runs, unrolled


def _counted(kinds: Mapping[tuple[int, str], int]) -> list[tuple[int, str]]:
    """Return the kinds whose copies show how often ptxas unrolled the block: accesses and the like, or else arithmetic."""
    sure = [kind for kind in kinds if opcode_group(kind[1]) in _NEVER_MERGED]
    return sure or [kind for kind in kinds if kind[1] in _ONE_TO_ONE]


def _word(line: SassLine) -> str:
    return line.opcode.partition(".")[0]


def _copies_of_all(
    kinds: Mapping[tuple[int, str], int],
    left: Mapping[tuple[int, str], float],
    blocks_of: Mapping[tuple[int, str], int],
) -> int:
    """Return the unroll factor of a block: the number of copies that all its instructions have.

    With fewer executions than copies, the block does not run if another one has the rest of the unrolled loop; otherwise
    ptxas has split the instructions, and the copies are their parts.
    """
    counted = _counted(kinds)
    times = min([kinds[kind] for kind in counted] or kinds.values())
    arithmetic = [k for kind, k in kinds.items() if kind[1] in _ONE_TO_ONE]
    if times == 1 and arithmetic and all(k > 1 or kind[1] == "LDS" for kind, k in kinds.items() if kind in counted):
        times = min(arithmetic)  # ptxas has merged loads of successive iterations
    if (
        times > 1
        and max(left[kind] for kind in kinds) < times
        and not all(blocks_of[kind] > 1 for kind in counted or kinds)
    ):
        return 1
    return times


def _executed(code: EntryCode, runs: Sequence[float]) -> dict[tuple[int, str], float]:
    """Return the executions of all machine instructions of each kind: PTX instruction and opcode."""
    found: dict[tuple[int, str], float] = {}
    for kinds, times in zip(code.kinds, runs, strict=True):
        for kind, k in kinds.items():
            found[kind] = found.get(kind, 0.0) + k * times
    return found


def _copies(
    code: EntryCode, counts: np.ndarray, unrolled: Sequence[int], executed: Mapping[tuple[int, str], float]
) -> list[float]:
    """Return for each row the machine instructions of its kind that one execution of its PTX instruction became.

    The number is limited by the executions of all instructions of that kind per execution of the PTX instruction: a loop
    may be unrolled among instructions that occur once.
    """
    found = [1.0] * len(code.lines)
    for (first, end), kinds, times in zip(code.blocks, code.kinds, unrolled, strict=True):
        for row in range(first, end):
            kind = code.owners[row], _word(code.lines[row])
            if kind in kinds:
                found[row] = max(1.0, min(kinds[kind] / times, executed[kind] / max(1.0, counts[kind[0]])))
    return found


def _active_shares(
    code: EntryCode, counts: np.ndarray, copies: Sequence[float], executed: Mapping[tuple[int, str], float]
) -> list[float]:
    """Return for each row the fraction of its executions with an active lane: below 1 for predicated memory accesses only."""
    found = [1.0] * len(code.lines)
    for row, line in enumerate(code.lines):
        kind = code.owners[row], _word(line)
        if line.predicate and kind in executed and opcode_group(kind[1]) in _ACCESSES:
            found[row] = min(1.0, float(counts[kind[0]]) * copies[row] / max(1e-9, executed[kind]))
    return found
