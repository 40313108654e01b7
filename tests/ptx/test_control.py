"""Branches, loops, scopes, the pipeline."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tracing import Cases, trace

from pyptx import ptx, reg
from pyptx.errors import NoValueError, ShapeError, TraceError
from pyptx.ir.nodes import Label
from pyptx.types import f32, s32, u32
from pyptx.types import pred as pred_type

writes = Cases()


def condition():
    return reg.scalar(u32) == 0


@writes("""
    setp.eq.u32 %p0, %r0, 0;
    @!%p0 bra $_else_0;
    mov.u32 %r1, 1;
    bra $_endif_1;
    $_else_0:
    $_endif_1:
""")
def a_branch():
    with ptx.if_(condition()):
        reg.scalar(u32, 1)


@writes("""
    @%p0 bra $_else_0;
    mov.u32 %r1, 1;
    bra $_endif_1;
    $_else_0:
    mov.u32 %r2, 2;
    $_endif_1:
""")
def both_ways_of_a_negated_branch():
    with ptx.if_(~condition()):
        reg.scalar(u32, 1)
    with ptx.else_():
        reg.scalar(u32, 2)


@writes("""
    @!%p0 bra $_else_0;
    @!%p1 bra $_else_2;
    bra $_endif_3;
    $_else_2:
    $_endif_3:
    bra $_endif_1;
    $_else_0:
    mov.u32 %r2, 2;
    $_endif_1:
""")
def else_belongs_to_the_outer_branch():
    a, b = condition(), condition()
    with ptx.if_(a), ptx.if_(b):
        pass
    with ptx.else_():
        reg.scalar(u32, 2)


@writes("""
    again:
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 4;
    @%p0 bra again;
    done:
    ret;
    bra.uni done;
""")
def a_loop_that_runs_at_least_once():
    n, keep = reg.scalar(u32), reg.scalar(pred_type)
    with ptx.loop("again", pred=keep):
        n += 1
        ptx.setp("lt", u32, keep, n, 4)
    with ptx.loop("done"):
        ptx.ret()


@writes("""
    mov.s32 %ri0, 0;
    $_loop_0:
    setp.ge.s32 %p0, %ri0, 8;
    @%p0 bra $_endloop_1;
    mov.u32 %r0, 1;
    add.s32 %ri0, %ri0, 1;
    bra $_loop_0;
    $_endloop_1:
""")
def a_counted_loop():
    for _ in ptx.range_(0, 8):
        reg.scalar(u32, 1)


@writes("""
    mov.s32 %ri0, %r0;
    $_loop_0:
    setp.le.s32 %p0, %ri0, %r1;
    @%p0 bra $_endloop_1;
    add.s32 %ri0, %ri0, -2;
    bra $_loop_0;
    $_endloop_1:
""")
def a_loop_downwards_between_registers():
    for _ in ptx.range_(reg.scalar(s32), reg.scalar(s32), -2):
        pass


@writes("""
    mov.s32 %ri0, 0;
    $_loop_0:
    setp.ge.s32 %p0, %ri0, 2;
    @%p0 bra $_endloop_1;
    mov.s32 %ri1, 0;
    $_loop_2:
    setp.ge.s32 %p1, %ri1, %ri0;
    @%p1 bra $_endloop_3;
    add.s32 %ri1, %ri1, %r0;
    bra $_loop_2;
    $_endloop_3:
    add.s32 %ri0, %ri0, 1;
    bra $_loop_0;
    $_endloop_1:
""")
def loops_in_loops():
    step = reg.scalar(s32)
    for i in ptx.range_(0, 2):
        for _ in ptx.range_(0, i, step):
            pass


@writes("""
    and.b32 %r2, %r0, 3;
    sub.s32 %r3, %r0, %r2;
    setp.ge.u32 %p0, %r0, 4;
    @!%p0 bra $_else_0;
    mov.u32 %r4, %r3;
    setp.ne.u32 %p1, %r4, 0;
    kloop:
    add.u32 %r1, %r1, 1;
    add.u32 %r1, %r1, 1;
    add.u32 %r1, %r1, 1;
    add.u32 %r1, %r1, 1;
    sub.s32 %r4, %r4, 4;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra kloop;
    bra $_endif_1;
    $_else_0:
    $_endif_1:
    setp.ne.u32 %p2, %r2, 0;
    @!%p2 bra $_else_2;
    add.u32 %r1, %r1, 1;
    setp.ne.u32 %p3, %r2, 1;
    @!%p3 bra $_else_4;
    add.u32 %r1, %r1, 1;
    setp.ne.u32 %p4, %r2, 2;
    @!%p4 bra $_else_6;
    add.u32 %r1, %r1, 1;
    bra $_endif_7;
    $_else_6:
    $_endif_7:
    bra $_endif_5;
    $_else_4:
    $_endif_5:
    bra $_endif_3;
    $_else_2:
    $_endif_3:
