"""Warp-level instructions and memory, compared with code written from the manual's text alone."""

from __future__ import annotations

import random
import struct

import ml_dtypes
import numpy as np
import pytest
from sim.engines import run_both
from sim.schedules import run_all
from sim.test_manual_scalars import classes, extremum
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

LANES = 32
HEAD = """
.reg .b32 %r<24>; .reg .b64 %rd<12>; .reg .b16 %h<20>; .reg .f32 %f<8>; .reg .pred %p<8>
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4
add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; ld.global.b32 %r2, [%rd4]
"""
TAIL = "; st.global.b32 [%rd5], %r3; ret"


def lanes(body: str, values, threads: int = LANES, target: str = "sm_100a") -> list[int]:
    """%r3 of each thread; %r1 is its number, %r2 its value."""
    out = np.zeros(threads, np.uint32)
    run_both(
        entry(HEAD + body + TAIL, "u64 in, u64 out", target=target), 1, threads, (np.array(values, np.uint32), out)
    )
    return out.tolist()


# redux, match, vote, elect --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["", ".NaN", ".abs", ".abs.NaN"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_redux_of_floats(op, words):
    """Without .NaN only numbers count; all NaN gives the canonical one. -0 is less than +0."""
    rng = random.Random(op + words)
    for mask in (0xFFFFFFFF, 0x0F0F00F1, 0x80000000):
        members = [k for k in range(32) if mask >> k & 1]
        nans = [0x7FC00000, 0xFF800001]
        for pool in (classes("f32"), [0, 1 << 31, *nans], nans):
            values = [rng.choice(pool) for _ in range(LANES)]
            got = lanes(
                f"mov.u32 %r3, 5; mov.u32 %r4, {mask}; shl.b32 %r5, 1, %r1; and.b32 %r5, %r5, %r4; "
                "setp.ne.u32 %p1, %r5, 0; mov.b32 %f1, %r2; "
                f"@%p1 redux.sync.{op}{words}.f32 %f2, %f1, %r4; @%p1 mov.b32 %r3, %f2",
                values,
            )
            numbers = [values[k] for k in members]
            wanted = extremum("f32", op == "max", "NaN" in words, False, "abs" in words, *numbers, *numbers[:1])
            wanted = 0x7FFFFFFF if wanted & 0x7FFFFFFF > 0x7F800000 else wanted
            assert got == [wanted if k in members else 5 for k in range(LANES)], (hex(mask), list(map(hex, numbers)))


