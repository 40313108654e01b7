"""Compatibility rules for control flow, traces and intrinsics."""

import pytest
from support.tracing import accept, module_of, trace, written

from pyptx import intrinsic, ptx, reg, smem
from pyptx.emitter import emit
from pyptx.errors import ShapeError
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.tracing.trace import trace_scope
from pyptx.types import b32, b64, f32, f64, pred, s32, u32, u64


def statements(body):
    return len(trace(body).statements)


def test_how_many_statements_a_construct_takes():
    def branch(otherwise):
        p = reg.scalar(pred)
        with ptx.if_(p):
            ptx.ret()
        if otherwise:
            with ptx.else_():
                ptx.ret()

    def counted():
        for _ in ptx.range_(0, 4):
            ptx.ret()

    assert statements(lambda: branch(False)) == 5 and statements(lambda: branch(True)) == 6
    assert statements(counted) == 8


def test_fresh_labels_count_through_all_prefixes():
    def body():
        with ptx.if_(reg.scalar(pred)):
            for _ in ptx.range_(0, 2):
                ptx.mbarrier.wait(smem.mbarrier(1)[0], 0)

    labels = [line[:-1] for line in written(body) if line.endswith(":")]
    assert labels == ["$_loop_2", "$_mbar_wait_4", "$_endloop_3", "$_else_0", "$_endif_1"]


def test_predicates_of_a_scope_are_pooled_outside_of_it():
    def body():
        with ptx.scope():
            reg.scalar(pred)
            reg.scalar(f32)

    ctx = trace(body)
    assert [(d.name, d.count) for d in ctx.reg_decls] == [("%p", 1)]
    assert [d.name for d in ctx.statements[0].body] == ["%f0"]


def test_declarations_precede_variables_and_statements():
    def body():
        ptx.ret()
        smem.alloc(f32, 4)
        reg.scalar(f32)

    assert [type(s).__name__ for s in trace(body).body()] == ["RegDecl", "VarDecl", "Instruction"]


def test_a_trace_is_restored_whatever_happens_inside():
    with trace_scope() as outer, pytest.raises(KeyError), trace_scope():
        raise KeyError
    assert not outer.statements
    with pytest.raises(RuntimeError, match="No active kernel trace"):
        ptx.ret()


def test_a_pipeline_goes_on_from_registers_it_is_given():
    def body():
        cursor, phase = reg.scalar(u32), reg.scalar(u32)
        ring = ptx.pipeline(3, cursor=cursor, phase=phase)
        assert ring.n_stages == 3 and ring.cursor is cursor and ring.phase is phase
        stage, flipped = ring.advance()
        assert flipped is phase and stage is not cursor

    assert written(body)[0] == "setp.eq.u32 %p0, %r0, 3;"


@pytest.mark.parametrize(("total", "unroll", "error"), [(8, 3, ValueError), (8, 0, ValueError), (1.5, 4, TypeError)])
def test_a_loop_that_cannot_be_unrolled(total, unroll, error):
    with pytest.raises(error):
        trace(lambda: ptx.kloop(total, unroll=unroll, body=lambda: None))


@pytest.mark.parametrize(("dtype", "kind"), [(b32, "u32"), (u32, "u32"), (s32, "s32"), (b64, "u64"), (u64, "u64")])
def test_an_unrolled_loop_compares_in_the_type_of_its_count(dtype, kind):
    lines = written(lambda: ptx.kloop(reg.scalar(dtype), unroll=2, body=ptx.ret))
    assert [line.split()[0] for line in lines if line.startswith("setp")] == [
        f"setp.{compare}.{kind}" for compare in ("ge", "ne", "ne", "ne")
    ]
    assert sum(line == "ret;" for line in lines) == 3


def test_what_ends_in_front_of_a_module_is_written_as_ptxas_reads_it():
    def body():
        ptx.file_(1, "kernel.py")
        ptx.loc(1, 40)
        ptx.ret()

    module = module_of({"k": trace(body)}, "sm_80")
    text = emit(module)
    assert '.file 1 "kernel.py"' in text[: text.index(".visible")] and "\t.loc 1 40 0\n" in text
    accept(module)


def test_a_ring_needs_stages():
    with pytest.raises(ShapeError, match="n_stages=0"):
        trace(lambda: ptx.pipeline(0))


def test_an_intrinsic_shows_what_it_was_called_with():
    @intrinsic
    def helper(a, b, *, c=0):
        return a, b, c

    assert helper.__is_ptx_intrinsic__ and helper(1, 2, c=3) == (1, 2, 3) and ptx.intrinsic is intrinsic

    def body():
        helper(reg.scalar(f64), "x" * 60, c=[1, 2])

    assert written(body) == [f"// BEGIN helper(%fd0, 'xxxxx{'x' * 31}..., c=[1, 2])", "// END helper"]


@pytest.mark.parametrize("kind", [ScalarType, StateSpace, LinkingDirective])
def test_enumerations_are_read_with_and_without_a_dot(kind):
    for member in kind:
        assert kind.from_ptx(member.ptx) is kind.from_ptx(member.value) is member and member.ptx == "." + member.value
    with pytest.raises(ValueError, match="nobody"):
        kind.from_ptx("nobody")