""")
def an_unrolled_loop_with_its_tail():
    total, n = reg.scalar(u32), reg.scalar(u32)

    def body():
        ptx.add(u32, n, n, 1)

    ptx.kloop(total, unroll=4, body=body)


@writes("""
    mov.u32 %r0, 0;
    mov.u32 %r1, 0;
    setp.eq.u32 %p0, %r0, 4;
    selp.u32 %r2, 1, 0, %p0;
    xor.b32 %r1, %r1, %r2;
    selp.u32 %r3, 0, %r0, %p0;
    add.s32 %r0, %r3, 1;
""")
def a_pipeline_step():
    ptx.pipeline(4).advance()


@writes("""
    {
    .reg .f32 %f0;
    mov.f32 %f0, 0f3F800000;
    }
    .pragma "nounroll";
""")
def a_scope_and_a_pragma():
    with ptx.scope():
        reg.scalar(f32, 1.0)
    ptx.pragma("nounroll")


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_construct_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


# branches ----------------------------------------------------------------------------------------------------------


def test_else_needs_its_if_right_before():
    def late():
        p = condition()
        with ptx.if_(p):
            pass
        reg.scalar(u32, 1)
        with ptx.else_():
            pass

    with pytest.raises(TraceError, match="does not follow a ptx.if_") as caught:
        trace(late)
    assert caught.value.place.source_line.strip() == "with ptx.else_():"

    def alone():
        with ptx.else_():
            pass

    with pytest.raises(RuntimeError, match="ptx.else_"):
        trace(alone)


def test_a_second_else_is_refused():
    def body():
        with ptx.if_(condition()):
            pass
        with ptx.else_():
            reg.scalar(u32, 1)
        with ptx.else_():
            pass

    with pytest.raises(TraceError, match="ptx.else_"):
        trace(body)


TREES = st.recursive(st.just(()), lambda inner: st.tuples(st.booleans(), inner, inner), max_leaves=8)


def grow(tree, n):
    """Branches as deep as the tree; the second half is an else where the flag says so, else a following branch."""
    if tree == ():
        ptx.inst.add.u32(n, n, 1)
        return
    has_else, first, second = tree
    with ptx.if_(n == 0):
        grow(first, n)
    if has_else:
        with ptx.else_():
            grow(second, n)
    else:
        grow(second, n)


@settings(max_examples=40)
@given(TREES)
def test_however_branches_nest_labels_are_placed_once_and_jumps_go_forward(tree):
    ctx = trace(lambda: grow(tree, reg.scalar(u32)))
    places = {s.name: i for i, s in enumerate(ctx.statements) if isinstance(s, Label)}
    assert len(places) == sum(isinstance(s, Label) for s in ctx.statements)
    jumps = [(i, s.operands[0].name) for i, s in enumerate(ctx.statements) if getattr(s, "opcode", "") == "bra"]
    assert all(places[target] > i for i, target in jumps)
    assert {target for _, target in jumps} == set(places)


def test_a_branch_on_something_else_is_refused():
    with pytest.raises(TypeError, match="a Python `if` decides while tracing"):
        trace(lambda: ptx.if_(True).__enter__())


def test_python_cannot_branch_on_a_predicate():
    def body():
        if condition():
            reg.scalar(u32)

    with pytest.raises(NoValueError, match=r"ptx\.if_") as caught:
        trace(body)
    assert caught.value.place.source_line.strip() == "if condition():"


# loops -------------------------------------------------------------------------------------------------------------


def test_a_loop_of_known_length_is_unrolled_completely():
    count = []
    trace(lambda: ptx.kloop(5, unroll=4, body=lambda: count.append(1)))
    assert len(count) == 5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ptx.kloop(4, unroll=3, body=None), ShapeError, "unroll=3; expected a power of two"),
        (lambda: ptx.kloop(1.5, unroll=2, body=None), TypeError, "int or a register"),
        (lambda: next(ptx.range_(0, 4, 0)), ShapeError, "step 0"),
        (lambda: ptx.pipeline(0), ShapeError, "n_stages=0"),
        (lambda: ptx.raw("add.u32 %r0, ;"), TraceError, "ptx.raw, line 1"),
        (lambda: ptx.raw("} {"), TraceError, "ptx.raw, line 1, column 1"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        trace(call)


def test_breaking_out_of_a_loop_is_found_at_the_end():
    def body():
        for _ in ptx.range_(0, 4):
            break

    ctx = trace(body)
    assert len(ctx.faults) == 1 and "break" in str(ctx.faults[0])
    assert ctx.faults[0].place.source_line.strip() == "for _ in ptx.range_(0, 4):"


def test_an_error_in_a_loop_is_the_users():
    def body():
        for _ in ptx.range_(0, 4):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trace(body)
