"""How much a check finds: every mutant of every right kernel, counted.

    PYTHONPATH=.:tests python tests/check/soundness.py                 run all, write soundness.json and the page
    PYTHONPATH=.:tests python tests/check/soundness.py hopper/gemm     one kernel, with what is missed in it

The page is docs/guide/soundness.md.
Those in missed.txt are equivalent: as right as the kernel itself, for the reason that stands there.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from check.kernels import CLEAN, Clean
from check.mutants import Mutant, mutants
from check.of_examples import EXAMPLES
from check.pairs import CASES, KERNELS

__all__ = ["ALL", "EQUIVALENT", "Key", "counted", "keyed", "missed", "numbers"]

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "soundness.json", HERE.parents[1] / "docs" / "guide" / "soundness.md"
COMMAND = "PYTHONPATH=.:tests python tests/check/soundness.py"
ALL: dict[str, Clean] = {**CLEAN, **EXAMPLES}


class Key(NamedTuple):
    """A mutant by its kernel, the change, the line with every register as %r, and which of the lines of that text."""

    kernel: str
    what: str
    was: str
    nth: int


def _equivalent() -> Iterator[Key]:
    for line in (HERE / "missed.txt").read_text().split("\n"):
        if line and line[0] != "#":
            kernel, what, was, nth = (part.strip() for part in line.split("|"))
            yield Key(kernel, what, was, int(nth))


EQUIVALENT = frozenset(_equivalent())


def keyed(name: str) -> Iterator[tuple[Key, Mutant]]:
    """The mutants of a kernel with their keys."""
    seen: Counter = Counter()
    for mutant in mutants(ALL[name].text()):
        was = re.sub(r"%[a-z]+\d+", "%r", mutant.was)
        seen[mutant.what, was] += 1
        yield Key(name, mutant.what, was, seen[mutant.what, was]), mutant


def missed(name: str, every: int = 1) -> Iterator[tuple[Key, Mutant]]:
    """Mutants of a kernel in which a check finds nothing; of every so many, one is tried."""
    for i, (key, mutant) in enumerate(keyed(name)):
        if i % every == 0 and ALL[name].finds(mutant.text) is None:
            yield key, mutant


def counted(names: Iterable[str]) -> dict[str, dict[str, int]]:
    """Of each kernel how many mutants there are, are found, and are equivalent among those that are not."""
    counts = {}
    for name in names:
        lost = {key for key, _ in missed(name)}
        made = sum(1 for _ in keyed(name))
        counts[name] = {"mutants": made, "found": made - len(lost), "equivalent": len(lost & EQUIVALENT)}
        print(f"{name}: {made - len(lost)} of {made} found, {len(lost & EQUIVALENT)} equivalent", flush=True)
    return counts


def numbers(counts: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Sums, and both shares: of all mutants, and of those that are not equivalent."""
    made, found, equivalent = (sum(row[k] for row in counts.values()) for k in ("mutants", "found", "equivalent"))
    return {"mutants": made, "found": found, "equivalent": equivalent, "share": round(found / made, 4),
            "share_less_equivalent": round(found / (made - equivalent), 4)}


def _page(results: Mapping[str, Any]) -> Iterator[str]:
    total = results["total"]
    yield "# How much a check finds"
    yield ""
    yield f"<!-- Made by {results['command']}; run it again instead of editing. -->"
    yield ""
    yield (f"Two suites say what [`check`](checking.md) is worth. {results['mistakes']} mistakes in "
           f"{results['small_kernels']} small kernels, over every rule: each is found by the right rule at the right "
           "lines, and nothing is found in the kernels as they should be. And mutants of larger kernels, all examples "
           "among them: each wait, fence, barrier, count and phase dropped or weakened in turn, one at a time.")
    yield ""
    yield (f"**Of {total['mutants']} mutants {total['found']} are found: {total['share']:.1%}.** "
           f"{total['equivalent']} are equivalent to their kernel, each with its reason in "
           f"`tests/check/missed.txt`; of the others **{total['share_less_equivalent']:.1%}** are found. Nothing is "
           "found in the kernels themselves.")
    yield ""
    yield "| kernel | mutants | found | equivalent | missed |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, row in (*results["kernels"].items(), ("all", total)):
        left = row["mutants"] - row["found"] - row["equivalent"]
        yield f"| {name} | {row['mutants']} | {row['found']} | {row['equivalent']} | {left} |"
    yield ""
    yield (f"Made on {results['date']} at commit {results['commit']} by `{results['command']}`, which takes two or "
           "three minutes on two quiet cores. Kernels without a row have nothing to weaken; sizes are in "
           "`tests/check/of_examples.py`.")


def _main(names: list[str]) -> None:
    if names:
        for name in names:
            for key, mutant in missed(name):
                print(key, f"line {mutant.line}", "equivalent" if key in EQUIVALENT else "MISSED")
        return
    started = time.perf_counter()
    counts = {name: row for name, row in counted(ALL).items() if row["mutants"]}
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True,
                            cwd=HERE).stdout.strip()
    results = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "command": COMMAND,
               "seconds": round(time.perf_counter() - started), "total": numbers(counts), "kernels": counts,
               "small_kernels": len(KERNELS), "mistakes": len(CASES)}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text("\n".join(_page(results)) + "\n")


if __name__ == "__main__":
    _main(sys.argv[1:])
