"""How often a team of warps executes each block of machine code, and in what order.

The simulator counts executions of PTX instructions, warp by warp, at the real sizes. A basic block of machine code
ran as often as the PTX lines that it is made of, divided by the copies that ptxas made of them: where it unrolled a
loop by four, memory and tensor instructions, which are never merged, stand there four times. A line that stands in
several blocks (the rest of an unrolled loop, the slow way round a wait) gives the first of them what it explains and
the others what is left. Blocks that only ask an mbarrier again are left out: waiting is for the pipeline to find out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np

from pyptx.analysis.flow import Flow
from pyptx.analysis.ptxrows import instruction_rows
from pyptx.analysis.sass.flow import sass_flow
from pyptx.analysis.sass.ops import group_of
from pyptx.compiled import Compiled
from pyptx.sim import Program
from pyptx.sim.actions.basic import Call
from pyptx.toolchain import SassLine

__all__ = ["TEAM", "Code", "Loop", "Step", "Team", "code_of", "flattened", "path_of", "teams_of"]

TEAM = 4                        # warps, one for each sub-core, that go through the code together
_NEVER_MERGED = frozenset(("tensor", "async", "shared", "global", "atomic", "local", "sync", "warp", "special"))


@dataclass(frozen=True, slots=True)
class Team:
    """Four neighbouring warps of a CTA, or those of them that do about the same.

    Attributes:
        rank: of the CTA in its cluster.
        warps: their numbers in the CTA.
        counts: executions of each PTX instruction, by the warp of the team that executes it most.
        width: how many warps execute it, 0..4.
        named: bits of the CTA's barriers it comes to at each PTX instruction.
    """

    rank: int
    warps: tuple[int, ...]
    counts: np.ndarray
    width: np.ndarray
    named: np.ndarray

    @property
    def key(self) -> tuple[bytes, bytes, bytes]:
        """Equal for teams that do the same."""
        return self.counts.tobytes(), self.width.tobytes(), self.named.tobytes()


def teams_of(issues: np.ndarray, named: np.ndarray, cluster: int) -> list[Team]:
    """The teams of a cluster whose warps executed so much: issues by (warp of the cluster, instruction)."""
    teams, warps = [], len(issues) // cluster
    for rank in range(cluster):
        own = issues[rank * warps:(rank + 1) * warps].astype(np.float64)
        barriers = named[rank * warps:(rank + 1) * warps]
        for first in range(0, warps, TEAM):
            for members in _alike(own, range(first, min(first + TEAM, warps))):
                few = own[members]
                most = few.max(axis=0)
                teams.append(Team(rank, tuple(members), most, few.sum(axis=0) / np.maximum(most, 1),
                                  np.bitwise_or.reduce(barriers[members], axis=0)))
    return teams


def _alike(issues: np.ndarray, warps: Sequence[int]) -> list[list[int]]:
    """Groups of warps that go through the code together: of two, the one that executes less shares at least half of it
    with the other. So a warp with a role of its own is on its own, and one that only waits is not."""
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
class Step:
    """One machine instruction on the way: `row` in the code, and how often it runs in one turn of its loop, 0..1.

    `copies`: machine instructions of its kind that one execution of its PTX instruction became.
    """

    row: int
    weight: float
    copies: float


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` runs `trips` times each time it is entered."""

    trips: float
    body: tuple[Step | Loop, ...]


Path = tuple[Step | Loop, ...]


@dataclass(frozen=True, eq=False)
class Code:
    """Machine code of an entry.

    Attributes:
        lines: of the entry.
        owners: the PTX instruction (its number in the program) each comes from, -1 for what ptxas added.
        blocks: (first, end) rows of the basic blocks.
        loops: (first, last) rows, outer ones first.
        depth: loops that each row is in.
        aside: blocks that only ask again, and those of the slow way of a division and the like, which numbers as
            they usually are do not take.
    """

    lines: tuple[SassLine, ...]
    owners: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    loops: tuple[tuple[int, int], ...]
    depth: tuple[int, ...]
    aside: frozenset[int]


