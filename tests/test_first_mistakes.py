"""What a new kernel author gets wrong: each mistake is one clear error at the right line, with what would do."""

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.errors import CompileError, LaunchError, SimulationError, TraceError
from pyptx.types import b16, f32, u32, u64


def line_of(function, text):
    """Absolute line of the source line of `function` that holds `text`."""
    from inspect import getsourcelines
    lines, first = getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def only_diagnostic(k):
    with pytest.raises(CompileError) as caught:
        k.compile()
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_a_wrong_modifier_is_named_with_its_alternatives():
    @kernel(arch="sm_80")
    def k():
        x = reg.scalar(f32, 1.0)
        ptx.inst.add.rm2.f32(x, x, x)

    found = only_diagnostic(k)
    assert found.place.line == line_of(k, "rm2") and found.place.file == __file__
    assert ".rm2" in found.message and "add" in found.message
    assert ".rn" in f"{found.message} {found.hint}"


def test_a_wrong_operand_count_is_named_with_the_form():
    @kernel(arch="sm_80")
    def k():
        x = reg.scalar(f32, 1.0)
        ptx.inst.fma.rn.f32(x, x, x)

    found = only_diagnostic(k)
    assert found.place.line == line_of(k, "fma")
    assert "operand" in found.message and "d, a, b, c" in f"{found.message} {found.hint}"


def test_an_undeclared_register_is_named():
    @kernel(arch="sm_80")
    def k():
        x = reg.scalar(f32, 1.0)
        ptx.inst.add.f32(x, x, reg.Reg("%missing", f32))

    found = only_diagnostic(k)
    assert found.place.line == line_of(k, "missing") and "%missing" in found.message


def test_all_faults_are_reported_together():
    @kernel(arch="sm_80")
    def k():
        x = reg.scalar(f32, 1.0)
        ptx.inst.add.rm2.f32(x, x, x)
        ptx.inst.fma.rn.f32(x, x, x)

    with pytest.raises(CompileError) as caught:
        k.sass()
    assert [d.place.line for d in caught.value.diagnostics] == [line_of(k, "rm2"), line_of(k, "fma")]
    assert "rm2" in k.ptx()                                    # the text is there all the same


def test_a_python_if_on_a_register_points_at_ptx_if():
    @kernel
    def k():
        tid = reg.from_(ptx.special.tid.x(), u32)
        if tid < 5:
            reg.scalar(f32)

    with pytest.raises(TraceError, match=r"hint: .*ptx\.if_") as caught:
        k.ptx()
    assert caught.value.place.line == line_of(k, "if tid")


def test_a_register_as_a_range_points_at_ptx_range():
    @kernel
    def k():
        tid = reg.from_(ptx.special.tid.x(), u32)
        for _ in range(tid):
            reg.scalar(f32)

    with pytest.raises(TraceError, match=r"ptx\.range_"):
        k.ptx()


def test_breaking_out_of_a_traced_loop_is_refused():
    @kernel
    def k():
        for i in ptx.range_(0, 4):
            with ptx.if_(i < 2):
                break

    with pytest.raises(TraceError, match="break") as caught:
        k.ptx()
    assert caught.value.place.line == line_of(k, "range_")


def test_a_register_call_outside_a_kernel_says_so():
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        reg.scalar(f32)
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        smem.alloc(f32, 4)


@kernel(arch="sm_80", in_specs=[Tile("M", "N", f32), Tile("N", f32)], out_specs=[Tile("M", "N", f32)], block=(32, 1, 1))
def pair(x, w, y):
    ptx.ret()


ROWS, WEIGHTS = np.zeros((4, 8), np.float32), np.zeros(8, np.float32)


@pytest.mark.parametrize(("arrays", "message"), [
    ((ROWS[0], WEIGHTS), r"pair: x: array of shape \(8,\) has rank 1"),
    ((ROWS.astype(np.float64), WEIGHTS), "pair: x has dtype float64, but .* takes f32"),
    ((ROWS, np.zeros(9, np.float32)), "pair: conflicting sizes for 'N': 8 in x, 9 in w"),
    ((ROWS[:, ::2], np.zeros(4, np.float32)), "pair: x is not contiguous"),
    ((ROWS, WEIGHTS.tolist()), "pair: w is a list, no array; pass one of NumPy, torch or JAX"),
])
def test_wrong_arrays_are_refused_before_anything_runs(arrays, message):
    with pytest.raises(LaunchError, match=message):
        pair(*arrays)


def test_too_few_arrays_are_refused():
    with pytest.raises(TypeError, match=r"takes 2 input arrays \(x, w\), got 1"):
        pair(ROWS)


def test_wrong_outputs_are_refused():
    with pytest.raises(LaunchError, match=r"pair: y has shape \(3, 8\), the result has \(4, 8\)"):
        pair(ROWS, WEIGHTS, out=np.zeros((3, 8), np.float32))
    with pytest.raises(LaunchError, match="y has dtype int8"):
        pair(ROWS, WEIGHTS, out=np.zeros((4, 8), np.int8))


def test_a_call_without_specs_points_at_launch():
    @kernel
    def bare():
        ptx.ret()

    with pytest.raises(NotImplementedError, match=r"in_specs.*bare\.launch"):
        bare()


def test_a_load_of_a_float_type_of_16_bits_is_told_the_type_of_bits():
    @kernel(arch="sm_80")
    def k():
        x, at = reg.scalar(b16), reg.scalar(u64, 0)
        ptx.inst.ld.global_.bf16(x, ptx.addr(at))

    assert "(did you mean '.b16'?)" in only_diagnostic(k).message


def sums(a, b, c):
    (M, K), N = a.shape, b.shape[1]
    reg.scalar(f32, M * K * N)


@pytest.mark.parametrize("given, says", [
    ({}, "the sizes M, K and N are not given, and a tensor has no shape without them"),
    ({"M": 1}, "the sizes K and N are not given"),
    ({"M": 1, "K": 1}, "the size N is not given, and a tensor has no shape without it")])
def test_a_size_that_nobody_gave_is_named(given, says):
    k = kernel(in_specs=(Tile("M", "K", f32), Tile("K", "N", f32)), out_specs=(Tile("M", "N", f32),))(sums)
    with pytest.raises(TraceError, match=f"kernel sums: {says}") as caught:
        k.ptx(**given)
    assert caught.value.place.line == line_of(sums, "a.shape") and caught.value.place.file == __file__
    assert "sums.compile(M=..., K=..., N=...), or -p M=... K=... N=..." in caught.value.hint
    assert k.compile(M=1, K=1, N=1).ptx


def test_other_errors_of_a_kernel_without_sizes_are_left_alone():
    @kernel(in_specs=(Tile("N", f32),))
    def k(x):
        len(3)

    with pytest.raises(TypeError, match="has no len"):
        k.ptx()


def test_more_arrivals_than_an_mbarrier_counts_are_asked_about():
    @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), grid=1, block=(32, 1, 1), arch="sm_90a")
    def k(x, y):
        tid = reg.from_(ptx.special.tid.x(), u32)
        empty = ptx.mbarrier.array(reg.from_(smem.mbarrier(1).name, u32), 0, 1)[0]
        with ptx.if_(tid == 0):
            empty.init(4)
            ptx.fence.mbarrier_init()
        ptx.bar.sync(0)
        empty.arrive(pred=tid < 8)
        ptx.bar.sync(0)
        empty.wait(0)

    with pytest.raises(SimulationError, match="do more than 4 arrive in a round"):
        k(np.zeros(32, np.float32))
