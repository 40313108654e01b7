"""The IR nodes that PTX text parses to."""

import pytest

from pyptx.ir.nodes import (
    AddressOperand,
    Alias,
    Attribute,
    BlankLine,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Comment,
    DwarfLine,
    FieldOperand,
    File,
    FunctionDirective,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Loc,
    NegatedOperand,
    NegativeOperand,
    Param,
    ParenthesizedOperand,
    PipeOperand,
    PragmaDirective,
    Predicate,
    RegDecl,
    RegisterOperand,
    Section,
    SectionData,
    SubscriptOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.parser import parse, statements

R, L, N = RegisterOperand, LabelOperand, ImmediateOperand


def one(text: str):
    """Parse a single statement."""
    (node,) = statements(text)
    return node


def operand(text: str):
    return one(f"mov.b32 {text};").operands[0]


def module(text: str):
    return parse(f".version 8.5\n.target sm_90a\n.address_size 64\n{text}")


@pytest.mark.parametrize(
    "text, node",
    [
        ("%r1", R("%r1")),
        ("%v.x", R("%v.x")),
        ("name", L("name")),
        ("v.x", L("v.x")),
        ("_", L("_")),
        ("r1.b0", L("r1.b0")),
        ("5", N("5")),
        ("-5", N("-5")),
        ("- 5", N("-5")),
        ("0xFFU", N("0xFFU")),
        ("1e10", N("1e10")),
        (".5", N(".5")),
        ("0f3F800000", N("0f3F800000")),
        ("WARP_SZ", N("WARP_SZ")),
        ("((128 >> 4) << 16)", N("((128 >> 4) << 16)")),
        ("1 ? 2 : 3", N("1 ? 2 : 3")),
        ("(.s64) 3", N("(.s64) 3")),
        ("0xff(g)", N("0xff(g)")),
        ("g + 4", L("g+4")),
        ("generic(g)+4", L("generic(g)+4")),
        ("5 % 3", N("5 % 3")),
        ("!%p", NegatedOperand(R("%p"))),
        ("! p", NegatedOperand(L("p"))),
        ("-%r1", NegativeOperand(R("%r1"))),
        ("%p|%q", PipeOperand(R("%p"), R("%q"))),
        ("%r1 | _", PipeOperand(R("%r1"), L("_"))),
        ("{%r1, %r2}", VectorOperand((R("%r1"), R("%r2")))),
        ("{ %r1 ,1 }", VectorOperand((R("%r1"), N("1")))),
        ("{{1,2},{3}}", VectorOperand((VectorOperand((N("1"), N("2"))), VectorOperand((N("3"),))))),
        ("[%rd0]", AddressOperand("%rd0")),
        ("[%rd0+4]", AddressOperand("%rd0", "4")),
        ("[ %rd0 + 4 ]", AddressOperand("%rd0", "4")),
        ("[%rd0+-4]", AddressOperand("%rd0", "-4")),
        ("[%rd0-4]", AddressOperand("%rd0", "-4")),
        ("[s+(4 * 2)]", AddressOperand("s", "(4*2)")),
        ("[s+16+4]", AddressOperand("s", "16+4")),
        ("[12]", AddressOperand("12")),
        ("[a].unified", AddressOperand("a", suffix=".unified")),
        ("[%rd0 , {%r1,%r2}]", AddressOperand("%rd0", ", {%r1, %r2}")),
        ("[tex, smp, {%r1}]", AddressOperand("tex", ", smp, {%r1}")),
        ("a[4]", SubscriptOperand("a", "4")),
        ("(a, b)", ParenthesizedOperand((L("a"), L("b")))),
    ],
)
def test_an_operand_parses_to_its_node(text: str, node):
    assert operand(text) == node


@pytest.mark.parametrize(
    "text, node",
    [
        ("ret;", Instruction("ret")),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global [%r1];",
            Instruction(
                "cp", (".async", ".bulk", ".tensor", ".2d", ".shared::cta", ".global"), (AddressOperand("%r1"),)
            ),
        ),
        ("@!%p1 bra.uni L;", Instruction("bra", (".uni",), (L("L"),), Predicate("%p1", True))),
        ("@ p add .s32 a,b,c;", Instruction("add", (".s32",), (L("a"), L("b"), L("c")), Predicate("p"))),
        (
            "call (r), f, (a);",
            Instruction("call", (), (ParenthesizedOperand((L("r"),)), L("f"), ParenthesizedOperand((L("a"),)))),
        ),
        ("call f, (1);", Instruction("call", (), (L("f"), ParenthesizedOperand((N("1"),))))),
        ("done:", Label("done")),
        ("$L__BB0_1:", Label("$L__BB0_1")),
        (".reg .b32 %r<9>;", RegDecl(ScalarType.B32, "%r", 9)),
        (".reg .v4 .f32 v;", RegDecl(ScalarType.F32, "v", vector=4)),
        (".reg .align 8 .b64 d;", RegDecl(ScalarType.B64, "d", alignment=8)),
        (".shared .align 128 .b8 s[0x40];", VarDecl(StateSpace.SHARED, ScalarType.B8, "s", 64, 128)),
        (".param .b32 p;", VarDecl(StateSpace.PARAM, ScalarType.B32, "p")),
        ('.pragma "nounroll";', PragmaDirective("nounroll")),
        ("// words", Comment("// words")),
        ("/* a\nb */", Comment("/* a\nb */")),
        ('# 1 "f.cu"', Comment('# 1 "f.cu"')),
        ("{ ret; }", Block((Instruction("ret"),))),
        (".loc 1 2 3", Loc(1, 2, 3)),
        (".loc 1 2 3, function_name f + 4, inlined_at 4 5 6", Loc(1, 2, 3, "f+4", (4, 5, 6))),
        ("t: .branchtargets A, B<3>;", BranchTargets("t", ("A", "B<3>"))),
        ("t: .calltargets f, g;", CallTargets("t", ("f", "g"))),
        (
            "p: .callprototype (.param .b32 _) _ (.param .b8 _[4]) .noreturn;",
            CallPrototype(
                "p",
                (Param(StateSpace.PARAM, ScalarType.B8, "_", 4),),
                (Param(StateSpace.PARAM, ScalarType.B32, "_"),),
                (FunctionDirective("noreturn"),),
            ),
        ),
        ("// BEGIN f(x, 3)\nret;\n// END f", IntrinsicScope("f", "x, 3", (Instruction("ret"),))),
    ],
)
def test_a_statement_parses_to_its_node(text: str, node):
    assert one(text) == node