def code_of(compiled: Compiled, program: Program) -> Code:
    """The code of the entry that `program` runs."""
    entry = program.entry.name
    lines = tuple(line for line in compiled.sass if line.entry == entry)
    number = {id(node): k for k, node in enumerate(program.instructions)}
    rows = instruction_rows(compiled.module, compiled.ptx.split("\n")).get(entry, [])
    at = dict(zip(rows, _numbers(program, len(rows)), strict=False)) if number else {}
    owners = tuple(-1 if line.added_by_ptxas or line.ptx_line is None else at.get(line.ptx_line - 1, -1)
                   for line in lines)
    flow: Flow = sass_flow(lines)
    blocks = tuple(pairwise([*flow.starts, len(lines)]))
    asks = {k for k, block in enumerate(blocks) if _asks_again(lines, block)}
    loops = tuple(loop for loop in flow.loops if not any(blocks[k][0] == loop[0] for k in asks))
    calls = {owner for owner, action in enumerate(program.actions) if isinstance(action, Call)}
    aside = frozenset(asks | _slow_ways(lines, owners, blocks, calls))
    return Code(lines, owners, blocks, loops, flow.depth, aside)


def _numbers(program: Program, count: int) -> range:
    """Numbers of the instructions of the entry, which come before those of the functions it calls."""
    return range(min(count, len(program.instructions)))


def _slow_ways(lines: Sequence[SassLine], owners: Sequence[int], blocks: Sequence[tuple[int, int]], calls: set[int]
               ) -> set[int]:
    """Blocks that call what no PTX instruction calls, and the blocks of what they call, to its return."""
    row_at = {line.address: row for row, line in enumerate(lines)}
    found: set[int] = set()
    for number, (_, end) in enumerate(blocks):
        call = lines[end - 1]
        if not call.opcode.startswith("CALL") or owners[end - 1] in calls:
            continue
        first = row_at.get(call.target_address or -1, len(lines))
        last = next((row for row in range(first, len(lines)) if lines[row].opcode.startswith("RET")), None)
        if last is None:                                # it does not come back: ptxas jumps like that too
            continue
        found.add(number)
        found |= {k for k, (start, _) in enumerate(blocks) if first <= start <= last}
    return found


def _asks_again(lines: Sequence[SassLine], block: tuple[int, int]) -> bool:
    """Whether a block is a loop around a test of an mbarrier, or a retry of something that the machine may refuse."""
    own = lines[block[0]:block[1]]
    back = own[-1].target_address == own[0].address
    return back and len(own) <= 4 and any(line.opcode.startswith(("SYNCS.PHASECHK", "USETMAXREG")) for line in own)


def path_of(code: Code, counts: np.ndarray) -> Path:
    """The way of a warp that executed its PTX instructions so often."""
    runs, unrolled = _block_runs(code, counts)
    copies = _copies(code, counts, runs, unrolled)
    at = {row: k for k, block in enumerate(code.blocks) for row in range(*block)}

    def body(first: int, end: int, times: float, loops: list[tuple[int, int]]) -> Path:
        found: list[Step | Loop] = []
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
            weight = min(1.0, runs[at[row]] / times)
            if weight > 0:
                found.append(Step(row, weight, copies[row]))
            row += 1
        return tuple(found)
    return body(0, len(code.lines), 1.0, list(code.loops))


def flattened(paths: Sequence[Path]) -> list[Path]:
    """Paths in which a nest of loops is one loop, where some team has one loop for all turns of the nest.

    The thread that copies goes through the rows and columns of a filter and then through channels, the warps that
    multiply only from stage to stage: as single loops both can be cut short by the same turns. One turn may be missing,
    which stands before the loop.
    """
    known = {trips for path in paths for trips in _trips(path)}

    def flat(part: Step | Loop) -> Step | Loop:
        if isinstance(part, Step):
            return part
        whole = _as_one(part)
        if whole is not None and max(_trips((part,))) + 1e-6 < whole.trips and any(
                -1e-6 < whole.trips - trips < 1 + 1e-6 for trips in known):
            return whole
        return Loop(part.trips, tuple(map(flat, part.body)))
    return [tuple(map(flat, path)) for path in paths]