def test_match_gives_all_members_or_none():
    values = [k // 3 % 4 for k in range(LANES)]
    got = lanes("match.any.sync.b32 %r3, %r2, -1", values)
    assert got == [sum(1 << j for j in range(LANES) if values[j] == v) for v in values]
    for same in (values, [9] * 16 + values[16:]):
        got = lanes(
            "mov.u32 %r3, 7; setp.lt.u32 %p1, %r1, 16; @%p1 match.all.sync.b32 %r3|%p2, %r2, 0xffff; "
            "@!%p1 setp.eq.u32 %p2, %r1, 99; selp.u32 %r4, 256, 0, %p2; shl.b32 %r4, %r4, 16; "
            "xor.b32 %r3, %r3, %r4",
            same,
        )
        everyone = len(set(same[:16])) == 1
        assert got[:16] == [(0xFFFF ^ 1 << 24) if everyone else 0] * 16 and got[16:] == [7] * 16


def test_votes_count_lanes_that_take_part():
    """Guarded: lanes outside take no part and keep what they had; a negated predicate is negated first."""
    values = [k * 7 % 5 for k in range(LANES)]
    odd = [k for k in range(LANES) if k % 2]
    body = (
        "mov.u32 %r3, 77; and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 1; setp.gt.u32 %p2, %r2, 2; "
        "@%p1 vote.sync.ballot.b32 %r3, !%p2, 0xaaaaaaaa"
    )
    ballot = sum(1 << k for k in odd if values[k] <= 2)
    assert lanes(body, values) == [ballot if k % 2 else 77 for k in range(LANES)]
    for op, wanted in (
        ("all", all(values[k] > 2 for k in odd)),
        ("any", any(values[k] > 2 for k in odd)),
        ("uni", len({values[k] > 2 for k in odd}) == 1),
    ):
        got = lanes(
            "mov.u32 %r3, 77; and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 1; setp.gt.u32 %p2, %r2, 2; "
            f"@%p1 vote.sync.{op}.pred %p3, %p2, 0xaaaaaaaa; @%p1 selp.u32 %r3, 1, 0, %p3",
            values,
        )
        assert got == [int(wanted) if k % 2 else 77 for k in range(LANES)]


def test_one_lane_is_elected_of_those_that_come():
    got = lanes(
        "mov.u32 %r3, 0; setp.ge.u32 %p1, %r1, 20; @!%p1 bra OTHERS; elect.sync %r4|%p2, 0xfff00000; "
        "selp.u32 %r5, 100, 0, %p2; add.u32 %r3, %r4, %r5; bra END; OTHERS: elect.sync _|%p3, 0x000fffff; "
        "selp.u32 %r3, 500, 1, %p3; END:",
        [0] * LANES,
    )
    assert sorted(got[:20]) == [1] * 19 + [500]
    leader = min(got[20:])
    assert sorted(got[20:]) == [leader] * 11 + [leader + 100] and got[leader] == leader + 100


# barriers that reduce -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [64, 96, 80])
def test_a_barrier_reduces_over_all_its_threads(threads):
    """Different warps, a part of a warp, some of them through a branch; the number of the barrier from a register."""
    values = [k * 5 % 7 for k in range(threads)]
    got = lanes(
        "setp.gt.u32 %p1, %r2, 2; mov.u32 %r6, 5; bar.red.popc.u32 %r4, %r6, !%p1; "
        "barrier.cta.red.or.pred %p2, 3, %p1; "
        "bar.cta.red.and.pred %p3, 15, %p1; selp.u32 %r5, 1000, 0, %p2; add.u32 %r3, %r4, %r5; "
        "selp.u32 %r5, 5000, 0, %p3; add.u32 %r3, %r3, %r5",
        values,
        threads,
    )
    few = sum(v <= 2 for v in values)
    assert got == [few + 1000 * (few < threads) + 5000 * (not few)] * threads


def test_half_the_warps_reduce_among_themselves():
    values = list(range(128))
    got = lanes(
        "shr.u32 %r4, %r1, 6; setp.eq.u32 %p1, %r4, 0; setp.gt.u32 %p2, %r2, 40; add.u32 %r5, %r4, 1; "
        "bar.red.popc.u32 %r3, %r5, 64, %p2",
        values,
        128,
    )
    assert got == [23] * 64 + [64] * 64


# atomics --------------------------------------------------------------------------------------------------------------


def halves(name: str):
    return np.float16 if name == "f16" else ml_dtypes.bfloat16


@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("op", ["add", "min", "max"])
@pytest.mark.parametrize("vector", ["v2", "v4", "v8"])
def test_vectors_of_halves_meet_in_memory(name, op, vector):
    """Each element by the rules of add, min and max; what was there comes back."""
    n, one = int(vector[1:]), {"f16": 0x3C00, "bf16": 0x3F80}[name]
    pool = [*classes(name), one, one + 3, one | 0x8000]
    rng = random.Random(name + op + vector)
    before, given = ([rng.choice(pool) for _ in range(n)] for _ in range(2))
    targets, sources = (", ".join(f"%h{k + s}" for k in range(n)) for s in (0, 8))
    lines = [f"ld.global.b16 %h{8 + k}, [%rd1+{32 + 2 * k}]" for k in range(n)]
    body = "; ".join(
        [
            *lines,
            f"atom.global.{vector}.{name}.{op}.noftz {{{targets}}}, [%rd1], {{{sources}}}",
            *(f"st.global.b16 [%rd2+{2 * k}], %h{k}" for k in range(n)),
            "ret",
        ]
    )
    body = body.replace(f".{vector}.{name}.{op}.noftz", f".{op}.noftz.{vector}.{name}")
    memory = np.array([*before, *[0] * (16 - n), *given, *[0] * (16 - n)], np.uint16)
    out = np.zeros(n, np.uint16)
    run_both(
        entry(HEAD.replace("ld.global.b32 %r2, [%rd4]", "") + body, "u64 in, u64 out", target="sm_90"),
        1,
        1,
        (memory, out),
    )
    assert out.tolist() == before
    if op == "add":
        with np.errstate(all="ignore"):
            a, b = (np.array(v, np.uint16).view(halves(name)).astype(np.float64) for v in (before, given))
            wanted = (a + b).astype(halves(name)).view(np.uint16)  # exact in double, rounded once
            wanted = np.where(np.isnan(a + b), 0x7FFF, wanted).tolist()
    else:
        wanted = [extremum(name, op == "max", False, False, False, *v) for v in zip(before, given, strict=True)]
    assert memory[:n].tolist() == wanted and not memory[n:16].any()


def test_compare_and_swap_of_two_bytes_leaves_its_neighbour():
    memory, out = np.array([0x11112222] * LANES, np.uint32), np.zeros(LANES, np.uint32)
    body = (
        "cvt.u16.u32 %h1, %r1; mov.b16 %h2, 0x2222; atom.global.cas.b16 %h3, [%rd4], %h2, %h1; "
        "atom.relaxed.gpu.global.cas.b16 %h4, [%rd4+2], %h2, %h1; mov.b32 %r3, {%h3, %h4}"
    )
    run_both(entry(HEAD + body + TAIL, "u64 in, u64 out"), 1, LANES, (memory, out))
    assert memory.tolist() == [0x11110000 | k for k in range(LANES)] and set(out.tolist()) == {0x11112222}


def test_inc_and_dec_of_every_value():
    for op, rule in (
        ("inc", lambda r, s: 0 if r >= s else r + 1),
        ("dec", lambda r, s: s if r == 0 or r > s else r - 1),
    ):
        values = [0, 1, 6, 7, 8, 0xFFFFFFFF, 0xFFFFFFFE, 3] * 4
        bounds = [7] * 8 + [0] * 8 + [0xFFFFFFFF] * 8 + [3] * 8
        memory = np.array(values, np.uint32)
        out = np.zeros(LANES, np.uint32)
        body = f"ld.global.b32 %r4, [%rd5]; atom.global.{op}.u32 %r3, [%rd4], %r4"
        out[:] = bounds
        run_both(entry(HEAD + body + TAIL, "u64 in, u64 out"), 1, LANES, (memory, out))
        assert memory.tolist() == [rule(r, s) for r, s in zip(values, bounds, strict=True)] and out.tolist() == values


@pytest.mark.parametrize("space", ["global", "shared"])
def test_sums_of_subnormals_in_memory(space):
    """f32: flushed in global memory unless .noftz, kept in shared memory; f64 is never flushed."""
    tiny = struct.unpack("<I", struct.pack("<f", 1e-40))[0]
    head = (
        ".shared .align 8 .b8 s[256]; mov.u32 %r10, s; shl.b32 %r11, %r1, 2; add.u32 %r10, %r10, %r11; "
        "st.shared.b32 [%r10], %r2;"
    )
    at = "%r10" if space == "shared" else "%rd4"
    back = f"ld.{space}.b32 %r3, [{at}]"
    flushed = lanes(f"{head} mov.f32 %f1, 0f{tiny:08X}; red.{space}.add.f32 [{at}], %f1; {back}", [tiny] * LANES)
    assert set(flushed) == {2 * tiny if space == "shared" else 0}
    kept = lanes(f"{head} mov.f32 %f1, 0f{tiny:08X}; red.{space}.add.noftz.f32 [{at}], %f1; {back}", [tiny] * LANES)
    assert set(kept) == {2 * tiny}


# clocks, sleeps, spaces -----------------------------------------------------------------------------------------------


def test_clocks_go_on():
    body = """mov.u64 %rd6, %globaltimer; mov.u64 %rd7, %clock64; mov.u32 %r4, %clock; nanosleep.u32 100
        mov.u64 %rd8, %globaltimer; mov.u64 %rd9, %clock64; mov.u32 %r5, %clock; mov.u32 %r6, %clock_hi
        setp.ge.u64 %p1, %rd8, %rd6; setp.gt.u64 %p2, %rd9, %rd7; setp.gt.u32 %p3, %r5, %r4; setp.eq.u32 %p4, %r6, 0
        and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3; and.pred %p1, %p1, %p4; selp.u32 %r3, 1, 0, %p1"""
    assert lanes(body, [0] * LANES) == [1] * LANES


def test_every_space_knows_its_own_addresses():
    body = """.shared .align 8 .b8 s[64]; .local .align 8 .b8 l[64]
        mov.u64 %rd6, s; cvta.shared.u64 %rd6, %rd6; mov.u64 %rd7, l; cvta.local.u64 %rd7, %rd7; mov.u64 %rd8, c0
        cvta.const.u64 %rd8, %rd8; mov.u64 %rd9, in; cvta.param.u64 %rd9, %rd9; mov.u32 %r3, 0
    """
    bit = 0
    wanted = 0
    for register, own in (
        ("%rd6", ("shared", "shared::cta", "shared::cluster")),
        ("%rd7", ("local",)),
        ("%rd8", ("const",)),
        ("%rd9", ("param::entry",)),
        ("%rd1", ("global",)),
    ):
        for space in ("shared", "shared::cta", "shared::cluster", "local", "const", "global", "param::entry"):
            body += f"isspacep.{space} %p1, {register}; selp.u32 %r4, 1, 0, %p1; shl.b32 %r4, %r4, {bit % 32}; "
            body += "xor.b32 %r3, %r3, %r4\n" if bit < 32 else "\n"
            wanted ^= (space in own) << bit if bit < 32 else 0
            bit += 1
    out = np.zeros(LANES, np.uint32)
    run_both(
        entry(HEAD + body + TAIL, "u64 in, u64 out", declarations=".const .align 8 .b8 c0[8]"),
        1,
        LANES,
        (np.zeros(LANES, np.uint32), out),
    )
    assert {f"{v:b}" for v in out.tolist()} == {f"{wanted:b}"}


@pytest.mark.parametrize("what", ["trap", "brkpt"])
def test_traps_end_a_launch_and_breakpoints_do_not(what):
    program = sim.load(entry(HEAD + f"mov.u32 %r3, 4; setp.eq.u32 %p1, %r1, 3; @%p1 {what}" + TAIL, "u64 in, u64 out"))
    for engine in ("core", "reference"):
        out = np.zeros(LANES, np.uint32)
        if what == "trap":
            with pytest.raises(SimulationError, match="trap"):
                sim.launch(program, 1, LANES, (np.zeros(LANES, np.uint32), out), engine=engine)
        else:
            sim.launch(program, 1, LANES, (np.zeros(LANES, np.uint32), out), engine=engine)
            assert out.tolist() == [4] * LANES


# mbarriers over several phases ----------------------------------------------------------------------------------------


def test_counts_and_bytes_of_phase_after_phase():
    """A plain model of the object: pending, expected, tx; every thread's view of phases in a random order of events."""
    rng = random.Random(4)
    for _ in range(6):
        count = rng.randrange(2, 5)
        pending, tx, phase, expected, lines, wanted = count, 0, 0, count, [], []
        for _ in range(24):
            event = rng.choice(["arrive", "expect", "complete", "arrive_expect", "drop"])
            if event == "drop" and (expected < 2 or (pending < 2 and tx == 0)):
                event = "arrive"
            n = rng.choice((16, 48, 128))
            if event == "complete":
                n = tx if tx > 0 and rng.random() < 0.7 else n
                lines.append(f"mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], {n}")
                tx -= n
            elif event == "expect":
                lines.append(f"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], {n}")
                tx += n
            elif pending:
                lines.append(
                    {
                        "arrive": "mbarrier.arrive.shared::cta.b64 %rd6, [%r9]",
                        "drop": "mbarrier.arrive_drop.shared::cta.b64 %rd6, [%r9]",
                        "arrive_expect": f"mbarrier.arrive.expect_tx.shared::cta.b64 %rd6, [%r9], {n}",
                    }[event]
                )
                tx += n * (event == "arrive_expect")
                lines.append("mbarrier.pending_count.b64 %r5, %rd6; mad.lo.u32 %r3, %r3, 7, %r5")
                wanted.append(pending)
                expected -= event == "drop"
                pending -= 1
            if not pending and not tx:
                pending, phase = expected, phase ^ 1
            lines.append(
                f"mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r9], {rng.randrange(2)}; "
                "selp.u32 %r5, 3, 1, %p1; mad.lo.u32 %r3, %r3, 7, %r5"
            )
            wanted.append(3 if int(lines[-1].split("], ")[1][0]) != phase else 1)
        total = 0
        for w in wanted:
            total = total * 7 + w & 0xFFFFFFFF
        head = (
            f".shared .align 8 .b64 bar; mov.u32 %r9, bar; mbarrier.init.shared::cta.b64 [%r9], {count}; "
            "mov.u32 %r3, 0; "
        )
        assert lanes(head + "; ".join(lines), [0], threads=1) == [total]


# a part of a warp leaves ----------------------------------------------------------------------------------------------


def test_lanes_that_left_do_not_hold_up_the_rest():
    """bar.sync waits for threads that have not exited, warp by warp."""
    body = (
        ".shared .align 4 .b32 s[128]; and.b32 %r4, %r1, 3; setp.eq.u32 %p1, %r4, 1; @%p1 exit; "
        "setp.ge.u32 %p2, %r1, 96; "
        "@%p2 exit; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6; st.shared.u32 [%r6], %r1; "
        "bar.sync 0; "
        "xor.b32 %r7, %r1, 32; shl.b32 %r7, %r7, 2; add.u32 %r7, %r5, %r7; setp.lt.u32 %p3, %r1, 64; "
        "mov.u32 %r3, 9; "
        "@%p3 ld.shared.u32 %r3, [%r7]; bar.sync 0"
    )

    def check(_, out):
        assert out.tolist() == [0 if k % 4 == 1 or k >= 96 else k ^ 32 if k < 64 else 9 for k in range(128)]

    run_all(
        entry(HEAD + body + TAIL, "u64 in, u64 out"),
        1,
        128,
        lambda: (np.zeros(128, np.uint32), np.zeros(128, np.uint32)),
        check,
    )


# several groups of a warp at one instruction --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "late", ["", "setp.lt.u32 %p1, %r1, 13; @%p1 bra GO; nanosleep.u32 1; add.u32 %r9, %r9, 1; GO:"]
)
def test_lanes_with_different_masks_are_groups_of_their_own(late):
    """Each waits for the lanes of its own mask only, though all meet at one instruction."""
    labels = [k * k % 5 for k in range(LANES)]
    groups = [sum(1 << j for j in range(LANES) if labels[j] == labels[k]) for k in range(LANES)]
    body = (
        f"mov.u32 %r9, 0; match.any.sync.b32 %r4, %r2, -1; {late}; "
        + """
        redux.sync.add.u32 %r5, %r1, %r4; setp.gt.u32 %p2, %r1, 9; vote.sync.ballot.b32 %r6, %p2, %r4
        bar.warp.sync %r4; shfl.sync.idx.b32 %r7, %r5, %r1, 31, %r4; and.b32 %r8, %r1, 1
        match.any.sync.b32 %r8, %r8, %r4
        elect.sync _|%p3, %r4; selp.u32 %r10, 1, 0, %p3; vote.sync.ballot.b32 %r11, %p3, %r4; popc.b32 %r11, %r11
        xor.b32 %r3, %r5, %r6; xor.b32 %r3, %r3, %r7; xor.b32 %r3, %r3, %r8; shl.b32 %r11, %r11, 3
        xor.b32 %r3, %r3, %r11"""
    )
    wanted = []
    for k, mask in enumerate(groups):
        members = [j for j in range(LANES) if mask >> j & 1]
        total = sum(members)
        ballot = sum(1 << j for j in members if j > 9)
        alike = sum(1 << j for j in members if j % 2 == k % 2)
        wanted.append(total ^ ballot ^ total ^ alike ^ 8)
    assert lanes(body, labels) == wanted
