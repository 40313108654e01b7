"""Diagrams of fragments and shared-memory banks, against the PTX ISA's formulas and the simulator's counters."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx import Tile, kernel, ptx, reg, smem, views
from pyptx.errors import ShapeError
from pyptx.types import b32, f32, u32

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


def texts(svg: str) -> list[str]:
    return [e.text for e in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_fragments_are_those_of_the_manual():
    view = views.fragments(MMA, lane=5)
    group, thread = 5 // 4, 5 % 4  # PTX ISA, "Matrix Fragments for mma.m16n8k16"
    assert view["A"].held_by(5) == [
        (group + 8 * (i in (2, 3, 6, 7)), 2 * thread + i % 2 + 8 * (i >= 4)) for i in range(8)
    ]
    assert view["B"].held_by(5) == [(2 * thread + i % 2 + 8 * (i >= 2), group) for i in range(4)]
    assert view["C"].held_by(5) == [(group + 8 * (i >= 2), 2 * thread + i % 2) for i in range(4)]
    assert [(m.name, m.registers) for m in view.matrices] == [("A", 4), ("B", 2), ("C", 4)]
    assert texts(view.svg()).count("T5 r3") == 1 and "C  16 x 8 f32, 4 registers a lane; D as C" in str(view)


@pytest.mark.parametrize(
    "instruction",
    [
        MMA,
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16",
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "movmatrix.sync.aligned.m8n8.trans.b16",
    ],
)
def test_every_element_has_its_holder_and_the_picture_is_well_formed(instruction):
    view = views.fragments(instruction, lane=31)
    for matrix in view.matrices:
        places = {
            (lane, register, element)
            for rows in zip(matrix.lane, matrix.register, matrix.element, strict=True)
            for lane, register, element in zip(*rows, strict=True)
        }
        assert len(places) == matrix.rows * matrix.columns
    assert instruction in texts(view.svg())
    assert set(view._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}


@pytest.mark.parametrize(
    "instruction, says",
    [
        ("mma.sync.aligned.m16n8k17.row.col.f32.bf16.bf16.f32", "is not a PTX instruction"),
        ("add.u32", "has no fragment diagram"),
        ("frobnicate", "is not a PTX instruction"),
    ],
)
def test_instructions_without_fragments_are_refused(instruction, says):
    with pytest.raises(ShapeError, match=says):
        views.fragments(instruction)


def test_a_swizzle_spreads_the_rows_ldmatrix_reads_over_all_banks():
    rows = [(row, 8) for row in range(8)]
    plain = views.shared_tile((8, 64), "bf16").access(rows, bytes=16)
    swizzled = views.shared_tile((8, 64), "bf16", swizzle="128B").access(rows, bytes=16)
    assert str(plain.accessed) == "8 lanes, 16 bytes each: 8 passes instead of 1, 8-way bank conflicts"
    assert str(swizzled.accessed) == "8 lanes, 16 bytes each: 1 pass, no bank conflict"
    assert {swizzled.bank(*element) for element in rows} == set(range(0, 32, 4))
    assert texts(swizzled.svg()).count("3,24") == 1 and re.search(r"128 +1,8\* +1,0 ", str(swizzled))


ROWS = 32


@kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, f32),), grid=(1, 1, 1), block=(32, 1, 1))
def reads(places, out):
    """Each lane reads the byte offset it is given of a tile of 4096 bytes."""
    tile = smem.alloc(f32, (ROWS, 32))
    lane = reg.from_(ptx.special.tid.x(), u32)
    place, target = ptx.global_ptrs(places, out)
    for pointer in (place, target):
        ptx.inst.mad.wide.u32(pointer, lane, 4, pointer)
    offset, start, found = reg.scalar(u32), reg.scalar(b32), reg.scalar(f32)
    ptx.inst.ld.global_.u32(offset, ptx.addr(place))
    ptx.inst.mov.u32(start, tile)
    ptx.inst.add.u32(offset, offset, start)
    ptx.inst.st.shared.f32(ptx.addr(offset), 0.0)
    ptx.inst.ld.shared.f32(found, ptx.addr(offset))
    ptx.inst.st.global_.f32(ptx.addr(target), found)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, 31)), min_size=32, max_size=32),
    st.sampled_from([None, "32B", "64B", "128B"]),
)
def test_passes_are_those_the_simulator_counts(elements, swizzle):
    tile = views.shared_tile((ROWS, 32), "f32", swizzle=swizzle).access(elements)
    reads(np.array([tile.offset(*element) for element in elements], np.uint32))
    counted = reads.last_run.counters.shared_conflicts
    assert max(counted) == tile.accessed.passes - tile.accessed.least


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: views.shared_tile((8, 64), "bf61"), "is not a PTX type"),
        (lambda: views.shared_tile((8, 0), "f32"), "at least one row"),
        (lambda: views.shared_tile((8, 64), "bf16", swizzle="256B"), "256B"),
        (lambda: views.shared_tile((8, 64), "bf16").access([(8, 0)]), "outside the tile"),
        (lambda: views.shared_tile((8, 64), "bf16").access([(0, 1)], bytes=16), "not a multiple of 16"),
        (lambda: views.shared_tile((8, 64), "bf16").access([(0, 0)], bytes=3), "bytes=3"),
    ],
)
def test_bad_tiles_and_accesses_are_refused(make, says):
    with pytest.raises(ShapeError, match=says):
        make()


def test_padded_rows_are_drawn_where_they_lie():
    tile = views.shared_tile((32, 34), "bf16").access([(lane, 0) for lane in range(32)])
    assert tile.accessed.passes == 1
    lines = str(tile).split("\n")
    assert lines[3].split() == ["0", "0,0*", "0,8", "0,16", "0,24", "0,32*", "1,6", "1,14", "1,22"]
    assert tile.offset(1, 0) == 68 and len(lines) == 3 + 17


def test_a_swizzle_of_padded_rows_is_refused():
    with pytest.raises(
        ShapeError, match=r"rows of 68 bytes cannot be swizzled by '128B', which permutes chunks of 16 bytes"
    ):
        views.shared_tile((32, 34), "bf16", swizzle="128B")
