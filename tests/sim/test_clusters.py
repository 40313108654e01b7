"""Clusters: ranks, distributed shared memory, remote mbarriers, multicast, cluster barriers, cancellation."""

from __future__ import annotations

import numpy as np
import pytest
from sim.engines import run_both
from sim.schedules import run_all, words
from sim.text import entry

from pyptx import sim
from pyptx.errors import LaunchError, SimulationError

PROLOGUE = """
.reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .pred %p<6>; .reg .b128 %q<2>; .reg .b16 %h<4>
.shared .align 128 .b8 x[1024]; .shared .align 8 .b64 bar; .shared .align 16 .b8 answer[16]
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r1; mul.wide.u32 %rd3, %r5, 4
add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; mov.u32 %r9, x; mad.lo.u32 %r10, %r1, 4, %r9; mov.u32 %r11, bar
setp.eq.u32 %p1, %r1, 0; mov.u32 %r6, %cluster_nctarank; mov.u32 %r20, 0
"""
EPILOGUE = "\nst.global.u32 [%rd5], %r20; ret"
MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned\n"


def module(body: str, target: str = "sm_90a", epilogue: str = EPILOGUE):
    return entry(PROLOGUE + body + epilogue, "u64 a, u64 out", target=target)


def runs(body: str, wanted, *, ctas: int = 8, block: int = 64, cluster=4, target: str = "sm_90a") -> None:
    a = words(ctas * block)

    def check(source, out):
        assert (out == wanted(source)).all()

    run_all(
        module(body, target), ctas, block, lambda: (a.copy(), np.zeros(ctas * block, np.uint32)), check, cluster=cluster
    )


