"""Small kernels, correct and with mistakes: tables of PTX in tests/check/pairs.

`== name | grid 2 | cluster 2 | block 128 | target sm_90a` starts a kernel, whose lines are statements. A comment is a
mistake: `drop: RULES WORDS` removes the line, `as OTHER: RULES WORDS` replaces it. It must be reported by exactly these
rules (comma-separated; a rule with ? may also be reported), at instructions that start with each of the words. A case is
one such change; the unchanged kernel has no findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pyptx
from pyptx.check import Report

__all__ = ["CASES", "KERNELS", "Case", "Small"]

FOLDER = Path(__file__).parent / "pairs"
PROLOGUE = """
.reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .pred %p<16>; .reg .f32 %f<16>;
.shared .align 1024 .b8 x[8192]; .shared .align 8 .b64 bars[8];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank;
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r1; mul.wide.u32 %rd8, %r5, 4;
add.u64 %rd4, %rd1, %rd8; add.u64 %rd5, %rd2, %rd8; xor.b32 %r6, %r5, 32; mad.wide.u32 %rd6, %r6, 4, %rd1;
mov.u32 %r9, x; mad.lo.u32 %r10, %r1, 4, %r9; xor.b32 %r6, %r1, 32; mad.lo.u32 %r11, %r6, 4, %r9;
xor.b32 %r6, %r1, 1; mad.lo.u32 %r12, %r6, 4, %r9; mov.u32 %r13, bars; and.b32 %r14, %r1, 31;
mad.lo.u32 %r15, %r14, 4, %r9; shr.u32 %r8, %r1, 5; mov.u32 %r20, 0; mov.u32 %r21, 0;
setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32; not.pred %p3, %p2; setp.eq.u32 %p4, %r14, 0;
setp.ne.u32 %p5, %r3, 0;
"""
EPILOGUE = "st.global.u32 [%rd5], %r20; ret;"


@dataclass(frozen=True)
class Small:
    """A kernel of a few lines with its launch configuration."""

    name: str
    lines: tuple[str, ...]
    grid: int = 1
    block: int = 64
    cluster: int = 1
    target: str = "sm_90a"
    maxnreg: int = 0

    def check(self, lines: tuple[str, ...] | None = None, **options) -> Report:
        """Check the kernel, or other lines in its place."""
        body = "\n".join(line if line.endswith(":") or line in "{}" else f"{line};" for line in lines or self.lines)
        limit = f"\n.maxnreg {self.maxnreg}" if self.maxnreg else ""
        text = (
            f".version 9.0\n.target {self.target}\n.address_size 64\n"
            f".visible .entry k(.param .u64 a, .param .u64 out){limit}\n{{\n{PROLOGUE}{body}\n{EPILOGUE}\n}}\n"
        )
        size = max(self.grid * self.block, 2048)
        return pyptx.load(text)["k"].check(
            self.grid,
            self.block,
            np.zeros(size, np.uint32),
            np.zeros(size, np.uint32),
            cluster=self.cluster,
            max_steps=100_000,
            **options,
        )


@dataclass(frozen=True)
class Case:
    """A kernel with a mistake: rules that must and may be reported, and the first words of the instructions."""

    kernel: Small
    change: str
    lines: tuple[str, ...]
    rules: frozenset[str]
    perhaps: frozenset[str]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kernel.name}: {self.change}"


def _read(path: Path) -> Iterator[tuple[Small, list[Case]]]:
    for part in re.split(r"^== ", path.read_text(), flags=re.M)[1:]:
        header, *rows = part.rstrip().split("\n")
        name, *options = (piece.strip() for piece in header.split(" | "))
        given = {k: int(v) if v.isdigit() else v for k, v in (option.split() for option in options)}
        split = [[piece.strip() for piece in row.split(" # ")] for row in rows if row.strip()]
        lines = tuple(pieces[0] for pieces in split)
        kernel = Small(f"{path.stem}: {name}", lines, **given)
        yield kernel, [_case(kernel, i, note) for i, (_, *notes) in enumerate(split) for note in notes]


def _case(kernel: Small, i: int, note: str) -> Case:
    change, _, wanted = note.rpartition(": ")
    rules, *words = wanted.split()
    names = rules.split(",")
    new = [] if change == "drop" else [change.removeprefix("as ")]
    what = f"without {kernel.lines[i]}" if change == "drop" else f"{new[0]} for {kernel.lines[i]}"
    return Case(
        kernel,
        what,
        (*kernel.lines[:i], *new, *kernel.lines[i + 1 :]),
        frozenset(n for n in names if n[-1] != "?"),
        frozenset(n[:-1] for n in names if n[-1] == "?"),
        tuple(words),
    )


_all = [pair for path in sorted(FOLDER.glob("*.txt")) for pair in _read(path)]
KERNELS = [kernel for kernel, _ in _all]
CASES = [case for _, cases in _all for case in cases]
