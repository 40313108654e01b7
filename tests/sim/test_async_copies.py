"""cp.async, bulk copies and reductions, st.async, red.async, st.bulk: in every schedule, on both engines."""

from __future__ import annotations

import numpy as np
import pytest
from sim.schedules import run_all, words
from sim.text import entry

from pyptx import sim
from pyptx.errors import SimulationError

PROLOGUE = """
.reg .b32 %r<24>; .reg .b64 %rd<16>; .reg .pred %p<6>; .reg .b16 %h<4>; .reg .b128 %q<2>
.shared .align 128 .b8 x[4096]; .shared .align 8 .b64 bar
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 16
add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; mov.u32 %r9, x; shl.b32 %r2, %r1, 4; add.u32 %r10, %r9, %r2
mov.u32 %r11, bar; setp.eq.u32 %p1, %r1, 0
@%p1 mbarrier.init.shared::cta.b64 [%r11], 1; bar.sync 0
"""
COPY_OUT = """
ld.shared.v4.u32 {%r12, %r13, %r14, %r15}, [%r10]; st.global.v4.u32 [%rd5], {%r12, %r13, %r14, %r15}; ret"""
WAIT = "W{n}: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], {n}; @!%p2 bra W{n}\n"


def module(body: str, tail: str = COPY_OUT, target: str = "sm_100a"):
    return entry(PROLOGUE + body + tail, "u64 a, u64 out", target=target)


def runs(body: str, wanted, *, n: int = 64, tail: str = COPY_OUT, a=None, out=None) -> None:
    """Run with 4 * n words in and out; `wanted(a)` is what comes out."""
    a = words(4 * n) if a is None else a

    def check(source, result):
        expected = wanted(source)
        assert np.array_equal(result.view(np.uint8), np.asarray(expected).view(np.uint8))

    before = np.zeros(4 * n, np.uint32) if out is None else out
    run_all(module(body, tail), 1, n, lambda: (a.copy(), before.copy()), check)


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("cache", ["ca", "cg"])
def test_cp_async(size, cache):
    if cache == "cg" and size != 16:
        return
    pieces = "\n".join(f"cp.async.{cache}.shared.global [%r10+{k}], [%rd4+{k}], {size}" for k in range(0, 16, size))
    runs(pieces + "\ncp.async.commit_group; cp.async.wait_group 0", lambda a: a)


def test_what_is_not_read_becomes_zero():
    body = """
    and.b32 %r3, %r1, 15; cp.async.cg.shared.global [%r10], [%rd4], 16, %r3
    cp.async.wait_all"""

    def wanted(a):
        rows = a.view(np.uint8).reshape(-1, 16).copy()
        for t, row in enumerate(rows):
            row[t & 15 :] = 0
        return rows.reshape(-1)

    runs(body, wanted)


def test_a_copy_of_nothing_may_point_anywhere():
    runs(
        """
    setp.ge.u32 %p3, %r1, 10; selp.u32 %r3, 0, 16, %p3; @%p3 mov.u64 %rd4, 64
    cp.async.cg.shared.global [%r10], [%rd4], 16, %r3; cp.async.wait_all
    """,
        lambda a: np.where(np.arange(a.size) < 40, a, 0).astype(np.uint32),
    )
    runs(
        "setp.ge.u32 %p3, %r1, 10; cp.async.cg.shared.global [%r10], [%rd4], 16, %p3; cp.async.wait_all",
        lambda a: np.where(np.arange(a.size) < 40, a, 0).astype(np.uint32),
    )


def test_groups_are_counted_for_each_thread():
    runs(
        """
    mov.u32 %r3, 0; mov.u32 %r4, 0
    LOOP: shl.b32 %r5, %r3, 10; add.u32 %r6, %r10, %r5
    cp.async.ca.shared.global [%r6], [%rd4], 16; cp.async.commit_group
    and.b32 %r7, %r1, 3; add.u32 %r3, %r3, 1; setp.le.u32 %p3, %r3, %r7; @%p3 bra LOOP
    cp.async.wait_group 0
    shl.b32 %r7, %r7, 10; add.u32 %r10, %r10, %r7
    """,
        lambda a: a,
    )


