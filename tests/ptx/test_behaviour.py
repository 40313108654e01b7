"""Results of constructs, run on the simulator and compared with Python and NumPy."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, from_name, pred, s32, s64, u32, u64

LANES = 32
FEW = settings(max_examples=25, deadline=None)
NUMPY = {"u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64, "f32": np.float32}


def per_lane(body, *inputs, dtype=u32, result=u32):
    """Run `body(lane, *registers)` in one warp; every lane reads its element of each input and returns a register."""
    arrays = [np.asarray(x, NUMPY[dtype.name]) for x in inputs]

    @kernel(arch="sm_90a", raw_params=[("u64", "p"), ("u64", "out")], block=(LANES, 1, 1))
    def k():
        lane = reg.from_(ptx.special.tid.x(), u32)
        wide = reg.scalar(u64)
        ptx.inst.cvt.u64.u32(wide, lane)
        source = ptx.param(u64, "p") + wide * (dtype.bits // 8)
        registers = []
        for i in range(len(arrays)):
            value = reg.scalar(dtype)
            ptx.ld(dtype, value, ptx.addr(source, i * LANES * dtype.bits // 8))
            registers.append(value)
        found = body(lane, *registers)
        ptx.st(result, ptx.addr(ptx.param(u64, "out") + wide * (result.bits // 8)), found)
        ptx.ret()

    stacked = np.concatenate(arrays) if arrays else np.zeros(1, NUMPY[dtype.name])
    out = np.zeros(LANES, NUMPY[result.name])
    k.launch(1, LANES, stacked, out)
    return out


# operators ---------------------------------------------------------------------------------------------------------

EXACT = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "//": None,
    "%": None,
}


def truncated(a: int, b: int) -> int:
    """Division towards zero, as the hardware does."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def wrapped(value: int, name: str) -> int:
    bits = int(name[1:])
    value %= 1 << bits
    return value - (1 << bits) if name[0] == "s" and value >> (bits - 1) else value


@FEW
@given(data=st.data(), name=st.sampled_from(["u32", "s32", "u64", "s64"]), symbol=st.sampled_from(sorted(EXACT)))
def test_operators_are_those_of_integers_of_the_width(data, name, symbol):
    info = np.iinfo(NUMPY[name])
    some = st.integers(info.min, info.max) | st.integers(-3, 3).filter(lambda v: v >= info.min)
    a = data.draw(st.lists(some, min_size=LANES, max_size=LANES))
    b = data.draw(st.lists(some.filter(bool), min_size=LANES, max_size=LANES))
    a, b = (a, b) if symbol not in "//%" else ([x if x != info.min else 1 for x in a], b)
    dtype = from_name(name)
    function = EXACT[symbol] or {"//": truncated, "%": lambda x, y: x - truncated(x, y) * y}[symbol]
    python = {"//": operator.floordiv, "%": operator.mod}.get(symbol, EXACT[symbol])
    found = per_lane(lambda _, x, y: python(x, y), a, b, dtype=dtype, result=dtype)
    assert found.tolist() == [wrapped(function(x, y), name) for x, y in zip(a, b, strict=True)]


@FEW
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=LANES, max_size=LANES), st.integers(0, 31))
def test_shifts_and_extremes_know_the_sign(values, amount):
    a = np.array(values, np.int32)
    shifted = per_lane(lambda _, x: x >> amount, a, dtype=s32, result=s32)
    assert shifted.tolist() == (a >> amount).tolist()
    assert per_lane(lambda _, x: x.max(5), a, dtype=s32, result=s32).tolist() == np.maximum(a, 5).tolist()
    assert per_lane(lambda _, x: -x, a, dtype=s32, result=s32).tolist() == (-a).tolist()
    assert per_lane(lambda _, x: ~x, a, dtype=s32, result=s32).tolist() == (~a).tolist()


@FEW
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=LANES, max_size=LANES))
def test_a_signed_register_is_widened_with_its_sign(values):
    def body(_, x):
        base = reg.scalar(s64, 1 << 40)
        return base + x

    assert per_lane(body, values, dtype=s32, result=s64).tolist() == [(1 << 40) + v for v in values]


# control -----------------------------------------------------------------------------------------------------------

TREES = st.recursive(
    st.integers(1, 99), lambda inner: st.tuples(st.integers(0, LANES), st.booleans(), inner, inner), max_leaves=7
)


def trace_tree(tree, lane, total):
    if isinstance(tree, int):
        ptx.add(u32, total, total, tree)
        return
    bound, has_else, first, second = tree
    with ptx.if_(lane < bound):
        trace_tree(first, lane, total)
    if has_else:
        with ptx.else_():
            trace_tree(second, lane, total)
    else:
        trace_tree(second, lane, total)


def walk_tree(tree, lane) -> int:
    if isinstance(tree, int):
        return tree
    bound, has_else, first, second = tree
    taken = lane < bound
    return (walk_tree(first, lane) if taken else 0) + (walk_tree(second, lane) if not (has_else and taken) else 0)


@FEW
@given(TREES)
def test_branches_run_what_python_would_run(tree):
    def body(lane):
        total = reg.scalar(u32, 0)
        trace_tree(tree, lane, total)
        return total

    assert per_lane(body).tolist() == [walk_tree(tree, lane) for lane in range(LANES)]


