"""mbarriers, fences, CTA barriers, clusters, register budgets."""

import pytest
from support.tracing import Cases, trace, written

from pyptx import ptx, reg, smem
from pyptx.errors import PtxValidationError, ShapeError
from pyptx.ir.nodes import Block
from pyptx.types import b32, u32, u64
from pyptx.types import pred as pred_type

writes = Cases()


def base():
    """A shared address in %r0."""
    start = reg.scalar(u32)
    ptx.inst.mov.u32(start, smem.mbarrier(8).name)
    return start


@writes("""
    mbarrier.init.shared::cta.b64 [mbar_0+8], 2;
    mbarrier.inval.shared.b64 [mbar_0];
    mbarrier.arrive.shared.b64 %rd0, [mbar_0];
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [mbar_0], 8192;
    mbarrier.expect_tx.shared.b64 [mbar_0+16], 64;
    mbarrier.try_wait.parity.shared.b64 %p0, [mbar_0], 0;
    mbarrier.try_wait.shared.b64 %p1, [mbar_0], %rd0;
""")
def mbarrier_instructions():
    bars = smem.mbarrier(3)
    ptx.mbarrier.init(bars[1], 2)
    ptx.mbarrier.inval(bars[0])
    state = ptx.mbarrier.arrive(bars[0])
    ptx.mbarrier.arrive_expect_tx(bars[0], 8192)
    ptx.mbarrier.expect_tx(bars[2], 64)
    ptx.mbarrier.try_wait(bars[0], 0)
    ptx.mbarrier.try_wait(bars[0], state, parity=False)


@writes("""
    $_mbar_wait_0:
    mbarrier.try_wait.parity.shared.b64 %p0, [mbar_0+8], %r0;
    @!%p0 bra $_mbar_wait_0;
""")
def waiting_spins_on_one_address():
    ptx.mbarrier.wait(smem.mbarrier(2)[1], reg.scalar(u32))


@writes("""
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra $_mbar_done_1;
    $_mbar_wait_0:
    mbarrier.try_wait.parity.shared.b64 %p1, [mbar_0], 1;
    @!%p1 bra $_mbar_wait_0;
    $_mbar_done_1:
""")
def waiting_under_a_predicate_branches_around():
    ptx.mbarrier.wait(smem.mbarrier(1)[0], 1, pred=reg.scalar(u32) == 0)


@writes("""
    mbarrier.init.shared::cta.b64 [%r0+16], 1;
    mbarrier.init.shared::cta.b64 [%r0+24], 1;
    mbarrier.init.shared::cta.b64 [%r0+0], 4;
    mbarrier.arrive.shared.b64 %rd0, [%r0+16];
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r0+24], 64;
    $_mbar_wait_0:
    mbarrier.try_wait.parity.shared.b64 %p0, [%r0+24], 0;
    @!%p0 bra $_mbar_wait_0;
""")
def a_ring_at_an_address():
    start = base()
    ring = ptx.mbarrier.array(start, 16, 2)
    ring.init_all(1)
    ptx.mbarrier.array(start, 0, 1)[0].init(4)
    ring[0].arrive()
    ring[1].arrive_expect_tx(64)
    ring[1].wait(0)


@writes("""
    shl.b32 %r2, %r1, 3;
    add.u32 %r3, %r2, 16;
    add.u32 %r4, %r0, %r3;
    $_mbar_wait_0:
    mbarrier.try_wait.parity.shared.b64 %p0, [%r4], 0;
    @!%p0 bra $_mbar_wait_0;
    mbarrier.arrive.expect_tx.shared::cta.b64 %rd0, [%r4], 64;
    shl.b32 %r5, %r1, 3;
    mov.u32 %r6, mbar_0;
    add.u32 %r7, %r6, %r5;
    mbarrier.arrive.shared.b64 %rd1, [%r7];
""")
def slots_of_a_stage_in_a_register():
    start, stage = base(), reg.scalar(u32)
    slot = ptx.mbarrier.array(start, 16, 2).at(stage)
    slot.wait(0)
    slot.arrive_expect_tx(64)
    ptx.mbarrier.array("mbar_0", 0, 2).at(stage).arrive()


@writes("""
    {
    .reg .b32 remAddr32;
    mapa.shared::cluster.u32 remAddr32, %r0, 1;
    mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 1;
    }
    add.u32 %r1, %r0, 8;
    {
    .reg .b32 remAddr32;
    mapa.shared::cluster.u32 remAddr32, %r1, 0;
    mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 2;
    }
""")
def slots_of_other_ctas():
    ring = ptx.mbarrier.array(base(), 0, 2)
    ring[0].arrive_remote(1)
    ring[1].arrive_remote(0, 2)


@writes("""
    fence.proxy.async;
    fence.proxy.async.shared::cta;
    fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
    fence.mbarrier_init.release.cluster;
""")
def fences():
    ptx.fence.proxy_async()
    ptx.fence.proxy_async_shared_cta()
    ptx.fence.proxy_async_generic_acquire_shared_cluster()
    ptx.fence.mbarrier_init()


@writes("@!%p0 fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;")
def a_fence_under_a_negated_predicate():
    ptx.fence.proxy_async_generic_acquire_shared_cluster(pred=~(reg.scalar(u32) == 0))


