"""Batched grids on the simulator: the arrays and the indices of each element are those of a launch of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runtime.kernels import counts, product, scale
from support.launches import recorded_grids

from pyptx import Tile, kernel, ptx, reg
from pyptx.emitter import emit
from pyptx.errors import LaunchError
from pyptx.grid_batch import with_batched_grid
from pyptx.parser import parse
from pyptx.runtime import runtime_for
from pyptx.types import u32


@kernel(
    arch="sm_90a",
    in_specs=[Tile("N", u32), Tile("N", u32)],
    out_specs=[Tile("DEPTH", "N", u32)],
    grid=lambda N, DEPTH: (1, 1, DEPTH),
    block=lambda N: N,
)
def indices(a, b, out, *, DEPTH=1):
    """out[z] = a + b, plus 1000 times the index and 10,000 times the size of the grid in z."""
    (a_at, b_at, out_at), (N,) = ptx.global_ptrs(a, b, out), a.shape
    i = reg.from_(ptx.special.tid.x(), u32)
    z, depth = reg.from_(ptx.special.ctaid.z(), u32), reg.from_(ptx.special.nctaid.z(), u32)
    x, y = reg.scalar(u32), reg.scalar(u32)
    ptx.inst.ld.global_.u32(x, ptx.addr(a_at + i * 4))
    ptx.inst.ld.global_.u32(y, ptx.addr(b_at + i * 4))
    ptx.inst.st.global_.u32(ptx.addr(out_at + (z * N + i) * 4), x + y + z * 1000 + depth * 10000)


def run(k, inputs, batched, **params):
    return k.batch_launcher.run(runtime_for(inputs), inputs, batched, params).outputs


@pytest.fixture
def launches() -> Iterator[list[tuple]]:
    with recorded_grids() as grids:
        yield grids


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    size=st.integers(1, 5),
    depth=st.integers(1, 3),
    n=st.integers(1, 5),
    batched=st.tuples(st.booleans(), st.booleans()).filter(any),
)
def test_a_batch_is_as_many_launches(size, depth, n, batched):
    random = np.random.default_rng(n)
    inputs = [random.integers(0, 99, (size, n) if one else n, np.uint32) for one in batched]
    (found,) = run(indices, inputs, batched, DEPTH=depth)
    for k in range(size):
        element = [x[k] if one else x for x, one in zip(inputs, batched, strict=True)]
        assert np.array_equal(found[k], indices(*element, DEPTH=depth))


def test_it_is_one_launch_with_the_batch_outermost_in_z(launches):
    x = np.arange(20, dtype=np.uint32).reshape(5, 4)
    (found,) = run(indices, [x, x[0]], [True, False], DEPTH=3)
    assert launches == [(1, 1, 15)]
    assert np.array_equal(found, (x + x[0])[:, None] + np.arange(3)[:, None] * 1000 + 30000)
    assert indices.last_run.backend == "sim" and indices.last_specialization.diagnostics == ()


def test_the_variant_is_made_once(launches):
    x = np.ones((3, 100), np.float32)
    run(scale, [x], [True], factor=2.0)
    first = scale.last_specialization
    run(scale, [x], [True], factor=3.0)
    assert scale.last_specialization is first and launches == [(2, 1, 3)] * 2


def test_outputs_that_a_kernel_adds_to_are_zeros_first(launches):
    x = np.random.default_rng(0).integers(0, 8, (4, 300), np.uint32)
    (found,) = run(counts, [x], [True])
    assert len(launches) == 1 and np.array_equal(found, [np.bincount(row, minlength=8) for row in x])


def test_elements_that_are_not_aligned_are_launched_one_by_one(launches):
    @kernel(arch="sm_80", in_specs=[Tile(3, u32, align=8)], out_specs=[Tile(3, u32)], grid=1, block=3)
    def copied(x, y):
        x_at, y_at = ptx.global_ptrs(x, y)
        i = reg.from_(ptx.special.tid.x(), u32)
        value = ptx.inst.ld.global_.u32(reg.scalar(u32), ptx.addr(x_at + i * 4))
        ptx.inst.st.global_.u32(ptx.addr(y_at + i * 4), value)

    x = np.arange(12, dtype=np.uint32).reshape(4, 3)
    assert np.array_equal(run(copied, [x], [True])[0], x) and launches == [(1, 1, 1)] * 4
    reason = copied.batch_launcher.specialize({}, {}, [True], 4)
    assert reason == "an element of x has 12 bytes, which is not a multiple of 8"


def test_empty_batches_and_empty_elements_launch_nothing(launches):
    for shape in ((0, 100), (3, 0)):
        (found,) = run(scale, [np.zeros(shape, np.float32)], [True], factor=2.0)
        assert found.shape == shape and not launches and scale.last_run is None


def test_reasons_of_the_launch():
    specialize = scale.batch_launcher.specialize
    assert specialize({"N": 4}, {"factor": 1.0}, [True], 1) == "the batch has a single element"
    assert specialize({"N": 4}, {"factor": 1.0}, [True], 70_000) == (
        "the grid would have 70,000 CTAs in z; the maximum is 65,535"
    )
    tile = Tile("N", u32)
    silent = kernel(lambda x: ptx.ret(), arch="sm_90a", in_specs=[tile], grid=1)
    assert silent.batch_launcher.specialize({"N": 4}, {}, [True], 2) == "it has no outputs"
    deep = kernel(
        lambda x, y: ptx.ret(), arch="sm_90a", in_specs=[tile], out_specs=[tile], grid=(1, 1, 2), cluster=(1, 1, 2)
    )
    assert deep.batch_launcher.specialize({"N": 4}, {}, [True], 2) == "its clusters extend in z"


def test_wrong_elements_are_named():
    with pytest.raises(LaunchError, match="product: conflicting sizes for 'N': 8 in a, 9 in b"):
        run(product, [np.zeros((2, 3, 8), np.float32), np.zeros((3, 9), np.float32)], [True, False])


FUNCTION = """.version 8.6
.target sm_90a
.address_size 64

.func f
{
	.reg .b32 %r<3>;
	mov.u32 %r1, %ctaid.z;
	mov.u32 %r2, %nctaid.z;
	ret;
}

.entry k(
	.param .u64 x
)
{
	.reg .b64 %rd<2>;
	.reg .u64 %batch_offset;
	.reg .pred %p;
	@%p ld.param.u64 %rd1, [x];
	call f;
	ret;
}
"""


def test_functions_see_the_index_of_their_element():
    text = emit(with_batched_grid(parse(FUNCTION), "k", {"x": 64}, 1))
    assert "mov.u32 %r1, 0;" in text and "mov.u32 %r2, 1;" in text
    assert "@%p mad.lo.u64 %rd1, %batch_offset_, 64, %rd1;" in text  # a name that the module does not have
    text = emit(with_batched_grid(parse(FUNCTION), "k", {"x": 64}, 3))
    assert "rem.u32 %batch_own_z, %batch_own_z, 3;" in text and "mov.u32 %r1, %batch_own_z;" in text
    assert text.count("div.u32") == 1 and "mov.u32 %r2, 3;" in text
