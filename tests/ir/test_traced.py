"""Traced modules compare by value: equal PTX gives equal IR, whatever its Python location."""

import dataclasses
import pickle

import pytest
from support.tracing import module_of, trace

from pyptx import ptx, reg, smem
from pyptx.emitter import emit
from pyptx.ir.nodes import (
    Block,
    CompoundExpr,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    RegDecl,
    RegisterOperand,
)
from pyptx.ir.normalize import diff_modules, normalize_module
from pyptx.ir.visit import instructions, statements
from pyptx.parser import parse
from pyptx.types import bf16, f32, u32, u64


def kernel_body(count: int = 2):
    """Kernel with one of each nested construct."""
    bars, tile = smem.mbarrier(2), smem.alloc(bf16, (64, 64))
    n = reg.from_(ptx.special.tid.x(), u32)

    @ptx.intrinsic
    def load(row):
        ptx.cp.async_bulk.tensor_2d(dst=tile, src=reg.scalar(u64), coord=(0, row), mbar=bars[0])

    with ptx.if_(n == 0):
        for _ in range(count):
            load(n)
    with ptx.else_(), ptx.scope(), ptx.expr():
        reg.scalar(f32, 1.0)
    for _ in ptx.range_(0, n):
        ptx.cluster.arrive_remote(bars[1], 0)
    ptx.raw("// by hand\nL: @%p0 bra L;")


def traced(count: int = 2):
    return module_of({"k": trace(lambda: kernel_body(count))}, "sm_90a")


def test_traces_of_the_same_kernel_are_equal_values():
    assert traced() == traced() and hash(traced()) == hash(traced())
    assert traced() != traced(3)


def test_the_text_of_a_traced_module_round_trips():
    text = emit(traced())
    assert emit(parse(text)) == text and text.endswith("\n")


def test_the_text_of_a_traced_module_parses_to_the_same_ir():
    module = traced()
    assert diff_modules(parse(emit(module)), normalize_module(module)) == []
    assert diff_modules(traced(), traced(3))


def test_nested_instructions_are_visited_once_in_source_order():
    (function,) = traced().entries
    found = list(instructions(function))
    text = [line.strip() for line in emit(traced()).splitlines()]
    where = [
        next(i for i, line in enumerate(text) if line.startswith(("@", inst.mnemonic)) and inst.mnemonic in line)
        for inst in found
    ]
    assert len(found) == sum(line.endswith(";") and not line.startswith(".") for line in text)
    assert where[0] < where[-1]
    kinds = {type(s) for s in statements(function.body)}
    assert {Block, IntrinsicScope, CompoundExpr, Instruction} <= kinds


def test_an_expression_is_one_node_after_its_declarations():
    def body():
        a = reg.scalar(u32, 1)
        with ptx.scope(), ptx.expr():
            b = a + 1
            with ptx.expr():
                b * 2

    block = trace(body).statements[-1]
    assert [type(s) for s in block.body] == [RegDecl, RegDecl, CompoundExpr]
    assert [i.opcode for i in block.body[-1].instructions] == ["add", "mul"]


def test_a_label_splits_an_expression():
    def body():
        with ptx.expr():
            p = reg.scalar(u32, 1) == 1
            with ptx.if_(p):
                ptx.ret()
            ptx.bar.sync()
        with ptx.expr():
            pass

    found = trace(body).statements
    assert [type(s) for s in found] == [CompoundExpr, Label, Label, CompoundExpr]
    assert [len(s.instructions) for s in found if isinstance(s, CompoundExpr)] == [5, 1]
    assert [i.opcode for i in found[0].instructions] == ["mov", "setp", "bra", "ret", "bra"]


def test_a_node_is_immutable_and_its_location_is_not_compared():
    a, b = Instruction("ret"), Instruction("ret", (), (), None, None, trace(ptx.ret).statements[0].place)
    assert a == b and hash(a) == hash(b) and b.place is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        a.opcode = "exit"
    assert pickle.loads(pickle.dumps(a)) == a
    assert RegisterOperand("1") != ImmediateOperand("1")
