"""Compiled machine code, changed by chance in ways that change nothing: such a pair is never "different".

And in ways that change one thing: that one line is, and no other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import sass as machine_code
from support.sass import rename

from pyptx.analysis.diff.sass import compare_sass
from pyptx.toolchain import SassLine
from pyptx.toolchain.sass_registers import READ, instruction_shape

TESTS = Path(__file__).parents[1]
FILES = [
    ("corpus/nvcc_sm75.ptx", "sm_75"),
    ("corpus/clang_sm80.ptx", "sm_80"),
    ("corpus/nvcc_sm90a.ptx", "sm_90a"),
    ("toolchain/ptx/wgmma_sm_90a.ptx", "sm_90a"),
    ("toolchain/ptx/tcgen05_sm_100a.ptx", "sm_100a"),
    ("corpus/nvcc_sm120.ptx", "sm_120"),
    ("toolchain/ptx/block_scale_sm_120a.ptx", "sm_120a"),
]
# Never moved: what ends a block, waits, orders memory or reads something that changes by itself
FIXED = re.compile(
    r"BRA|BRX|EXIT|RET|CALL|JMP|BSSY|BSYNC|BREAK|BMOV|WARP|BAR|MEMBAR|FENCE|ERRBAR|DEPBAR|LDGDEPBAR|LDGSTS|ARRIVES|SYNCS"
    r"|UTM|UBLK|UTC|UCGA|CCTL|S2|CS2R|VOTE|NANO|YIELD|KILL|PREEXIT|ACQ|NOP|R2P|P2R|\w?GMMA|USETMAXREG|B2R|R2B|LEPC|ELECT"
    r"|PLOP"
)
MEMORY = re.compile(r"LD(?!C)|ST|ATOM|RED|TEX|TLD|SU|LDTM|STTM|QSPC|MOVM")


@cache
def compiled(name: str, target: str) -> tuple[SassLine, ...]:
    lines = machine_code.compiled((TESTS / name).read_text(), target)
    return tuple(line for line in lines if line.entry == lines[0].entry) if len(lines) > 600 else lines


@pytest.fixture(params=FILES, ids=[f"{Path(name).stem}-{target}" for name, target in FILES], scope="module")
def code(request) -> tuple[tuple[SassLine, ...], str]:
    return compiled(*request.param), request.param[1]


def kinds(left, right, target: str) -> dict[str, int]:
    counts = compare_sass(left, right, (target, target)).counts()
    return {name: max(pair) for name, pair in counts.items() if any(pair)}


@pytest.mark.sampled(4)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_other_registers_are_renamed(code, seed):
    """Each bank is shuffled by fours, or turned by a multiple of eight where an operand takes more than four in a row."""
    lines, target = code
    choose = random.Random(seed)
    other = lines
    wide = any("MMA" in line.opcode or re.search(r"TM\.", line.opcode) for line in lines)
    for bank, size in (("R", 256), ("UR", 64), ("P", 7), ("UP", 7)):
        step = 1 if "P" in bank else 4
        groups = list(range(size // step))
        if step == 1 or not wide:
            choose.shuffle(groups)
        else:
            turn = 2 * choose.randrange(len(groups) // 2)
            groups = groups[turn:] + groups[:turn]
        other = rename(other, lambda n, groups=groups, step=step: groups[n // step] * step + n % step, bank=bank)
    found = kinds(lines, other, target)
    assert found.keys() <= {"identical", "renamed"}, found
    if lines != other:
        assert found.get("renamed")


def legal_swaps(lines: Sequence[SassLine]) -> Iterator[int]:
    """Numbers of lines that may change places with the next: no register in common that either writes, no two
    accesses to memory unless both load, neither is a place that something jumps to."""
    targets = {(line.entry, line.target_address) for line in lines if line.target_address is not None}
    for number, (one, other) in enumerate(pairwise(lines)):
        pair = (one, other)
        if one.entry != other.entry or any(FIXED.match(line.opcode) for line in pair):
            continue
        if any((line.entry, line.address) in targets for line in pair):
            continue
        if all(MEMORY.match(line.opcode) for line in pair) and not all(
            re.match(r"LD[GSL]?\b", line.opcode) and "STRONG" not in line.opcode for line in pair
        ):
            continue
        touches = []
        for line in pair:
            shaped = instruction_shape(line.opcode, line.operands, line.predicate)
            written = {name for name, role in zip(shaped.registers, shaped.roles, strict=True) if role != READ}
            touches.append((set(shaped.registers), written))
        (all_a, written_a), (all_b, written_b) = touches
        if not (written_a & all_b or written_b & all_a):
            yield number


def swapped(lines: Sequence[SassLine], number: int) -> tuple[SassLine, ...]:
    one, other = lines[number : number + 2]
    pair = (replace(other, address=one.address), replace(one, address=other.address))
    return (*lines[:number], *pair, *lines[number + 2 :])


@pytest.mark.sampled(4)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_independent_lines_in_another_order_are_rescheduled(code, seed):
    lines, target = code
    choose = random.Random(seed)
    other, done = lines, 0
    for _ in range(30):
        ways = list(legal_swaps(other))
        if not ways:
            break
        other, done = swapped(other, choose.choice(ways)), done + 1
    found = kinds(lines, other, target)
    assert "different" not in found, found
    if done and [line.text for line in other] != [line.text for line in lines]:
        assert found.get("rescheduled") or found.get("renamed")


@pytest.mark.sampled(4)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_one_changed_line_is_the_one_that_is_different(code, seed):
    """An opcode with another modifier, among renamed ones: one line differs on each side, at that place."""
    lines, target = code
    choose = random.Random(seed)
    number = choose.choice([n for n, line in enumerate(lines) if not FIXED.match(line.opcode)])
    other = list(rename(lines, lambda n: n ^ 8 if n >= 16 else n))
    other[number] = replace(other[number], opcode=other[number].opcode + ".OTHER")
    found = compare_sass(lines, tuple(other), (target, target))
    assert [(row.a, row.b) for row in found.rows if row.kind == 3] == [(number, number)]


def test_the_same_code_is_identical(code):
    lines, target = code
    assert kinds(lines, lines, target) == {"identical": len(lines)}