@FEW
@given(start=st.integers(-20, 20), stop=st.integers(-20, 20), step=st.integers(-5, 5).filter(bool), kind=st.booleans())
def test_a_counted_loop_is_pythons_range(start, stop, step, kind):
    def body(lane):
        total = reg.scalar(s32, 0)
        last = reg.scalar(s32, stop) if kind else stop
        stride = reg.scalar(s32, step) if kind and step > 0 else step
        for i in ptx.range_(start, last, stride):
            total *= 3
            total += i
        return total

    expected = 0
    for i in range(start, stop, step):
        expected = 3 * expected + i
    assert per_lane(body, result=s32).tolist() == [wrapped(expected, "s32")] * LANES


@pytest.mark.parametrize("unroll", [1, 2, 4, 8])
def test_an_unrolled_loop_runs_the_requested_number_of_times_in_every_lane(unroll):
    def body(lane):
        count = reg.scalar(u32, 0)
        ptx.kloop(lane, unroll=unroll, body=lambda: ptx.add(u32, count, count, 1))
        return count

    assert per_lane(body).tolist() == list(range(LANES))


@pytest.mark.parametrize("stages", [1, 2, 3, 7])
def test_a_pipeline_visits_its_stages_in_a_ring_and_flips_the_phase_at_each_wrap(stages):
    def body(lane):
        ring, code = ptx.pipeline(stages), reg.scalar(u32, 0)
        for _ in range(6):
            stage, phase = ring.advance()
            ptx.mad(u32, code, code, 16, stage)
            ptx.mad(u32, code, code, 2, phase)
        return code

    expected = 0
    for i in range(6):
        expected = (expected * 16 + i % stages) * 2 + i // stages % 2
    assert per_lane(body)[0] == expected % 2**32


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_warp_reductions_over_groups_of_lanes(width):
    values = np.random.default_rng(width).integers(-1000, 1000, LANES).astype(np.int32)

    def reduced(function):
        def body(_, x):
            function(x, width=width)
            return x

        return per_lane(body, values, dtype=s32, result=s32)

    groups = values.reshape(-1, width)
    assert reduced(ptx.warp.reduce_sum).tolist() == np.repeat(groups.sum(1), width).tolist()
    assert reduced(ptx.warp.reduce_max).tolist() == np.repeat(groups.max(1), width).tolist()
    assert reduced(ptx.warp.reduce_min).tolist() == np.repeat(groups.min(1), width).tolist()


# shared memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dynamic", [False, True])
def test_stages_and_elements_of_shared_memory_are_where_they_should_be(dynamic):
    def body(lane, x):
        if dynamic:
            smem.alloc(f32, 15 * 1024)  # with the rest, more than 48 KiB
        ring, tile = smem.alloc(u32, (4, LANES)), smem.alloc(u32, (LANES, LANES))
        which = lane & 3
        smem.store(u32, ptx.addr(ring[which], 4), x)  # the last writer of a stage wins
        tile[lane, 3] = x
        ptx.bar.sync(0)
        own, fixed = smem.load(u32, ptx.addr(ring[which], 4)), tile[5, 3]
        same = smem.load(u32, ptx.addr(ring[2], 4))
        ptx.inst.mad.lo.u32(own, own, 1000, fixed)
        ptx.inst.mad.lo.u32(own, own, 1000, same)
        return own

    values = np.arange(LANES)
    last = np.array([28, 29, 30, 31])[values & 3]
    assert per_lane(body, values).tolist() == ((last * 1000 + 5) * 1000 + 30).tolist()


@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
def test_a_swizzle_permutes_the_chunks_of_a_row(swizzle):
    offsets = np.arange(LANES) * 112 % 4096 // 4 * 4
    mask = {"32B": 128, "64B": 384, "128B": 896}[swizzle]
    found = per_lane(lambda _, x: smem.apply_swizzle(x, swizzle), offsets)
    assert found.tolist() == (offsets ^ (offsets & mask) >> 3).tolist()


def test_a_comparison_of_each_kind():
    def body(lane):
        total = reg.scalar(u32, 0)
        for bit, p in enumerate((lane < 4, lane <= 4, lane > 4, lane >= 4, lane == 4, lane != 4)):
            ptx.add(u32, total, total, 1 << bit, pred=p)
        keep = reg.scalar(pred)
        ptx.setp("lt", u32, keep, lane, 2)
        ptx.add(u32, total, total, 64, pred=~keep)
        return total

    assert per_lane(body).tolist() == [
        (i < 4) | (i <= 4) << 1 | (i > 4) << 2 | (i >= 4) << 3 | (i == 4) << 4 | (i != 4) << 5 | (i >= 2) << 6
        for i in range(LANES)
    ]


def test_a_called_kernel_gives_what_its_loop_computes():
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], block=(LANES, 1, 1))
    def power(x, y, *, exponent=3):
        source, target = ptx.global_ptrs(x, y)
        at = reg.from_(ptx.special.tid.x(), u32) << 2
        value, result = reg.scalar(f32), reg.scalar(f32, 1.0)
        ptx.ld(f32, value, ptx.addr(source + at))
        for _ in ptx.range_(0, exponent):
            ptx.mul(f32, result, result, value)
        ptx.st(f32, ptx.addr(target + at), result)

    x = np.linspace(-1, 1, LANES, dtype=np.float32)
    assert power(x, exponent=5).tolist() == (x * x * x * x * x).tolist()
