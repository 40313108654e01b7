"""Mistakes in the access to elements are refused at the line that makes them, with the fix."""

from __future__ import annotations

import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

X, WIDE = Tile(8, 16, f32), Tile(64, u32)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x, w: x[1], TypeError, r"(?s)shape \(8, 16\); expected 2 indices, got 1.*hint: x.row\(i\)"),
        (lambda x, w: x[1, 2, 3], TypeError, "expected 2 indices, got 3"),
        (lambda x, w: x[1.0, 2], TypeError, "index 0 of x is 1.0.*"),
        (lambda x, w: x[reg.scalar(f32), 2], TypeError, r"(?s)Reg\(%f0, f32\); expected an integer.*i.to\(s32\)"),
        (lambda x, w: x[8, 0], IndexError, "index 8 in dimension 0 of x.*expected 0..7"),
        (lambda x, w: x[0, -1], IndexError, "index -1 in dimension 1 of x"),
        (lambda x, w: w[:4], TypeError, r"(?s)slice.*w.load\(i, vec=4\)"),
        (lambda x, w: w[True], TypeError, "index 0 of w is True"),
        (lambda x, w: w[ptx.special.tid.x], TypeError, r"call it: ptx.special.tid.x\(\)"),
        (lambda x, w: w[ptx.tid], TypeError, "ptx.tid is not a register; it has the components ptx.tid.x"),
        (lambda x, w: w.store(0, reg.scalar(f32)), TypeError, r"(?s)w has elements of type u32, and .*value.to\(u32\)"),
        (lambda x, w: w.store(0, 0.5), TypeError, r"0.5\) is not a number of type u32"),
        (lambda x, w: w.store(0, 1 << 32), IndexError, "4294967296 is out of the range of u32"),
        (lambda x, w: w.store(0, None), TypeError, "w takes a register of type u32 or a number, not None"),
        (lambda x, w: w.store(0), TypeError, r"w.store\(i, value\)"),
        (lambda x, w: w.load(2, vec=4), ValueError, "not aligned to its size of 16 bytes: constant offset 2"),
        (lambda x, w: w.load(0, vec=3), ValueError, "no access has 3 elements of type u32.*expected 2, 4"),
        (lambda x, w: x.vec(4).store(0, 0, w.vec(4)[0]), TypeError, "takes a vector of 4 x f32"),
        (lambda x, w: x.vec(4)[0, 4], IndexError, "expected 0..3"),
        (lambda x, w: w.vec(4)[0][4], IndexError, "element 4"),
        (lambda x, w: x.atomic_min(0, 0, 1.0), TypeError, "atomic min is not defined on f32"),
        (lambda x, w: ptx.addr(x[0, 0]), TypeError, r"(?s)is a value.*x.pointer\(i, j\)"),
        (lambda x, w: smem.load(f32, smem.alloc(f32, (2, 2))[0, 1]), TypeError, r"(?s)expects an address.*value = tile\["),
        (lambda x, w: smem.alloc(f32, 8)[1] + 1, TypeError, r"(?s)the location of an element.*smem_0.load\(1\)"),
        (lambda x, w: w.store(0, smem.alloc(u32, 8)[1]), TypeError, r"(?s)the location of an element.*smem_0.load\(1\)"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_at_its_line(use, error, message):
    @kernel(in_specs=(X, WIDE))
    def wrong(x, w):
        use(x, w)

    with pytest.raises(error, match=message):
        wrong.ptx()


def test_a_parameter_without_a_type_names_the_fix():
    @kernel
    def untyped(x):
        x[0]

    with pytest.raises(TypeError, match=r"(?s)x has no type: .*in_specs"):
        untyped.ptx()


def test_missing_sizes_are_named():
    @kernel(in_specs=(Tile("M", "N", f32),))
    def unsized(x):
        x[0, 1]

    with pytest.raises(RuntimeError, match="sizes M and N are not given"):
        unsized.ptx()
