"""Basic blocks and loops of control flow written by hand."""

from __future__ import annotations

import pytest

from pyptx.analysis.control_flow import BlockEnd, find_control_flow
from pyptx.analysis.sass.opcodes import GROUPS, _rows, describe_opcode, opcode_group


def test_straight_code_is_one_block():
    flow = find_control_flow(5, [(1, 5)], {4: BlockEnd((), False)})
    assert flow.starts == (1,)
    assert flow.loops == ()
    assert flow.depth == (0, 0, 0, 0, 0)


def test_a_loop_inside_a_loop():
    endings = {3: BlockEnd((2,), True), 5: BlockEnd((1,), True), 6: BlockEnd((), False)}
    flow = find_control_flow(7, [(0, 7)], endings)
    assert flow.starts == (0, 1, 2, 4, 6)
    assert flow.loops == ((1, 5), (2, 3))
    assert flow.depth == (0, 1, 2, 2, 1, 1, 0)


def test_two_ways_back_are_one_loop():
    endings = {2: BlockEnd((1,), True), 4: BlockEnd((1,), True)}
    flow = find_control_flow(6, [(0, 6)], endings)
    assert flow.loops == ((1, 4),)
    assert flow.depth == (0, 1, 1, 1, 1, 0)


def test_a_loop_of_one_row():
    assert find_control_flow(3, [(0, 3)], {1: BlockEnd((1,), True)}).loops == ((1, 1),)


def test_what_cannot_be_reached_is_no_loop():
    flow = find_control_flow(3, [(0, 3)], {1: BlockEnd((), False), 2: BlockEnd((2,), False)})
    assert flow.starts == (0, 2)
    assert flow.loops == ()


def test_a_block_behind_the_code_can_belong_to_a_loop():
    """ptxas puts what is rarely run behind the rest: 1 may go to 4, which comes back to 2."""
    endings = {1: BlockEnd((4,), True), 2: BlockEnd((1,), True), 3: BlockEnd((), False), 4: BlockEnd((2,), False)}
    flow = find_control_flow(5, [(0, 5)], endings)
    assert flow.depth == (0, 1, 1, 0, 1)
    assert flow.loops == ((1, 2),)


def test_a_cycle_that_is_entered_in_two_places_is_no_loop():
    endings = {0: BlockEnd((2,), True), 1: BlockEnd((2,), False), 2: BlockEnd((1,), False)}
    assert find_control_flow(3, [(0, 3)], endings).loops == ()


def test_functions_stand_for_themselves():
    flow = find_control_flow(6, [(0, 3), (3, 6)], {2: BlockEnd((0,), False), 5: BlockEnd((0,), False)})
    assert flow.starts == (0, 3)
    assert flow.loops == ((0, 2),)


def test_a_thousand_loops_in_a_row_take_no_time():
    endings = {row: BlockEnd((row - 1,), True) for row in range(2, 20_000, 4)}
    flow = find_control_flow(20_000, [(0, 20_000)], endings)
    assert len(flow.loops) == len(endings)


@pytest.mark.parametrize(
    "opcode, group, words",
    [
        ("FFMA.FTZ", "float32", "multiplies and adds f32"),
        ("HMMA.16816.F32", "tensor", "fragments of a warp"),
        ("LDG.E.128", "global", "loads from global memory"),
        ("UTMALDG.2D", "async", "TMA: copies a tile"),
        ("UTMAXYZ", "async", "TMA"),
        ("UCGABAR_ARV", "sync", "all blocks of a cluster"),
        ("UTCXMMA", "tensor", "tcgen05"),
        ("UIADD3.64", "uniform", "adds three integers, with carries in predicates; once for the warp"),
        ("UNOSUCH", "uniform", ""),
        ("NOSUCH", "other", ""),
    ],
)
def test_opcodes_have_a_group_and_a_meaning(opcode, group, words):
    assert opcode_group(opcode) == group
    assert words in describe_opcode(opcode)
    assert bool(words) == bool(describe_opcode(opcode))


def test_every_opcode_of_the_table_has_a_group_and_one_sentence():
    patterns = [pattern for pattern, _, _ in _rows()]
    assert len(patterns) == len(set(patterns))
    for _, group, sentence in _rows():
        assert group in GROUPS
        assert sentence
        assert not sentence.endswith(".")


@pytest.mark.parametrize(
    "opcode, group",
    [
        ("FFMA.FTZ", "float32"),
        ("HMMA.16816.F32", "tensor"),
        ("HGMMA.64x128x16.F32", "tensor"),
        ("WARPGROUP.ARRIVE", "tensor"),
        ("LDG.E.128", "global"),
        ("LDGSTS.E", "async"),
        ("UTMALDG.2D", "async"),
        ("SYNCS.ARRIVE", "async"),
        ("LDS.64", "shared"),
        ("STL", "local"),
        ("IMAD.WIDE.U32", "integer"),
        ("ULDC.64", "constant"),
        ("UIADD3", "uniform"),
        ("BAR.SYNC", "sync"),
        ("BRA", "control"),
        ("MUFU.RSQ", "special"),
        ("F2FP.BF16.F32.PACK_AB", "convert"),
        ("SHFL.BFLY", "warp"),
        ("ATOMG.E.ADD", "atomic"),
        ("S2R", "move"),
        ("NOSUCH", "other"),
    ],
)
def test_the_instruction_mix_counts_by_group(opcode, group):
    assert opcode_group(opcode) == group
    assert group in GROUPS
