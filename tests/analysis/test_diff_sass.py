"""Diffs of machine code: hand-written pairs with known answers, and ptxas output of an example."""

from __future__ import annotations

import random
import re
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sass import rename, sass

from pyptx.analysis.diff.align import align, longest_common_subsequence
from pyptx.analysis.diff.comparison import CLASSES
from pyptx.analysis.diff.sass import compare_sass
from pyptx.cli.kernels import load_module
from pyptx.toolchain import Control

LOOP = """
    S2R R0, SR_TID.X
    LDC.64 R2, c[0x0][0x210]
    MOV R8, RZ
    IMAD.WIDE.U32 R2, R0, 0x4, R2
    MOV R9, 0x10
top:
    LDG.E R4, desc[UR4][R2.64]
    LDG.E R5, desc[UR4][R2.64+0x80]
    FMUL R6, R4, 2
    FADD R7, R5, 1
    FFMA R8, R6, R7, R8
    IADD3 R9, R9, -0x1, RZ
    ISETP.NE.AND P0, PT, R9, RZ, PT
    @P0 BRA top
    MOV R4, R8
    STG.E desc[UR4][R2.64], R4
    EXIT
"""


def kinds(left, right) -> dict[str, int]:
    """How many lines of each class, the larger side of each; classes without lines are left out."""
    counts = compare_sass(left, right).counts()
    assert sum(a for a, _ in counts.values()) == len(left)
    assert sum(b for _, b in counts.values()) == len(right)
    return {name: max(pair) for name, pair in counts.items() if any(pair)}


def swapped(text: str, one: str, other: str) -> str:
    """The text with two of its lines exchanged."""
    assert text.count(one) == text.count(other) == 1
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


def test_the_same_code_is_identical():
    assert kinds(sass(LOOP), sass(LOOP)) == {"identical": 16}


def test_nothing_compared_with_nothing():
    assert compare_sass((), ()).rows == ()
    assert kinds((), sass(LOOP)) == {"different": 16}


def test_a_consistent_renaming_is_renamed():
    found = kinds(sass(LOOP), rename(sass(LOOP), lambda n: n + 10))
    assert found == {"identical": 2, "renamed": 14}  # BRA and EXIT name no such register


def test_predicates_and_uniform_registers_may_be_renamed_too():
    for bank, new in (("P", 3), ("UR", 12)):
        found = kinds(sass(LOOP), rename(sass(LOOP), lambda n, new=new: n + new, bank=bank))
        assert set(found) == {"identical", "renamed"}


def test_one_life_of_a_register_may_be_renamed_alone():
    other = LOOP.replace("MOV R4, R8", "MOV R20, R8").replace("[R2.64], R4", "[R2.64], R20")
    assert kinds(sass(LOOP), sass(other)) == {"identical": 14, "renamed": 2}


def test_a_renaming_that_is_not_one_to_one_is_different():
    other = LOOP.replace("FADD R7, R5, 1", "FADD R7, R4, 1")
    assert kinds(sass(LOOP), sass(other)) == {"identical": 15, "different": 1}


def test_the_halves_of_a_wide_register_are_held_apart():
    code = "LDG.E.64 R4, desc[UR4][R2.64]\nFADD R6, R4, R5\nSTG.E desc[UR4][R2.64], R6\nEXIT"
    assert kinds(sass(code), sass(code.replace("R4,", "R8,", 1).replace("R4, R5", "R8, R9"))) == {
        "identical": 2,
        "renamed": 2,
    }
    assert kinds(sass(code), sass(code.replace("R4,", "R8,", 1).replace("R4, R5", "R9, R8")))["different"] == 1


def test_swapping_two_values_in_use_is_different():
    other = LOOP.replace("FFMA R8, R6, R7, R8", "FFMA R8, R7, R6, R8")
    assert kinds(sass(LOOP), sass(other)) == {"identical": 15, "different": 1}


def test_independent_instructions_may_change_places():
    for one, other in (
        ("FMUL R6, R4, 2", "FADD R7, R5, 1"),
        ("LDG.E R4, desc[UR4][R2.64]\n", "LDG.E R5, desc[UR4][R2.64+0x80]\n"),
    ):
        found = compare_sass(sass(LOOP), sass(swapped(LOOP, one, other)))
        assert {name: pair for name, pair in found.counts().items() if any(pair)} == {
            "identical": (15, 15),
            "rescheduled": (1, 1),
        }
        moved = [row for row in found.rows if row.partner >= 0]
        assert {(row.a, row.b, row.partner) for row in moved} == {
            (moved[0].a, -1, moved[0].partner),
            (-1, moved[0].partner, moved[0].a),
        } or len(moved) == 2


