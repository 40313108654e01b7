"""Match of a profile's instructions with machine code: by address and opcode, else by the sequence of opcodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pyptx.errors import ShapeError
from pyptx.profiles.report import KernelProfile, ProfiledInstruction, ProfileReport
from pyptx.toolchain import SassLine

__all__ = ["MatchedProfile", "match_profile"]

_LEAST = 0.5  # matched fraction of the profile's instructions below which the machine code counts as another one
_MOST_COMPARED = 4_000_000  # pairs of instructions that are aligned where the sequences differ


@dataclass(frozen=True, slots=True)
class MatchedProfile:
    """A profile beside machine code.

    Attributes:
        profile: the launch.
        rows: for each machine instruction its instruction of the profile, or None.
        source: name of the report.
        notes: differences between the profile's machine code and this one, unread rows, other launches; empty if all match.
    """

    profile: KernelProfile
    rows: tuple[ProfiledInstruction | None, ...]
    source: str
    notes: tuple[str, ...] = ()


def match_profile(
    report: ProfileReport, name: str, sass: Sequence[SassLine], *, entry: str | None = None, launch: int | None = None
) -> MatchedProfile:
    """Match a launch of a kernel in a report with machine code.

    Args:
        report: the report.
        name: name of the kernel in the report.
        sass: the machine code, also of other entries.
        entry: entry in `sass`; default: `name`.
        launch: number of the launch in the report; default: the one whose machine code agrees best.
    Raises:
        UnknownNameError: the report has no such kernel or launch.
        ShapeError: it has no instructions, or they are those of another kernel; the message names the first difference.
    """
    first = report.kernel(name, launch)
    candidates = [one for one in report.launches(name) if one.instructions and launch in (None, one.launch)]
    if not candidates:
        raise ShapeError(
            f"{report.source} has no machine instructions of {first.name}",
            hint="export the source page: ncu --import REPORT --page source --print-source sass --csv",
        )
    own = [row for row, line in enumerate(sass) if line.entry == (entry or name)]
    if not own:
        own = list(range(len(sass)))
    ours = [sass[row].opcode for row in own]
    matches = ((list(_pairs(ours, one, sass, own)), one) for one in candidates)
    pairs, best = max(matches, key=lambda found: len(found[0]))
    theirs = best.instructions
    if len(pairs) < _LEAST * max(1, _without_padding(theirs)):
        raise ShapeError(
            f"the profile of {best.name} in {report.source} is of other machine code: {_difference(ours, theirs, pairs)}",
            hint="profile the kernel with the same source, target, parameters and version of ptxas",
        )
    rows: list[ProfiledInstruction | None] = [None] * len(sass)
    for mine, other in pairs:
        rows[own[mine]] = theirs[other]
    notes = list(report.notes)
    if (missing := _without_padding(theirs) - sum(other < _without_padding(theirs) for _, other in pairs)) > 0:
        notes.append(
            f"{missing} instructions of the profile are not in this machine code: {_difference(ours, theirs, pairs)}"
        )
    if len(candidates) > 1 and launch is None:
        notes.append(f"launch {best.launch} of {len(candidates)} in the report")
    return MatchedProfile(best, tuple(rows), report.source, tuple(notes))


def _without_padding(instructions: Sequence[ProfiledInstruction]) -> int:
    """Return the number of instructions without the NOPs, and the jump to itself, at the end of a function."""
    count = len(instructions)
    while count and instructions[count - 1].opcode == "NOP":
        count -= 1
    return count


def _pairs(
    ours: Sequence[str], profile: KernelProfile, sass: Sequence[SassLine], own: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield (own instruction, instruction of the profile) of equal opcodes in order."""
    theirs = [one.opcode for one in profile.instructions]
    base, start = profile.instructions[0].address, sass[own[0]].address if own else 0
    offsets = {one.address - base: k for k, one in enumerate(profile.instructions)}
    placed = [(k, offsets.get(sass[row].address - start)) for k, row in enumerate(own)]
    same = [(k, other) for k, other in placed if other is not None and ours[k] == theirs[other]]
    if len(same) == len(theirs) or len(same) == len(ours):
        yield from same
        return
    begin = 0
    while begin < min(len(ours), len(theirs)) and ours[begin] == theirs[begin]:
        begin += 1
    end = 0
    while end < min(len(ours), len(theirs)) - begin and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    yield from ((k, k) for k in range(begin))
    left, right = ours[begin : len(ours) - end], theirs[begin : len(theirs) - end]
    if len(left) * len(right) <= _MOST_COMPARED:
        for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            yield from ((begin + block.a + k, begin + block.b + k) for k in range(block.size))
    yield from ((len(ours) - k, len(theirs) - k) for k in range(end, 0, -1))


def _difference(ours: Sequence[str], theirs: Sequence[ProfiledInstruction], pairs: Sequence[tuple[int, int]]) -> str:
    """Return the first difference as text."""
    matched = {other for _, other in pairs}
    number = next((k for k in range(len(theirs)) if k not in matched), len(theirs) - 1)
    before = max((mine for mine, other in pairs if other < number), default=-1) + 1
    mine = ours[before] if before < len(ours) else "the end"
    return (
        f"instruction {number} of the profile is {theirs[number].opcode or 'empty'}, expected {mine} "
        f"({len(theirs)} and {len(ours)} instructions)"
    )
