"""Mutants: kernels with one wait, fence, barrier, count, or phase dropped or weakened, which a check must find.

A mutant is PTX text with one line changed (two for a wait with its loop, or an arrive with its wait), so that line
numbers stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Mutant", "mutants"]


class Mutant(NamedTuple):
    """A change `what` to `line` (1-based), whose original text is `was`."""

    what: str
    line: int
    was: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.what}: {self.was}"


def mutants(text: str) -> Iterator[Mutant]:
    """Yield every mutant of a kernel's PTX."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        was = line.strip()
        for what, new in _changes(was):
            yield Mutant(what, i + 1, was, "\n".join([*lines[:i], new, *lines[i + 1 :]]))
        if _pair(was, lines[i + 1].strip() if i + 1 < len(lines) else ""):
            yield Mutant("drop", i + 1, was, "\n".join([*lines[:i], "", "", *lines[i + 2 :]]))


def _pair(line: str, following: str) -> bool:
    """Return whether two lines belong together: a wait and its loop, or both halves of a cluster barrier."""
    if "mbarrier.try_wait" in line:
        return re.match(r"@!\S+ bra", following) is not None
    return line.startswith("barrier.cluster.arrive") and following.startswith("barrier.cluster.wait")


def _changes(line: str) -> Iterator[tuple[str, str]]:
    """Yield the changes of a line: a name and the new line."""
    guard, rest = re.match(r"(@\S+ )?(.*)", line).groups(default="")

    def with_number(found: re.Match, more: int) -> str:
        return f"{line[: found.start(1)]}{int(found[1]) + more}{line[found.end(1) :]}"

    if rest.startswith("mbarrier.try_wait.parity"):
        yield "wait for the other parity", _other_parity(line)
    elif found := re.search(r"wait_group\S* (\d+);", line):
        yield "drop", ""
        yield "one group more may be under way", with_number(found, 1)
        if "bulk.wait_group " in line:
            yield "wait for the source only", line.replace("wait_group ", "wait_group.read ")
    elif re.match(r"(bar|barrier)\.(cta\.)?sync|bar\.arrive", rest):
        yield "drop", ""
        if found := re.search(r", (\d+);", rest and line):
            yield "a warp less", with_number(found, -32)
            yield "a warp more", with_number(found, 32)
        if ".sync" in rest:
            yield "a barrier of each warp only", f"{guard}bar.warp.sync -1;"
    elif re.match(r"barrier\.cluster\.arrive", rest):
        yield "arrive without order", line.replace("arrive.release", "arrive").replace("arrive", "arrive.relaxed")
    elif (
        re.match(r"bar\.warp\.sync|cp\.async\.wait_all|tcgen05\.(wait|commit|dealloc)|setmaxnreg\.dec", rest)
        or "commit_group" in rest
        or re.match(r"(\S+\.)?fence", rest)
    ):
        yield "drop", ""
    elif found := re.search(r"mbarrier\.init\S* .*, (\d+);", line):
        yield "drop", ""
        yield "one arrival more", with_number(found, 1)
        if int(found[1]) > 1:
            yield "one arrival less", with_number(found, -1)
    elif found := re.search(r"expect_tx\S* .*, (\d+);", line):
        yield "16 bytes more", with_number(found, 16)
        yield "16 bytes less", with_number(found, -16)
        yield "no bytes", line.replace(".expect_tx", "").replace(found[0][-len(found[1]) - 3 :], ";")
    elif found := re.match(r"(?:ld|st|atom|red)\.(acquire|release|acq_rel)\.", rest):
        yield "without order", line.replace(found[1], "relaxed")
    elif re.match(r"mbarrier\.arrive\.(shared|release)", rest):
        yield "drop", ""
        yield "arrive twice", f"{line} {line}"


def _other_parity(line: str) -> str:
    """Return the line with the opposite parity, of an immediate or a register."""
    parity = re.search(r", (\S+);", line)[1]
    if parity in "01":
        return line.replace(f", {parity};", f", {1 - int(parity)};")
    other = line.replace(f", {parity};", ", %mutant;")
    return f"{{ .reg .b32 %mutant; xor.b32 %mutant, {parity}, 1; {other} }}"
