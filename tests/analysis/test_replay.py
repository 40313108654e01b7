"""The replay of one SM, compared with times computed by hand."""

from __future__ import annotations

import pytest

from pyptx.analysis.model import fast_forward
from pyptx.analysis.model.constants import Constants
from pyptx.analysis.model.mbarrier_rings import Ring
from pyptx.analysis.model.operations import Operation, OpKind
from pyptx.analysis.model.replay import replay
from pyptx.analysis.model.replay_state import Memory, Span
from pyptx.analysis.model.resources import PENDING_LOOKUPS
from pyptx.analysis.model.slice_program import chain_ctas

CONSTANTS = Constants(shared_cycles=26, barrier_cycles=20, product_cycles=30)
MEMORY = Memory(port=64, dram=16, from_dram=0, to_dram=0, load_cycles=300, copy_cycles=500)


def op(kind=OpKind.PLAIN, stall=1, wait=(), write=-1, read=-1, **rest) -> Operation:
    return Operation(kind, stall, tuple(wait), write, read, rest.pop("issue", 1.0), **rest)


def cycles(*teams: list[Operation], memory: Memory = MEMORY) -> float:
    return replay([(0, 0, team) for team in teams], memory, CONSTANTS).drained


def test_a_warp_alone_takes_its_stall_counts():
    assert cycles([op(stall=4)] * 10) == 40


def test_two_teams_fill_each_others_stalls():
    chain = [op(stall=4)] * 100
    assert cycles(chain, chain) == pytest.approx(400, abs=8)
    assert cycles(*[chain] * 4) == pytest.approx(400, abs=16)
    assert cycles(*[chain] * 8) == pytest.approx(800, abs=16)  # eight instructions wait for each four slots


def test_an_instruction_waits_for_its_scoreboards():
    load = op(OpKind.LOAD, write=2, unit="shared", cycles=1, bytes=64)
    assert cycles([load, op(stall=1, wait=[2])]) == 1 + 1 + 300 + 1  # through L1, the port, and then there
    assert cycles([load, op(stall=1, wait=[3])]) < 10


def test_a_unit_serves_one_at_a_time():
    special = op(unit="mufu", cycles=8)
    assert cycles([special] * 20, [special] * 20) == pytest.approx(320, abs=1)


def test_loads_are_limited_by_bytes_a_clock():
    load = op(OpKind.LOAD, write=0, unit="shared", cycles=1, bytes=512)
    assert cycles([load] * 100) == pytest.approx(100 * 512 / 64, rel=0.1)
    slow = Memory(port=64, dram=16, from_dram=1.0, to_dram=0, load_cycles=300, copy_cycles=500)
    assert cycles([load] * 100, memory=slow) == pytest.approx(100 * 512 / 16, rel=0.1)


def test_matrix_products_go_on_behind_the_warp_until_it_waits():
    start = op(OpKind.WGMMA, unit="tensor", cycles=128, shared=80, detail=True)
    wait = op(OpKind.WGMMA_WAIT, detail=0, latency=30)
    assert cycles([start, op(stall=100), wait]) == pytest.approx(128 + 30 + 1)
    assert cycles([start, op(stall=400), wait]) == pytest.approx(1 + 400 + 1)
    one_behind = [start, op(OpKind.WGMMA_WAIT, detail=1, latency=30)] * 50
    assert cycles(one_behind) == pytest.approx(50 * 128, rel=0.02)
    each = [start, wait] * 50
    assert cycles(each) == pytest.approx(50 * (128 + 31), rel=0.02)


def test_operands_in_shared_memory_bound_small_products():
    start = op(OpKind.WGMMA, unit="tensor", cycles=16, shared=24, detail=True)
    assert cycles([start] * 100) == pytest.approx(2400, rel=0.02)