def test_places_and_registers_may_change_together():
    other = swapped(LOOP, "FMUL R6, R4, 2", "FADD R7, R5, 1")
    found = kinds(sass(LOOP), rename(sass(other), lambda n: n + 10))
    assert found == {"identical": 2, "renamed": 13, "rescheduled": 1}


def test_an_instruction_that_passes_what_it_needs_is_different():
    other = swapped(LOOP, "FMUL R6, R4, 2", "FFMA R8, R6, R7, R8")
    assert "different" in kinds(sass(LOOP), sass(other))


@pytest.mark.parametrize(
    "one, other, allowed",
    [
        ("STS [R2], R4", "LDS R6, [R2]", False),
        ("STS [R2], R4", "STS [R2+0x2], R5", False),
        ("STS [R2], R4", "STS [R2+0x4], R5", True),
        ("STS.128 [R2], R4", "STS [R2+0x4], R8", False),
        ("STS [R2], R4", "STS [R3+0x4], R5", False),
        ("STS [R2], R4", "STG.E desc[UR4][R10.64], R5", True),
        ("LDS R6, [R2]", "LDS R7, [R3]", True),
        ("STS [R2], R4", "BAR.SYNC.DEFER_BLOCKING 0x0", False),
        ("LDG.E R6, desc[UR4][R10.64]", "MEMBAR.SC.GPU", False),
        ("LDG.E.CONSTANT R6, desc[UR4][R10.64]", "STG.E desc[UR4][R12.64], R4", True),
        ("ST.E desc[UR4][R10.64], R4", "LDS R6, [R2]", False),
        ("FADD R6, R4, R5", "STS [R2], R4", True),
    ],
)
def test_memory_and_barriers_keep_their_order(one, other, allowed):
    code = f"MOV R4, 1\nMOV R5, 2\n{one}\n{other}\nSTS [R9], R6\nSTS [R9+0x4], R7\nEXIT"
    found = kinds(sass(code), sass(swapped(code, one, other)))
    assert ("different" not in found) == allowed, found
    assert ("rescheduled" in found) == allowed


def test_an_instruction_moved_to_another_block_is_different():
    other = LOOP.replace("    FADD R7, R5, 1\n", "").replace("    MOV R4, R8\n", "    FADD R7, R5, 1\n    MOV R4, R8\n")
    found = kinds(sass(LOOP), sass(other))
    assert found["different"] >= 1
    assert "rescheduled" not in found


@pytest.mark.parametrize(
    "one, other, why",
    [
        ("LDS R5, [R0.X16+0x1100]", "LDS R5, [R0+0x20]", "address"),
        ("STS [R0], R1", "STS [R0+0x4], R1", "address"),
        ("FADD R5, R0, 1", "FADD R5, R0, 2", "operands"),
        ("FADD R5, R0, c[0x3][0x8]", "FADD R5, R0, c[0x3][0xc]", "operands"),
        ("FADD R5, R0, 1", "FMUL R5, R0, 1", "instruction"),
    ],
)
def test_a_different_line_says_what_differs(one, other, why):
    start = "S2R R0, SR_TID.X\nMOV R1, RZ\n"
    rows = compare_sass(sass(f"{start}{one}\nEXIT"), sass(f"{start}{other}\nEXIT")).rows
    assert [row.why for row in rows if row.kind == 3] == [why]


def test_a_branch_to_another_place_is_different():
    other = LOOP.replace("top:\n", "").replace("    FMUL R6", "top:\n    FMUL R6")
    found = compare_sass(sass(LOOP), sass(other))
    assert "branch target" in {row.why for row in found.rows}


def test_lines_put_in_before_a_loop_change_nothing_in_it():
    other = LOOP.replace("top:", "    FADD R30, R0, 3\n    FADD R31, R30, 3\ntop:")
    assert kinds(sass(LOOP), sass(other)) == {"identical": 16, "different": 2}


