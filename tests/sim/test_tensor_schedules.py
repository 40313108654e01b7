"""Random programs of tensor copies under random schedules: whatever lands when, both engines do the same.

The programs race on purpose: tiles are stored before their loads were waited for, and stored over. What a schedule
makes of that is its own, but it is the same in both engines, and what is waited for is right in all.
"""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyptx import sim
from pyptx.parser import parse
from pyptx.tensor_map import TensorMap

from .engines import run_both

SLOTS, ROWS, BYTES = 3, 4, 512  # tiles of 4 x 32 words
HEAD = """.version 8.6\n.target sm_100a\n.address_size 64
.visible .entry k(.param .align 64 .b8 x[128], .param .align 64 .b8 y[128]) {
    .reg .b64 %rd<4>; .reg .b32 %r<16>; .reg .pred %p<4>;
    .shared .align 1024 .b8 tiles[3072];
    .shared .align 8 .b64 bars[3];
    mov.b64 %rd1, x; cvta.param.u64 %rd1, %rd1;
    mov.b64 %rd2, y; cvta.param.u64 %rd2, %rd2;
    mov.u32 %r1, tiles; mov.u32 %r2, bars;
"""
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("load"), st.integers(0, SLOTS - 1), st.integers(-2, 18)),
        st.tuples(st.just("wait"), st.integers(0, SLOTS - 1)),
        st.tuples(st.just("store"), st.integers(0, SLOTS - 1), st.integers(-2, 18)),
        st.tuples(st.just("reduce"), st.integers(0, SLOTS - 1), st.integers(-2, 18)),
        st.tuples(st.sampled_from(["commit", "settle", "read"]), st.integers(0, 2)),
    ),
    min_size=4,
    max_size=24,
)


def text_of(steps) -> str:
    """The program, for one thread; a slot is loaded again only after it was waited for."""
    lines, phase, under_way = [], [0] * SLOTS, [False] * SLOTS
    lines += [f"mbarrier.init.shared::cta.b64 [%r2+{8 * s}], 1;" for s in range(SLOTS)]

    def wait(slot: int) -> None:
        if under_way[slot]:
            n = len(lines)
            lines.append(
                f"W{n}: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+{8 * slot}], {phase[slot]}; @!%p1 bra W{n};"
            )
            phase[slot] ^= 1
            under_way[slot] = False

    for kind, *rest in steps:
        match kind, rest:
            case "load", (slot, row):
                wait(slot)
                under_way[slot] = True
                lines.append(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+{8 * slot}], {BYTES};")
                lines.append(
                    "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                    f"[%r1+{1024 * slot}], [%rd1, {{0, {row}}}], [%r2+{8 * slot}];"
                )
            case "wait", (slot,):
                wait(slot)
            case (("store" | "reduce"), (slot, row)):
                name = (
                    "cp.async.bulk.tensor.2d.global.shared::cta.tile"
                    if kind == "store"
                    else "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile"
                )
                lines.append(f"{name}.bulk_group [%rd2, {{0, {row}}}], [%r1+{1024 * slot}];")
            case "commit", _:
                lines.append("cp.async.bulk.commit_group;")
            case _, (most,):
                lines.append(f"cp.async.bulk.wait_group{'.read' if kind == 'read' else ''} {most};")
    return HEAD + "\n".join(lines) + "\nret; }"


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, st.integers(0, 1000))
def test_engines_agree_whatever_lands_when(steps, seed):
    program = sim.load(parse(text_of(steps)))
    x = np.arange(16 * 32, dtype=np.uint32).reshape(16, 32)
    for schedule in ("eager", "late", "random"):
        results = []
        for engine in ("core", "reference"):
            y = np.zeros_like(x)
            maps = [TensorMap(a, (ROWS, 32), swizzle="128B") for a in (x, y)]
            counters = sim.launch(program, 1, 1, maps, engine=engine, schedule=schedule, seed=seed).counters
            results.append((y, counters))
        np.testing.assert_array_equal(results[0][0], results[1][0], err_msg=schedule)
        assert results[0][1] == results[1][1], schedule


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.integers(0, SLOTS - 1), st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=8),
    st.integers(0, 1000),
)
def test_what_is_waited_for_is_right_in_every_schedule(moves, seed):
    steps = []
    for slot, source, target in moves:
        steps += [("load", slot, source), ("wait", slot), ("store", slot, target), ("commit", 0), ("settle", 0)]
    program = sim.load(parse(text_of(steps)))
    x = np.arange(16 * 32, dtype=np.uint32).reshape(16, 32)
    expected = np.zeros_like(x)
    for _, source, target in moves:
        expected[target : target + ROWS] = x[source : source + ROWS]
    for schedule in ("eager", "late", "random"):
        y = np.zeros_like(x)
        maps = [TensorMap(a, (ROWS, 32), swizzle="128B") for a in (x, y)]
        run_both(program, 1, 1, maps, schedule=schedule, seed=seed)
        np.testing.assert_array_equal(y, expected, err_msg=schedule)
