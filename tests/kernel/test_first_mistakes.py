"""Mistakes of new kernel authors: each gives one clear error at its line, with a fix."""

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.debug import DebugError
from pyptx.errors import CompileError, LaunchError, NoValueError, SimulationError, TraceError
from pyptx.types import b16, f32, pred, u32, u64


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
    assert "rm2" in k.ptx()  # the text is there all the same


def test_a_python_if_on_a_register_points_at_ptx_if():
    @kernel
    def k():
        tid = reg.from_(ptx.special.tid.x(), u32)
        if tid < 5:
            reg.scalar(f32)

    with pytest.raises(NoValueError, match=r"hint: .*ptx\.if_") as caught:
        k.ptx()
    assert caught.value.place.line == line_of(k, "if tid")


def test_a_register_as_a_range_points_at_ptx_range():
    @kernel
    def k():
        tid = reg.from_(ptx.special.tid.x(), u32)
        for _ in range(tid):
            reg.scalar(f32)

    with pytest.raises(NoValueError, match=r"ptx\.range_"):
        k.ptx()


def test_breaking_out_of_a_traced_loop_is_refused():
    @kernel
    def k():
        for i in ptx.range_(0, 4):
            with ptx.if_(i < 2):
                break

    with pytest.raises(TraceError, match="break") as caught:
        k.ptx()
    assert caught.value.place.line == line_of(k, "ptx.if_")


def test_a_register_call_outside_a_kernel_says_so():
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        reg.scalar(f32)
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        smem.alloc(f32, 4)


@kernel(arch="sm_80", in_specs=[Tile("M", "N", f32), Tile("N", f32)], out_specs=[Tile("M", "N", f32)], block=(32, 1, 1))
def pair(x, w, y):
    ptx.ret()


ROWS, WEIGHTS = np.zeros((4, 8), np.float32), np.zeros(8, np.float32)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((ROWS[0], WEIGHTS), r"pair: x: array of shape \(8,\) has rank 1"),
        ((ROWS.astype(np.float64), WEIGHTS), "pair: x has dtype float64, but .* takes f32"),
        ((ROWS, np.zeros(9, np.float32)), "pair: conflicting sizes for 'N': 8 in x, 9 in w"),
        ((ROWS[:, ::2], np.zeros(4, np.float32)), "pair: x is not contiguous"),
        ((ROWS, WEIGHTS.tolist()), "pair: w is a list, not an array; pass an array of NumPy, torch or JAX"),
    ],
)
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


@pytest.mark.parametrize(
    "given, says",
    [
        ({}, "the sizes M, K and N are not given, and a tensor has no shape without them"),
        ({"M": 1}, "the sizes K and N are not given"),
        ({"M": 1, "K": 1}, "the size N is not given, and a tensor has no shape without it"),
    ],
)
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

    with pytest.raises(SimulationError, match="if more than 4 arrive per phase"):
        k(np.zeros(32, np.float32))


def of_32(body):
    return kernel(body, in_specs=[Tile(32, f32)], out_specs=[Tile(32, f32)], grid=1, block=32, arch="sm_80")


NUMBERS = np.arange(32, dtype=np.float32)


def where(x, y):
    """The thread, and where it writes."""
    (to,) = ptx.global_ptrs(y)
    tid = reg.from_(ptx.special.tid.x(), u32)
    return tid, ptx.addr(to + tid * 4)


def test_predicates_are_joined_by_and_xor_and_not():
    def k(x, y):
        tid, to = where(x, y)
        both, one = (tid > 3) & (tid < 9) & ~(tid == 5), ~(tid < 20) ^ (tid >= 30)
        chosen = reg.scalar(pred)
        ptx.inst.or_.pred(chosen, both, one)
        chosen &= ~(tid == 25)
        ptx.inst.st.global_.f32(to, reg.scalar(f32, 1.0), pred=chosen)

    i = np.arange(32)
    wanted = ((i > 3) & (i < 9) & (i != 5) | ((i >= 20) ^ (i >= 30))) & (i != 25)
    assert (of_32(k)(NUMBERS, out=np.zeros(32, np.float32)) == wanted).all()


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda p, q: ptx.if_(p | q).__enter__(), r"ptx\.if_ takes .* for OR, use ptx\.inst\.or_\.pred"),
        (lambda p, q: ptx.ret(pred=p | q), r"pred= takes .* for OR, use ptx\.inst\.or_\.pred"),
        (lambda p, q: (p | q) & p, r"a pair of destinations, .* ptx\.inst\.or_\.pred"),
        (lambda p, q: ~p | q, r"for OR, use ptx\.inst\.or_\.pred"),
        (lambda p, q: p + q, r"operator \+ is not defined on predicates .*; use p & q"),
        (lambda p, q: p & 1, "operator & takes two predicates"),
        (lambda p, q: not p, r"hint: .*ptx\.if_.* p & q, .*or_\.pred"),
    ],
)
def test_what_predicates_cannot_do_suggests_a_fix(use, says):
    def k(x, y):
        tid, _ = where(x, y)
        use(tid > 3, tid < 9)

    with pytest.raises(TypeError, match=says):
        of_32(k)(NUMBERS)