def sums(first: str, steps: int = 12) -> str:
    """Many lines alike: differences from a mean made by `first`, their squares summed up, each of them used again."""
    rows = ["S2R R0, SR_TID.X", "LDC.64 R2, c[0x0][0x210]", "MOV R5, RZ", "LDG.E R4, desc[UR4][R2.64]"]
    rows += [f"LDG.E R{10 + n}, desc[UR4][R2.64+{4 + 4 * n:#x}]" for n in range(steps)]
    rows += [first.format(d=30 + n, a=10 + n) for n in range(steps)]
    rows += [f"FFMA R5, R{30 + n}, R{30 + n}, R5" for n in range(steps)]
    rows += ["MUFU.RSQ R5, R5"]
    for n in range(steps):
        rows += [
            f"FMUL R30, R{30 + n}, R5" if n == 0 else f"FMUL R{30 + n}, R{30 + n}, R5",
            f"STG.E desc[UR4][R2.64+{0x100 + 4 * n:#x}], R{30 + n}",
        ]
    return "\n".join([*rows, "EXIT"])


def test_what_uses_changed_lines_is_the_same_where_only_the_flow_of_values_tells_which_is_which():
    """Twelve lines have changed; the chains of lines alike behind them have not, though every one of them reads one."""
    left, right = sums("FADD R{d}, R{a}, -R4"), sums("FFMA R{d}, R4, -0.5, R{a}")
    assert kinds(sass(left), sass(right)) == {"identical": 54, "different": 12}
    found = compare_sass(sass(left), rename(sass(right), lambda n: n + 60))
    assert found.counts()["different"] == (12, 12)
    assert {row.why for row in found.rows if row.kind == 3} <= {"instruction", "only left", "only right"}


def test_a_value_that_is_computed_twice_is_one_value():
    """As at -O1 and -O3: the same constants put together once more before a loop, which reads the second copy."""
    base = "S2UR UR{0}, SR_CgaCtaId\nUMOV UR{1}, 0x400\nULEA UR{0}, UR{0}, UR{1}, 0x18\n"
    uses = "STS [R0+UR{0}], R1\nBAR.SYNC.DEFER_BLOCKING 0x0\n{again}LDS R2, [R0+UR{1}]\nSTS [R0+UR{1}+0x40], R2\nEXIT"
    start = "S2R R0, SR_TID.X\nMOV R1, RZ\n"
    twice = start + base.format(4, 5) + uses.format(4, 6, again=base.format(6, 7))
    once = start + base.format(8, 9) + uses.format(8, 8, again="")
    found = compare_sass(sass(twice), sass(once)).counts()
    assert found["different"] == (3, 0)
    changed = twice.replace("UMOV UR7, 0x400", "UMOV UR7, 0x800")
    found = compare_sass(sass(changed), sass(once)).counts()
    assert found["different"][1] >= 2, "what reads another value than before is not the same"


def test_a_loop_that_makes_values_uniform_reads_nothing_old():
    """ptxas asks lane by lane before what takes uniform registers; what stood in them before is no input."""
    loop = """
        PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0
    ask:
        PLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0
        @P0 R2UR P1, UR10, R2
        PLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0
        @P0 R2UR.OR P1, UR8, R4
        @P0 PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0
        UTMASTG.2D [UR8], [UR4]
        @P0 BRA.U.ANY ask
        EXIT"""
    before = "UMOV UR{0}, 0x1\nISETP.NE.AND P{1}, PT, R2, RZ, PT\n@P{1} STS [UR{0}], R2\n"
    found = kinds(sass(before.format(8, 1) + loop), sass(before.format(20, 2) + loop))
    assert found == {"identical": 9, "renamed": 3}


def test_convergence_barriers_that_are_used_again_do_not_join_what_they_part():
    part = "BSSY B0, {0}\n@P0 BRA {0}s\nMOV R{1}, 0x1\nSTS [R0], R{1}\n{0}s:\nBSYNC B0\n{0}:\n"
    left = "MOV R0, RZ\n" + part.format("one", 4) + part.format("two", 4) + "EXIT"
    right = "MOV R0, RZ\n" + part.format("one", 4) + part.format("two", 5) + "EXIT"
    assert "different" not in kinds(sass(left), sass(right))