@pytest.mark.parametrize(
    "text, node",
    [
        (".global .f32 x = 1.5;", VarDecl(StateSpace.GLOBAL, ScalarType.F32, "x", None, None, N("1.5"))),
        (
            ".visible .const .u8 t[] = {1, 2};",
            VarDecl(
                StateSpace.CONST, ScalarType.U8, "t", 0, None, VectorOperand((N("1"), N("2"))), LinkingDirective.VISIBLE
            ),
        ),
        (
            ".extern .shared .align 16 .b8 s[];",
            VarDecl(StateSpace.SHARED, ScalarType.B8, "s", 0, 16, None, LinkingDirective.EXTERN),
        ),
        (".global .u32 m[2][0x3];", VarDecl(StateSpace.GLOBAL, ScalarType.U32, "m[2][3]")),
        (
            ".align 8 .attribute(.managed, .unified(1, 2)) .global .u64 g;",
            VarDecl(
                StateSpace.GLOBAL,
                ScalarType.U64,
                "g",
                None,
                8,
                attributes=(Attribute("managed"), Attribute("unified", (1, 2))),
            ),
        ),
        (
            ".global .samplerref s = {filter_mode = nearest};",
            VarDecl(
                StateSpace.GLOBAL,
                ScalarType.SAMPLERREF,
                "s",
                None,
                None,
                VectorOperand((FieldOperand("filter_mode", L("nearest")),)),
            ),
        ),
        ('.file 1 "a.cu", 5, 0x10', File(1, "a.cu", 5, 16)),
        (".alias f, g;", Alias("f", "g")),
        ("@@DWARF .byte 1, 2", DwarfLine((".byte", "1", ",", "2"))),
        (
            ".section .debug_str { L: .b8 1, 2\n.b64 f + 4 }",
            Section(".debug_str", (Label("L"), SectionData("b8", ("1", "2")), SectionData("b64", ("f+4",)))),
        ),
    ],
)
def test_a_module_directive_parses_to_its_node(text: str, node):
    assert module(text).directives == (node,)