def test_a_block_without_with_is_no_block():
    def k(x, y):
        tid, to = where(x, y)
        ptx.if_(tid < 3)
        ptx.inst.st.global_.f32(to, reg.scalar(f32, 1.0))

    with pytest.raises(TraceError, match=r"ptx\.if_ without `with`.*") as caught:
        of_32(k)(NUMBERS)
    assert caught.value.place.line == line_of(k, "ptx.if_")


def returns(x, y):
    tid, to = where(x, y)
    with ptx.if_(tid > 3):
        return
    ptx.inst.st.global_.f32(to, reg.scalar(f32, 1.0))


def continues(x, y):
    tid, to = where(x, y)
    for i in ptx.range_(0, 4):
        with ptx.if_(tid == i):
            continue
        ptx.inst.st.global_.f32(to, reg.scalar(f32, 1.0))


@pytest.mark.parametrize("body", [returns, continues])
def test_leaving_a_block_by_python_is_refused_at_the_block(body):
    with pytest.raises(TraceError, match=r"takes effect while tracing[\s\S]*hint: .*ptx\.(ret|if_)") as caught:
        of_32(body).ptx()
    assert caught.value.place.line == line_of(body, "with ptx.if_")


def test_leaving_a_block_where_nothing_follows_is_left_alone():
    def k(x, y):
        tid, to = where(x, y)
        with ptx.if_(tid < 3):
            ptx.inst.st.global_.f32(to, reg.scalar(f32, 1.0))
            return

    assert of_32(k)(NUMBERS, out=np.zeros(32, np.float32)).sum() == 3


def test_a_kernel_that_returns_something_is_told_where_results_go():
    def k(x, y):
        return where(x, y)

    with pytest.raises(TraceError, match=r"kernel k returns .*[\s\S]*hint: .*out_specs"):
        of_32(k).ptx()


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda x: ptx.prmt, r"ptx\.inst\.prmt"),
        (lambda x: ptx.bar_sync(0), r"ptx\.inst\.bar\.sync"),
        (lambda x: ptx.rangee, r"did you mean ptx\.range_"),
        (lambda x: reg.scalar("f32"), r"'f32' is not a PTX type; .* f32"),
        (lambda x: reg.scalar(np.int32), r"is not a PTX type; .* s32"),
        (lambda x: smem.alloc(np.float64, 3), r"is not a PTX type; .* f64"),
        (lambda x: x[3.0], r"index 0 of x is 3.0; expected an int or an integer register"),
        (
            lambda x: ptx.inst.add.f32(d=1, a=2),
            r"by position, as in add.type  d, a, b, and only pred= by name; got d, a",
        ),
        (lambda x: ptx.inst.add.f32(reg.scalar(f32), None, 1.0), "an instruction returns its destination if"),
        (lambda x: smem.alloc(f32, 8) + 4, r"ptx\.addr\(a, 16\)"),
        (
            lambda x: smem.alloc(f32, 8).__setitem__(3, reg.scalar(u32)),
            r"(?s)smem_0 has elements of type f32, and .*to\(f32\)",
        ),
        (lambda x: ptx.special.tid.x * 4, r"ptx\.special\.tid\.x is not a register; call it: ptx\.special\.tid\.x\(\)"),
        (lambda x: reg.from_(ptx.special.laneid, u32), r"call it: ptx\.special\.laneid\(\)"),
        (lambda x: ptx.special.tid() < 4, r"ptx\.special\.tid is not a register; call it: ptx\.special\.tid\.x\(\)"),
        (lambda x: float(reg.scalar(f32)), r"ptx\.inst\.sqrt"),
    ],
)
def test_wrong_names_types_and_operands_suggest_a_fix(use, says):
    def k(x, y):
        use(x)

    with pytest.raises((TypeError, AttributeError), match=says):
        of_32(k).ptx()


