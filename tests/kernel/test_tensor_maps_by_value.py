"""Tensor maps by value: `@kernel(tensor_maps="value")`."""

from __future__ import annotations

import numpy as np
import pytest

from examples.hopper import gemm
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f16, f32, u32


def copy_of(tensor_maps: str):
    @kernel(
        in_specs=(Tile("M", 32, f32, tma_box=(8, 32)),),
        out_specs=(Tile("M", 32, f32, tma_box=(8, 32)),),
        grid=lambda M: M // 8,
        block=32,
        tensor_maps=tensor_maps,
    )
    def copied(x, y):
        """Copy eight rows by TMA."""
        memory, row, tid = smem.alloc(f32, (8, 32), align=128), ptx.ctaid.x * 8, reg.from_(ptx.tid.x, u32)
        full = ptx.mbarrier.array(reg.from_(smem.mbarrier(1).name, u32), 0, 1)[0]
        with ptx.if_(tid == 0):
            full.init(1)
            ptx.fence.mbarrier_init()
            full.arrive_expect_tx(8 * 32 * 4)
            ptx.cp.async_bulk.tensor_2d(dst=memory, src=x, coord=(0, row), mbar=full)
            full.wait(0)
            ptx.cp.async_bulk.tensor_2d.store(dst=y, src=memory, coord=(0, row))
            ptx.cp.async_bulk.commit_group()
            ptx.cp.async_bulk.wait_group(0)

    return copied


def test_the_entry_takes_the_map_itself():
    by_value = copy_of("value")
    text = by_value.ptx(M=16)
    assert ".param .align 64 .b8 x_tma_desc[128]" in text
    assert "cvta.param.u64" in text and "ld.param.u64 %rd0, [x_tma_desc]" not in text
    assert ".param .u64 x_tma_desc" in copy_of("pointer").ptx(M=16)


@pytest.mark.parametrize("schedule", ["eager", "late", "random"])
def test_copies_are_correct_in_every_schedule(schedule):
    from pyptx import use

    x = np.random.default_rng(0).standard_normal((24, 32), np.float32)
    with use("sim", schedule=schedule):
        np.testing.assert_array_equal(copy_of("value")(x), x)
    assert not copy_of("value").check(x).errors


def test_the_machine_code_makes_no_copy_of_the_map():
    code = copy_of("value").compile(M=16)
    used = code.resources["copied"]
    assert used.stack_bytes == used.spill_stores == 0
    assert not any(line.opcode.startswith(("STL", "LDL")) for line in code.sass)


def test_an_example_is_correct_by_value():
    declared = gemm.gemm_of(f16, f32)
    by_value = kernel(
        gemm.product,
        name="gemm",
        in_specs=declared.in_specs,
        out_specs=declared.out_specs,
        grid=declared.grid,
        block=(gemm.THREADS, 1, 1),
        reqntid=(gemm.THREADS, 1, 1),
        tensor_maps="value",
    )
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((136, 72), (72, 128)))
    np.testing.assert_allclose(by_value(a, b, BN=128), gemm.reference(a, b), rtol=1e-3, atol=1e-3)


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="tensor_maps='copy'; expected 'pointer' or 'value'"):
        copy_of("copy")


def test_kernels_that_differ_in_it_have_different_identities():
    assert copy_of("value").recorded_identity() != copy_of("pointer").recorded_identity()
