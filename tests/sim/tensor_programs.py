"""Programs with one tensor copy each and their expected results, in all schedules, on both engines."""

from __future__ import annotations

import numpy as np

from pyptx import sim
from pyptx.parser import parse
from pyptx.tensor_map import TensorMap

from .engines import run_both
from .tensor_oracle import Oracle

SCHEDULES = ("eager", "late", "random")
HEAD = ".version 8.6\n.target {target}\n.address_size 64\n"
LOAD = "mbarrier::complete_tx::bytes"


def program(body: str, params: str, *, shared: int = 8192, target: str = "sm_100a", declarations: str = ""):
    """An entry whose thread 0 is `%p0`; `tile` is shared memory, `bar` an mbarrier that %r1 names."""
    return sim.load(
        parse(
            HEAD.format(target=target)
            + declarations
            + f""".visible .entry k({params}) {{
        .reg .b64 %rd<16>; .reg .b32 %r<16>; .reg .b16 %h<8>; .reg .pred %p<8>;
        .shared .align 1024 .b8 tile[{shared}];
        .shared .align 128 .b8 aside[128];
        .shared .align 8 .b64 bar;
        mov.u32 %r0, %tid.x;
        setp.eq.u32 %p0, %r0, 0;
        mov.u32 %r1, bar;
        mov.u32 %r2, tile;
        {body}
        ret;
    }}"""
        )
    )


def coordinates(count: int) -> str:
    return ", ".join(f".param .s32 c{i}" for i in range(count))


def take_in(count: int) -> str:
    """Coordinates from parameters into %r4..."""
    return "".join(f"ld.param.s32 %r{4 + i}, [c{i}];\n" for i in range(count))


def names(count: int) -> str:
    return "{" + ", ".join(f"%r{4 + i}" for i in range(count)) + "}"


COPY_OUT = """
    ld.param.u64 %rd3, [out];
    mov.u32 %r3, %r0;
OUT:
    add.u32 %r12, %r2, %r3;
    ld.shared.u8 %h1, [%r12];
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd3, %rd4;
    st.global.u8 [%rd5], %h1;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p2, %r3, {bytes};
    @%p2 bra OUT;
"""
WAIT = """
WAITING:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
    @!%p1 bra WAITING;
"""
COPY_IN = """
    ld.param.u64 %rd3, [data];
    mov.u32 %r3, %r0;
IN:
    add.u32 %r12, %r2, %r3;
    cvt.u64.u32 %rd4, %r3;
    add.u64 %rd5, %rd3, %rd4;
    ld.global.u8 %h1, [%rd5];
    st.shared.u8 [%r12], %h1;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p2, %r3, {bytes};
    @%p2 bra IN;
    fence.proxy.async.shared::cta;
    bar.sync 0;
"""


def loading(
    rank: int,
    mode: str,
    tx: int,
    bytes_: int,
    *,
    offsets: str = "",
    space: str = "shared::cluster",
    count: int | None = None,
    by_value: bool = True,
):
    """Thread 0 loads a box, all threads copy shared memory out."""
    count = rank if count is None else count
    where = "mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;" if by_value else "ld.param.u64 %rd1, [m];"
    param = ".param .align 64 .b8 m[128]" if by_value else ".param .u64 m"
    return program(
        f"""{take_in(count)} {where}
        @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
        bar.sync 0;
        @!%p0 bra LOADED;
        prefetch.tensormap [%rd1];
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], {tx};
        cp.async.bulk.tensor.{rank}d.{space}.global.{mode}.{LOAD} [%r2], [%rd1, {names(count)}], [%r1]{offsets};
    LOADED: {WAIT} {COPY_OUT.format(bytes=bytes_)}""",
        f"{param}, .param .u64 out, {coordinates(count)}",
        shared=bytes_,
    )