def test_a_late_copy_has_not_landed_before_it_is_waited_for():
    body = """
    cp.async.ca.shared.global [%r10], [%rd4], 16; cp.async.commit_group
    cp.async.ca.shared.global [%r10+1024], [%rd4], 16; cp.async.commit_group
    cp.async.wait_group 1; ld.shared.u32 %r20, [%r10]; ld.shared.u32 %r21, [%r10+1024]
    st.global.v2.u32 [%rd5], {%r20, %r21}; ret"""
    a = words(256)
    for schedule, wanted in (("eager", a[::4]), ("late", 0xFFFFFFFF)):
        out = np.zeros(256, np.uint32)
        sim.launch(sim.load(module(body, "")), 1, 64, (a, out), schedule=schedule)
        assert (out[::4] == a[::4]).all() and (out[1::4] == wanted).all()


@pytest.mark.parametrize("noinc", ["", ".noinc"])
def test_cp_async_arrives_at_an_mbarrier(noinc):
    init = "bar.sync 0; @%p1 mbarrier.inval.shared.b64 [%r11]; @%p1 mbarrier.init.shared.b64 [%r11], 64; bar.sync 0\n"
    arrive = "" if noinc else "mbarrier.arrive.shared.b64 _, [%r11]\n"
    runs(
        init
        + f"""
    cp.async.cg.shared.global [%r10], [%rd4], 16
    cp.async.mbarrier.arrive{noinc}.shared.b64 [%r11]
    """
        + arrive
        + WAIT.format(n=0)
        + "xor.b32 %r10, %r10, 16",
        lambda a: a.reshape(-1, 2, 4)[:, ::-1].reshape(-1),
    )


def bulk_load(extra: str = "", bytes_: int = 1024) -> str:
    return f"""
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], {bytes_}
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], {bytes_}, [%r11]
    {extra}""" + WAIT.format(n=0)


def test_bulk_load():
    runs(bulk_load(), lambda a: a)


def test_bulk_load_in_pieces_by_several_threads():
    runs(
        """
    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r11], 1024; bar.sync 0
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r10], [%rd4], 16, [%r11]
    @%p1 mbarrier.arrive.shared::cta.b64 _, [%r11]
    """
        + WAIT.format(n=0),
        lambda a: a,
    )


def test_bytes_that_are_ignored_may_lie_outside():
    a = words(256).view(np.uint8)[:1011]

    def check(source, out):
        assert (out.view(np.uint8)[5:1011] == source[5:]).all()

    body = """
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 1024; mov.u32 %r3, 5; mov.u32 %r4, 13
    @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r9], [%rd1], 1024, %r3, %r4, [%r11]
    """ + WAIT.format(n=0)
    run_all(module(body), 1, 64, lambda: (a.copy(), np.zeros(256, np.uint32)), check)


@pytest.mark.parametrize("read", ["", ".read"])
def test_bulk_store(read):
    tail = f"""
    bar.sync 0
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 1024
    @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group{read} 0; bar.sync 0; ret"""
    runs(
        "ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd4]; st.shared.v4.u32 [%r10], {%r12, %r13, %r14, %r15}",
        lambda a: a,
        tail=tail,
    )


def test_a_store_that_is_only_read_may_land_later():
    body = """
    st.shared.v4.u32 [%r10], {%r1, %r1, %r1, %r1}; bar.sync 0
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 1024; @%p1 cp.async.bulk.commit_group
    @%p1 cp.async.bulk.wait_group.read 0; bar.sync 0; st.shared.v4.u32 [%r10], {%r2, %r2, %r2, %r2}
    ld.global.u32 %r20, [%rd5]; st.global.u32 [%rd4], %r20; ret"""
    for schedule in ("eager", "late"):
        a, out = np.zeros(256, np.uint32), np.full(256, 77, np.uint32)
        sim.launch(sim.load(module(body, "")), 1, 64, (a, out), schedule=schedule)
        assert (out == np.arange(64).repeat(4)).all()
        assert (a[::4] == (np.arange(64) if schedule == "eager" else 77)).all()


def test_a_mask_says_which_bytes_of_16_are_stored():
    tail = """
    bar.sync 0; mov.u16 %h1, 0x8421
    @%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd2], [%r9], 1024, %h1
    @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0; bar.sync 0; ret"""
    out = words(256, 9)

    def wanted(a):
        keep = np.tile([k in (0, 5, 10, 15) for k in range(16)], 64)
        return np.where(keep, a.view(np.uint8), out.view(np.uint8))

    runs(bulk_load(), wanted, tail=tail, out=out)