def test_what_reads_one_parameter_is_not_what_reads_another():
    """Alike but for which array they load: the loads of the parameters differ, the parameters are still known."""
    read = "LDG.E R2, desc[UR20][R8.64]\nLDG.E R5, desc[UR20][R10.64]\nFFMA R9, R2, {0}, R5\nSTS [R12], R9\nEXIT"
    new = (
        "LDCU.128 UR8, c[0x0][0x380]\nIADD3 R10, P1, PT, R6, UR10, RZ\nIADD3.X R11, PT, PT, R0, UR11, RZ, P1, !PT\n"
        "IADD3 R8, P0, PT, R6, UR8, RZ\nIADD3.X R9, PT, PT, R0, UR9, RZ, P0, !PT\n" + read.format(2)
    )
    old = (
        "ULDC.64 UR8, c[0x0][0x210]\nIADD3 R8, P0, R6, UR8, RZ\nIADD3.X R9, R0, UR9, RZ, P0, !PT\n"
        "ULDC.64 UR8, c[0x0][0x218]\nIADD3 R10, P0, R6, UR8, RZ\nIADD3.X R11, R0, UR9, RZ, P0, !PT\n" + read.format(4)
    )
    found = compare_sass(sass(new), sass(old), ("sm_100a", "sm_90a"))
    pairs = {(row.a, row.b) for row in found.rows if row.kind < 2} | {
        (row.a, row.partner) for row in found.rows if row.kind == 2 and row.a >= 0
    }
    assert {(3, 1), (4, 2), (1, 4), (2, 5), (5, 6), (6, 7)} <= pairs


EARLY = """
    S2R R0, SR_TID.X
    LDC R1, c[0x0][0x218]
    MOV R9, 0x7
    ISETP.GE.AND P0, PT, R0, R1, PT
    @P0 EXIT
    LDC.64 R2, c[0x0][0x210]
    IMAD.WIDE.U32 R2, R0, 0x4, R2
    LDG.E R4, desc[UR4][R2.64]
    IADD3 R4, R4, R9, RZ
    STG.E desc[UR4][R2.64], R4
    EXIT
"""
LATER = EARLY.replace("    MOV R9, 0x7\n", "").replace("    IADD3 R4", "    MOV R9, 0x7\n    IADD3 R4")


def test_a_constant_made_in_another_block_has_only_moved():
    assert kinds(sass(EARLY), sass(LATER)) == {"identical": 10, "rescheduled": 1}
    sums = [text.replace("MOV R9, 0x7", "IADD3 R9, R0, 0x7, RZ") for text in (EARLY, LATER)]
    assert kinds(*map(sass, sums)) == {"identical": 10, "rescheduled": 1}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("MOV R9, 0x7", "@!P1 MOV R9, 0x7"),
        lambda text: text.replace("EXIT\n    LDC.64", "EXIT\n    MOV R9, 0x8\n    LDC.64"),
        lambda text: text.replace("MOV R9, 0x7", "LDG.E R9, desc[UR4][R6.64]"),
        lambda text: text.replace("MOV R9, 0x7", "S2R R9, SR_CLOCKLO"),
    ],
    ids=["guarded", "twice", "loaded", "clock"],
)
def test_what_may_be_another_value_elsewhere_has_not_moved(spoil):
    assert kinds(sass(spoil(EARLY)), sass(spoil(LATER)))["different"] == 1


def test_another_constant_in_another_block_is_different():
    assert kinds(sass(EARLY), sass(LATER.replace("0x7", "0x9")))["different"] == 1


SHIFTED = """
    S2R R9, SR_TID.X
    STS [R9.X16+0x10], R9
    BAR.SYNC.DEFER_BLOCKING 0x0
    LDS.128 R4, [R9.X16+0x20]
    STG.E [R2.64], R4
    EXIT
"""
WINDOW = """
    S2R R9, SR_TID.X
    S2UR UR5, SR_CgaCtaId
    UMOV UR4, 0x400
    ULEA UR4, UR5, UR4, 0x18
    LEA R0, R9, UR4, 0x4
    STS [R0+0x10], R9
    BAR.SYNC.DEFER_BLOCKING 0x0
    LDS.128 R4, [R0+0x20]
    STG.E [R2.64], R4
    EXIT
"""


def test_a_shift_in_an_address_is_the_shift_before_it():
    found = kinds(sass(SHIFTED), sass(WINDOW))
    assert found == {"identical": 4, "renamed": 2, "different": 4}
    shift = "    S2R R9, SR_TID.X\n    SHF.L.U32 R0, R9, 0x4, RZ\n" + SHIFTED.split("\n", 2)[2].replace("R9.X16", "R0")
    assert kinds(sass(SHIFTED), sass(shift)) == {"identical": 4, "renamed": 2, "different": 1}