@writes("""
    bar.sync 0;
    bar.sync 1, 128;
    bar.sync 3, 64;
    bar.arrive 3, 64;
""")
def cta_barriers():
    ptx.bar.sync()
    ptx.bar.sync(1, 128)
    consumers = ptx.named_barrier(3, count=64)
    consumers.sync()
    consumers.arrive()


@writes("""
    setmaxnreg.inc.sync.aligned.u32 232;
    setmaxnreg.dec.sync.aligned.u32 40;
    setmaxnreg.dec.sync.aligned.u32 24;
    elect.sync %r0|%p0, -1;
""")
def warpgroup_roles():
    ptx.setmaxnreg(232)
    ptx.setmaxnreg_dec(40)
    ptx.setmaxnreg(24, inc=False)
    ptx.elect_sync(reg.scalar(b32), reg.scalar(pred_type), -1)


@writes("""
    barrier.cluster.arrive;
    barrier.cluster.wait;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r0, %cluster_ctarank;
    setp.eq.u32 %p0, %r0, 0;
""")
def cluster_barriers():
    ptx.cluster.sync()
    ptx.cluster.arrive(aligned=True)
    ptx.cluster.wait(aligned=True)
    ptx.cluster.rank(0)


@writes("""
    mov.u32 %r1, 2;
    mapa.shared::cluster.u32 %r2, %r0, %r1;
    mapa.shared::cluster.u32 %r3, %r0, %r1;
""")
def addresses_in_another_cta():
    start = base()
    ptx.cluster.map_shared_u32(start, 2)
    ptx.cluster.map_shared_u32(start, reg.Reg("%r1", u32))


@writes("""
    {
    .reg .b32 remAddr32;
    @!%p0 mapa.shared::cluster.u32 remAddr32, %r0, 0;
    @!%p0 mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 3;
    }
    {
    .reg .b32 remAddr32;
    @!%p0 mapa.shared::cluster.u32 remAddr32, %r0, 2;
    @!%p0 mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 3;
    }
""")
def an_arrive_for_each_bit_of_a_mask():
    start = base()
    ptx.cluster.arrive_multicast(start, 0b101, 3, pred=~(start == 0))


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_call_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_the_register_of_a_remote_address_is_local():
    start = trace(lambda: ptx.cluster.arrive_remote(base(), 0)).statements[-1]
    assert isinstance(start, Block) and start.body[0].name == "remAddr32"


def test_a_dynamic_barrier_is_addressed_once_in_front_of_the_loop():
    def body():
        smem.mbarrier(2)
        ptx.mbarrier.wait(smem.mbarrier(2)[1], 0)

    assert written(body, force_dynamic_smem=True) == [
        "mov.b32 %r0, dyn_smem;",
        "add.s32 %r1, %r0, 24;",
        "$_mbar_wait_0:",
        "mbarrier.try_wait.parity.shared.b64 %p0, [%r1], 0;",
        "@!%p0 bra $_mbar_wait_0;",
    ]


def test_a_dynamic_barrier_in_a_remote_cta_keeps_its_offset():
    lines = written(lambda: ptx.cluster.map_shared_u32(smem.mbarrier(4)[2], 1), force_dynamic_smem=True)
    assert "add.s32 %r2, %r1, 16;" in lines and lines[-1] == "mapa.shared::cluster.u32 %r3, %r2, %r0;"


def test_the_address_of_a_slot_is_computed_again_where_the_first_may_be_skipped():
    def body():
        stage = reg.scalar(u32)
        slot = ptx.mbarrier.array("mbar_0", 0, 4).at(stage)
        with ptx.if_(stage == 0):
            slot.arrive()
            slot.arrive()
        slot.arrive()
        slot.arrive()

    lines = written(lambda: (smem.mbarrier(4), body()))
    assert sum(line.startswith("shl.b32") for line in lines) == 2


def test_a_slot_computed_before_a_branch_is_used_in_it():
    def body():
        stage = reg.scalar(u32)
        slot = ptx.mbarrier.array("mbar_0", 0, 4).at(stage)
        slot.arrive()
        with ptx.if_(stage == 0):
            slot.arrive()
        with ptx.else_():
            slot.arrive()

    lines = written(lambda: (smem.mbarrier(4), body()))
    assert sum(line.startswith("shl.b32") for line in lines) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ptx.mbarrier.array(0, 0, 2), TypeError, "a register or a name"),
        (lambda: ptx.mbarrier.array("b", 0, 0), ShapeError, "0 mbarriers"),
        (lambda: ptx.mbarrier.array("b", 0, 2)[2], IndexError, r"expected 0\.\.1"),
        (lambda: ptx.mbarrier.array("b", 0, 2)[-1], IndexError, r"expected 0\.\.1"),
        (lambda: ptx.mbarrier.array("b", 0, 2).at(1), TypeError, r"use ring\[i\] for an int"),
        (lambda: ptx.cluster.arrive_multicast("b", reg.scalar(u32)), TypeError, "mask as an int"),
        (lambda: ptx.cluster.arrive_multicast("b", 0), ShapeError, "expected 1..0xffff"),
        (lambda: ptx.named_barrier(1).arrive(), TypeError, "thread count"),
        (lambda: ptx.setmaxnreg(25), PtxValidationError, "25"),
        (lambda: ptx.bar.sync(16), PtxValidationError, "16"),
        (lambda: ptx.mbarrier.expect_tx("b", reg.scalar(u64)), PtxValidationError, "mbarrier.expect_tx"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        trace(call)
