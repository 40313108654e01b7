"""alloca, stacksave, stackrestore; multimem over one device; istypep."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sim.engines import run_both
from sim.text import entry

from pyptx import parser
from pyptx.errors import SimulationError


def test_memory_taken_from_the_stack_is_each_threads_own():
    module = entry(
        """
        .reg .b64 %out
        .reg .b64 %p<4>
        .reg .b64 %size
        .reg .b32 %r<6>
        .reg .b64 %at
        ld.param.u64 %out, [out]
        mov.u32 %r0, %tid.x
        mul.lo.u32 %r1, %r0, 4
        add.u32 %r2, %r1, 4
        cvt.u64.u32 %size, %r2
        stacksave.u64 %p0
        alloca.u64 %p1, %size, 16
        alloca.u64 %p2, %size, 64
        st.local.u32 [%p1], %r0
        st.local.u32 [%p2], %r2
        ld.local.u32 %r3, [%p1]
        ld.local.u32 %r4, [%p2]
        stackrestore.u64 %p0
        alloca.u64 %p3, 8, 16
        sub.u64 %p3, %p3, %p1
        cvt.u32.u64 %r5, %p3
        and.b64 %p2, %p2, 63
        cvt.u64.u32 %at, %r1
        mul.lo.u64 %at, %at, 4
        add.u64 %out, %out, %at
        st.global.v2.u32 [%out], {%r3, %r4}
        st.global.u32 [%out+8], %r5
        st.global.u32 [%out+12], %p2
        ret""".replace("st.global.u32 [%out+12], %p2", "cvt.u32.u64 %r5, %p2\nst.global.u32 [%out+12], %r5"),
        "u64 out",
    )
    out = np.full((32, 4), 9, np.uint32)
    run_both(module, 1, 32, (out,))
    lanes = np.arange(32)
    assert (out == np.stack([lanes, 4 * lanes + 4, 0 * lanes, 0 * lanes], axis=1)).all()


def test_a_function_frees_what_it_took_when_it_returns():
    module = parser.parse(""".version 8.0
