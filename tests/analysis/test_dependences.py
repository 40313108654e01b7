"""Dependences of instructions and register pressure: hand-written code, and nvdisasm's counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.sass import sass

from pyptx.analysis.sass.dependences import find_dependences, register_holders
from pyptx.cli.kernels import load_kernel
from pyptx.toolchain import Control

EXAMPLES = Path(__file__).parents[2] / "examples"


def with_barriers(text: str, **control: tuple[int | None, int]):
    """The lines; `_3=(0, 0)`: line 3 sets barrier 0 with its result, and waits for the barriers of the mask."""
    lines = list(sass(text))
    for name, (sets, waits) in control.items():
        row = int(name[1:])
        lines[row] = replace(lines[row], control=Control(1, False, sets, None, waits, 0))
    return tuple(lines)


def test_operands_come_from_the_last_write():
    found = find_dependences(sass("MOV R0, 0x1\nMOV R1, 0x2\nMOV R0, 0x3\nIADD3 R2, R0, R1, RZ\nEXIT"))
    assert [needs.operands for needs in found] == [(), (), (), (1, 2), ()]


def test_words_of_a_wide_register_have_their_own_writers():
    found = find_dependences(sass("MOV R2, RZ\nMOV R3, RZ\nLDG.E.64 R4, desc[UR4][R2.64]\nFADD R6, R4, R5\nEXIT"))
    assert found[2].operands == (0, 1)
    assert found[3].operands == (2,)


def test_a_guarded_write_may_leave_what_was_there():
    found = find_dependences(sass("MOV R0, 0x1\n@P0 MOV R0, 0x2\nIADD3 R1, R0, R0, RZ\nEXIT"))
    assert found[2].operands == (0, 1)


def test_values_come_round_a_loop_and_over_both_branches():
    code = "MOV R0, RZ\ntop:\nIADD3 R0, R0, 0x1, RZ\n@P0 BRA skip\nMOV R1, 0x2\nskip:\nMOV R2, R1\n@P1 BRA top\nEXIT"
    found = find_dependences(sass(code))
    assert found[1].operands == (0, 1)
    assert found[4].operands == (3,)


def test_a_wait_is_for_all_that_have_set_the_barrier_since_the_last():
    code = (
        "LDG.E R0, desc[UR4][R8.64]\nLDG.E R1, desc[UR4][R8.64+0x4]\nFADD R2, R0, R0\n"
        "LDG.E R3, desc[UR4][R8.64+0x8]\nFADD R4, R1, R3\nEXIT"
    )
    found = find_dependences(with_barriers(code, _0=(0, 0), _1=(0, 0), _2=(None, 1), _3=(0, 0), _4=(None, 1)))
    assert found[2].barriers == (0, 1)
    assert found[4].barriers == (3,)
    assert found[4].operands == (1, 3)


def test_a_call_returns_behind_itself_with_what_the_function_made():
    code = (
        "MOV R0, 0x1\nMOV R7, 0x2\nMOV R4, 0x40\nCALL.REL.NOINC sub\nIADD3 R1, R0, R7, RZ\nEXIT\nsub:\n"
        "MOV R0, 0x3\nRET.REL.NODEC R4 0x0"
    )
    lines = list(sass(code))
    lines[7] = replace(lines[7], target_address=0)  # as nvdisasm has it: R4 counts from there
    assert find_dependences(lines)[4].operands == (1, 6)
    assert find_dependences(lines)[7].operands == (2,)


def test_functions_have_nothing_of_one_another():
    found = find_dependences(sass("MOV R0, 0x1\nEXIT", "f") + sass("IADD3 R1, R0, 0x1, RZ\nEXIT", "g"))
    assert found[2].operands == ()


def test_live_registers_belong_to_what_filled_them():
    code = sass(
        "LDG.E.128 R4, desc[UR4][R2.64]\nMOV R8, 0x1\nFADD R9, R4, R5\nFADD R10, R6, R7\nSTS [R8], R9\n"
        "STS [R8+0x4], R10\nEXIT"
    )
    assert register_holders(code, 2) == {0: 4, 1: 1, 2: 1}
    assert register_holders(code, 5) == {1: 1, 3: 1}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name, sizes",
    [
        ("rms_norm", {"M": 512, "N": 1024}),
        ("sgemm", {"M": 256, "N": 256, "K": 256}),
        ("hopper/gemm", {"M": 512, "N": 512, "K": 256}),
    ],
)
def test_as_many_registers_are_held_as_nvdisasm_counts(name, sizes):
    lines = load_kernel(f"{EXAMPLES / name}.py:{name.rpartition('/')[2]}").compile(**sizes).sass
    for row in range(0, len(lines), 23):
        held = register_holders(lines, row)
        assert abs(sum(held.values()) - lines[row].live.gpr) <= 2, f"{row}: {lines[row].text}"  # R1 is not counted
        assert all(count > 0 for count in held.values())
