"""mbarriers: phases, counts, transactions, tokens and parities, and refused operations."""

from __future__ import annotations

import numpy as np
import pytest
from sim.schedules import run_all
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

PROLOGUE = """
.reg .b32 %r<24>; .reg .b64 %rd<12>; .reg .pred %p<6>
.shared .align 8 .b64 bar; .shared .align 8 .b64 other; .shared .align 16 .b8 x[1024]
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2
setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, bar; mov.u32 %r2, 0
"""
EPILOGUE = "\nst.global.u32 [%rd1], %r2; ret"


def out_of(body: str, block: int = 32, target: str = "sm_90a") -> np.ndarray:
    """What the threads wrote, the same in every schedule."""
    results = []
    run_all(
        entry(PROLOGUE + body + EPILOGUE, "u64 out", target=target),
        1,
        block,
        lambda: (np.zeros(block, np.uint32),),
        lambda out: results.append(out.copy()),
    )
    assert all((r == results[0]).all() for r in results)
    return results[0]


def fails(body: str, engine: str, block: int = 32) -> str:
    with pytest.raises(SimulationError) as caught:
        sim.launch(
            sim.load(entry(PROLOGUE + body + EPILOGUE, "u64 out")),
            1,
            block,
            (np.zeros(block, np.uint32),),
            engine=engine,
        )
    return str(caught.value)


INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r9], {n}; bar.sync 0\n"


def test_all_threads_arrive_and_wait_by_token():
    out = out_of(
        INIT.format(n=64)
        + """
    mbarrier.arrive.shared::cta.b64 %rd4, [%r9]
    W: mbarrier.try_wait.shared::cta.b64 %p2, [%r9], %rd4; @!%p2 bra W
    mov.u32 %r2, 7
    """,
        64,
    )
    assert (out == 7).all()


@pytest.mark.parametrize("kind", ["test_wait", "try_wait"])
def test_phases_by_parity(kind):
    out = out_of(
        INIT.format(n=64)
        + f"""
    mov.u32 %r3, 0; mov.u32 %r4, 0
    LOOP:
    mad.lo.u32 %r5, %r1, 4, x; mov.u32 %r6, x; mad.lo.u32 %r5, %r1, 4, %r6; st.shared.u32 [%r5], %r3
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r9]
    W: mbarrier.{kind}.parity.acquire.cta.shared::cta.b64 %p2, [%r9], %r4; @!%p2 bra W
    xor.b32 %r7, %r1, 63; mad.lo.u32 %r7, %r7, 4, %r6; ld.shared.u32 %r8, [%r7]; add.u32 %r2, %r2, %r8
    bar.sync 1
    xor.b32 %r4, %r4, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 5; @%p3 bra LOOP
    """.replace("mad.lo.u32 %r5, %r1, 4, x; ", ""),
        64,
    )
    assert (out == 10).all()


def test_a_fresh_mbarrier_lets_waiters_for_the_phase_before_through():
    assert (
        out_of(
            INIT.format(n=1)
            + """
    W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 1; @!%p2 bra W
    mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r9], 0; selp.u32 %r2, 2, 1, %p3
    """
        )
        == 1
    ).all()


def test_counts_and_pending_counts():
    out = out_of(
        INIT.format(n=100)
        + """
    @!%p1 bra END
    mbarrier.arrive.noComplete.shared::cta.b64 %rd4, [%r9], 30
    mbarrier.pending_count.b64 %r3, %rd4
    mbarrier.arrive.shared::cta.b64 %rd4, [%r9], 69
    mbarrier.pending_count.b64 %r4, %rd4
    mbarrier.arrive.shared::cta.b64 %rd4, [%r9]
    mbarrier.pending_count.b64 %r5, %rd4
    mbarrier.arrive.shared::cta.b64 %rd4, [%r9]
    mbarrier.pending_count.b64 %r6, %rd4
    mad.lo.u32 %r2, %r3, 256, %r4; mad.lo.u32 %r2, %r2, 256, %r5; mad.lo.u32 %r2, %r2, 256, %r6
    END:"""
    )
    assert out[0] == (100 << 24 | 70 << 16 | 1 << 8 | 100)


def test_those_who_drop_are_not_waited_for_again():
    out = out_of(
        INIT.format(n=2)
        + """
    @!%p1 bra END
    mbarrier.arrive_drop.shared::cta.b64 %rd4, [%r9]; mbarrier.arrive.shared::cta.b64 %rd4, [%r9]
    mbarrier.test_wait.shared::cta.b64 %p2, [%r9], %rd4; @%p2 add.u32 %r2, %r2, 1
    mbarrier.arrive.shared::cta.b64 %rd5, [%r9]
    mbarrier.test_wait.shared::cta.b64 %p2, [%r9], %rd5; @%p2 add.u32 %r2, %r2, 2
    END:"""
    )
    assert out[0] == 3


