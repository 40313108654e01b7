"""Shared memory: allocation, the two modes, element access, stages, swizzles."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tracing import Cases, accept, module_of, trace, written

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.errors import ShapeError, TraceError
from pyptx.ir.nodes import VarDecl
from pyptx.types import b8, b32, b64, bf16, e4m3, f32, f64, u32
from pyptx.types import pred as pred_type

writes = Cases()


@writes("""
    ld.shared.f32 %f0, [smem_0];
    ld.shared.f32 %f1, [smem_0+64];
    ld.shared.f32 %f2, [%r0];
    st.shared.f32 [smem_0+4], %f0;
""")
def loads_and_stores():
    a, at = smem.alloc(f32, 32), reg.scalar(u32)
    value = smem.load(f32, a)
    smem.load(f32, ptx.addr(a, 64))
    smem.load(f32, at)
    smem.store(f32, ptx.addr(a, 4), value)


@writes("""
    mov.u32 %r1, 70;
    shl.b32 %r2, %r1, 2;
    mov.b32 %r3, smem_0;
    add.u32 %r3, %r3, %r2;
    ld.shared.f32 %f0, [%r3];
    mov.u32 %r4, %r0;
    shl.b32 %r5, %r4, 2;
    mov.b32 %r6, smem_0;
    add.u32 %r6, %r6, %r5;
    st.shared.f32 [%r6], %f0;
    add.u32 %r7, %r0, 32;
    shl.b32 %r8, %r7, 2;
    mov.b32 %r9, smem_0;
    add.u32 %r9, %r9, %r8;
    ld.shared.f32 %f1, [%r9];
    mul.lo.u32 %r11, %r0, 32;
    add.u32 %r10, %r11, 3;
    shl.b32 %r12, %r10, 2;
    mov.b32 %r13, smem_0;
    add.u32 %r13, %r13, %r12;
    ld.shared.f32 %f2, [%r13];
""")
def elements_of_a_tile():
    tile, i = smem.alloc(f32, (4, 32)), reg.scalar(u32)
    value = tile[2, 6]
    tile[0, i] = value
    tile[1, i]
    tile[i, 3]


@writes("""
    and.b32 %r1, %r0, 896;
    shr.u32 %r1, %r1, 3;
    xor.b32 %r2, %r0, %r1;
    mov.u32 %r3, smem_0;
""")
def a_swizzled_offset_and_a_base():
    offset = reg.scalar(u32)
    smem.apply_swizzle(offset, "128B")
    assert smem.apply_swizzle(offset, None) is offset
    smem.base(smem.alloc(b8, 64).name)


@writes("""
    ld.shared.f32 %f0, [smem_0+256];
    mov.b32 %r1, smem_0;
    mul.lo.u32 %r2, %r0, 128;
    add.u32 %r3, %r1, %r2;
    ld.shared.f32 %f1, [%r3];
    ld.shared.f32 %f2, [%r3];