def test_a_shuffle_goes_between_the_operand_reads_of_products_that_queue():
    start = op(OpKind.WGMMA, unit="tensor", cycles=64, shared=48, detail=True)
    shuffle = [op(unit="shared", cycles=4, write=0, latency=22), op(stall=200, wait=[0])]
    run = replay([(0, 0, [start] * 20), (0, 0, [op(stall=50), *shuffle * 4])], MEMORY, CONSTANTS)
    assert run.cycles == pytest.approx(20 * 64, abs=4)  # the other team does not wait until all of them have read


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 8])
def test_a_ring_overlaps_loads_as_deep_as_it_is(stages):
    """A turn lasts as long as the product or, shared by the stages, as a copy and a product one after the other."""
    full, empty = Ring(0, stages, "TMA", False), Ring(1, stages, "warps", True)
    copy, work, turns = 500, 200, 60
    producer = [
        op(OpKind.MBARRIER_WAIT, detail=empty),
        op(OpKind.ARRIVE, detail=full),
        op(OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=640, detail=full),
    ] * turns
    consumer = [op(OpKind.MBARRIER_WAIT, detail=full), op(stall=work), op(OpKind.ARRIVE, detail=empty)] * turns
    turn = max(work, (copy + work) / stages)
    assert cycles(producer, consumer) == pytest.approx(turns * turn, rel=0.12)


def test_teams_meet_at_a_barrier():
    early, late = (
        [op(), op(OpKind.BARRIER, detail=(0, 0, False))],
        [op(stall=300), op(OpKind.BARRIER, detail=(0, 0, False))],
    )
    assert cycles(early, late) == pytest.approx(300 + 20, abs=4)
    own = [op(OpKind.BARRIER, detail=(1, 1, False))]
    assert cycles(own, [op(stall=300)]) < 305  # a barrier of one slice does not wait


def test_who_only_arrives_does_not_wait():
    arrives = [op(OpKind.BARRIER, detail=(3, 2, True)), op(stall=50)]
    waits = [op(stall=500), op(OpKind.BARRIER, detail=(3, 2, False))]
    assert cycles(arrives, waits) == pytest.approx(520, abs=4)
    late = [op(stall=900), op(OpKind.BARRIER, detail=(3, 2, True))]
    assert cycles(late, waits) == pytest.approx(920, abs=4)


def test_loads_of_data_that_another_warp_requested_wait_in_a_queue_of_limited_size():
    """A load of 25 lookups waits until one of the four before it has its data, 300 cycles after it came."""
    load = op(OpKind.LOAD, unit="shared", cycles=4, bytes=64, pending=25.0)
    assert PENDING_LOOKUPS // 25 == 4
    for rounds in (1, 3):
        assert cycles([load] * (4 * rounds + 1)) == pytest.approx(300 * rounds, rel=0.1)
    alone = op(OpKind.LOAD, unit="shared", cycles=4, bytes=64)
    assert cycles([alone] * 13) < 100


def test_lookups_of_data_that_another_warp_requested_leave_the_queue_before_that_warp_has_it():
    load = op(OpKind.LOAD, unit="shared", cycles=4, bytes=64, pending=25.0)
    ahead = Memory(port=64, dram=16, from_dram=0, to_dram=0, load_cycles=300, copy_cycles=500, lead_cycles=100)
    assert cycles([load] * 13, memory=ahead) == pytest.approx(200 * 3, rel=0.1)


def test_warps_leave_the_tensor_cores_one_after_the_other():
    """The first warp reads its next operands while the second one multiplies; if they took turns, both would read last."""
    products = [op(unit="tensor", cycles=32)] * 8
    load = op(OpKind.LOAD, write=0, unit="shared", cycles=1, bytes=64)
    team = [*products, load, op(wait=[0]), *products]
    first, second = replay([(0, 0, team), (1, 0, team)], MEMORY, CONSTANTS).slices
    assert second.cycles - first.cycles == pytest.approx(8 * 32, rel=0.1)
    turns = replay([(0, 0, [op(), *products])] * 2, MEMORY, CONSTANTS)
    assert turns.busy["tensor"] == 2 * 8 * 32


def test_copies_by_groups_are_waited_for_by_groups():
    copy = [op(OpKind.ASYNC_COPY, unit="shared", cycles=4, bytes=64, shared=4), op(OpKind.COMMIT)]
    both = cycles([*copy, *copy, op(OpKind.GROUP_WAIT, detail=0)])
    assert both == pytest.approx(310, abs=12)
    assert cycles([*copy, *copy, op(OpKind.GROUP_WAIT, detail=2), op(stall=600)]) == pytest.approx(606, abs=6)