def test_a_reduction_gives_its_register_back():
    def k(x, y):
        _, to = where(x, y)
        ptx.inst.st.global_.f32(to, ptx.warp.reduce_sum(reg.scalar(f32, 1.0)))

    assert (of_32(k)(NUMBERS) == 32).all()


def test_a_kernel_that_writes_nothing_runs():
    assert of_32(lambda x, y: None)(NUMBERS).shape == (32,)


@kernel(in_specs=[Tile(32, f32)], out_specs=[Tile(32, u32)], raw_params=[("u32", "seed")], grid=1, block=32)
def seeds(x, y):
    _, to = where(x, y)
    ptx.inst.st.global_.u32(to, ptx.param(u32, "seed"))


def test_a_parameter_that_is_called_seed_is_the_kernels():
    assert (seeds(NUMBERS, seed=7) == 7).all() and seeds.check(NUMBERS, seed=7).ok
    with pytest.raises(TypeError, match="no value for raw parameter 'seed'"):
        seeds.check(NUMBERS)
    seeds.debug(NUMBERS, seed=7).close()


def spins(x, y):
    always = reg.scalar(u32, 1) == 1
    with ptx.loop("spin", pred=always):
        pass


def test_an_interrupted_run_says_where_it_was():
    from _thread import interrupt_main
    from threading import Timer

    spin = of_32(spins)
    spin.compile()
    timer = Timer(0.3, interrupt_main)
    with pytest.raises(KeyboardInterrupt) as caught:
        timer.start()
        spin(NUMBERS)
    assert "in CTA (0, 0, 0)" in caught.value.__notes__[0] and "bra spin" in caught.value.__notes__[0]


def test_a_check_gives_an_endless_loop_up(monkeypatch):
    import pyptx.check.checker

    monkeypatch.setattr(pyptx.check.checker, "MAX_STEPS", 5000)
    (found,) = of_32(spins).check(NUMBERS).findings
    assert found.rule == "endless" and len(found.schedules) == 6


@pytest.mark.parametrize(
    ("source", "to", "says"),
    [(u32, f32, r"ptx\.inst\.cvt\.rn\.f32\.u32"), (f32, u32, r"cvt\.rzi\.u32\.f32"), (u32, u64, r"cvt\.u64\.u32")],
)
def test_a_copy_into_another_type_says_how_to_convert(source, to, says):
    def k(x, y):
        reg.from_(reg.scalar(source, 1), to)

    with pytest.raises(TypeError, match=says):
        of_32(k).ptx()


def test_arrays_tell_sizes_where_nothing_is_run():
    assert pair.ptx(ROWS, WEIGHTS) == pair.ptx(M=4, N=8)
    assert pair.compile(ROWS, WEIGHTS) is pair.compile(M=4, N=8) and pair.sass(ROWS, WEIGHTS) == pair.sass(M=4, N=8)
    with pytest.raises(LaunchError, match=r"takes 2 input arrays \(x, w\), got 1"):
        pair.ptx(ROWS)


@kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("T", u32)], grid=lambda T: T)
def tickets(x, y):
    cta, (to,) = reg.from_(ptx.special.ctaid.x(), u32), ptx.global_ptrs(y)
    ptx.inst.st.global_.u32(ptx.addr(to + cta * 4), cta)
    assert y.shape is None or y.shape[0] == 3


def test_a_size_that_only_outputs_have_is_read_off_those_given():
    assert tickets(NUMBERS, out=np.zeros(3, np.uint32)).tolist() == tickets(NUMBERS, T=3).tolist() == [0, 1, 2]
    with pytest.raises(LaunchError, match=r"no input tells the size T of y.*\nhint: .*T=128"):
        tickets(NUMBERS)


def test_a_setting_that_nobody_has_is_no_setting_of_the_simulator():
    with pytest.raises(
        LaunchError, match="'TT' is neither a parameter of tickets nor a setting of the simulator; .* max_steps"
    ):
        tickets.check(NUMBERS, T=3, TT=4)


def test_what_a_kernel_gave_is_there_to_see_at_the_end_of_a_session():
    with seeds.debug(NUMBERS, seed=7) as session:
        assert session.resume().reason == "exit" and session.evaluate("y[31]") == 7
        with pytest.raises(DebugError, match="is not running"):
            session.evaluate("lane")
