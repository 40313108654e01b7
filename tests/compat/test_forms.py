"""Instruction spellings of the 0.1 API: the checker agrees with ptxas, also on those that ptxas refuses."""

import pytest

from pyptx import check_ptx
from pyptx.errors import AssembleError
from pyptx.toolchain import assemble

MODULE = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 m)
{{
	.reg .b32 %r<4>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<2>;
	.reg .pred %p<2>;
	.shared .align 128 .b8 s[1024];
	.shared .align 8 .b64 bar;
	{0}
	ret;
}}
"""
TAKEN = """
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd0, {%r0, %r1}], [s];
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd0, {%r0, %r1}], [s];
    tcgen05.alloc.cta_group::1.sync.aligned.b32 [s], 32;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    tcgen05.ld.sync.aligned.16x64b.x4.b32 {%r0, %r1, %r2, %r3}, [%r0];
    barrier.cluster.arrive;
    barrier.cluster.wait.aligned;
    setmaxnreg.inc.sync.aligned.u32 64;
    elect.sync %r0|%p0, -1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
    mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;
    ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];
    st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};
    tcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%r0], %rd0, %rd1, %r1, {%r0, %r1, %r2, %r3}, %p0;
    tcgen05.mma.cta_group::1.kind::f16.ashift [%r0], [%r1], %rd1, %r1, {%r0, %r1, %r2, %r3}, %p0;
    suld.b.2d.v2.b64.trap {%rd0, %rd1}, [%rd0, {%r0, %r1}];
"""
REFUSED = """
    cp.async.bulk.tensor.2d.global.shared::cta [%rd0, {%r0, %r1}], [s];
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add [%rd0, {%r0, %r1}], [s];
    tcgen05.relinquish_alloc_permit.cta_group::1.sync;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cta.b64 [bar];
    mbarrier.arrive.expect_tx.shared::cta.b64 [bar], 64;
    setmaxnreg.sync.aligned.u32 64;
    mbarrier.arrive.release.cta.shared::cluster.multicast::cluster.b64 _, [bar], 1;
    tcgen05.mma.cta_group::2.kind::f16 [%r0], %rd0, %rd1, %r1, {%r0, %r1, %r2, %r3}, %p0;
    tcgen05.mma.cta_group::1.kind::f16.ashift [%r0], %rd0, %rd1, %r1, %p0;
    suld.b.2d.b64.trap %rd0, [%rd0, {%rd0, %rd1}];
"""


def lines(text):
    return [line.strip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("line", lines(TAKEN))
def test_the_checker_accepts_what_ptxas_accepts(line):
    assert check_ptx(MODULE.format(line)) == []
    assemble(MODULE.format(line), target="sm_100a")


@pytest.mark.parametrize("line", lines(REFUSED))
def test_what_ptxas_refuses_is_refused_at_its_line(line):
    (fault,) = check_ptx(MODULE.format(line))
    assert fault.severity == "error" and fault.line == 12
    with pytest.raises(AssembleError):
        assemble(MODULE.format(line), target="sm_100a")
