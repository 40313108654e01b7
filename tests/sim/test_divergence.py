"""Branches that split warps: results, reconvergence, fairness."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import sim

pytestmark = pytest.mark.quick


PROLOGUE = """
.reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2
"""
EPILOGUE = "st.global.u32 [%rd1], %r2; ret"


def test_both_sides_of_a_branch_run_and_meet_again():
    module = entry(
        PROLOGUE
        + """
    setp.lt.u32 %p1, %r1, 10; @%p1 bra LOW; mov.u32 %r2, 2; bra.uni JOIN
    LOW: mov.u32 %r2, 1
    JOIN: add.u32 %r2, %r2, 10
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(64, np.uint32)
    counters = run_both(module, 1, 64, (out,)).counters
    assert (out == np.where(np.arange(64) < 10, 11, 12)).all()
    join = next(
        i for i, n in enumerate(sim.load(module).instructions) if n.opcode == "add" and n.modifiers == (".u32",)
    )
    assert counters.issues[join] == 2 and counters.lanes[join] == 64  # whole warps again
    assert counters.branches_divergent.sum() == 1  # only the first warp split


def test_a_loop_with_a_different_count_for_each_lane():
    module = entry(
        PROLOGUE
        + """
    mov.u32 %r2, 0; and.b32 %r3, %r1, 7
    LOOP: add.u32 %r2, %r2, %r3; sub.u32 %r3, %r3, 1; setp.gt.s32 %p1, %r3, 0; @%p1 bra LOOP
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(100, np.uint32)
    run_both(module, 1, 100, (out,))
    k = np.arange(100) % 8
    assert (out == np.where(k == 0, 0, k * (k + 1) // 2)).all()


def test_nested_branches_with_early_exits():
    module = entry(
        PROLOGUE
        + """
    mov.u32 %r2, 1; and.b32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0; @%p1 bra A
    setp.eq.u32 %p2, %r3, 1; @%p2 bra B
    mov.u32 %r2, 7; setp.eq.u32 %p3, %r3, 3; @%p3 st.global.u32 [%rd1], %r2; @%p3 exit
    bra END
    A: mov.u32 %r2, 5; setp.gt.u32 %p2, %r1, 16; @%p2 bra B; bra END
    B: mov.u32 %r2, 6
    END:
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(32, np.uint32)
    run_both(module, 1, 32, (out,))
    i = np.arange(32)
    wanted = np.select([i % 4 == 3, i % 4 == 2, i % 4 == 1, i > 16], [7, 7, 6, 6], 5)
    assert (out == wanted).all()


def test_a_jump_table_sends_each_lane_its_own_way():
    module = entry(
        PROLOGUE
        + """
    and.b32 %r3, %r1, 3
    T:.branchtargets L0, L1, L2, L1;
    brx.idx %r3, T;
    L0: mov.u32 %r2, 100; bra END
    L1: mov.u32 %r2, 101; bra END
    L2: mov.u32 %r2, 102
    END:
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(32, np.uint32)
    run_both(module, 1, 32, (out,))
    assert (out == np.array([100, 101, 102, 101] * 8)).all()


def test_lanes_of_a_warp_can_pass_a_lock_around():
    """Running one side of a branch until it is done would never end here."""
    module = entry(
        PROLOGUE
        + """
    .shared .u32 lock; .shared .u32 total
    mov.u32 %r9, lock; mov.u32 %r2, 0
    AGAIN: atom.shared.cas.b32 %r3, [%r9], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra AGAIN
    ld.volatile.shared.u32 %r4, [total]; add.u32 %r4, %r4, %r1; st.volatile.shared.u32 [total], %r4
    atom.shared.exch.b32 %r5, [%r9], 0
    bar.sync 0; ld.shared.u32 %r2, [total]
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(40, np.uint32)
    run_both(module, 1, 40, (out,), max_steps=3_000_000)
    assert (out == 40 * 39 // 2).all()


def test_ctas_can_wait_for_each_other():
    """Every CTA waits until the last one has started: they take turns."""
    module = entry(
        PROLOGUE
        + """
    .reg .b64 %f
    ld.param.u64 %f, [flag]; setp.eq.u32 %p1, %r1, 0; @!%p1 bra WAIT; red.global.add.u32 [%f], 1
    WAIT: ld.volatile.global.u32 %r3, [%f]; setp.lt.u32 %p2, %r3, 4; @%p2 bra WAIT
    mov.u32 %r2, %r3
    """
        + EPILOGUE,
        "u64 out, u64 flag",
    )
    out, flag = np.zeros(32, np.uint32), np.zeros(1, np.uint32)
    run_both(module, 4, 32, (out, flag))
    assert flag[0] == 4 and (out == 4).all()


def test_a_guarded_instruction_leaves_the_other_lanes_alone():
    module = entry(
        PROLOGUE
        + """
    mov.u32 %r2, 3; setp.lt.u32 %p1, %r1, 5; @%p1 mov.u32 %r2, 4; @!%p1 add.u32 %r2, %r2, 10
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(32, np.uint32)
    run_both(module, 1, 32, (out,))
    assert (out == np.where(np.arange(32) < 5, 4, 13)).all()


@pytest.mark.parametrize("threads", [1, 33, 100, 1024])
def test_a_block_need_not_be_a_multiple_of_a_warp(threads):
    out = np.zeros(threads + 4, np.uint32)
    run_both(entry(PROLOGUE + "mov.u32 %r2, 9;" + EPILOGUE, "u64 out"), 1, threads, (out,))
    assert (out[:threads] == 9).all() and (out[threads:] == 0).all()


@pytest.mark.parametrize("wait", ["bar.warp.sync -1", "barrier.sync 0", "barrier.sync 0, 32"])
def test_lanes_that_wait_to_meet_again_run_on_when_others_wait_for_them(wait):
    """Two lanes wait inside of a branch; the others wait elsewhere, or exit, as they may without .aligned."""
    module = entry(
        PROLOGUE
        + f"""
    mov.u32 %r2, 1; setp.lt.u32 %p1, %r1, 2; @!%p1 bra JOIN
    {wait}; mov.u32 %r2, 2
    JOIN: add.u32 %r2, %r2, 10; setp.ge.u32 %p2, %r1, 16; @%p2 bra LAST; bra.uni STORE
    LAST: {wait}
    STORE: """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(32, np.uint32)
    run_both(module, 1, 32, (out,))
    assert (out == np.where(np.arange(32) < 2, 12, 11)).all()


def test_bar_warp_sync_in_different_places_is_one_barrier():
    module = entry(
        ".shared .align 4 .b8 bytes[128];\n"
        + PROLOGUE
        + """
    mov.u32 %r4, bytes; shl.b32 %r5, %r1, 2; add.u32 %r4, %r4, %r5; xor.b32 %r6, %r5, 64; mov.u32 %r7, bytes; add.u32 %r7, %r7, %r6
    setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW
    st.shared.u32 [%r4], 7; bar.warp.sync -1; ld.shared.u32 %r2, [%r7]; bra.uni STORE
    LOW: st.shared.u32 [%r4], 5; bar.warp.sync -1; ld.shared.u32 %r2, [%r7]
    STORE: """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(32, np.uint32)
    counters = run_both(module, 1, 32, (out,)).counters
    assert (out == np.where(np.arange(32) < 16, 7, 5)).all()
    barriers = [i for i, n in enumerate(sim.load(module).instructions) if n.opcode == "bar"]
    assert [counters.lanes[i] for i in barriers] == [16, 16]