def test_bytes_may_come_before_they_are_expected():
    out = out_of(
        INIT.format(n=1)
        + """
    @!%p1 bra END
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 48
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 16
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0; @%p2 add.u32 %r2, %r2, 1
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [%r9], 32
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0; @%p2 add.u32 %r2, %r2, 2
    END:"""
    )
    assert out[0] == 2


def test_lanes_may_wait_for_different_mbarriers():
    out = out_of(
        """
    mov.u32 %r10, other
    @%p1 mbarrier.init.shared::cta.b64 [%r9], 1; @%p1 mbarrier.init.shared::cta.b64 [%r10], 1; bar.sync 0
    setp.lt.u32 %p3, %r1, 32; @!%p3 bra PRODUCE
    and.b32 %r3, %r1, 1; setp.eq.u32 %p4, %r3, 1; selp.u32 %r4, %r10, %r9, %p4
    W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra W
    add.u32 %r2, %r3, 1; bra END
    PRODUCE: setp.eq.u32 %p5, %r1, 40; @%p5 mbarrier.arrive.shared::cta.b64 _, [%r10]
    @%p5 mbarrier.arrive.shared::cta.b64 _, [%r9]
    END:""",
        64,
    )
    assert out.tolist() == [1, 2] * 16 + [0] * 32


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("mbarrier.arrive.shared::cta.b64 _, [%r9]", "there is no initialized mbarrier at 0x400"),
        ("mov.u32 %r3, 0; @%p1 mbarrier.init.shared::cta.b64 [%r9], %r3", "arrival count 0 for the mbarrier at"),
        (INIT.format(n=3) + "mbarrier.arrive.shared::cta.b64 _, [%r9], 4", "more arrivals than expected"),
        (INIT.format(n=3) + "@%p1 mbarrier.arrive.noComplete.shared::cta.b64 %rd4, [%r9], 3", "complete the phase"),
        (INIT.format(n=3) + "mbarrier.expect_tx.shared::cta.b64 [%r9], 1000000", "transaction count"),
        (
            INIT.format(n=3) + "@%p1 mbarrier.inval.shared::cta.b64 [%r9]; bar.sync 0; "
            "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0",
            "there is no initialized mbarrier",
        ),
        ("add.u32 %r9, %r9, 4; mbarrier.init.shared::cta.b64 [%r9], 1", "not a multiple of 8"),
    ],
)
def test_what_is_wrong_is_said(body, message, engine):
    assert message in fails(body, engine)


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
@pytest.mark.parametrize(
    ("body", "texts"),
    [
        (
            INIT.format(n=2) + "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r9];"
            "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W",
            (
                "warps 0..1 wait for phase 0 of the mbarrier bar (0x400) to complete; it is in phase 0, 1 of 2 arrivals pending",
                "was initialized with 2 arrivals; 1 arrived",
            ),
        ),
        (
            INIT.format(n=1) + "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 1040; mov.u32 %r10, x;"
            "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1], 256, [%r9];"
            "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W",
            ("784 bytes pending", "all threads arrived at the mbarrier bar (0x400), but 784 bytes are pending"),
        ),
        (
            INIT.format(n=1)
            + "mov.u32 %r3, 0; W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], %r3; @!%p2 bra W",
            ("1 of 1 arrivals pending", "no thread arrived at the mbarrier bar (0x400) in this phase"),
        ),
        (
            "mov.u32 %r10, other; @%p1 mbarrier.init.shared::cta.b64 [%r10], 1;"
            + INIT.format(n=1)
            + "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16; setp.lt.u32 %p3, %r1, 32;"
            "selp.u32 %r4, %r10, %r9, %p3; W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; @!%p2 bra W",
            (
                "warp 0 waits for phase 0 of the mbarrier other",
                "mbarrier bar (0x400), but 16 bytes are pending",
            ),
        ),
        (
            INIT.format(n=1) + "setp.ge.u32 %p3, %r1, 32; @%p3 exit;"
            "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W",
            ("warp 1 exited", "1 warps have exited"),
        ),
    ],
)
def test_a_deadlock_says_what_is_waited_for(body, texts, engine, schedule):
    with pytest.raises(SimulationError) as caught:
        sim.launch(
            sim.load(entry(PROLOGUE + body + EPILOGUE, "u64 out")),
            1,
            64,
            (np.zeros(64, np.uint32),),
            engine=engine,
            schedule=schedule,
        )
    assert all(text in str(caught.value) for text in ("deadlock", *texts)), str(caught.value)


ASKING = {
    "branch": "W: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W",
    "two branches": "W: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0; @%p2 bra D; bra W; D:",
    "as compilers do": "W: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0; selp.u32 %r3, 1, 0, %p2;"
    "nanosleep.u32 20; setp.eq.u32 %p3, %r3, 0; @%p3 bra W",
}


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("loop", ASKING)
def test_asking_for_a_phase_that_never_ends_is_a_deadlock(loop, engine):
    body = INIT.format(n=2) + "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r9];" + ASKING[loop]
    with pytest.raises(SimulationError, match="deadlock") as caught:
        sim.launch(
            sim.load(entry(PROLOGUE + body + EPILOGUE, "u64 out")), 1, 64, (np.zeros(64, np.uint32),), engine=engine
        )
    assert "was initialized with 2 arrivals; 1 arrived" in str(caught.value)