RNG = np.random.default_rng(5)
X2 = RNG.integers(0, 1 << 16, (40, 64), np.uint16).view(np.float16)
X5 = RNG.integers(0, 1 << 30, (2, 3, 4, 5, 8), np.int32)
NHWC = RNG.integers(0, 1 << 16, (3, 6, 7, 64), np.uint16).view(np.float16)
SLICED = RNG.integers(0, 255, (2, 3, 4, 5, 16), np.uint8)
PACKED = RNG.integers(0, 255, (8, 96), np.uint8)
TILES = [
    (TensorMap(X2.reshape(-1), (64,)), (100,)),
    (TensorMap(X2, (8, 64), swizzle="128B"), (16, 36)),
    (TensorMap(X2, (8, 32), swizzle="64B", oob_fill="nan"), (-8, -3)),
    (TensorMap(X2, (16, 16), swizzle="32B", element_strides=(3, 1)), (8, 1)),
    (TensorMap(X2, (8, 64), swizzle="128B_ATOM_32B"), (0, 0)),
    (TensorMap(X2, (8, 64), swizzle="128B_ATOM_32B_FLIP_8B"), (0, 5)),
    (TensorMap(X2, (8, 64), swizzle="128B_ATOM_64B"), (0, 5)),
    (TensorMap(X2[:, :32], (8, 32)), (0, 2)),  # a view
    (TensorMap(X5[0, 0], (2, 3, 4)), (2, 3, 1)),
    (TensorMap(X5[0], (2, 2, 2, 4)), (4, 4, 3, -1)),
    (TensorMap(X5, (2, 2, 2, 2, 8)), (0, 4, 3, 2, 1)),
    (TensorMap(SLICED, (1, 2, 3, 4), interleave="16B"), (1, 2, 1, 0)),
    (TensorMap(PACKED, (4, 128), dtype="b6x16_p32", swizzle="128B"), (0, 2)),
]


def expected_load(m: TensorMap, elements, bytes_: int) -> tuple[np.ndarray, np.ndarray]:
    """Shared memory afterwards, and which bytes of it the copy wrote (all but padding)."""
    base = np.asarray(m.source)
    oracle = Oracle(m, (base if base.flags.c_contiguous else base.base).reshape(-1).view(np.uint8))
    out = np.zeros(bytes_, np.uint8)
    return out, oracle.load(out, 0x400, elements(oracle))


def footprint(m: TensorMap) -> int:
    rows = m.box_bytes * 8 // (m.box[-1] * (8 * m.slice_bytes or m.element.bits))
    row = m.slice_bytes * m.box[-1] or (128 if m.element.padded else m.box[-1] * m.element.bits // 8)
    return -(-rows * max(row, m.span_bytes) // 128) * 128


def check_load(run, m: TensorMap, elements, bytes_: int, args) -> None:
    want, written = expected_load(m, elements, bytes_)
    for schedule in SCHEDULES:
        out = np.zeros(bytes_, np.uint8)
        run_both(run, 1, 32, [m, out, *args], schedule=schedule, seed=3)
        np.testing.assert_array_equal(out[written], want[written], err_msg=schedule)


def storing(
    rank: int,
    mode: str,
    bytes_: int,
    *,
    instruction: str = "cp.async.bulk.tensor",
    operation: str = "",
    count: int | None = None,
    wait: str = "wait_group 0",
):
    count = rank if count is None else count
    return program(
        f"""{take_in(count)} mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
        {COPY_IN.format(bytes=bytes_)}
        @!%p0 bra DONE;
        {instruction}.{rank}d.global.shared::cta.{operation}{mode}.bulk_group [%rd1, {names(count)}], [%r2];
        cp.async.bulk.commit_group;
        cp.async.bulk.{wait};
    DONE:""",
        f".param .align 64 .b8 m[128], .param .u64 data, {coordinates(count)}",
        shared=bytes_,
    )


def check_store(run, make, elements, bytes_: int, args, combine=None) -> None:
    data = np.random.default_rng(9).integers(0, 256, bytes_, np.uint8)
    for schedule in SCHEDULES:
        results = []
        for engine in ("core", "reference"):
            array, m = make()
            sim.launch(run, 1, 32, [m, data.copy(), *args], engine=engine, schedule=schedule, seed=3)
            results.append(array)
        np.testing.assert_array_equal(*(r.view(np.uint8) for r in results))
        array, m = make()
        memory = array.reshape(-1).view(np.uint8)
        Oracle(m, memory).store(data, 0x400, elements(Oracle(m, memory)), combine=combine)
        np.testing.assert_array_equal(results[0].view(np.uint8), array.view(np.uint8), err_msg=schedule)


def maker(shape, kind, box, **options):
    def make():
        array = np.random.default_rng(2).integers(0, 200, int(np.prod(shape)), np.uint8)
        array = np.resize(array, int(np.prod(shape)) * np.dtype(kind).itemsize).view(kind).reshape(shape)
        return array, TensorMap(array, box, **options)

    return make