def test_turns_left_out_last_as_long_as_those_replayed():
    turn = [op(stall=10), op(stall=15)]
    short = [
        *turn * 5,
        op(OpKind.ITERATION, issue=0, detail=(0, 5)),
        *turn * 5,
        op(OpKind.ITERATION, issue=0, detail=(0, 10)),
        op(OpKind.SKIP, issue=0, detail=(0, 5, 90)),
    ]
    assert cycles(short) == pytest.approx(cycles(turn * 100))


def test_what_is_waited_for_is_named():
    full = Ring(0, 4, "TMA", False)
    producer = [op(OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=64, detail=full)]
    consumer = [op(OpKind.MBARRIER_WAIT, detail=full), op(unit="fma", cycles=1)]
    run = replay([(0, 0, producer), (0, 0, consumer)], MEMORY, CONSTANTS)
    assert max(run.stalls, key=run.stalls.get) == "TMA, 4 stages"
    assert run.busy["tma"] == 8 and run.busy["fma"] == 1


def test_a_wait_without_an_arrival_does_not_hang():
    full = Ring(0, 2, "TMA", False)
    producer = [op(OpKind.ARRIVE, detail=full)] * 3
    consumer = [op(OpKind.MBARRIER_WAIT, detail=full), op(stall=10)] * 5
    assert cycles(producer, consumer) < 100


def following(operations: list[Operation], places: int, ctas: int, written: int) -> float:
    """Cycles of so many CTAs of two teams at each of some places."""
    teams = [(place, 0, chain_ctas(operations, ctas, written, False)) for place in range(places) for _ in "ab"]
    return replay(teams, MEMORY, Constants(barrier_cycles=20, start_cycles=100), None).cycles


def test_loads_of_a_cta_meet_the_arithmetic_of_others_when_there_are_several():
    cta = [op(OpKind.LOAD, write=0, unit="shared", cycles=1, bytes=64 * 500), op(wait=[0])] + [op(issue=1)] * 2000
    alone, eight = following(cta, 1, 1, 1), following(cta, 1, 8, 8)
    assert eight == pytest.approx(8 * alone + 7 * 120, rel=0.01), "one place: nothing overlaps"
    assert alone == pytest.approx(1000 + 300 + 4000, rel=0.1)
    assert following(cta, 2, 8, 8) == pytest.approx(2 * 8 * 4000, rel=0.06), "two places: the arithmetic never rests"


def test_ctas_that_compute_for_long_do_not_stay_in_step():
    """Two CTAs wait for a load and then use one unit; while the older one does, the younger one waits outside its queue."""
    phase = 20 * 64
    cta = [op(OpKind.LOAD, write=0, unit="shared", cycles=1, bytes=64), op(wait=[0])] + [
        op(unit="fp64", cycles=64)
    ] * 20
    alone = following(cta, 1, 1, 1)
    assert alone == pytest.approx(300 + 2 * phase, rel=0.05), "two teams"
    assert following(cta, 2, 8, 8) == pytest.approx(2 * 8 * 2 * phase, rel=0.06), "the unit never rests"


def test_the_first_ctas_of_an_sm_start_one_after_another():
    cta, starts = [op(OpKind.LOAD, write=0, unit="shared", cycles=1, bytes=64 * 100), op(wait=[0])], [0.0, 250.0]
    run = replay([(slot, 0, cta) for slot in range(2)], MEMORY, CONSTANTS, starts=starts)
    first, second = (one.cycles for one in run.slices)
    assert second == first + 250, "the second finds the port free"
    assert (
        max(one.cycles for one in replay([(slot, 0, cta) for slot in range(2)], MEMORY, CONSTANTS).slices)
        == first + 100
    )


def test_ctas_that_are_left_out_last_what_the_second_half_of_the_others_does():
    cta = [op(stall=4)] * 100
    assert following(cta, 1, 100, 4) == pytest.approx(following(cta, 1, 100, 100), rel=0.01)


