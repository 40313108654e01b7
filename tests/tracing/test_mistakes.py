"""Mistakes of newcomers in kernel bodies: each error has the user's line, what is wrong and what to write."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pyptx import Tile, kernel, lib, ptx, reg, smem
from pyptx.errors import PtxError
from pyptx.types import f16, f32, u32


def ring():
    return lib.TmaRing(2, {"a": lib.WgmmaTile(64, 64, f16)}, readers=1)


def set_up():
    made = ring()
    made.set_up(ptx.tid.x)
    return made


def fragment():
    return lib.WgmmaFragment(32, ptx.tid.x)


MISTAKES = {
    "a float index": (lambda x, v, y: y.store(0.5, 0, v[0]), "index 0 of y is 0.5", "`//` divides integers"),
    "an index too few": (lambda x, v, y: x[ptx.tid.x], "expected 2 indices, got 1", "x.row(i)"),
    "an index out of range": (lambda x, v, y: x[0, 32], "index 32 in dimension 1 of x", ""),
    "a slice": (lambda x, v, y: x[0, 0:4], "is slice(0, 4, None)", "x.load(i, vec=4)"),
    "if": (lambda x, v, y: 1 if ptx.tid.x < 3 else 2, "Python cannot branch", "with ptx.if_(condition):"),
    "range": (lambda x, v, y: range(ptx.tid.x + 0), "cannot be a Python index", "ptx.range_(start, stop)"),
    "mixed types": (lambda x, v, y: v[0] + ptx.tid.x, "operator + on f32 and u32", "x.to(f32)"),
    "another type": (lambda x, v, y: y.store(0, 0, ptx.tid.x + 0), "is u32", "value.to(f32)"),
    "half and float": (lambda x, v, y: v[0].to(f16) + v[1], "operator + on f16 and f32", "x.to(f16)"),
    "np.exp": (lambda x, v, y: np.exp(v[0]), "np.exp cannot take it", "ptx.exp(x)"),
    "math.sqrt": (lambda x, v, y: math.sqrt(v[0]), "cannot be converted to a Python float", "ptx.inst.sqrt"),
    "a power": (lambda x, v, y: v[0] ** 2, "operator ** is not defined", "x * x"),
    "true division": (lambda x, v, y: ptx.tid.x / 2, "use // for integer division", ""),
    "formatting": (lambda x, v, y: f"{v[0]:f}", "Python cannot format it", "ptx.printf"),
    "a sum": (lambda x, v, y: v.sum(), "v is an array in global memory", "ptx.block_reduce"),
    "a product": (lambda x, v, y: x @ x, "operators take values in registers", "load an element: x[i, j]"),
    "syncthreads": (lambda x, v, y: ptx.syncthreads(), "no 'syncthreads'", "ptx.bar.sync()"),
    "threadIdx": (lambda x, v, y: v[ptx.threadIdx.x], "no 'threadIdx'", "write ptx.tid"),
    "all components": (lambda x, v, y: v[ptx.tid], "it has the components ptx.tid.x", ""),
    "a name of a type": (lambda x, v, y: v[0].to("f16"), "not 'f16'", "from pyptx.types import"),
    "a shape in two": (lambda x, v, y: smem.alloc(f32, 8, 8), "with swizzle 8", "smem.alloc(f32, (8, 8))"),
    "a load of a value": (
        lambda x, v, y: smem.load(f32, smem.alloc(f32, (8, 8))[1, 2]),
        "smem.load expects an address",
        "value = tile[row, col]",
    ),
    "a number to shared memory": (
        lambda x, v, y: smem.alloc(f32, (8, 8)).__setitem__((0, 0), 1.0),
        "takes a register, not 1.0",
        ".store(row, col, 1.0)",
    ),
    "a misaligned vector": (lambda x, v, y: x.load(0, 1, vec=4), "is not aligned to its size of 16 bytes", ""),
    "an atomic of floats": (lambda x, v, y: y.atomic_xor(0, 0, 1), "atomic xor is not defined on f32", ""),
    "a rank": (lambda x, v, y: smem.alloc(f32, (8, 8)).at_rank(1.5), "not 1.5", ""),
    "if without with": (lambda x, v, y: (ptx.if_(ptx.tid.x < 3), v[0]), "without `with` has no effect", "indented"),
    "tile shapes": (lambda x, v, y: lib.TmaRing(2, {"a": (64, 32)}, readers=1), "a is (64, 32)", "lib.WgmmaTile"),
    "a ring": (lambda x, v, y: lib.TmaRing(2, {"a": 128}, readers=1).acquire(), "is not set up", "ring.set_up(tid)"),
    "a consumer": (lambda x, v, y: lib.roles(consumers=1).consumer(), "has no producer before it", "roles.producer()"),
    "a function of values": (
        lambda x, v, y: lib.WgmmaFragment(32, reg.from_(ptx.tid.x, u32)).apply(ptx.tanh),
        "not ptx.tanh",
        "lib.activation(ptx.tanh)",
    ),
    "a forgotten argument": (lambda x, v, y: ring().set_up(), "missing 1 required", "TmaRing.set_up(tid)"),
    "a thread": (lambda x, v, y: lib.WgmmaFragment(64, 5), "index of the thread is a 32-bit", "pass ptx.tid.x"),
    "a thread of roles": (lambda x, v, y: lib.roles(tid=3), "not 3", "pass ptx.tid.x"),
    "a thread of a copy": (lambda x, v, y: lib.copy(x, y, threads=32, tid=4), "not 4", "pass ptx.tid.x"),
    "a thread that sets up": (lambda x, v, y: ring().set_up(0), "not 0", "pass ptx.tid.x"),
    "a lane": (lambda x, v, y: (r := set_up()).release(r.wait(), 0), "the lane is a 32-bit", "ptx.laneid"),
    "a stage": (lambda x, v, y: set_up().release(0, ptx.laneid), "a stage is a 32-bit", "ring.wait()"),
    "a descriptor": (lambda x, v, y: set_up().wait().descriptor("a"), "64-bit register", "ring.descriptor('a')"),
    "a coordinate": (lambda x, v, y: set_up().acquire().load("a", x, (0,)), "2, one for each dimension", ""),
    "shared memory to copy": (
        lambda x, v, y: set_up().acquire().load("a", smem.alloc(f32, (8, 8)), (0, 0)),
        "not an array parameter",
        "kernel's array",
    ),
    "tiles in a list": (lambda x, v, y: lib.TmaRing(2, ["a"], readers=1), "expected a dict", "lib.WgmmaTile"),
    "sizes of a tile": (lambda x, v, y: lib.WgmmaTile(64 / 2, 64, f16), "WgmmaTile of 32.0 x 64; expected ints", ""),
    "a type of a tile": (lambda x, v, y: lib.WgmmaTile(64, 64, "f16"), "not 'f16'", "from pyptx.types import"),
    "a rank below": (lambda x, v, y: smem.alloc(f32, 8).at_rank(-1), "expected 0..15", ""),
    "relu()": (lambda x, v, y: fragment().apply(lib.relu()), "is not called", "frag.apply(lib.relu)"),
    "bias": (lambda x, v, y: fragment().apply(lib.bias), "not bias of 3 arguments", "lib.bias(array, column, end)"),
    "bias of a matrix": (lambda x, v, y: fragment().apply(lib.bias(x, 0)), "takes a vector", ""),
    "an odd column": (lambda x, v, y: fragment().apply(lib.bias(v, 1)), "expected an even number", ""),
    "scaled by text": (lambda x, v, y: fragment().apply(lib.scaled("2")), "not '2'", ""),
    "times a number": (lambda x, v, y: fragment().apply(lib.times(2.0)), "takes a fragment, not 2.0", "lib.scaled"),
    "times another shape": (
        lambda x, v, y: fragment().apply(lib.times(lib.WgmmaFragment(64, ptx.tid.x))),
        "of 64 columns, applied to a WgmmaFragment of 32",
        "same shape",
    ),
    "shfl_up": (
        lambda x, v, y: ptx.shfl_up(v[0], 1),
        "no 'shfl_up'",
        "shfl.sync.up.b32(result, value, distance, 0, -1)",
    ),
    "a lambda of a value": (
        lambda x, v, y: fragment().apply(lambda v: v * 2.0),
        "not a lambda of 1",
        "lib.activation(",
    ),
    "a lambda of map": (
        lambda x, v, y: fragment().map(lambda v: v * 2.0),
        "an element, its row",
        "frag.map(lambda value",
    ),
    "a result of map": (lambda x, v, y: fragment().map(lambda v, i, j: None), "returns None", "return the new value"),
    "an activation": (lambda x, v, y: lib.activation(2.0), "not 2.0", "lib.scaled(2.0)"),
    "a reduction": (lambda x, v, y: fragment().row_reduce("sum"), "op='sum'; expected 'add', 'max' or 'min'", ""),
    "fp8": (lambda x, v, y: fragment().quantize("e4m3"), "not 'e4m3'", ""),
    "values of rows": (
        lambda x, v, y: fragment().store_rows({}, v),
        "an index for each",
        "store_rows(scales, to, row)",
    ),
    "a pointer": (lambda x, v, y: fragment().store(y.pointer(0, 0), 0, 0), "stored to a matrix", "two dimensions"),
    "boxes": (lambda x, v, y: fragment().store_tma(y, 0, 0, 128), "not 128", "lib.StoreBoxes("),
    "registers of roles": (lambda x, v, y: lib.roles(registers=40), "registers=40", "registers=(40, 232)"),
    "a producer without with": (lambda x, v, y: lib.roles().producer(), "roles.producer without `with`", "with roles."),
    "a loop without for": (lambda x, v, y: ptx.range_(0, 4), "ptx.range_ without `for`", "for ... in"),
    "tiles without for": (
        lambda x, v, y: lib.TileOrder(4, 4).persistent(ptx.ctaid.x, 4),
        "order.persistent without `for`",
        "",
    ),
    "a float bound": (lambda x, v, y: next(ptx.range_(0, 9 / 3)), "not 3.0", "`//` divides"),
    "a number of a tile": (lambda x, v, y: lib.TileOrder(4, 4).place(3), "the number of a tile", "ptx.ctaid.x"),
    "an order": (lambda x, v, y: lib.StreamK(16, 4, 2), "expected a lib.TileOrder", ""),
    "a row of a softmax": (
        lambda x, v, y: lib.OnlineSoftmax(2, 1.0).update(2, [v[0]]),
        "OnlineSoftmax.update(row=2,",
        "update(row, scores)",
    ),
    "a start": (lambda x, v, y: lib.tile(x, (0.5, 0), (32, 32)), "the start of a tile", ""),
    "a tile beyond": (
        lambda x, v, y: lib.copy(lib.tile(x, (60, 0), (8, 32)), smem.alloc(f32, (8, 32)), threads=32),
        "reaches beyond its shape (64, 32)",
        "end=x.shape",
    ),
    "an end": (lambda x, v, y: lib.copy(x, y, threads=32, end=64), "one for each dimension", ""),
    "memory before set_up": (
        lambda x, v, y: lib.TensorMemory(64).free(ptx.tid.x),
        "not allocated",
        "memory.set_up(tid)",
    ),
    "a position called": (lambda x, v, y: ptx.tid.x(), "'Reg' object is not callable", "without ()"),
    "a name of lib": (lambda x, v, y: lib.TMARing(2, {}), "no attribute 'TMARing'", "did you mean TmaRing?"),
    "a method": (lambda x, v, y: set_up().aquire(), "no attribute 'aquire'", "did you mean acquire?"),
    "abs": (lambda x, v, y: abs(v[0]), "Python's abs", "ptx.abs(x)"),
    "round": (lambda x, v, y: round(v[0]), "Python's round", "ptx.round(x)"),
    "one maximum": (lambda x, v, y: ptx.max(v[0]), "missing 1 required", "max(a, b, *more)"),
    "a count": (lambda x, v, y: reg.array(f32, 2.0), "must be a positive int", ""),
    "threads": (lambda x, v, y: lib.copy(x, y, threads=ptx.ntid.x), "the loop over the pieces is unrolled", ""),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_refused_at_its_line(name):
    body, message, hint = MISTAKES[name]

    def mistaken(x, v, y):
        body(x, v, y)

    made = kernel(
        mistaken,
        in_specs=(Tile(64, 32, f32, tma_box=(64, 32)), Tile(64, f32)),
        out_specs=(Tile(64, 32, f32),),
        arch="sm_90a",
    )
    with pytest.raises(PtxError) as caught:
        made.ptx()
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert caught.value.place is not None and caught.value.place.file == __file__


def test_numpy_numbers_are_numbers():
    @kernel(in_specs=(Tile(64, f32),), out_specs=(Tile(64, f32),), block=64)
    def scaled(x, y):
        i = np.int32(0) + ptx.tid.x
        y[i] = np.float32(2) * x[i] + np.float64(1)
        y.store(np.int64(3), np.float32(5), pred=ptx.tid.x == 3)

    x = np.arange(64, dtype=np.float32)
    wanted = 2 * x + 1
    wanted[3] = 5
    np.testing.assert_array_equal(scaled(x), wanted)
