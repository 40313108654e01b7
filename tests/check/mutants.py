"""Kernels with one wait, fence, barrier or count dropped or weakened: what a check must find.

A mutant is PTX text with one line changed, so that places keep their line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Mutant", "mutants"]


class Mutant(NamedTuple):
    """`what` was done to `line` (1-based), which said `was`."""

    what: str
    line: int
    was: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.what}: {self.was}"


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of a kernel's PTX; a line that stands several times in it gives several."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        for what, new in _changes(line.strip()):
            yield Mutant(what, i + 1, line.strip(), "\n".join([*lines[:i], new, *lines[i + 1:]]))
        if "mbarrier.try_wait" in line and re.match(r"@!\S+ bra", lines[i + 1].strip()):
            yield Mutant("drop", i + 1, line.strip(), "\n".join([*lines[:i], "", "", *lines[i + 2:]]))


def _changes(line: str) -> Iterator[tuple[str, str]]:
    """What can be done to a line: the name of the change and the new line."""
    if re.match(r"mbarrier.try_wait.parity", line) and (found := re.search(r", ([01]);", line)):
        yield "wait for the other parity", line.replace(found[0], f", {1 - int(found[1])};")
    elif found := re.search(r"wait_group\S* (\d+);", line):
        yield "drop", ""
        yield "one group more may be under way", line[:found.start(1)] + str(int(found[1]) + 1) + line[found.end(1):]
        if "bulk.wait_group " in line:
            yield "wait for the source only", line.replace("wait_group ", "wait_group.read ")
    elif re.match(r"(bar|barrier)\.(cta\.)?sync", line) or "commit_group" in line or re.match(r"(\S+\.)?fence", line) \
            or line.startswith("bar.warp.sync"):
        yield "drop", ""
    elif found := re.search(r"mbarrier.init\S* .*, (\d+);", line):
        yield "one arrival more", line[:found.start(1)] + str(int(found[1]) + 1) + line[found.end(1):]
        if int(found[1]) > 1:
            yield "one arrival less", line[:found.start(1)] + str(int(found[1]) - 1) + line[found.end(1):]
    elif found := re.search(r"expect_tx\S* .*, (\d+);", line):
        yield "16 bytes more", line[:found.start(1)] + str(int(found[1]) + 16) + line[found.end(1):]
        yield "16 bytes less", line[:found.start(1)] + str(int(found[1]) - 16) + line[found.end(1):]
    elif re.match(r"(@\S+ )?mbarrier.arrive\.(shared|release)", line):
        yield "drop", ""
