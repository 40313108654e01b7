"""Shuffles, votes, matches, reductions within a warp."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

PROLOGUE = """
.reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<4>
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4
add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd1]; mov.u32 %r3, 0
"""
EPILOGUE = "st.global.u32 [%rd2], %r3; ret"
LANE = np.arange(32)


def run(body, values=None, lanes=32, **options):
    values = np.arange(100, 100 + lanes, dtype=np.uint32) if values is None else np.asarray(values).astype(np.uint32)
    out = np.zeros(lanes, np.uint32)
    run_both(entry(PROLOGUE + body + "\n" + EPILOGUE, "u64 in, u64 out"), 1, lanes, (values, out), **options)
    return values, out


@pytest.mark.parametrize(
    ("mode", "b", "c", "source"),
    [
        ("up", 3, 0, lambda i: np.where(i >= 3, i - 3, i)),
        ("down", 4, 31, lambda i: np.where(i + 4 < 32, i + 4, i)),
        ("bfly", 5, 31, lambda i: i ^ 5),
        ("idx", 7, 31, lambda i: 0 * i + 7),
        ("up", 2, 0x1800, lambda i: np.where(i % 8 >= 2, i - 2, i)),
        ("down", 3, 0x1807, lambda i: np.where(i % 8 + 3 < 8, i + 3, i)),
        ("bfly", 1, 0x1C03, lambda i: i ^ 1),
        ("idx", 1, 0x1C03, lambda i: i // 4 * 4 + 1),
    ],
)
def test_shuffles_take_the_lane_the_manual_says(mode, b, c, source):
    values, out = run(f"shfl.sync.{mode}.b32 %r3, %r2, {b}, {c}, -1")
    assert (out == values[source(LANE)]).all()


def test_a_shuffle_says_which_lanes_were_in_range():
    _, out = run("shfl.sync.down.b32 %r4|%p1, %r2, 16, 31, -1; selp.u32 %r3, 1, 0, %p1")
    assert (out == (LANE < 16)).all()


def test_a_shuffle_waits_for_the_lanes_of_its_mask():
    """Lanes come in two groups from two sides of a branch."""
    values, out = run("""
    setp.lt.u32 %p1, %r1, 9; mov.u32 %r5, 1; @%p1 bra A; mov.u32 %r5, 2
    A: shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1
    """)
    assert (out == values[LANE ^ 1]).all()


def test_votes():
    _, out = run("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r3, %p1, -1")
    assert (out == 0b11111).all()
    _, out = run("""setp.lt.u32 %p1, %r1, 5; vote.sync.all.pred %p2, !%p1, -1; vote.sync.any.pred %p3, %p1, -1
    selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3; add.u32 %r3, %r3, %r4""")
    assert (out == 2).all()


def test_match():
    values, out = run("match.any.sync.b32 %r3, %r2, -1", [i % 3 for i in range(32)])
    assert all(out[i] == sum(1 << j for j in range(32) if values[j] == values[i]) for i in range(32))
    _, out = run("match.all.sync.b32 %r4|%p1, %r2, -1; selp.u32 %r3, %r4, 5, %p1", [3] * 32)
    assert (out == 0xFFFFFFFF).all()


@pytest.mark.parametrize(
    ("op", "fold"),
    [
        ("add.u32", np.add),
        ("and.b32", np.bitwise_and),
        ("or.b32", np.bitwise_or),
        ("xor.b32", np.bitwise_xor),
        ("min.u32", np.minimum),
        ("max.u32", np.maximum),
    ],
)
def test_redux(op, fold):
    values, out = run(f"redux.sync.{op} %r3, %r2, -1", np.random.default_rng(1).integers(0, 1 << 32, 32))
    assert (out == fold.reduce(values, dtype=np.uint32)).all()


def test_redux_over_a_part_of_the_warp():
    values, out = run("setp.lt.u32 %p1, %r1, 12; @%p1 redux.sync.min.s32 %r3, %r2, 0xfff", range(5, 37))
    assert (out[:12] == values[:12].min()).all() and (out[12:] == 0).all()


def test_elect_and_activemask():
    _, out = run("""elect.sync %r4|%p1, -1; selp.u32 %r3, 7, 0, %p1""")
    assert out[0] == 7 and (out[1:] == 0).all()
    _, out = run("setp.lt.u32 %p1, %r1, 4; @%p1 activemask.b32 %r3")
    assert (out[:4] == 15).all()


def test_exited_lanes_of_a_membermask_are_not_waited_for():
    _, out = run("setp.ge.u32 %p1, %r1, 20; @%p1 exit; setp.eq.u32 %p2, %r1, %r1; vote.sync.ballot.b32 %r3, %p2, -1")
    assert (out[:20] == 0xFFFFF).all()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_lane_outside_its_own_membermask_is_an_error(engine):
    module = entry(PROLOGUE + "shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xf;" + EPILOGUE, "u64 in, u64 out")
    with pytest.raises(SimulationError, match=r"lane 4\) executes it, but is not in the membermask 0x0000000f"):
        sim.launch(sim.load(module), 1, 32, (np.zeros(32, np.uint32), np.zeros(32, np.uint32)), engine=engine)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_membermask_that_never_comes_together_is_a_deadlock(engine):
    module = entry(
        PROLOGUE
        + """
    setp.lt.u32 %p1, %r1, 8; @%p1 bra A
    bar.sync 0; bra END
    A: bar.warp.sync -1
    END: ret""",
        "u64 in, u64 out",
    )
    with pytest.raises(SimulationError, match="lanes 0x000000ff waits for the other lanes of its membermask"):
        sim.launch(sim.load(module), 1, 32, (np.zeros(32, np.uint32), np.zeros(32, np.uint32)), engine=engine)


LATE_EXITS = {
    "bar.warp.sync": "bar.warp.sync -1",
    "vote": "vote.sync.ballot.b32 %r2, %all, -1",
    "shfl": "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1",
    "match": "match.any.sync.b32 %r2, %r1, -1",
    "redux": "redux.sync.add.u32 %r2, %r1, -1",
    "bar.sync": "bar.sync 0",
}


@pytest.mark.parametrize("collective", LATE_EXITS.values(), ids=LATE_EXITS)
@pytest.mark.parametrize("end", ["ret", ""], ids=["exit", "implicit exit"])
@pytest.mark.parametrize("threads", [32, 64])
def test_collectives_do_not_wait_for_lanes_that_branched_to_the_exit(collective, end, threads):
    """A membermask means threads that have not exited, and so does a barrier."""
    body = f"""
    .reg .b32 %r<4>; .reg .pred %p1; .reg .pred %all; .reg .b64 %o; .reg .b64 %w
    ld.param.u64 %o, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %w, %r1, 4; add.u64 %o, %o, %w; mov.u32 %r2, 0
    setp.ge.u32 %p1, %r1, 20; setp.ge.u32 %all, %r1, 0; @%p1 bra END
    {collective}; add.u32 %r1, %r1, %r2; st.global.u32 [%o], %r1
    END: {end}
    """
    out = np.zeros(64, np.uint32)
    run_both(entry(body, "u64 out"), 1, threads, (out,))
    lanes = np.arange(20)
    expected = {"vote": 0xFFFFF, "shfl": lanes ^ 1, "match": 1 << lanes, "redux": 190}.get(collective.split(".")[0], 0)
    assert (out[:20] == lanes + expected).all()


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_collective_in_a_branch_that_not_all_named_lanes_take_is_a_deadlock(engine):
    body = """
    .reg .b32 %r<4>; .reg .pred %p1; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 20; @%p1 bra JOIN
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1
    JOIN: add.u32 %r1, %r1, 1; ret
    """
    with pytest.raises(SimulationError, match="deadlock"):
        sim.launch(sim.load(entry(body)), 1, 32, (), engine=engine)
