"""Operand reads: cycles in the read stage from operands, the reuse cache and the accumulators of wgmma."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.register_reads import read_slots
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import Memory

MEMORY = Memory(port=64, dram=16, from_dram=0, to_dram=0, load_cycles=300, copy_cycles=500)


def slots(*instructions: tuple[str, str, int]) -> list[float]:
    lines = [
        SimpleNamespace(opcode=opcode, operands=tuple(operands.split(", ")), control=SimpleNamespace(reuse=reuse))
        for opcode, operands, reuse in instructions
    ]
    return list(read_slots(lines))


@pytest.mark.parametrize(
    "opcode, operands, cycles",
    [
        ("FFMA", "R0, R1, R2, R3", 1.5),
        ("FFMA", "R0, R1, 2.5, R3", 1),
        ("FFMA", "R0, R1, R2, R1", 1),
        ("FADD", "R0, R1, R2", 1),
        ("MUFU.EX2", "R0, R1", 1),
        ("HMMA.16816.F32.BF16", "R8, R4, R2, R8", 5),  # four of A, two of B, four accumulators
        ("UIADD3", "UR4, UR4, 0x1, URZ", 0),
        ("BRA", "0x100", 0),
    ],
)
def test_two_operands_are_read_per_cycle(opcode: str, operands: str, cycles: float):
    assert slots((opcode, operands, 0)) == [cycles]


def test_operands_in_the_reuse_cache_are_not_read_again():
    first = "FFMA", "R0, R1, R2, R3", 1
    assert slots(first, ("FFMA", "R4, R1, R5, R6", 0)) == [1.5, 1]
    assert slots(first, ("FFMA", "R4, R7, R1, R6", 0)) == [1.5, 1.5]  # in another operand slot
    assert slots(first, ("FADD", "R4, R7, R8", 0), ("FFMA", "R4, R1, R5, R6", 0)) == [1.5, 1, 1.5]


def test_a_wgmma_takes_a_step_for_each_accumulator():
    from_shared, from_registers = "R24, gdesc[UR8], R24", "R24, R88, gdesc[UR8], R24"
    assert slots(("HGMMA.64x128x16.F32.BF16", from_shared, 0)) == [64]
    assert slots(("HGMMA.64x128x16.F32.BF16", "R24, gdesc[UR8], RZ, !UPT", 0)) == [64]
    assert slots(("HGMMA.64x128x16.F32.BF16", from_registers, 0)) == [66]


def test_instructions_that_read_registers_delay_products():
    """A product of 64 steps in 64 cycles leaves no slot: each instruction beside it costs its cycles."""
    product = Operation(OpKind.WGMMA, 1, (), -1, -1, 1.0, 64.0, unit="tensor", cycles=64, detail=True)
    counter = Operation(OpKind.PLAIN, 4, (), -1, -1, 1.0)
    add = counter._replace(reads=1.0)

    def cycles(other: Operation) -> float:
        slices = [(0, 0, [product] * 40), (0, 0, [other] * 500)]
        return replay(slices, MEMORY, Constants()).drained

    assert cycles(counter) == pytest.approx(40 * 64, rel=0.01)
    assert cycles(add) == pytest.approx(40 * 64 + 500, rel=0.01)
    assert cycles(add._replace(dispatch=2.0)) == pytest.approx(40 * 64 + 2 * 500, rel=0.01)  # a pipe of 16 lanes
    half = product._replace(reads=32.0)  # accumulators of f16: half of the slots are free
    assert replay([(0, 0, [half] * 40), (0, 0, [add] * 500)], MEMORY, Constants()).drained == pytest.approx(
        2560, rel=0.01
    )


def test_instructions_for_different_pipes_are_dispatched_at_the_same_time():
    """Two cycles for an instruction of a narrow pipe, in the second of which that of another warp is dispatched too."""
    product = Operation(OpKind.WGMMA, 1, (), -1, -1, 1.0, 64.0, unit="tensor", cycles=64, detail=True)
    narrow, wide = (Operation(OpKind.PLAIN, 2, (), -1, -1, 1.0, 1.0, dispatch) for dispatch in (2.0, 0.0))
    slices = [(0, 0, [product] * 40), (0, 0, [narrow] * 500), (0, 0, [wide] * 500)]
    assert replay(slices, MEMORY, Constants()).drained == pytest.approx(40 * 64 + 2 * 500, rel=0.02)


def test_an_instruction_with_many_operands_holds_the_issue_slot():
    wide = Operation(OpKind.PLAIN, 1, (), -1, -1, 1.0, 5.0)
    assert replay([(0, 0, [wide] * 100)] * 2, MEMORY, Constants()).drained == pytest.approx(1000, rel=0.02)