""")
def stages():
    ring, stage = smem.alloc(f32, (4, 32)), reg.scalar(u32)
    smem.load(f32, ring[2])
    one = ring[stage]
    smem.load(f32, one)
    smem.load(f32, one)


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_access_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


# where things lie --------------------------------------------------------------------------------------------------


def test_static_allocations_are_variables():
    def body():
        first = smem.alloc(f32, (2, 32))
        second = smem.alloc(bf16, 64, align=1024, name="tile")
        bars = smem.mbarrier(4)
        assert (first.name, first.byte_offset, second.name, second.byte_offset) == ("smem_0", 0, "tile", 0)
        assert (bars.name, bars[3].name, bars[3].byte_offset) == ("mbar_0", "mbar_0", 24)

    declared = [(d.name, d.type.value, d.array_size, d.alignment) for d in trace(body).var_decls]
    assert declared == [("smem_0", "b8", 256, 128), ("tile", "b8", 128, 1024), ("mbar_0", "b64", 4, 8)]


SHAPES = st.lists(
    st.tuples(
        st.sampled_from([b8, bf16, f32, f64, b64, e4m3]),
        st.integers(1, 5),
        st.integers(1, 40),
        st.sampled_from([8, 16, 128, 1024]),
    ),
    min_size=1,
    max_size=8,
)


@given(SHAPES)
def test_dynamic_allocations_are_aligned_and_do_not_overlap(shapes):
    def body():
        allocs = [smem.alloc(dtype, (rows, columns), align=align) for dtype, rows, columns, align in shapes]
        bars = smem.mbarrier(3)
        end = 0
        for one, (dtype, rows, columns, align) in zip(allocs, shapes, strict=True):
            start = offset_of(one)
            assert start % align == 0 and start >= end
            row_bytes = columns * dtype.bits // 8
            assert [offset_of(one[i]) - start for i in range(rows)] == [i * row_bytes for i in range(rows)]
            end = start + rows * row_bytes
        assert offset_of(bars) >= end and [offset_of(bars[i]) - offset_of(bars) for i in range(3)] == [0, 8, 16]
        assert all(one.byte_offset == 0 for one in allocs)

    ctx = trace(body, force_dynamic_smem=True)
    assert ctx.uses_dynamic_smem and not ctx.var_decls and ctx.dyn_smem_offset % 8 == 0


def offset_of(handle) -> int:
    found = re.fullmatch(r"dyn_smem(?:\+(\d+))?", handle.name)
    return int(found[1] or 0) + handle.byte_offset


def test_dynamic_handles_are_addressed_with_their_offset_everywhere():
    def body():
        smem.alloc(f32, (4, 32))
        tile, bars = smem.alloc(f32, (2, 32)), smem.mbarrier(2)
        smem.load(f32, tile)
        smem.load(f32, ptx.addr(tile[1], 4))
        smem.load(b64, ptx.addr(bars[1]))
        ptx.inst.mov.b32(reg.scalar(b32), tile.name)
        ptx.inst.mov.b32(reg.scalar(b32), tile)
        tile[1, 2]

    lines = written(body, force_dynamic_smem=True)
    assert lines == [
        "ld.shared.f32 %f0, [dyn_smem+512];",
        "ld.shared.f32 %f1, [dyn_smem+644];",
        "ld.shared.b64 %rd0, [dyn_smem+776];",
        "mov.b32 %r0, dyn_smem+512;",
        "mov.b32 %r1, dyn_smem+512;",
        "mov.u32 %r2, 34;",
        "shl.b32 %r3, %r2, 2;",
        "mov.b32 %r4, dyn_smem;",
        "add.u32 %r4, %r4, %r3;",
        "add.u32 %r4, %r4, 512;",
        "ld.shared.f32 %f2, [%r4];",
    ]
    accept(module_of({"k": trace(body, force_dynamic_smem=True)}, "sm_80"))


def big(kib: int, **options):
    @kernel(arch="sm_90a", **options)
    def k():
        runs.append(1)
        first, last = smem.alloc(f32, (kib // 2, 256)), smem.alloc(f32, (kib // 2, 256))
        smem.store(f32, ptx.addr(last, 16), smem.load(f32, first))

    runs = k.runs = []
    return k


@pytest.mark.parametrize(("align", "expected"), [(16, 128), (None, 128), (1024, 1024)])
def test_the_extern_array_has_the_largest_alignment_of_its_allocations(align, expected):
    @kernel
    def k():
        smem.alloc(b8, 40 << 10, align=align)
        smem.alloc(b8, 20 << 10, align=16)

    assert f".extern .shared .align {expected} .b8 dyn_smem[];" in k.ptx()


@pytest.mark.parametrize(("kib", "runs", "address"), [(48, 1, "[smem_1+16]"), (56, 2, "[dyn_smem+28688]")])
def test_beyond_48_kib_the_body_is_traced_again_for_dynamic_memory(kib, runs, address):
    k = big(kib)
    text = k.ptx()
    assert len(k.runs) == runs and address in text
    assert (".extern .shared .align 128 .b8 dyn_smem[];" in text) is (runs == 2)
    assert k.specialize().dynamic_bytes == (kib * 1024 if runs == 2 else 0)
    assert k.compile().sass


def test_a_kernel_that_catches_everything_is_traced_for_dynamic_memory_too():
    @kernel
    def k():
        try:
            smem.alloc(b8, 56 << 10)
        except:  # noqa: E722
            smem.alloc(b8, 16)

    assert "dyn_smem[]" in k.ptx() and k.specialize().dynamic_bytes == 56 << 10


def test_asking_for_much_memory_means_dynamic_mode_at_once():
    k = big(16, smem=64 * 1024)
    text = k.ptx()
    assert len(k.runs) == 1 and "dyn_smem[]" in text and "[dyn_smem+8208]" in text


def test_the_extern_array_is_the_default_base():
    @kernel(arch="sm_90a", extern_smem=True)
    def k():
        smem.load(f32, smem.base())

    assert "mov.u32 %r0, global_smem;" in k.ptx() and ".extern .shared .align 128 .b8 global_smem[];" in k.ptx()


# what is computed once ----------------------------------------------------------------------------------------------


def test_the_address_of_a_stage_is_computed_again_where_the_first_may_be_skipped():
    def body():
        stages, stage = smem.alloc(f32, (4, 32)), reg.scalar(u32)
        one = stages[stage]
        with ptx.if_(stage == 0):
            smem.load(f32, one)
            smem.load(f32, one)
        smem.load(f32, one)
        for _ in ptx.range_(0, 2):
            smem.load(f32, one)

    assert sum(line.startswith("mul.lo.u32") for line in written(body)) == 2


@pytest.mark.parametrize("place", [lambda: ptx.label("late"), lambda: ptx.raw("late:")])
def test_the_address_of_a_stage_is_computed_again_behind_a_label_of_the_user(place):
    def body():
        stages, stage = smem.alloc(f32, (4, 32)), reg.scalar(u32)
        one = stages[stage]
        ptx.bra("late", pred=stage == 0)
        smem.load(f32, one)
        place()
        smem.load(f32, one)
        with ptx.loop("again", pred=reg.scalar(pred_type)):
            smem.load(f32, one)

    assert sum(line.startswith("mul.lo.u32") for line in written(body)) == 2


def test_the_address_of_a_stage_computed_in_a_scope_is_not_used_outside():
    def body():
        stages, stage = smem.alloc(f32, (4, 32)), reg.scalar(b32)
        one = stages[stage]
        with ptx.scope():
            smem.load(f32, one)
        smem.load(f32, one)

    module = module_of({"k": trace(body)}, "sm_80")
    accept(module)


# refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: smem.alloc(f32, (4, 0)), ShapeError, "positive ints"),
        (lambda: smem.alloc(f32, ()), ShapeError, "positive ints"),
        (lambda: smem.mbarrier(0), ShapeError, "0 mbarriers"),
        (lambda: smem.mbarrier(2)[2], IndexError, r"expected 0\.\.1"),
        (lambda: smem.mbarrier(2)[-1], IndexError, r"expected 0\.\.1"),
        (lambda: smem.alloc(f32, (2, 4))[2], IndexError, r"stage 2 .*expected 0\.\.1"),
        (lambda: smem.alloc(f32, (2, 4))["a"], TypeError, "a stage is an int or a register"),
        (lambda: smem.alloc(f32, (2, 4))[0, 4], IndexError, r"index 4 in dimension 1 .*expected 0\.\.3"),
        (lambda: smem.alloc(f32, 4)[0, 1], TypeError, "two-dimensional"),
        (lambda: smem.alloc(f32, (2, 4)).__setitem__(0, reg.scalar(f32)), TypeError, "two-dimensional"),
        (lambda: smem.alloc(f32, (2, 4)).__setitem__((0, 1), 1.0), TypeError, "takes a register"),
        (lambda: smem.store(f32, smem.alloc(f32, 4), 0), TypeError, "takes a register"),
        (lambda: smem.apply_swizzle(reg.scalar(u32), "256B"), ShapeError, "swizzle '256B'"),
        (lambda: smem.base(), TraceError, "shared variable 'smem' is not declared"),
        (lambda: smem.base("other"), TraceError, "shared variable 'other' is not declared"),
        (lambda: smem.wgmma_tile(bf16, (64, 64), "M"), ShapeError, "'K' or 'MN'"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        trace(call)


def test_a_wgmma_tile_carries_its_layout():
    def body():
        k, mn = smem.wgmma_tile(bf16, (128, 64)), smem.wgmma_tile(bf16, (64, 256), "MN")
        assert (k.swizzle, k.gmma_major, k.gmma_layout.stride_byte_offset) == ("128B", "K", 1024)
        assert (mn.swizzle, mn.gmma_major, mn.gmma_layout.leading_byte_offset) == ("128B", "MN", 64 * 128)

    assert all(isinstance(d, VarDecl) for d in trace(body).var_decls)


@given(st.integers(0, (1 << 14) - 1), st.sampled_from(["32B", "64B", "128B"]))
def test_a_swizzle_moves_16_byte_chunks_within_their_row(offset, swizzle):
    mask = {"32B": 128, "64B": 384, "128B": 896}[swizzle]
    assert f"and.b32 %r1, %r0, {mask};" in written(lambda: smem.apply_swizzle(reg.scalar(u32), swizzle))
    moved = offset ^ (offset & mask) >> 3
    assert moved ^ (moved & mask) >> 3 == offset and moved >> 7 == offset >> 7 and moved % 16 == offset % 16


@pytest.mark.parametrize("stages", [2, 64], ids=["static", "dynamic"])
def test_a_ring_of_an_array_of_mbarriers_lies_where_the_array_lies(stages: int):
    @kernel(out_specs=[Tile(1, u32)], in_specs=[Tile("N", u32)], grid=(1,), block=(1,))
    def rings(x, y):
        smem.alloc(b8, 1024 * stages)
        ring, by_name = smem.mbarrier(3), smem.mbarrier(2)
        (out,) = ptx.global_ptrs(y)
        rings = ptx.mbarrier.array(ring), ptx.mbarrier.array(by_name.name, 8, 1)
        for one in rings:
            one.init_all(1)
        second = reg.scalar(u32, 1)
        rings[0].at(second).arrive()
        rings[0][1].wait(0)
        total = reg.scalar(u32)
        ptx.inst.sub.u32(total, rings[1][0].addr_reg(), rings[0][0].addr_reg())
        ptx.inst.st.global_.u32(ptx.addr(out), total)
        with pytest.raises(ShapeError, match="a ring of 4 mbarriers; expected a positive count up to 3"):
            ptx.mbarrier.array(ring, count=4)
        with pytest.raises(TypeError, match="of smem.mbarrier"):
            ptx.mbarrier.array(4096, 0, 1)

    assert rings(np.zeros(1, np.uint32))[0] == 32  # three mbarriers, and one