def _trips(path: Path) -> Iterator[float]:
    for part in path:
        if isinstance(part, Loop):
            yield part.trips
            yield from _trips(part.body)


def _as_one(loop: Loop) -> Loop | None:
    """A nest as one loop: what stands around the inner one is done in the last of its turns. None for two side by side.
    """
    inner = [part for part in loop.body if isinstance(part, Loop)]
    if not inner:
        return loop
    one = _as_one(inner[0]) if len(inner) == 1 else None
    if one is None:
        return None
    around = [[replace(part, weight=part.weight / one.trips)] if isinstance(part, Step) else one.body
              for part in loop.body]
    return Loop(loop.trips * one.trips, tuple(part for parts in around for part in parts))


def _block_runs(code: Code, counts: np.ndarray) -> tuple[list[float], list[int]]:
    """How often each block ran, and how many copies of its lines it holds."""
    kinds = [_kinds(code, block) for block in code.blocks]
    left = {kind: float(counts[kind[0]]) for own in kinds for kind in own}
    blocks_of = Counter(kind for own in kinds for kind in own)
    runs: list[float] = []
    unrolled: list[int] = []
    for number, own in enumerate(kinds):
        open_ = {kind: k for kind, k in own.items() if left[kind] > 0.5}
        times, ran = 1, 0.0
        if not own:
            ran = -1.0
        elif open_ and number not in code.aside:
            times = _copies_of_all(open_, left)
            sure = [kind for kind in open_ if group_of(kind[1]) in _NEVER_MERGED] or list(open_)
            ran = float(median(left[kind] for kind in sure)) / times
            if times > 1 and any(blocks_of[kind] > 1 for kind in sure):
                ran = float(int(ran + 1e-6))            # the rest of an unrolled loop is in another block
            if not code.depth[code.blocks[number][0]]:
                ran = min(ran, 1.0)
        for kind, k in own.items():
            blocks_of[kind] -= 1
            left[kind] -= max(0.0, ran) * k
        runs.append(ran)
        unrolled.append(times)
    known = 1.0
    for number in range(len(runs)):                     # blocks of what ptxas added alone
        known = runs[number] = known if runs[number] < 0 else runs[number]
    return runs, unrolled


def _kinds(code: Code, block: tuple[int, int]) -> Counter[tuple[int, str]]:
    """Machine instructions of a block by the PTX instruction they are of and their opcode."""
    return Counter((code.owners[row], _word(code.lines[row])) for row in range(*block) if code.owners[row] >= 0)


def _word(line: SassLine) -> str:
    return line.opcode.partition(".")[0]


def _copies_of_all(kinds: Mapping[tuple[int, str], int], left: Mapping[tuple[int, str], float]) -> int:
    """By how much a block was unrolled: the copies that every line has, 1 where a line stands there once."""
    sure = [k for (_, word), k in kinds.items() if group_of(word) in _NEVER_MERGED]
    times = min(sure or kinds.values())
    return times if times > 1 and max(left[kind] for kind in kinds) >= times else 1


def _copies(code: Code, counts: np.ndarray, runs: Sequence[float], unrolled: Sequence[int]) -> list[float]:
    """For each row, machine instructions of its kind that one execution of its PTX instruction became. They are no more
    than all of that kind execute for each execution of it: a loop may be unrolled among lines that stand there once."""
    found = [1.0] * len(code.lines)
    blocks = [_kinds(code, block) for block in code.blocks]
    executed: Counter[tuple[int, str]] = Counter()
    for kinds, times in zip(blocks, runs, strict=True):
        for kind, k in kinds.items():
            executed[kind] += k * times
    for (first, end), kinds, times in zip(code.blocks, blocks, unrolled, strict=True):
        for row in range(first, end):
            kind = code.owners[row], _word(code.lines[row])
            if kind in kinds:
                found[row] = max(1.0, min(kinds[kind] / times, executed[kind] / max(1.0, counts[kind[0]])))
    return found