def test_address_size_is_optional():
    parsed = parse(".version 7.0\n.target sm_80, debug\n")
    assert (parsed.version.major, parsed.target.targets, parsed.address_size.size) == (7, ("sm_80", "debug"), 64)


def test_a_function_with_all_optional_parts():
    (f,) = module(".weak .func (.reg .b32 r) f(.param .u64 .ptr .global .align 16 p, .reg .b32 x) .noreturn;").functions
    assert (f.name, f.is_entry, f.declaration, f.linking) == ("f", False, True, LinkingDirective.WEAK)
    assert f.return_params == (Param(StateSpace.REG, ScalarType.B32, "r"),)
    assert f.params == (
        Param(StateSpace.PARAM, ScalarType.U64, "p", None, None, StateSpace.GLOBAL, 16),
        Param(StateSpace.REG, ScalarType.B32, "x"),
    )
    assert f.directives == (FunctionDirective("noreturn"),)
    (k,) = module('.entry k .maxntid 0x80, 1 .language "CUDA C++" .pragma "x"; { ret; }').entries
    assert k.directives == (
        FunctionDirective("maxntid", (128, 1)),
        FunctionDirective("language", ('"CUDA C++"',)),
        FunctionDirective("pragma", ('"x"',)),
    )
    assert k.body == (Instruction("ret"),) and not k.declaration


def test_each_name_of_a_declaration_is_a_node():
    assert statements(".reg .b64 a, b<2>;") == (RegDecl(ScalarType.B64, "a"), RegDecl(ScalarType.B64, "b", 2))
    assert statements(".reg .b64 a, b;") == statements(".reg .b64 a; .reg .b64 b;")
    assert [d.name for d in module(".global .u32 a = 1, b[2];").directives] == ["a", "b"]


def test_statements_may_share_a_line_or_span_several():
    text = "mov.b32 a, 1; mov.b32 b,\n  2; L: ret; // out"
    assert statements(text) == (
        Instruction("mov", (".b32",), (L("a"), N("1"))),
        Instruction("mov", (".b32",), (L("b"), N("2"))),
        Label("L"),
        Comment("// out"),
        Instruction("ret"),
    )


def test_comments_and_blank_lines_are_nodes_in_a_body():
    (f,) = module(".entry f() {\n// one\n\nret;\n}\n").functions
    assert f.body == (Comment("// one"), BlankLine(), Instruction("ret"))


def test_a_blank_line_before_a_function_belongs_to_it():
    assert [type(d).__name__ for d in module("\n.entry f() { ret; }\n\n\n.entry g() { ret; }\n").directives] == [
        "Function",
        "BlankLine",
        "Function",
    ]


def test_dimensions_and_elements_of_a_variable():
    (declared,) = module(".global .v2 .f32 m[2][3];").directives
    assert (declared.symbol, declared.dimensions, declared.elements) == ("m", (2, 3), 12)
    (scalar,) = module(".global .f32 m;").directives
    assert (scalar.dimensions, scalar.elements) == ((), 1)