@pytest.mark.parametrize(
    "one, other",
    [
        ("R9, UR4, 0x4", "R9, UR4, 0x3"),
        ("UR4, 0x400", "UR4, 0x410"),
        ("R0, R9, UR4, 0x4", "R0, R8, UR4, 0x4"),
        ("SR_CgaCtaId", "SR_CTAID.X"),
        ("0x18", "0x17"),
        ("LEA R0, R9", "@P0 LEA R0, R9"),
    ],
)
def test_a_shift_of_another_value_is_another_address(one, other):
    assert WINDOW.count(one) == 1
    assert kinds(sass(SHIFTED), sass(WINDOW.replace(one, other)))["different"] == 6


def test_scheduling_bits_are_told_apart_from_code():
    busy = tuple(replace(line, control=Control(9, True, None, None, 1, 0)) for line in sass(LOOP))
    found = compare_sass(sass(LOOP), busy)
    assert found.counts()["identical"] == (16, 16)
    assert found.control_only == 16


def test_functions_are_paired_by_name():
    left = sass(LOOP, "f") + sass("EXIT", "g")
    right = sass("EXIT", "g") + sass(LOOP, "f")
    assert kinds(left, right) == {"identical": 17}
    assert kinds(left, sass("EXIT", "g")) == {"identical": 1, "different": 16}
    assert kinds(sass(LOOP, "f"), sass(LOOP, "other")) == {"identical": 16}


def unrolled(steps: int, seed: int = 0) -> str:
    """A long block: loads at their own offsets, products into sixteen sums."""
    choose = random.Random(seed)
    rows = [f"MOV R{64 + n}, RZ" for n in range(16)]
    for step in range(steps):
        rows.append(f"LDS.128 R{4 + 8 * (step % 2)}, [R2+{hex(16 * step)}]")
        rows += [
            f"FFMA R{64 + n}, R{4 + 8 * (step % 2) + choose.randrange(4)}, R{20 + n}, R{64 + n}" for n in range(16)
        ]
    rows += [f"STG.E desc[UR4][R40.64+{hex(4 * n)}], R{64 + n}" for n in range(16)]
    return "\n".join([*rows, "EXIT"])


def test_one_changed_instruction_in_five_thousand_lines():
    lines = sass(unrolled(300))
    assert len(lines) > 5000
    changed = list(lines)
    where = 3013
    assert changed[where].opcode == "FFMA"
    changed[where] = replace(changed[where], opcode="FFMA.FTZ")
    begun = time.process_time()
    found = compare_sass(lines, tuple(changed))
    seconds = time.process_time() - begun
    assert [row for row in found.rows if row.kind] == [row for row in found.rows if row.a == row.b == where]
    assert found.counts()["different"] == (1, 1)
    assert seconds < 10  # about 0.3 s on one core


def test_one_changed_instruction_among_renamed_ones():
    lines = sass(unrolled(300))
    changed = list(rename(lines, lambda n: n ^ 1 if n >= 64 else n))
    changed[3013] = replace(changed[3013], opcode="FFMA.FTZ")
    found = compare_sass(lines, tuple(changed))
    assert {name: pair for name, pair in found.counts().items() if pair[0]} == {
        "identical": found.counts()["identical"],
        "renamed": (16 + 300 * 16 + 16 - 1,) * 2,
        "different": (1, 1),
    }


def test_one_instruction_put_into_five_thousand_lines():
    text = unrolled(300).split("\n")
    other = [*text[:3000], "FADD R90, R91, R92", *text[3000:]]
    assert kinds(sass("\n".join(text)), sass("\n".join(other))) == {"identical": len(text), "different": 1}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6))
def test_a_shuffled_block_is_never_different_when_its_values_are_the_same(seed, steps):
    """Instructions are drawn one after another from those that depend on nothing that is left."""
    choose = random.Random(seed)
    text = unrolled(steps, seed).split("\n")
    waiting, order = list(text[:-1]), []
    while waiting:
        first: list[str] = []
        blocked: set[str] = set()
        for row in waiting:
            names = set(_names(row))
            if not names & blocked:
                first.append(row)
            blocked |= names
        row = choose.choice(first[:4])
        order.append(row)
        waiting.remove(row)
    found = kinds(sass("\n".join(text)), sass("\n".join([*order, text[-1]])))
    assert "different" not in found, found


