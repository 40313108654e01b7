"""Tensor copies without a program: both engines' movers, compared with a bitwise oracle."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyptx.sim.abi import TensorCopyProblem
from pyptx.sim.core import library
from pyptx.sim.reference import tensor_copy, tensor_map
from pyptx.sim.reference.tensor_map import Map, Request, TensorProblem
from pyptx.tensor_map import Im2col, TensorMap

from .tensor_oracle import Oracle

BASE, TENSOR = 0x400, 0x7000_0000_0000
MODES = ("tile", "gather4", "scatter4", "im2col", "w", "w128")
DIRECTIONS = ("load", "store", "reduce", "prefetch")
OPERATIONS = ("add", "min", "max", "and", "or", "xor", "", "", "inc", "dec")
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


class Copy(ctypes.Structure):
    """TensorCopy of core/tensor_map.h."""

    _fields_ = [(n, ctypes.c_uint8) for n in "direction mode rank operation offsets inside override spare".split()] + [
        ("at", ctypes.c_int32 * 5),
        ("offset", ctypes.c_uint16 * 3),
        ("map", ctypes.c_uint64),
        ("base", ctypes.c_uint64),
    ]


def by_reference(data: bytes, request: Request, memory: np.ndarray, shared: np.ndarray, address: int) -> tuple:
    """(problem, what it is about, transaction bytes)."""
    held = bytearray(shared.tobytes())

    def host(at: int, bytes_: int, writes: bool) -> np.ndarray:
        if not 0 <= at - TENSOR <= len(memory) - bytes_:
            raise TensorProblem(TensorCopyProblem.GLOBAL_BOUNDS, at)
        return memory[at - TENSOR : at - TENSOR + bytes_]

    transaction = 0
    try:
        m = Map.read(data, 0)
        g = tensor_map.geometry(m, request, 0)
        transaction = g.transaction
        tensor_copy.check(m, request, g, address, held)
        if request.direction != "prefetch":
            getattr(tensor_copy, request.direction)(m, request, g, host, held, address)
    except TensorProblem as problem:
        return int(problem.problem), problem.about, transaction
    finally:
        shared[:] = np.frombuffer(bytes(held), np.uint8)
    return 0, 0, transaction


def by_core(data: bytes, request: Request, memory: np.ndarray, shared: np.ndarray, address: int) -> tuple:
    copy = Copy(
        DIRECTIONS.index(request.direction),
        MODES.index(request.mode),
        request.rank,
        OPERATIONS.index(request.operation) if request.operation else 0,
        len(request.offsets),
        request.inside,
    )
    copy.at[: len(request.coordinates)] = request.coordinates
    copy.offset[: len(request.offsets)] = request.offsets
    segment = np.array([TENSOR, memory.nbytes, memory.ctypes.data, 0], np.uint64)
    out = (ctypes.c_uint64 * 2)()
    problem = library.core().core_tensor_copy(
        data,
        ctypes.byref(copy),
        shared.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_uint64(len(shared)),
        ctypes.c_uint64(address),
        segment.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_uint64(1),
        out,
    )
    return problem, out[0] if problem else 0, out[1]


def run(m: TensorMap, request: Request, memory: np.ndarray, shared: np.ndarray, address: int):
    """What the movers make of copies of memory and shared memory; both agree."""
    data, results = m.encode(TENSOR), []
    for mover in (by_reference, by_core):
        own = memory.copy(), shared.copy()
        status = mover(data, request, *own, address)
        results.append((status, *own))
    (status, ours, in_shared), (other, core, core_shared) = results
    assert status == other
    np.testing.assert_array_equal(ours, core)
    np.testing.assert_array_equal(in_shared, core_shared)
    return status, ours, in_shared


NAMES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32", "tf32.ftz", "b4x16")
SWIZZLES = (None, "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")


@st.composite
def tiled(draw, names=NAMES, swizzles=SWIZZLES):
    """A map of a tensor, its memory, and where a box starts."""
    rank = draw(st.integers(1, 5))
    element = draw(st.sampled_from(names))
    bits = {"u8": 8, "b4x16": 4, "u16": 16, "f16": 16, "bf16": 16, "u64": 64, "s64": 64, "f64": 64}.get(element, 32)
    swizzle = draw(st.sampled_from(swizzles))
    span = {None: 96, "32B": 32, "64B": 64}.get(swizzle, 128)
    inner = draw(st.integers(1, span // 16)) * 128 // bits
    if inner > 256:
        inner = 128 // bits
    box = [*(draw(st.integers(1, 5)) for _ in range(rank - 1)), inner]
    shape = [*(draw(st.integers(1, 6)) for _ in range(rank - 1)), draw(st.integers(1, 80)) * (2 if bits == 4 else 1)]
    steps = [*(draw(st.sampled_from((1, 1, 1, 2, 3, 8))) for _ in range(rank - 1)), 1]
    strides, size = [], -(-shape[-1] * bits // 128) * 16
    for extent in reversed(shape[:-1]):
        strides.append(size + 16 * draw(st.integers(0, 2)))
        size = strides[-1] * extent
    fill = draw(st.sampled_from((None, "nan"))) if element[0] in "ft" or element == "bf16" else None
    m = TensorMap(
        TENSOR,
        box,
        shape=shape,
        strides=strides[::-1],
        dtype=element,
        swizzle=swizzle,
        oob_fill=fill,
        element_strides=steps,
    )
    start = tuple(draw(st.integers(-4, n + 2)) for n in reversed(shape))
    if bits == 4:
        start = (start[0] // 2 * 2, *start[1:])
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    return m, rng.integers(0, 256, size + 64, np.uint8), start, rng


def shared_for(m: TensorMap, rows: int, rng) -> tuple[np.ndarray, int]:
    """Shared memory with room for a box, and an address in it."""
    row = max(m.span_bytes, m.slice_bytes * m.box[-1], 128 if m.element.padded else m.box[-1] * m.element.bits // 8)
    address = BASE + 128 * int(rng.integers(0, 9))
    return rng.integers(0, 256, 128 * 10 + rows * row, np.uint8), address


def box_rows(m: TensorMap) -> int:
    return int(np.prod([-(-b // s) for b, s in zip(m.box[:-1], m.element_strides[:-1], strict=True)], dtype=int))


@quick
@given(tiled())
def test_tile_loads(case):
    m, memory, start, rng = case
    shared, address = shared_for(m, box_rows(m), rng)
    status, _, ours = run(m, Request("load", "tile", m.rank, start), memory, shared, address)
    expected = shared.copy()
    Oracle(m, memory).load(expected, address, Oracle(m, memory).tile(start))
    np.testing.assert_array_equal(ours, expected)
    assert status == (0, 0, m.box_bytes)


@quick
@given(tiled(swizzles=[s for s in SWIZZLES if "FLIP" not in (s or "")]))
def test_tile_stores(case):
    m, memory, start, rng = case
    shared, address = shared_for(m, box_rows(m), rng)
    status, ours, _ = run(m, Request("store", "tile", m.rank, start), memory, shared, address)
    expected = memory.copy()
    Oracle(m, expected).store(shared, address, Oracle(m, expected).tile(start))
    np.testing.assert_array_equal(ours, expected)
    assert status[0] == 0


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


COMBINE = {
    "add": lambda a, b, n: a + b & (1 << n) - 1,
    "and": lambda a, b, n: a & b,
    "or": lambda a, b, n: a | b,
    "xor": lambda a, b, n: a ^ b,
    "inc": lambda a, b, n: 0 if a >= b else a + 1,
    "dec": lambda a, b, n: b if a == 0 or a > b else a - 1,
}
INTEGER_CASES = [
    (op, name)
    for op, names in {
        "add": "u32 s32 u64",
        "min": "u32 s32 u64 s64",
        "max": "u32 s32 u64 s64",
        "inc": "u32",
        "dec": "u32",
        "and": "u32 u64",
        "or": "s32 s64",
        "xor": "u32 u64",
    }.items()
    for name in names.split()
]


@pytest.mark.parametrize("operation, name", INTEGER_CASES)
@settings(quick, max_examples=8)
@given(data=st.data())
def test_integer_reductions(operation, name, data):
    m, memory, start, rng = data.draw(tiled(names=(name,), swizzles=(None, "128B", "64B")))
    bits = m.element.bits

    def combine(a: int, b: int) -> int:
        if operation in COMBINE:
            return COMBINE[operation](a, b, bits)
        key = (lambda v: signed(v, bits)) if name[0] == "s" else None
        return {"min": min, "max": max}[operation](a, b, key=key)

    shared, address = shared_for(m, box_rows(m), rng)
    _, ours, _ = run(m, Request("reduce", "tile", m.rank, start, operation=operation), memory, shared, address)
    expected = memory.copy()
    Oracle(m, expected).store(shared, address, Oracle(m, expected).tile(start), combine=combine)
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    "operation, dtype",
    [("add", np.float32), ("add", np.float64), ("add", np.float16), ("min", np.float16), ("max", np.float16)],
)
def test_floating_reductions(operation, dtype):
    rng = np.random.default_rng(1)
    values, more = (rng.standard_normal((8, 16)).astype(dtype) for _ in range(2))
    m = TensorMap(TENSOR, (8, 16), shape=(8, 16), dtype=dtype)
    shared = np.concatenate([more.reshape(-1).view(np.uint8), np.zeros(128, np.uint8)])
    _, ours, _ = run(
        m, Request("reduce", "tile", 2, (0, 0), operation=operation), values.reshape(-1).view(np.uint8), shared, BASE
    )
    expected = {"add": np.add, "min": np.minimum, "max": np.maximum}[operation](values, more)
    np.testing.assert_array_equal(ours.view(dtype).reshape(8, 16), expected)


def test_only_the_type_with_ftz_flushes_when_it_adds():
    tiny = np.full((1, 4), 1e-40, np.float32)
    for name, result in (("f32", tiny + tiny), ("f32.ftz", tiny * 0)):
        m = TensorMap(TENSOR, (1, 4), shape=(1, 4), dtype=name)
        _, ours, _ = run(
            m,
            Request("reduce", "tile", 2, (0, 0), operation="add"),
            tiny.reshape(-1).view(np.uint8),
            np.resize(tiny.view(np.uint8).reshape(-1), 128),
            BASE,
        )
        np.testing.assert_array_equal(ours.view(np.float32), result[0])


@quick
@given(tiled(), st.lists(st.integers(-2, 8), min_size=4, max_size=4), st.booleans())
def test_gather4_and_scatter4(case, four, store):
    m, memory, start, rng = case
    if m.rank < 2 or (store and m.swizzle == "128B_ATOM_32B_FLIP_8B"):
        return
    m = TensorMap(
        TENSOR,
        (1, m.box[-1]),
        shape=m.shape[-2:],
        strides=m.strides[-2:-1],
        dtype=m.element.name,
        swizzle=m.swizzle,
        oob_fill=m.oob_fill,
    )
    if store:  # rows that are written twice have no order
        four = list(dict.fromkeys(four)) + [9, 10, 11, 12][: 4 - len(set(four))]
    shared, address = shared_for(m, 4, rng)
    request = Request("store" if store else "load", "scatter4" if store else "gather4", 2, (start[0], *four))
    status, global_, in_shared = run(m, request, memory, shared, address)
    expected, expected_shared = memory.copy(), shared.copy()
    oracle = Oracle(m, expected)
    if store:
        oracle.store(shared, address, oracle.rows4(start[0], four))
    else:
        oracle.load(expected_shared, address, oracle.rows4(start[0], four))
        assert status == (0, 0, 4 * m.box_bytes)
    np.testing.assert_array_equal(global_, expected)
    np.testing.assert_array_equal(in_shared, expected_shared)


@quick
@given(st.sampled_from(["16B", "32B"]), st.integers(3, 5), st.booleans(), st.data())
def test_interleaved_tiles(interleave, rank, store, data):
    width = int(interleave[:2])
    shape = [data.draw(st.integers(1, 5)) for _ in range(rank)]
    box = [data.draw(st.integers(1, 4)) for _ in range(rank)]
    steps = [data.draw(st.sampled_from((1, 1, 2))) for _ in range(rank)]
    swizzle = "32B" if width == 32 else data.draw(st.sampled_from((None, "32B", "128B")))
    m = TensorMap(TENSOR, box, shape=shape, dtype="f16", interleave=interleave, swizzle=swizzle, element_strides=steps)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    memory = rng.integers(0, 256, int(np.prod(shape)) * width, np.uint8)
    shared, address = shared_for(m, box_rows(m), rng)
    start = tuple(data.draw(st.integers(-3, n + 1)) for n in reversed(shape))
    request = Request("store" if store else "load", "tile", rank, start)
    status, global_, in_shared = run(m, request, memory, shared, address)
    expected, expected_shared = memory.copy(), shared.copy()
    oracle = Oracle(m, expected)
    if store:
        oracle.store(shared, address, oracle.tile(start))
    else:
        oracle.load(expected_shared, address, oracle.tile(start))
        assert status == (0, 0, m.box_bytes)
    np.testing.assert_array_equal(global_, expected)
    np.testing.assert_array_equal(in_shared, expected_shared)


@st.composite
def images(draw, interleave=None):
    rank = draw(st.integers(3, 5))
    spatial = [draw(st.integers(2, 6)) for _ in range(rank - 2)]
    batch = draw(st.integers(1, 3))
    lower = [draw(st.integers(-2, 1)) for _ in spatial]
    upper = [draw(st.integers(low - n + 1, 2)) for low, n in zip(lower, spatial, strict=True)]
    steps = [draw(st.sampled_from((1, 1, 2, 3))) for _ in range(rank)]
    pixels = draw(st.integers(1, 40))
    if interleave:
        shape = [batch, draw(st.integers(1, 3)), *spatial]
        m = TensorMap(
            TENSOR,
            (pixels, 16),
            shape=shape,
            dtype="f16",
            interleave=interleave,
            element_strides=steps,
            swizzle="32B" if interleave == "32B" else None,
            im2col=(lower, upper),
        )
        size = int(np.prod(shape)) * m.slice_bytes
        start = [*(draw(st.integers(lo, n + hi - 1)) for lo, hi, n in zip(lower, upper, spatial, strict=True))][::-1]
        start += [draw(st.integers(-1, shape[1])), draw(st.integers(-1, batch))]
    else:
        shape = [batch, *spatial, draw(st.integers(1, 5)) * 8]
        m = TensorMap(
            TENSOR,
            (pixels, draw(st.integers(1, 4)) * 8),
            shape=shape,
            dtype="f16",
            swizzle=draw(st.sampled_from((None, "64B", "128B"))),
            element_strides=[*steps[:-1], 1],
            oob_fill=draw(st.sampled_from((None, "nan"))),
            im2col=(lower, upper),
        )
        size = int(np.prod(shape)) * 2
        start = [*(draw(st.integers(lo, n + hi - 1)) for lo, hi, n in zip(lower, upper, spatial, strict=True))][::-1]
        start = [draw(st.integers(-8, shape[-1])), *start, draw(st.integers(-1, batch))]
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    offsets = tuple(draw(st.integers(0, 3)) for _ in spatial)
    return m, rng.integers(0, 256, size, np.uint8), tuple(start), offsets, rng


@quick
@given(st.one_of(images(), images("16B"), images("32B")))
def test_im2col_loads(case):
    m, memory, start, offsets, rng = case
    shared, address = shared_for(m, m.box[0], rng)
    status, _, ours = run(m, Request("load", "im2col", m.rank, start, offsets), memory, shared, address)
    expected = shared.copy()
    oracle = Oracle(m, memory)
    oracle.load(expected, address, oracle.im2col(start, offsets))
    np.testing.assert_array_equal(ours, expected)
    assert status == (0, 0, m.box_bytes)


@quick
@given(images())
def test_im2col_stores(case):
    m, memory, start, _, rng = case
    shared, address = shared_for(m, m.box[0], rng)
    _, ours, _ = run(m, Request("store", "im2col", m.rank, start), memory, shared, address)
    expected = memory.copy()
    oracle = Oracle(m, expected)
    oracle.store(shared, address, oracle.im2col(start, (0,) * (m.rank - 2)))
    np.testing.assert_array_equal(ours, expected)


@quick
@given(st.sampled_from(["w", "w128"]), st.integers(3, 5), st.data())
def test_im2col_w_loads(mode, rank, data):
    w, other = data.draw(st.integers(3, 40)), [data.draw(st.integers(1, 3)) for _ in range(rank - 3)]
    low = data.draw(st.integers(-2, 1))
    high = data.draw(st.integers(low - w + 1, 1))
    shape = [data.draw(st.integers(1, 4)), *other, w, 16]
    steps = [*(data.draw(st.sampled_from((1, 1, 2, 3))) for _ in range(rank - 1)), 1]
    m = TensorMap(
        TENSOR,
        (data.draw(st.integers(1, 40)), 16),
        shape=shape,
        dtype="f16",
        element_strides=steps,
        swizzle=data.draw(st.sampled_from(("64B", "128B", "128B_ATOM_32B"))),
        im2col=Im2col(low, high, mode),
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    memory = rng.integers(0, 256, int(np.prod(shape)) * 2, np.uint8)
    halo, shift = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 3))
    start = (
        0,
        data.draw(st.integers(-4, w + high - 1)),
        *(data.draw(st.integers(-1, n)) for n in reversed(other)),
        data.draw(st.integers(-1, 2)),
    )
    pixels = 128 + 4 * halo if mode == "w128" else m.box[0] + halo
    shared, address = shared_for(m, pixels, rng)
    status, _, ours = run(m, Request("load", mode, rank, start, (halo, shift)), memory, shared, address)
    expected = shared.copy()
    oracle = Oracle(m, memory)
    oracle.load(expected, address, oracle.im2col_w(start, halo, shift))
    np.testing.assert_array_equal(ours, expected)
    assert status == (0, 0, pixels * 32)


@quick
@given(
    st.sampled_from(["b4x16_p64", "b6x16_p32"]),
    st.sampled_from([None, "128B", "128B_ATOM_32B"]),
    st.booleans(),
    st.integers(-1, 2),
    st.integers(-2, 4),
    st.integers(0, 1 << 30),
)
def test_padded_types(name, swizzle, store, column, row, seed):
    if store and name == "b4x16_p64":
        return
    rng = np.random.default_rng(seed)
    bits = 4 if name == "b4x16_p64" else 6
    m = TensorMap(TENSOR, (3, 128), shape=(4, 256), dtype=name, swizzle=swizzle)
    memory = rng.integers(0, 256, 4 * 256 * bits // 8, np.uint8)
    shared, address = shared_for(m, 3, rng)
    start = (128 * column, row)
    request = Request("store" if store else "load", "tile", 2, start)
    status, global_, in_shared = run(m, request, memory, shared, address)
    expected, expected_shared = memory.copy(), shared.copy()
    oracle = Oracle(m, expected)
    if store:
        oracle.store(shared, address, oracle.tile(start))
    else:
        oracle.load(expected_shared, address, oracle.tile(start))
        assert status == (0, 0, 3 * 128 * bits // 8)
    np.testing.assert_array_equal(global_, expected)
    np.testing.assert_array_equal(in_shared, expected_shared)


def test_rows_narrower_than_the_swizzle_take_all_of_its_span():
    m = TensorMap(TENSOR, (4, 8), shape=(4, 8), dtype="f16", swizzle="128B")
    memory = np.arange(64, dtype=np.uint8)
    _, _, ours = run(m, Request("load", "tile", 2, (0, 0)), memory, np.zeros(1024, np.uint8), BASE)
    for row in range(4):
        np.testing.assert_array_equal(ours[128 * row + 16 * row :][:16], memory[16 * row : 16 * row + 16])


# what traps -----------------------------------------------------------------------------------------------------------

X = TensorMap(TENSOR, (4, 8), shape=(16, 64), dtype="f16")
IMAGES = TensorMap(TENSOR, (8, 8), shape=(2, 4, 5, 8), dtype="f16", im2col=((0, -1), (0, 1)))
WIDE = TensorMap(TENSOR, (8, 32), shape=(2, 4, 5, 32), dtype="f16", im2col=Im2col(0, 0, "w"), swizzle="64B")
PACKED = TensorMap(TENSOR, (2, 128), shape=(4, 256), dtype="b4x16_p64")
FLIPPED = TensorMap(TENSOR, (4, 8), shape=(16, 64), dtype="f16", swizzle="128B_ATOM_32B_FLIP_8B")
WRONG = [
    (X, Request("load", "tile", 3, (0, 0, 0)), BASE, TensorCopyProblem.RANK, 0),
    (X, Request("load", "im2col", 2, (0, 0)), BASE, TensorCopyProblem.MODE, 0),
    (IMAGES, Request("load", "tile", 4, (0, 0, 0, 0)), BASE, TensorCopyProblem.MODE, 0),
    (X, Request("load", "gather4", 2, (0, 1, 2, 3, 4)), BASE, TensorCopyProblem.MODE, 0),
    (X, Request("reduce", "tile", 2, (0, 0), operation="and"), BASE, TensorCopyProblem.ELEMENT, 0),
    (PACKED, Request("store", "tile", 2, (0, 0)), BASE, TensorCopyProblem.ELEMENT, 0),
    (FLIPPED, Request("store", "tile", 2, (0, 0)), BASE, TensorCopyProblem.SWIZZLE, 0),
    (PACKED, Request("load", "tile", 2, (64, 0)), BASE, TensorCopyProblem.COORDINATE, 64),
    (IMAGES, Request("load", "im2col", 4, (0, 6, 0, 0), (0, 0)), BASE, TensorCopyProblem.COORDINATE, 6),
    (IMAGES, Request("load", "im2col", 4, (0, 0, -1, 0), (0, 0)), BASE, TensorCopyProblem.COORDINATE, (1 << 64) - 1),
    (IMAGES, Request("load", "im2col", 4, (0, 0, 0, 0), (256, 0)), BASE, TensorCopyProblem.OFFSET, 256),
    (WIDE, Request("load", "w", 4, (0, 5, 0, 0), (0, 0)), BASE, TensorCopyProblem.COORDINATE, 5),
    (WIDE, Request("load", "w", 4, (0, 0, 0, 0), (512, 0)), BASE, TensorCopyProblem.OFFSET, 512),
    (WIDE, Request("load", "w", 4, (0, 0, 0, 0), (0, 32)), BASE, TensorCopyProblem.OFFSET, 32),
    (WIDE, Request("store", "w", 4, (0, -1, 0, 0), inside=True), BASE, TensorCopyProblem.COORDINATE, (1 << 64) - 1),
    (X, Request("load", "tile", 2, (0, 0)), BASE + 64, TensorCopyProblem.SHARED_ALIGNMENT, BASE + 64),
    (X, Request("load", "tile", 2, (0, 0)), BASE + 4096, TensorCopyProblem.SHARED_BOUNDS, BASE + 4096),
    (X, Request("load", "tile", 2, (0, 0)), 0, TensorCopyProblem.SHARED_BOUNDS, 0),
    (X, Request("load", "tile", 2, (0, 12)), BASE, TensorCopyProblem.GLOBAL_BOUNDS, TENSOR + 12 * 128),
    (X, Request("store", "tile", 2, (60, 7)), BASE, TensorCopyProblem.GLOBAL_BOUNDS, TENSOR + 8 * 128 + 120),
]


@pytest.mark.parametrize(
    "m, request_, address, problem, about", WRONG, ids=[f"{w[3].name}-{i}" for i, w in enumerate(WRONG)]
)
def test_what_traps_says_what_it_is_about(m, request_, address, problem, about):
    shared = np.zeros(1 << 16 if problem is TensorCopyProblem.OFFSET else 4096, np.uint8)
    status, _, _ = run(m, request_, np.zeros(8 * 128 + 64, np.uint8), shared, address)
    assert status[:2] == (problem, about)


@pytest.mark.parametrize(
    "at, value, problem",
    [
        (0, 0, TensorCopyProblem.MAP_MAGIC),
        (8, 2, TensorCopyProblem.MAP_MAGIC),
        (9, 6, TensorCopyProblem.MAP_MAGIC),
        (10, 16, TensorCopyProblem.MAP_MAGIC),
        (113, 4, TensorCopyProblem.MAP_MAGIC),
        (76, 0, TensorCopyProblem.BOX),
        (76, 7, TensorCopyProblem.BOX),
        (81, 2, TensorCopyProblem.BOX),
        (109, 9, TensorCopyProblem.STEP),
        (108, 0, TensorCopyProblem.STEP),
        (16, 8, TensorCopyProblem.TENSOR),
        (24, 3, TensorCopyProblem.TENSOR),
        (12, 5, TensorCopyProblem.SWIZZLE),
        (13, 1, TensorCopyProblem.SWIZZLE),
        (11, 3, TensorCopyProblem.MODE),
    ],
)
def test_maps_changed_to_nonsense_are_refused(at, value, problem):
    data = bytearray(X.encode(TENSOR))
    data[at] = value
    memory, shared = np.zeros(4096, np.uint8), np.zeros(4096, np.uint8)
    for mover in (by_reference, by_core):
        assert mover(bytes(data), Request("load", "tile", 2, (0, 0)), memory, shared, BASE)[0] == problem
