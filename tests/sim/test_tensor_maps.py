"""Tensor maps in programs: modified in memory, inconsistent, or absent."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import sim
from pyptx.errors import LaunchError, SimulationError
from pyptx.tensor_map import TensorMap

from .engines import run_both
from .tensor_programs import (
    COPY_OUT,
    LOAD,
    NHWC,
    WAIT,
    X2,
    expected_load,
    loading,
    program,
)

REPLACE = """mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
    mov.u32 %r3, aside;
    shl.b32 %r4, %r0, 2; cvt.u64.u32 %rd2, %r4; add.u64 %rd2, %rd1, %rd2; ld.param.b32 %r5, [%rd2];
    add.u32 %r6, %r3, %r4; st.shared.b32 [%r6], %r5;
    bar.sync 0;
    ld.param.u64 %rd7, [y]; ld.param.u64 %rd8, [space];
    @!%p0 bra REPLACED;
    {fields}
REPLACED:
    bar.sync 0;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd8], [%r3], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd8], 128;
    @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
    bar.sync 0;
    @!%p0 bra LOADED;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], {tx};
    cp.async.bulk.tensor.2d.shared::cta.global.tile.{load} [%r2], [%rd8, {{0, 1}}], [%r1];
LOADED: {wait} {out}"""


def replaced(fields: str, tx: int, bytes_: int, x, y, box=(4, 8), **options) -> np.ndarray:
    """What a box at (0, 1) holds after fields of a map of x were replaced."""
    text = REPLACE.format(fields=fields, tx=tx, load=LOAD, wait=WAIT, out=COPY_OUT.format(bytes=bytes_))
    params = ".param .align 64 .b8 m[128], .param .u64 y, .param .u64 space, .param .u64 out"
    run = program(text.replace("ld.param.b32 %r5", "ld.b32 %r5"), params, target="sm_100a")
    out = np.zeros(bytes_, np.uint8)
    for schedule in ("eager", "late"):
        run_both(run, 1, 32, [TensorMap(x, box, **options), y, np.zeros(128, np.uint8), out], schedule=schedule)
    return out


def test_every_field_of_a_map_can_be_replaced():
    x, y = np.zeros((4, 8), np.float32), np.arange(64 * 6, dtype=np.float16).reshape(6, 64)
    fields = "".join(
        f"tensormap.replace.tile.{text};\n"
        for text in (
            "global_address.shared::cta.b1024.b64 [%r3], %rd7",
            "rank.shared::cta.b1024.b32 [%r3], 1",
            "box_dim.shared::cta.b1024.b32 [%r3], 0, 16",
            "box_dim.shared::cta.b1024.b32 [%r3], 1, 8",
            "global_dim.shared::cta.b1024.b32 [%r3], 0, 60",
            "global_dim.shared::cta.b1024.b32 [%r3], 1, 6",
            "global_stride.shared::cta.b1024.b64 [%r3], 0, 128",
            "element_stride.shared::cta.b1024.b32 [%r3], 1, 2",
            "elemtype.shared::cta.b1024.b32 [%r3], 6",
            "interleave_layout.shared::cta.b1024.b32 [%r3], 0",
            "swizzle_mode.shared::cta.b1024.b32 [%r3], 3",
            "swizzle_atomicity.shared::cta.b1024.b32 [%r3], 1",
            "fill_mode.shared::cta.b1024.b32 [%r3], 1",
        )
    )
    out = replaced(fields, 4 * 32, 512, x, y)
    m = TensorMap(
        y, (8, 16), shape=(6, 60), strides=(128,), element_strides=(2, 1), swizzle="128B_ATOM_32B", oob_fill="nan"
    )
    want, written = expected_load(m, lambda o: o.tile((0, 1)), 512)
    np.testing.assert_array_equal(out[written], want[written])


def test_a_swizzle_of_96_bytes_comes_from_a_replaced_map():
    y = np.arange(48 * 8, dtype=np.float16).reshape(8, 48)
    fields = "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r3], 4;"
    out = replaced(fields, 4 * 96, 384, y, np.zeros(8), box=(4, 48))
    dense = np.ascontiguousarray(y[1:5]).reshape(-1).view(np.uint8)
    for k in range(384):
        assert out[k ^ (k >> 7 & 1) << 4] == dense[k]


def test_a_map_can_be_made_of_zeros():
    y = np.arange(64 * 6, dtype=np.float16).reshape(6, 64)
    zeros = "".join(f"st.shared.b64 [%r3+{8 * k}], 0;\n" for k in range(16))
    fields = zeros + "".join(
        f"tensormap.replace.tile.{text};\n"
        for text in (
            "global_address.shared::cta.b1024.b64 [%r3], %rd7",
            "rank.shared::cta.b1024.b32 [%r3], 1",
            "box_dim.shared::cta.b1024.b32 [%r3], 0, 64",
            "box_dim.shared::cta.b1024.b32 [%r3], 1, 4",
            "global_dim.shared::cta.b1024.b32 [%r3], 0, 64",
            "global_dim.shared::cta.b1024.b32 [%r3], 1, 6",
            "global_stride.shared::cta.b1024.b64 [%r3], 0, 128",
            "element_stride.shared::cta.b1024.b32 [%r3], 0, 1",
            "element_stride.shared::cta.b1024.b32 [%r3], 1, 1",
            "elemtype.shared::cta.b1024.b32 [%r3], 6",
            "swizzle_mode.shared::cta.b1024.b32 [%r3], 3",
        )
    )
    out = replaced(fields, 512, 512, np.zeros((4, 8), np.float32), y)
    np.testing.assert_array_equal(
        out, expected_load(TensorMap(y, (4, 64), swizzle="128B"), lambda o: o.tile((0, 1)), 512)[0]
    )


def test_a_map_can_lie_in_constant_memory():
    x = np.arange(256, dtype=np.uint8)
    data = ", ".join(map(str, TensorMap(0x7000_0000_0000, (128,), shape=(256,), dtype="u8").encode()))
    run = program(
        f"""
        @%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
        @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128;
        @%p0 cp.async.bulk.tensor.1d.shared::cta.global.tile.{LOAD} [%r2], [held, {{16}}], [%r1];
        bar.sync 0;
        {WAIT} {COPY_OUT.format(bytes=128)}""",
        ".param .u64 x, .param .u64 out",
        declarations=f".const .align 64 .b8 held[128] = {{{data}}};\n",
    )
    out = np.zeros(128, np.uint8)
    run_both(run, 1, 32, [x, out])
    np.testing.assert_array_equal(out, x[16:144])


# what traps -----------------------------------------------------------------------------------------------------------


def both_fail(run, args, message: str, **options) -> None:
    texts = []
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=message) as error:
            sim.launch(run, 1, 32, args, engine=engine, **options)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_bytes_that_are_no_map_are_named():
    run = loading(2, "tile", 1024, 1024)
    out = np.zeros(1024, np.uint8)
    both_fail(run, [bytes(128), out, 0, 0], "reads its tensor map at 0x7f40.*, but the 128 bytes")


def test_rank_and_mode_must_be_those_of_the_map():
    both_fail(loading(1, "tile", 64, 1024), [TensorMap(X2, (8, 64)), np.zeros(1024, np.uint8), 0], "rank of the map")
    images = TensorMap(NHWC, (8, 64), im2col=((0, 0), (0, 0)))
    both_fail(
        loading(4, "tile", 64, 1024), [images, np.zeros(1024, np.uint8), 0, 0, 0, 0], "mode that it does not support"
    )


def test_a_map_that_lies_about_its_array_is_caught():
    m = TensorMap(X2, (8, 64), shape=(80, 64))
    args = [m, np.zeros(1024, np.uint8), 0, 36]
    both_fail(loading(2, "tile", 1024, 1024), args, "accesses 0x7000.*outside every buffer")


def test_a_box_that_does_not_fit_in_shared_memory_is_caught():
    both_fail(
        loading(2, "tile", 4096, 128),
        [TensorMap(X2, (32, 64)), np.zeros(128, np.uint8), 0, 0],
        "copies a box of 4096 bytes to or from shared memory at 0x400, which is out of bounds",
    )


def test_arguments_that_take_no_map_say_what_would():
    run = program("", ".param .u32 n")
    with pytest.raises(LaunchError, match=r"parameter n is .u32; a tensor map is 128 bytes by value"):
        sim.launch(run, 1, 32, [TensorMap(X2, (8, 64))])


def test_bytes_moved_are_counted():
    run = loading(2, "tile", 1024, 1024)
    result = sim.launch(run, 1, 32, [TensorMap(X2, (8, 64)), np.zeros(1024, np.uint8), 0, 0])
    assert result.counters.tma_bytes.sum() == 1024