def test_ranks_and_places():
    body = """
    mov.u32 %r12, %clusterid.x; mov.u32 %r13, %clusterid.y
    mov.u32 %r14, %cluster_ctaid.x; mov.u32 %r15, %cluster_ctaid.y
    mov.u32 %r16, %nclusterid.x; mov.u32 %r17, %ctaid.y; mov.u32 %r18, %nctaid.x
    .reg .pred %e; mov.pred %e, %is_explicit_cluster
    selp.u32 %r19, 1, 0, %e
    mad.lo.u32 %r3, %r17, %r18, %r3; mul.wide.u32 %rd3, %r3, 32; add.u64 %rd5, %rd2, %rd3
    st.global.v4.u32 [%rd5], {%r12, %r13, %r14, %r15}; st.global.v4.u32 [%rd5+16], {%r16, %r2, %r6, %r19}; ret"""
    out = np.zeros((4, 6, 8), np.uint32)
    run_both(module(body, epilogue=""), (6, 4), 1, (np.zeros(1, np.uint32), out), cluster=(2, 2))
    y, x = np.mgrid[:4, :6]
    rank = x % 2 + 2 * (y % 2)
    wanted = [x // 2, y // 2, x % 2, y % 2, np.full_like(x, 3), rank, np.full_like(x, 4), np.ones_like(x)]
    assert (out == np.stack(wanted, -1)).all()


def test_addresses_of_shared_memory_say_whose_they_are():
    runs(
        "mapa.shared::cluster.u32 %r12, %r10, 2; getctarank.shared::cluster.u32 %r13, %r12; shr.u32 %r14, %r10, 24; "
        "mad.lo.u32 %r20, %r14, 16, %r13",
        lambda a: np.arange(8).repeat(64) % 4 * 16 + 2,
    )


@pytest.mark.parametrize("generic", [False, True])
def test_threads_read_the_shared_memory_of_the_next_cta(generic):
    body = (
        f"""
    ld.global.u32 %r12, [%rd4]; st.shared.u32 [%r10], %r12; {MEET}
    add.u32 %r13, %r2, 1; rem.u32 %r13, %r13, %r6
    """
        + (
            "cvt.u64.u32 %rd6, %r10; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r13; ld.u32 %r20, [%rd7]"
            if generic
            else "mapa.shared::cluster.u32 %r14, %r10, %r13; ld.shared::cluster.u32 %r20, [%r14]"
        )
        + "\n"
        + MEET
    )
    runs(body, lambda a: np.roll(a.reshape(2, 4, 64), -1, axis=1).reshape(-1))


def test_lanes_may_read_from_different_ctas():
    runs(
        f"""
    ld.global.u32 %r12, [%rd4]; st.shared.u32 [%r10], %r12; {MEET} and.b32 %r13, %r1, 3
    mapa.shared::cluster.u32 %r14, %r10, %r13; ld.shared::cluster.u32 %r20, [%r14]; {MEET}
    """,
        lambda a: a.reshape(2, 4, 64)[:, np.arange(64) % 4, np.arange(64)][:, None].repeat(4, 1).reshape(-1),
    )


def test_atomics_and_stores_on_other_ctas():
    runs(
        f"""
    st.shared.u32 [%r10], 0; {MEET} mapa.shared::cluster.u32 %r14, %r9, 0
    add.u32 %r15, %r2, %r1; atom.shared::cluster.add.u32 %r16, [%r14], %r15
    red.relaxed.cluster.shared::cluster.max.u32 [%r14+4], %r1
    setp.eq.u32 %p2, %r1, 5; @%p2 st.shared::cluster.u32 [%r14+8], %r1
    {MEET} ld.shared::cluster.u32 %r20, [%r14]; ld.shared::cluster.u32 %r21, [%r14+4]; add.u32 %r20, %r20, %r21
    ld.shared::cluster.u32 %r21, [%r14+8]; add.u32 %r20, %r20, %r21; {MEET}
    """,
        lambda a: 4 * (63 * 32) + 64 * 6 + 63 + 5,
    )


def test_a_cta_waits_for_arrivals_from_all_others():
    runs(
        f"""
    @%p1 mbarrier.init.shared::cta.b64 [%r11], 256; {MEET}
    mov.u32 %r12, 0
    L: mapa.shared::cluster.u32 %r13, %r11, %r12; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13]
    add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r6; @%p2 bra L
    W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r11], 0; @!%p3 bra W
    mov.u32 %r20, 3; {MEET}""",
        lambda a: 3,
    )


COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize("width", ["", "::16b"])
def test_multicast_brings_the_same_bytes_to_several_ctas(width):
    body = f"""
    @%p1 mbarrier.init.shared::cta.b64 [%r11], 1; {MEET}
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 256; mov.u16 %h1, 0xB
    setp.ne.u32 %p2, %r2, 2; setp.eq.u32 %p3, %r2, 1; and.pred %p3, %p3, %p1
    shl.b32 %r12, %r3, 6; mul.wide.u32 %rd6, %r12, 4
    add.u64 %rd6, %rd1, %rd6
    @%p3 {COPY}.multicast::cluster{width} [%r9], [%rd6], 256, [%r11], %h1
    @!%p2 bra END
    W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r11], 0; @!%p4 bra W
    ld.shared.u32 %r20, [%r10]
    END: {MEET}"""

    def wanted(a):
        got = np.stack([a.reshape(2, 4, 64)[:, 1]] * 4, 1)
        got[:, 2] = 0
        return got.reshape(-1)

    runs(body, wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["bulk", "reduce", "st.async", "red.async"])
def test_data_is_sent_to_the_next_cta(kind):
    send = {
        "bulk": "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
        "[%r15], [%r9], 256, [%r14]",
        "reduce": "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
        "[%r15], [%r9], 256, [%r14]",
        "st.async": "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r16], %r12, [%r14]",
        "red.async": "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
        "[%r16], %r12, [%r14]",
    }[kind]
    runs(
        f"""
    ld.global.u32 %r12, [%rd4]; st.shared.u32 [%r10], %r12; st.shared.u32 [%r10+512], 9
    @%p1 mbarrier.init.shared::cta.b64 [%r11], 1; {MEET}
    add.u32 %r13, %r2, 1; rem.u32 %r13, %r13, %r6; mapa.shared::cluster.u32 %r14, %r11, %r13
    mapa.shared::cluster.u32 %r15, %r9, %r13; add.u32 %r15, %r15, 512; mad.lo.u32 %r16, %r1, 4, %r15
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 256
    {send}
    W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r11], 0; @!%p4 bra W
    ld.shared.u32 %r20, [%r10+512]; {MEET}
    """,
        lambda a: np.roll(a.reshape(2, 4, 64), 1, axis=1).reshape(-1) + np.uint32(9 if kind.startswith("re") else 0),
    )


def test_exited_threads_are_not_waited_for_at_the_cluster_barrier():
    runs(
        f"""
    setp.ge.u32 %p2, %r1, 40; @%p2 exit; setp.eq.u32 %p3, %r2, 3; @%p3 exit; {MEET} mov.u32 %r20, 1
    """,
        lambda a: np.where((np.arange(512) % 64 < 40) & (np.arange(512) // 64 % 4 < 3), 1, 0),
    )


def test_the_kernel_may_say_the_size_of_its_clusters():
    from dataclasses import replace

    from pyptx import ir

    shell = module("mov.u32 %r20, %cluster_nctarank;")
    *rest, function = shell.directives
    function = replace(function, directives=(ir.FunctionDirective("reqnctapercluster", (2, 1, 1)),))
    fixed = replace(shell, directives=(*rest, function))
    out = np.zeros(128, np.uint32)
    run_both(fixed, 4, 32, (out.copy(), out))
    assert (out == 2).all()
    with pytest.raises(LaunchError, match="requires .reqnctapercluster"):
        sim.launch(sim.load(fixed), 4, 32, (out.copy(), out), cluster=4)


def test_clusters_are_at_most_16():
    with pytest.raises(LaunchError, match="a cluster of 32 CTAs; at most 16"):
        sim.launch(sim.load(module("")), 32, 32, (np.zeros(1024, np.uint32), np.zeros(1024, np.uint32)), cluster=32)


def test_threads_share_clusters():
    program = sim.load(
        module(f"""
    ld.global.u32 %r12, [%rd4]; st.shared.u32 [%r10], %r12; {MEET}
    add.u32 %r13, %r2, 1; rem.u32 %r13, %r13, %r6; mapa.shared::cluster.u32 %r14, %r10, %r13
    ld.shared::cluster.u32 %r20, [%r14]; {MEET}""")
    )
    a, out = words(64 * 64), np.zeros(64 * 64, np.uint32)
    sim.launch(program, 64, 64, (a, out), cluster=4, threads=3, schedule="random", seed=5)
    assert (out == np.roll(a.reshape(16, 4, 64), -1, axis=1).reshape(-1)).all()


def test_a_running_cta_takes_the_work_of_one_that_has_not_started():
    """Every CTA that starts also does the work of those it cancels; together they do all of it once."""
    body = """
    mov.u32 %r7, answer; mov.u32 %r12, 0; @%p1 mbarrier.init.shared::cta.b64 [%r11], 1; bar.sync 0
    NEXT: mad.lo.u32 %r5, %r3, %r4, %r1; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd5, %rd2, %rd3
    atom.global.add.u32 %r13, [%rd5], 1
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 16
    @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r7], [%r11]
    W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], %r12; @!%p2 bra W
    ld.shared.b128 %q1, [%r7]; bar.sync 0
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r3, %r14, %r15, _}, %q1
    xor.b32 %r12, %r12, 1; @%p3 bra NEXT; ret"""

    def check(_, out):
        assert (out == 1).all()

    run_all(
        module(body, "sm_100a", epilogue=""),
        9,
        32,
        lambda: (np.zeros(1, np.uint32), np.zeros(9 * 32, np.uint32)),
        check,
    )


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("mapa.shared::cluster.u32 %r12, %r10, 1; ld.shared::cta.u32 %r20, [%r12]", "of another CTA"),
        ("mapa.shared::cluster.u32 %r12, %r10, 5; ld.shared::cluster.u32 %r20, [%r12]", "reads 4 bytes at 0x5000400"),
        ("barrier.cluster.wait", "without arriving first"),
        ("barrier.cluster.arrive; barrier.cluster.arrive", "again without waiting first"),
    ],
)
def test_what_is_wrong_is_said(body, message, engine):
    with pytest.raises(SimulationError, match=message):
        sim.launch(sim.load(module(body)), 4, 64, (words(256), words(256)), engine=engine, cluster=2)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_warpgroup_agrees_about_its_registers(engine):
    body = module("""
    setp.lt.u32 %p2, %r1, 96; @%p2 bra LOW; setmaxnreg.dec.sync.aligned.u32 40; bra END
    LOW: setmaxnreg.dec.sync.aligned.u32 24
    END:""")
    with pytest.raises(SimulationError, match="requests 40 registers where warp 0 of its warpgroup requested 24"):
        sim.launch(sim.load(body), 1, 128, (words(1), words(128)), engine=engine)


def test_registers_go_from_one_warpgroup_to_another():
    from dataclasses import replace

    from pyptx import ir

    shell = module("""
    setp.lt.u32 %p2, %r1, 128; @%p2 bra LOW; setmaxnreg.inc.sync.aligned.u32 160; mov.u32 %r20, 1; bra END
    LOW: setmaxnreg.dec.sync.aligned.u32 96; mov.u32 %r20, 2
    END:""")
    *rest, function = shell.directives

    def given(count):
        limited = replace(function, directives=(ir.FunctionDirective("maxnreg", (count,)),))
        return replace(shell, directives=(*rest, limited))

    def check(_, out):
        assert (out == np.where(np.arange(256) < 128, 2, 1)).all()

    run_all(given(128), 1, 256, lambda: (np.zeros(1, np.uint32), np.zeros(256, np.uint32)), check)
    with pytest.raises(SimulationError, match="setmaxnreg.inc needs 40 more registers per thread"):
        sim.launch(sim.load(given(120)), 1, 256, (np.zeros(1, np.uint32), np.zeros(256, np.uint32)))