def test_each_cta_waits_for_the_phases_of_its_own_mbarriers():
    ring = Ring(0, 1, "TMA", False)
    fill = [op(OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=64, detail=ring), op(stall=10)]
    use = [op(OpKind.MBARRIER_WAIT, detail=ring), op(stall=10)]
    teams = [(0, 0, chain_ctas(part, 5, 5, False)) for part in (fill, use)]
    one = replay([(0, 0, fill), (0, 0, use)], MEMORY, CONSTANTS).cycles
    found = replay(teams, MEMORY, CONSTANTS).cycles
    assert found == pytest.approx(5 * one + 4 * (CONSTANTS.start_cycles + CONSTANTS.barrier_cycles), rel=0.02)


FILLED, FREED = Ring(0, 2, "TMA", False), Ring(1, 2, "warps", True)


def cluster(turns: int, slow: int, everywhere: bool) -> float:
    """Two CTAs that each fill a ring of two stages and read it; the readers of the second take `slow` cycles a turn."""

    def fill() -> list[Operation]:
        copy = op(OpKind.BULK_LOAD, unit="tma", cycles=8, bytes=64, shared=1, detail=FILLED, everywhere=everywhere)
        return [op(OpKind.MBARRIER_WAIT, detail=FREED), copy] * turns

    def read(cycles: int) -> list[Operation]:
        return [
            op(OpKind.MBARRIER_WAIT, detail=FILLED),
            op(stall=cycles),
            op(OpKind.ARRIVE, detail=FREED, everywhere=everywhere),
        ] * turns

    memory = Memory(port=64, dram=16, from_dram=0, to_dram=0, load_cycles=300, copy_cycles=10, remote_cycles=40)
    teams = [(0, 0, fill()), (0, 0, read(10)), (1, 1, fill()), (1, 1, read(slow))]
    log: list[Span] = []
    replay(teams, memory, CONSTANTS, log)
    return next(span.start for span in log if span.who == 1 and not span.what)


def test_ctas_of_a_cluster_wait_for_each_other_where_they_share_a_ring():
    assert cluster(40, 500, everywhere=False) < 40 * 100
    assert cluster(40, 500, everywhere=True) == pytest.approx(40 * 500, rel=0.1), "as slow as the slower CTA"


def test_a_turn_is_passed_on_to_the_next_cta():
    """Of two CTAs each works 100 cycles in its turn, and 100 alone; the first has the first turn."""
    turn = Ring(0, 1, "warps", True)

    def work(first: bool) -> list[Operation]:
        wait = op(OpKind.MBARRIER_WAIT, detail=turn)
        own = [wait, op(stall=100), op(OpKind.ARRIVE, detail=turn, everywhere=True), op(stall=100)]
        return ([] if first else [wait]) + own * 20

    memory = Memory(port=64, dram=16, from_dram=0, to_dram=0, load_cycles=300, copy_cycles=10, remote_cycles=40)
    run = replay([(0, 0, work(True)), (1, 1, work(False))], memory, CONSTANTS)
    assert run.cycles == pytest.approx(20 * (2 * 100 + 2 * 40), rel=0.1)


def test_what_copies_bring_takes_its_share_of_shared_memory_from_the_operands_of_products():
    """Products that read shared memory for 48 of their 64 cycles, and copies that write to it half of the time."""
    products = [
        op(OpKind.WGMMA, unit="tensor", cycles=64, shared=48, detail=True),
        op(OpKind.WGMMA_WAIT, detail=1),
    ] * 400
    copies = [op(OpKind.BULK_LOAD, stall=256, unit="tma", cycles=8, bytes=64, shared=128)] * 200
    log: list[Span] = []
    replay([(0, 0, products), (0, 0, copies)], MEMORY, CONSTANTS, log)
    end = next(span.start for span in log if span.who == 0 and not span.what)
    assert end == pytest.approx(400 * 48 / (1 - 0.5), rel=0.1)


def test_slices_that_have_not_moved_give_no_rate_to_others():
    """Rates spread along barriers that slices share; one of 0 must not spread without end."""
    still, other = (
        fast_forward._Move(state=None, run=None, progress=progress, phases={(0, 0, "barrier"): 1.0})
        for progress in (0.0, 4.0)
    )
    fast_forward._spread_rates({0: still, 1: other}, [still])
    assert other.rate == 0
