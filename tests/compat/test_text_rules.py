"""Compatibility rules for trees, emitted text and transpiled Python."""

import dataclasses
import inspect

import pytest

from pyptx.codegen import ptx_to_python
from pyptx.codegen.__main__ import main
from pyptx.emitter import emit
from pyptx.ir import nodes
from pyptx.ir.nodes import (
    AddressOperand,
    AddressSize,
    Block,
    File,
    Function,
    FunctionDirective,
    ImmediateOperand,
    Instruction,
    Label,
    Module,
    Param,
    Predicate,
    RegDecl,
    RegisterOperand,
    Section,
    SectionData,
    Target,
    VarDecl,
    VectorOperand,
    Version,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.parser import parse
from pyptx.parser.tokens import Token, TokenKind

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
R1 = RegisterOperand("%r1")


def load(offset: str | None, predicate: Predicate | None = None) -> Instruction:
    return Instruction("ld", (".b32",), (R1, AddressOperand("%rd1", offset)), predicate)


MADE = Module(
    Version(8, 5),
    Target(("sm_90a",)),
    AddressSize(64),
    (
        VarDecl(StateSpace.SHARED, ScalarType.B8, "dyn", 0, 128, None, LinkingDirective.EXTERN),
        VarDecl(StateSpace.SHARED, ScalarType.B8, "own[]", None, 16, None, LinkingDirective.EXTERN),
        VarDecl(StateSpace.GLOBAL, ScalarType.U32, "t", 2, None, VectorOperand(tuple(map(ImmediateOperand, "12")))),
        File(1, "a.cu"),
        Function(
            False,
            "f",
            (Param(StateSpace.REG, ScalarType.B32, "x"),),
            (Param(StateSpace.REG, ScalarType.B32, "r"),),
            (Instruction("ret"),),
        ),
        Function(
            True,
            "k",
            (Param(StateSpace.PARAM, ScalarType.U64, "p"), Param(StateSpace.PARAM, ScalarType.B8, "m", 9)),
            None,
            (
                RegDecl(ScalarType.B32, "%r", 100),
                RegDecl(ScalarType.U32, "%one"),
                VarDecl(StateSpace.SHARED, ScalarType.B8, "smem", 49152, 128),
                load("4", Predicate("%p1", True)),
                load("sym"),
                load("_x"),
                load("%r2"),
                load(", {%r1, %r2}", Predicate("%p1")),
                load("-4"),
                load(None),
                Label("L"),
                Block((Instruction("ret"),)),
            ),
            LinkingDirective.VISIBLE,
            (FunctionDirective("maxntid", (128, 1, 1)),),
        ),
        Section(".debug_str", (SectionData("b8", ("0",)),)),
    ),
)
PRINTED = (
    HEADER
    + """\
.extern .shared .align 128 .b8 dyn[];
.extern .shared .align 16 .b8 own[];
.global .u32 t[2] = {1, 2};
.file 1 "a.cu"

.func (.reg .b32 r) f(
	.reg .b32 x
)
{
	ret;
}

.visible .entry k(
	.param .u64 p,
	.param .b8 m[9]
)
.maxntid 128, 1, 1
{
	.reg .b32 %r<100>;
	.reg .u32 %one;
	.shared .align 128 .b8 smem[49152];
	@!%p1 ld.b32 %r1, [%rd1+4];
	ld.b32 %r1, [%rd1+sym];
	ld.b32 %r1, [%rd1+_x];
	ld.b32 %r1, [%rd1+%r2];
	@%p1 ld.b32 %r1, [%rd1, {%r1, %r2}];
	ld.b32 %r1, [%rd1+-4];
	ld.b32 %r1, [%rd1];
L:
	{
		ret;
	}
}
.section .debug_str
{
.b8 0
}
"""
)


# trees and text ----------------------------------------------------------------------------------------------------


def test_what_was_made_and_not_read_is_printed_plainly():
    """Initialisers, arrays without a size, files and sections too; ptxas takes no `[base-4]`, so it is `+-4`."""
    assert emit(MADE) == PRINTED
    again = parse(PRINTED)
    assert emit(again) == PRINTED and emit(dataclasses.replace(again, version=Version(8, 6))) == PRINTED.replace(
        ".version 8.5", ".version 8.6"
    )


def test_every_node_is_frozen_and_compared_by_value():
    kinds = [
        kind
        for kind in vars(nodes).values()
        if dataclasses.is_dataclass(kind) and kind.__module__.startswith("pyptx.ir.")
    ]
    assert len(kinds) > 25 and all(kind.__dataclass_params__.frozen for kind in kinds)
    assert all(kind.__dataclass_params__.eq and kind.__hash__ is not object.__hash__ for kind in kinds)
    text = PRINTED.replace("\tret;", "\t// why\n\n\tret;")
    assert parse(text) == parse(text) != parse(PRINTED) and hash(parse(text)) == hash(parse(text))
    assert all(
        isinstance(value, tuple)
        for value in (
            MADE.target.targets,
            parse(text).directives,
            parse(text).entries[0].body,
            parse(text).entries[0].params,
        )
    )


def test_tokens_are_five_facts_and_of_these_kinds():
    assert list(inspect.signature(Token).parameters) == ["kind", "text", "line", "col", "leading_whitespace"]
    for name in (
        "INTEGER FLOAT STRING IDENTIFIER REGISTER DIRECTIVE LBRACE RBRACE LPAREN RPAREN LBRACKET RBRACKET "
        "COMMA SEMICOLON COLON AT BANG PLUS MINUS PIPE LESS GREATER EQUALS STAR SLASH TILDE AMPERSAND NEWLINE "
        "COMMENT EOF"
    ).split():
        assert TokenKind[name].name == name


# Python ------------------------------------------------------------------------------------------------------------


def test_a_file_as_python_from_its_first_line_to_its_last():
    assert ptx_to_python(
        HEADER
        + """
        .extern .shared .align 128 .b8 pool[];
        .visible .entry k(.param .u64 p0) .maxntid 128, 1, 1 {
            .reg .b32 %r<4>; .reg .u32 %lone; .shared .align 128 .b8 smem[49152];
            .file 1 "a.cu"
            .loc 1 2 3
            DONE: bra DONE; mov.u32 %r1, %smid; mov.u32 %r2, pool; mov.b32 %lone, smem; }"""
    ).splitlines() == [
        "from pyptx import kernel, reg, smem, ptx",
        "from pyptx.types import b8, b32, u32",
        "",
        "",
        '@kernel(arch="sm_90a", version=(8, 5), raw_params=[("u64", "p0")], extern_smem="pool",',
        '        raw_directives=[("maxntid", (128, 1, 1))])',
        "def k():",
        '    r = reg.array(b32, 4, name="%r")',
        '    lone = reg.scalar(u32, name="%lone")',
        '    ptx.var("shared", b8, "smem", size=49152, align=128)',
        '    ptx.label("DONE")',
        '    ptx.bra("DONE")',
        "    ptx.inst.mov.u32(r[1], ptx.special.smid())",
        '    ptx.inst.mov.u32(r[2], "pool")',
        '    ptx.inst.mov.b32(lone, "smem")',
    ]


def test_the_command_explains_itself(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0 and all(option in said for option in ("--name", "--sugar", "-o"))