def _names(row: str) -> list[str]:
    """Registers of a row of `unrolled`, the four words of a wide one each."""
    names = re.findall(r"(?<![UD])R\d+", row)
    if row.startswith("LDS.128"):
        start = int(names[0][1:])
        names += [f"R{start + n}" for n in range(1, 4)]
        names.remove("R2")
    return [name for name in names if name != "R40"]


@given(st.lists(st.integers(0, 4), max_size=40), st.lists(st.integers(0, 4), max_size=40))
def test_the_common_subsequence_is_a_longest_one(a, b):
    pairs = list(longest_common_subsequence(a, b))
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(pairs))
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    assert len(pairs) == table[-1][-1]


@given(st.lists(st.integers(0, 9), max_size=60), st.lists(st.integers(0, 9), max_size=60))
def test_an_alignment_ascends_and_pairs_equal_keys(a, b):
    pairs = align([x // 3 for x in a], [x // 3 for x in b], a, b)
    assert all(a[i] // 3 == b[j] // 3 for i, j in pairs)
    assert all(x[0] < y[0] and x[1] < y[1] for x, y in pairwise(pairs))


def test_tables_too_large_for_memory_are_halved(monkeypatch):
    choose = random.Random(1)
    a, b = ([choose.randrange(5) for _ in range(200)] for _ in range(2))
    whole = len(list(longest_common_subsequence(a, b)))
    monkeypatch.setattr("pyptx.analysis.diff.align.CELLS", 500)
    assert len(list(longest_common_subsequence(a, b))) == whole


# what ptxas makes of an example --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sgemm(checkout):
    module = load_module(str(checkout / "examples" / "sgemm.py"))

    def compiled(arch: str = "sm_90a", options: tuple[str, ...] = (), **parameters):
        sizes = {"M": 256, "N": 256, "K": 256, "BM": 64, "BN": 64}
        return module.sgemm.compile(arch=arch, options=options, **sizes | parameters).sass

    return compiled


def test_the_same_kernel_compiled_twice_is_identical(sgemm):
    assert list(kinds(sgemm(), sgemm())) == ["identical"]


def test_another_size_changes_the_constants_that_hold_it(sgemm):
    found = kinds(sgemm(), sgemm(K=512))
    assert found == {"identical": 393, "different": 5}


def test_the_same_code_for_a_relative_is_mostly_the_same(sgemm):
    """sm_80 and sm_86 differ in registers and order, hardly in what is done."""
    found = kinds(sgemm("sm_80"), sgemm("sm_86"))
    assert found["different"] <= 10
    assert found["renamed"] + found["rescheduled"] > 100


@pytest.mark.slow
def test_another_optimization_level_reorders(sgemm):
    found = kinds(sgemm(), sgemm(options=("-O1",)))
    assert found["rescheduled"] > 100
    assert found.get("different", 0) <= 10


def test_another_generation_is_the_same_but_for_its_own_instructions(checkout):
    """sm_120 adds 64-bit addresses in one instruction, divides work otherwise and reorders all the rest."""
    module = load_module(str(checkout / "examples" / "softmax.py"))
    left, right = (module.softmax.compile(arch=arch, M=512, N=1024) for arch in ("sm_90a", "sm_120a"))
    found = compare_sass(left.sass, right.sass, (left.target, right.target)).counts()
    assert max(found["different"]) < 0.1 * len(left.sass)


@pytest.mark.slow
def test_an_optimization_level_of_a_kernel_with_barriers_and_copies(checkout):
    module = load_module(str(checkout / "examples" / "hopper" / "gemm.py"))
    left, right = (module.gemm.compile(options=options, M=512, N=512, K=256) for options in ((), ("-O1",)))
    found = compare_sass(left.sass, right.sass, (left.target, right.target)).counts()
    assert max(found["different"]) < 0.2 * len(left.sass)


def test_a_changed_unroll_factor_adds_instructions(sgemm):
    found = compare_sass(sgemm(), sgemm(BK=32)).counts()
    left, right = found["different"]
    assert right - left == len(sgemm(BK=32)) - len(sgemm())
    assert left < 50, "most of the shorter loop is found in the longer one"


def test_every_row_is_of_one_class(sgemm):
    for row in compare_sass(sgemm(), sgemm("sm_100a")).rows:
        assert row.a >= 0 or row.b >= 0
        assert row.kind in range(len(CLASSES))
        assert (row.partner >= 0) == (CLASSES[row.kind] == "rescheduled")
        assert row.why in ("", "spelling") if CLASSES[row.kind] == "renamed" else bool(row.why) == (row.kind == 3)
