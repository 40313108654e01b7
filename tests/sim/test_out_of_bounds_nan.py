"""fma.oob and the NaN with which tensor copies fill: hand-written values, and end to end with TMA."""

from __future__ import annotations

import numpy as np
import pytest
from sim.columns import computed
from sim.engines import run_both

from pyptx import TensorMap, parser

OUTSIDE = 0x7FF7
ONE = {"f16": 0x3C00, "bf16": 0x3F80}


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("relu", ["", ".relu"])
def test_a_factor_outside_makes_the_sum_plus_zero(kind, relu):
    one, nan = ONE[kind], 0x7FFF
    rows = [
        ((OUTSIDE, one, one), 0),
        ((one, OUTSIDE, one), 0),
        ((OUTSIDE, OUTSIDE, 0x8000 | one), 0),
        ((OUTSIDE, nan, nan), 0),
        ((one, one, OUTSIDE), nan),
        ((nan, one, one), nan),
        ((OUTSIDE | 0x8000, one, one), nan),
        ((OUTSIDE - 1, one, one), nan),
        ((one, one, 0), one),
        ((one, one | 0x8000, 0), 0 if relu else one | 0x8000),
    ]
    columns = [np.array([r[0][k] for r in rows], np.uint64) for k in range(3)]
    out = computed(f"fma.rn.oob{relu}.{kind} %d, %a0, %a1, %a2", ["b16"] * 3, "b16", columns)
    assert out.tolist() == [r[1] for r in rows]
    pairs = [c | np.roll(c, 1) << np.uint64(16) for c in columns]  # the halves are apart
    both = computed(f"fma.rn.oob{relu}.{kind}x2 %d, %a0, %a1, %a2", ["b32"] * 3, "b32", pairs)
    assert np.array_equal(both, out | np.roll(out, 1) << np.uint64(16))


PIPE = """.version 8.6
.target sm_90a
.address_size 64
.entry test(.param .u64 map, .param .u64 out) {
    .shared .align 128 .b8 tile[128];
    .shared .align 8 .b64 bar;
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .b16 %h<4>; .reg .pred %p<3>;
    mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.b32 %r4, -4; mov.b32 %r5, 0;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r2], 1;
    bar.sync 0;
    ld.param.u64 %rd1, [map];
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r2], 128;
    @%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r4, %r5}], [%r2];
W:  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra W;
    shl.b32 %r3, %r0, 1;
    add.u32 %r1, %r1, %r3;
    ld.shared.b16 %h0, [%r1];
    mov.b16 %h1, 0x4000; mov.b16 %h2, 0x3C00;
    fma.rn.oob.f16 %h3, %h0, %h1, %h2;
    ld.param.u64 %rd3, [out];
    cvt.u64.u32 %rd2, %r3;
    add.u64 %rd3, %rd3, %rd2;
    st.global.b16 [%rd3], %h3;
    ret;
}
"""


def test_what_a_tensor_copy_fills_with_is_left_out_of_a_sum():
    x = np.full((8, 8), 2.0, np.float16)
    module = parser.parse(PIPE)
    out = np.zeros(64, np.float16)
    for schedule in ("eager", "late"):
        run_both(module, 1, 64, (TensorMap(x, (8, 8), oob_fill="nan"), out), schedule=schedule)
        assert np.array_equal(out.reshape(8, 8), np.tile([0, 0, 0, 0, 5, 5, 5, 5], (8, 1)).astype(np.float16))
