"""Raw text, source positions, intrinsics."""

import pytest
from support.tracing import Cases, accept, module_of, trace

from pyptx import intrinsic, ptx, reg
from pyptx.emitter import emit
from pyptx.ir.nodes import IntrinsicScope
from pyptx.types import f32, u32

writes = Cases()


@writes("""
    add.u32 %r0, %r0, 1;
    add.u32 %r0, %r0, 2;
    @%p0 bra skip;
    skip:
    {
    .reg .b32 t;
    mov.b32 t, %r0;
    }
""")
def raw_statements_one_by_one():
    _ = reg.scalar(u32) == 0
    ptx.raw("add.u32 %r0, %r0, 1; add.u32 %r0, %r0, 2;\n @%p0 bra skip;\nskip: { .reg .b32 t; mov.b32 t, %r0; }")


@writes("""
    // BEGIN square(%f0, scale=2)
    mul.f32 %f0, %f0, %f0;
    // END square
    mul.f32 %f0, %f0, %f0;
""")
def a_named_group():
    f = reg.scalar(f32)

    @intrinsic
    def square(x, *, scale):
        ptx.inst.mul.f32(x, x, x)
        return x

    assert square(f, scale=2) is f
    with ptx.expr():
        ptx.inst.mul.f32(f, f, f)


@pytest.mark.parametrize("case", writes.cases, ids=str)
def test_each_emits_its_lines(case):
    case.check()


def test_ptxas_accepts_everything():
    writes.assemble()


def test_every_raw_statement_stands_at_its_call():
    ctx = trace(lambda: ptx.raw("ret; { ret; }"))
    block = ctx.statements[1]
    assert {s.place.line for s in (*ctx.statements, *block.body)} == {ctx.statements[0].place.line}
    assert "ptx.raw" in block.body[0].place.source_line


def test_source_positions_are_written_without_a_semicolon():
    def body():
        ptx.file_(1, "k.py")
        ptx.loc(1, 40)
        ptx.ret()

    module = module_of({"k": trace(body)}, "sm_80", (8, 0))
    lines = emit(module).splitlines()
    assert lines[3] == '.file 1 "k.py"' and "\t.loc 1 40 0" in lines
    accept(module)


def test_outside_a_kernel_an_intrinsic_is_the_function():
    @ptx.intrinsic
    def twice(x):
        """Two of it."""
        return 2 * x

    assert twice(4) == 8 and twice.__name__ == "twice" and twice.__doc__ == "Two of it."
    assert twice.__is_ptx_intrinsic__


def test_intrinsics_nest_and_show_short_arguments():
    @intrinsic
    def inner(x, n):
        ptx.inst.add.f32(x, x, n)

    @intrinsic
    def outer(x, text):
        inner(x, n=1.0)

    ctx = trace(lambda: outer(reg.scalar(f32), "a" * 60))
    (scope,) = ctx.statements
    assert isinstance(scope, IntrinsicScope) and scope.args_repr == f"%f0, '{'a' * 36}..."
    assert isinstance(scope.body[0], IntrinsicScope) and scope.body[0].args_repr == "%f0, n=1.0"


def test_registers_of_an_intrinsic_are_declared_at_function_level():
    @intrinsic
    def fresh():
        return reg.scalar(f32, 1.0)

    ctx = trace(fresh)
    assert [d.name for d in ctx.reg_decls] == ["%f0"]