F16, BF16 = "f16", "bf16"
REDUCTIONS = [
    *((op, "u32") for op in ("add", "min", "max", "inc", "dec")),
    ("and", "b32"),
    ("or", "b32"),
    ("xor", "b64"),
    ("add", "s32"),
    ("min", "s32"),
    ("max", "s32"),
    ("add", "u64"),
    ("min", "s64"),
    ("max", "u64"),
    ("add", "f32"),
    ("add", "f64"),
    ("add.noftz", F16),
    ("add.noftz", BF16),
    ("min", F16),
    ("max", BF16),
]


@pytest.mark.parametrize(("operation", "type_name"), REDUCTIONS)
def test_bulk_reductions_into_global_memory(operation, type_name):
    tail = f"""
    bar.sync 0
    @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{type_name} [%rd2], [%r9], 1024
    @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0; bar.sync 0; ret"""
    a, b = words(256, 1), words(256, 2)
    if type_name[0] in "fb" and type_name not in ("b32", "b64"):  # numbers of moderate size
        kind = np.dtype({"f64": np.float64, "f32": np.float32}.get(type_name, np.float16))
        a, b = (
            np.random.default_rng(k).normal(size=1024 // kind.itemsize).astype(kind).view(np.uint32) for k in (1, 2)
        )
        if type_name == BF16:
            a, b = (((x & 0xFFFF8000) >> 1 | x & 0x8000) & 0xBFFFBFFF for x in (a, b))
    run_all(
        module(bulk_load(), tail),
        1,
        64,
        lambda: (a.copy(), b.copy()),
        lambda _, out: _reduced(operation, type_name, a, b, out),
    )


def _reduced(operation, type_name, a, b, out):
    kind = {
        "b32": np.uint32,
        "b64": np.uint64,
        "u32": np.uint32,
        "s32": np.int32,
        "u64": np.uint64,
        "s64": np.int64,
        "f32": np.float32,
        "f64": np.float64,
        "f16": np.float16,
    }.get(type_name)
    if kind is None:
        a, b, out = ((np.asarray(x).view(np.uint16).astype(np.uint32) << 16).view(np.float32) for x in (a, b, out))
        wanted = a + b if operation.startswith("add") else np.maximum(a, b)
        assert np.allclose(out, wanted, rtol=2**-8)
        return
    a, b, out = (np.asarray(x).view(kind) for x in (a, b, out))
    with np.errstate(over="ignore"):
        wanted = {
            "add": lambda: a + b,
            "min": lambda: np.minimum(a, b),
            "max": lambda: np.maximum(a, b),
            "and": lambda: a & b,
            "or": lambda: a | b,
            "xor": lambda: a ^ b,
            "inc": lambda: np.where(b >= a, 0, b + 1),
            "dec": lambda: np.where((b == 0) | (b > a), a, b - 1),
        }[operation.split(".")[0]]()
    assert np.array_equal(out, wanted.astype(kind))


def test_shared_memory_becomes_zero_in_bulk():
    body = (
        bulk_load() + "mov.u64 %rd6, 512; bar.sync 0; cvt.u64.u32 %rd7, %r9\n"
        "@%p1 st.bulk.weak.shared::cta [%rd7+256], %rd6, 0; bar.sync 0"
    )
    runs(body, lambda a: np.where((np.arange(256) >= 64) & (np.arange(256) < 192), 0, a).astype(np.uint32))


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("schedule", ["eager", "late"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("add.u32 %r10, %r10, 4; cp.async.cg.shared.global [%r10], [%rd4], 16", "not a multiple of 16"),
        ("add.u64 %rd4, %rd4, 1024; cp.async.cg.shared.global [%r10], [%rd4], 16", "outside every buffer"),
        ("add.u32 %r10, %r10, 4096; cp.async.cg.shared.global [%r10], [%rd4], 16", "outside"),
        ("mov.u32 %r3, 17; cp.async.cg.shared.global [%r10], [%rd4], 16, %r3", "copies 17 bytes; at most 16"),
        (
            "mov.u32 %r3, 24;"
            "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], %r3, [%r11]",
            "copies 24 bytes",
        ),
        (
            "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 2048, [%r11]",
            "outside every buffer",
        ),
        (
            "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 1024, [%r9]",
            "no initialized mbarrier",
        ),
    ],
)
def test_what_is_wrong_is_said(body, message, engine, schedule):
    with pytest.raises(SimulationError, match=message):
        sim.launch(sim.load(module(body)), 1, 64, (words(256), words(256)), engine=engine, schedule=schedule)
