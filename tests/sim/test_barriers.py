"""CTA barriers: phases, counts, named barriers, reductions, and missing arrivals."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

PROLOGUE = """
.reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2
.shared .u32 x[256]
mov.u32 %r9, x; shl.b32 %r10, %r1, 2; add.u32 %r8, %r9, %r10
"""
EPILOGUE = "st.global.u32 [%rd1], %r2; ret"


def test_what_is_stored_before_a_barrier_is_seen_after_it():
    module = entry(
        PROLOGUE
        + """
    st.shared.u32 [%r8], %r1; bar.sync 0
    sub.u32 %r3, 255, %r1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r9, %r3; ld.shared.u32 %r2, [%r3]
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(256, np.uint32)
    run_both(module, 1, 256, (out,))
    assert (out == 255 - np.arange(256)).all()


def test_exited_threads_are_not_waited_for():
    body = "setp.ge.u32 %p1, %r1, 70; @%p1 exit; mov.u32 %r2, 5; bar.sync 0; bar.sync 0;"
    module = entry(PROLOGUE + body + EPILOGUE, "u64 out")
    out = np.zeros(128, np.uint32)
    run_both(module, 1, 128, (out,))
    assert (out == np.where(np.arange(128) < 70, 5, 0)).all()


def test_a_producer_arrives_and_a_consumer_waits():
    module = entry(
        PROLOGUE
        + """
    mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 32; @%p1 bra PRODUCER
    bar.sync 3, 64; sub.u32 %r8, %r8, 128; ld.shared.u32 %r2, [%r8]; bra END
    PRODUCER: mul.lo.u32 %r3, %r1, 3; st.shared.u32 [%r8], %r3; bar.arrive 3, 64
    END:
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(64, np.uint32)
    run_both(module, 1, 64, (out,))
    assert (out[32:] == 3 * np.arange(32)).all()


@pytest.mark.parametrize(("mode", "wanted"), [("popc.u32", 10), ("and.pred", 0), ("or.pred", 1)])
def test_a_barrier_can_reduce(mode, wanted):
    target = "%r2" if mode == "popc.u32" else "%p2"
    tail = "" if mode == "popc.u32" else "selp.u32 %r2, 1, 0, %p2;"
    module = entry(
        PROLOGUE + f"setp.lt.u32 %p1, %r1, 10; bar.red.{mode} {target}, 0, %p1; {tail}" + EPILOGUE, "u64 out"
    )
    out = np.zeros(96, np.uint32)
    run_both(module, 1, 96, (out,))
    assert (out == wanted).all()


def test_divergent_lanes_each_count_at_an_unaligned_barrier():
    module = entry(
        PROLOGUE
        + """
    mov.u32 %r2, 1; setp.lt.u32 %p1, %r1, 7; @%p1 bra A
    barrier.sync 1; add.u32 %r2, %r2, 1; bra END
    A: barrier.sync 1; add.u32 %r2, %r2, 2
    END:
    """
        + EPILOGUE,
        "u64 out",
    )
    out = np.zeros(64, np.uint32)
    run_both(module, 1, 64, (out,))
    assert (out == np.where(np.arange(64) < 7, 3, 2)).all()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_deadlock_says_who_waits_where(engine):
    module = entry(
        PROLOGUE
        + """
    setp.lt.u32 %p1, %r1, 32; @%p1 bra A
    bar.sync 1, 96; bra END
    A: bar.sync 2, 64
    END: ret
    """,
        "u64 out",
    )
    with pytest.raises(SimulationError) as caught:
        sim.launch(sim.load(module), 1, 64, (np.zeros(64, np.uint32),), engine=engine)
    text = str(caught.value)
    assert "deadlock: every thread of CTA (0, 0, 0)" in text
    assert "warp 0 waits at barrier 2 for 2 warps; 1 arrived: bar.sync 2, 64;" in text
    assert "warp 1 waits at barrier 1 for 3 warps; 1 arrived: bar.sync 1, 96;" in text


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_different_counts_on_one_barrier_are_refused(engine):
    body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra END; A: bar.sync 1, 96; END: ret"
    module = entry(PROLOGUE + body, "u64 out")
    with pytest.raises(SimulationError, match="arrives at barrier 1 with thread count"):
        sim.launch(sim.load(module), 1, 64, (np.zeros(64, np.uint32),), engine=engine)