@pytest.mark.parametrize("loop", ASKING)
def test_asking_again_ends_when_the_phase_does(loop):
    out = out_of(
        INIT.format(n=1) + "setp.lt.u32 %p4, %r1, 32; @!%p4 bra ARRIVE;" + ASKING[loop] + ";"
        "mov.u32 %r2, 7; bra END; ARRIVE: setp.eq.u32 %p5, %r1, 40;"
        "@%p5 mbarrier.arrive.shared::cta.b64 _, [%r9]; END:",
        64,
    )
    assert out.tolist() == [7] * 32 + [0] * 32


@pytest.mark.parametrize(
    "loop",
    [
        "mov.u32 %r3, 0; W: add.u32 %r3, %r3, 1; mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], 0; @%p2 bra D;"
        "setp.lt.u32 %p3, %r3, 9; @%p3 bra W; D: mov.u32 %r2, %r3",
        "mov.u32 %r3, 1; W: mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r9], %r3; @!%p2 bra N; mov.u32 %r2, 9;"
        "bra D; N: xor.b32 %r3, %r3, 1; bra W; D:",
    ],
)
def test_a_question_whose_answer_may_come_otherwise_is_no_wait(loop):
    assert out_of(INIT.format(n=1) + loop).tolist() == [9] * 32


def test_lanes_that_wait_do_not_hold_up_those_that_end_the_wait():
    out = out_of(
        INIT.format(n=1)
        + """
    setp.lt.u32 %p3, %r1, 16; @!%p3 bra MEET
    W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r9], 0; @!%p2 bra W
    mov.u32 %r2, 1
    MEET: setp.eq.u32 %p4, %r1, 31; @%p4 mbarrier.arrive.shared::cta.b64 _, [%r9]; add.u32 %r2, %r2, 1
    """
    )
    assert out.tolist() == [2] * 16 + [1] * 16


@pytest.mark.parametrize(
    "wait",
    [
        "try_wait.parity.phase_type::primary.shared::cta.b64 %p2, [%r9], 0",
        "test_wait.parity.phase_type::conditional.shared::cta.b64 %p2, [%r9], 0",
        "try_wait.phase_type::primary.b64 %p2|%p4, %h1, [%rd5], %rd4",
        "test_wait.parity.phase_type::primary.shared::cta.b64 %p2|%p4, [%r9], 0",
    ],
)
def test_both_phases_end_together_and_report_nothing(wait):
    out = out_of(
        ".reg .b8 %h1; setp.eq.u32 %p4, %r1, %r1\n"
        + INIT.format(n=64).replace("init.", "init.layout::v0.")
        + f"""
    mov.u64 %rd5, bar; cvta.shared.u64 %rd5, %rd5
    mbarrier.check_layout.layout::v0.shared::cta.b64 %p3, [%r9]
    mbarrier.arrive.shared::cta.b64 %rd4, [%r9]
    W: mbarrier.{wait}; @!%p2 bra W
    selp.u32 %r2, 7, 3, %p3
    mbarrier.check_layout.layout::v1.b64 %p3, [%rd5]; @%p3 add.u32 %r2, %r2, 100
    {"@%p4 add.u32 %r2, %r2, 100" if "%p4" in wait else ""}
    {"cvt.u32.u8 %r3, %h1; add.u32 %r2, %r2, %r3" if "%h1" in wait else ""}
    """,
        64,
    )
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("wait", "answer"),
    [
        ("test_wait.parity.phase_type::primary.shared::cta.b64 %p2|%p4, [%r9], 0", 1),
        ("try_wait.parity.phase_type::conditional.shared::cta.b64 %p2, [%r9], 0", 1),
    ],
)
def test_the_layout_with_reports_counts_and_waits_as_the_other(wait, answer):
    out = out_of(
        INIT.format(n=65).replace("init.", "init.layout::v1.")
        + f"""
    setp.ne.u32 %p4, %r1, %r1
    mbarrier.arrive.shared::cta.b64 %rd4, [%r9]
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd5, [%r9], 48
    @%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 48
    W: mbarrier.{wait}; @!%p2 bra W
    mbarrier.check_layout.layout::v1.shared::cta.b64 %p3, [%r9]; selp.u32 %r2, 1, 0, %p3
    mbarrier.check_layout.layout::v0.shared::cta.b64 %p3, [%r9]; @%p3 add.u32 %r2, %r2, 100
    @%p4 add.u32 %r2, %r2, 100
    """,
        64,
    )
    assert (out == answer).all()


@pytest.mark.parametrize(("count", "error"), [(511, None), (512, "(1..511 for layout v1)")])
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_the_layout_with_reports_holds_fewer_arrivals(count, error, engine):
    body = f"@%p1 mbarrier.init.layout::v1.shared::cta.b64 [%r9], {count}"
    if error is None:
        out_of(body)
    else:
        assert error in fails(body, engine)