.target sm_90
.address_size 64
.func (.reg .b64 p) take (.reg .b64 n)
{
    .reg .b64 %q;
    alloca.u64 %q, n;
    st.local.u8 [%q], 1;
    mov.u64 p, %q;
    ret;
}
.entry test (.param .u64 out)
{
    .reg .b64 %out, %a, %b, %i;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u64 %i, 0;
    call (%a), take, (4096);
AGAIN:
    call (%b), take, (4096);
    add.u64 %i, %i, 1;
    setp.lt.u64 %p, %i, 100;
@%p bra AGAIN;
    sub.u64 %b, %b, %a;
    st.global.u64 [%out], %b;
    ret;
}""")
    out = np.full(1, 7, np.uint64)
    run_both(module, 1, 1, (out,))
    assert out[0] == 0


def test_a_stack_that_overflows_is_reported():
    module = entry("""
        .reg .b64 %p
        alloca.u64 %p, 1048576
        st.local.u32 [%p+1048572], 1
        ret""")
    with pytest.raises(SimulationError, match="local memory"):
        run_both(module, 1, 1, ())


REDUCTIONS = [
    ("add", "u32", np.uint32),
    ("min", "s64", np.int64),
    ("xor", "b32", np.uint32),
    ("add", "f32", np.float32),
    ("max", "u64", np.uint64),
]


@pytest.mark.parametrize("operation, type_name, dtype", REDUCTIONS)
def test_multimem_acts_on_the_only_replica(operation, type_name, dtype):
    wide = np.dtype(dtype).itemsize == 8
    kind = "f32" if type_name == "f32" else f"b{64 if wide else 32}"
    module = entry(
        f"""
        .reg .b64 %x
        .reg .{kind} %v<3>
        ld.param.u64 %x, [x]
        ld.global.{kind} %v0, [%x+16]
        multimem.red.relaxed.gpu.global.{operation}.{type_name} [%x], %v0
        multimem.ld_reduce.weak.global.{operation}.{type_name} %v1, [%x]
        multimem.st.relaxed.sys.global.{kind} [%x+8], %v1
        ret""",
        "u64 x",
        target="sm_90",
    )
    rng = np.random.default_rng(3)
    x = rng.integers(1, 1000, 8).astype(dtype)
    a, b = x.view(np.uint8)[: x.itemsize].view(dtype)[0], x.view(np.uint8)[16 : 16 + x.itemsize].view(dtype)[0]
    wanted = {"add": np.add, "min": np.minimum, "xor": np.bitwise_xor, "max": np.maximum}[operation](a, b)
    run_both(module, 1, 1, (x,))
    assert x[0] == wanted and x.view(np.uint8)[8 : 8 + x.itemsize].view(dtype)[0] == wanted


def test_multimem_reduces_vectors_of_halves():
    module = entry(
        """
        .reg .b64 %x
        .reg .b32 %v<4>
        ld.param.u64 %x, [x]
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%x+16]
        multimem.red.global.add.v4.f16x2 [%x], {%v0, %v1, %v2, %v3}
        multimem.ld_reduce.global.add.acc::f32.v4.f16x2 {%v0, %v1, %v2, %v3}, [%x]
        multimem.st.global.v4.f16x2 [%x+32], {%v0, %v1, %v2, %v3}
        ret""",
        "u64 x",
        target="sm_90",
    )
    x = np.arange(24).astype(np.float16) / 4
    wanted = x[:8] + x[8:16]
    run_both(module, 1, 1, (x,))
    assert (x[:8] == wanted).all() and (x[16:] == wanted).all()


@pytest.mark.parametrize(
    "operation, type_name, length", [("min", "f16x2", 4), ("max", "f16x2", 2), ("max", "f16", 8), ("min", "f16", 2)]
)
def test_multimem_takes_the_least_and_the_greatest_of_vectors_of_halves(operation, type_name, length):
    packed = type_name == "f16x2"
    names = ", ".join(f"%v{k}" for k in range(length))
    loads = "\n".join(
        f"ld.global.b{32 if packed else 16} %v{k}, [%x+{16 + (4 if packed else 2) * k}]" for k in range(length)
    )
    module = entry(
        f"""
        .reg .b64 %x
        .reg .b{32 if packed else 16} %v<8>
        ld.param.u64 %x, [x]
        {loads}
        multimem.red.release.sys.global.{operation}.v{length}.{type_name} [%x], {{{names}}}
        ret""",
        "u64 x",
        target="sm_90",
    )
    x = np.random.default_rng(5).normal(size=16).astype(np.float16)
    count = length * (2 if packed else 1)
    wanted = x.copy()
    wanted[:count] = {"min": np.minimum, "max": np.maximum}[operation](x[:count], x[8 : 8 + count])
    run_both(module, 1, 1, (x,))
    assert (x == wanted).all()


def test_multimem_bulk_reduction_adds_shared_memory():
    module = entry(
        """
        .reg .b64 %x
        .reg .b32 %s
        ld.param.u64 %x, [x]
        mov.u32 %s, tile
        st.shared.f32 [%s], 0f3F800000
        st.shared.f32 [%s+4], 0f40000000
        st.shared.f32 [%s+8], 0f40400000
        st.shared.f32 [%s+12], 0f40800000
        fence.proxy.async
        multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%x], [tile], 16
        cp.async.bulk.commit_group
        cp.async.bulk.wait_group 0
        ret""",
        "u64 x",
        declarations=".shared .align 16 .b8 tile[16]",
        target="sm_90",
    )
    x = np.array([10, 20, 30, 40], np.float32)
    run_both(module, 1, 1, (x,), schedule="late")
    assert x.tolist() == [11, 22, 33, 44]


def test_eight_bit_floats_of_one_replica_are_what_they_are():
    module = entry(
        """
        .reg .b64 %x
        .reg .b32 %v
        ld.param.u64 %x, [x]
        multimem.ld_reduce.global.add.e4m3x4 %v, [%x]
        multimem.st.global.e4m3x4 [%x+4], %v
        ret""",
        "u64 x",
    )
    x = np.array([1, 2, 3, 4, 0, 0, 0, 0], ml_dtypes.float8_e4m3fn)
    run_both(module, 1, 1, (x.view(np.uint8),))
    assert x[4:].tolist() == [1, 2, 3, 4]


def test_no_number_is_the_handle_of_a_texture():
    module = entry(
        """
        .reg .b64 %x
        .reg .pred %p
        .reg .b32 %v
        ld.param.u64 %x, [x]
        istypep.texref %p, %x
        selp.u32 %v, 1, 0, %p
        st.global.u32 [%x], %v
        ret""",
        "u64 x",
    )
    x = np.full(1, 5, np.uint32)
    run_both(module, 1, 1, (x,))
    assert x[0] == 0
