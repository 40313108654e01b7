"""Syntax errors: location, message, and recovery."""

import pytest

from pyptx.emitter import emit
from pyptx.errors import PtxError
from pyptx.ir.nodes import Instruction, RawLine
from pyptx.parser import LexError, ParseError, parse, statements
from pyptx.parser.cursor import MAX_DEPTH, MAX_OPERAND_DEPTH

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"


def refused(text: str) -> ParseError:
    with pytest.raises(ParseError) as error:
        parse(text)
    return error.value


@pytest.mark.parametrize(
    "text, where, message",
    [
        ("", "1:1", "expected .version"),
        ("ret;", "1:1", "expected .version"),
        (".version eight\n", "1:10", "a version such as 8.5"),
        (".version 8.5\n.entry", "2:1", "expected .target"),
        (".version 8.5\n.target 90", "2:9", "a target such as sm_90a"),
        (".version 8.5\n.target sm_90\n.address_size 16", "3:15", "32 or 64"),
    ],
)
def test_an_invalid_header_is_refused(text: str, where: str, message: str):
    error = refused(text)
    assert str(error).startswith(f"Parse error at {where}: ") and message in str(error)


@pytest.mark.parametrize(
    "body, where, message",
    [
        ("add.s32 %r1 %r2;", "6:13", "expected ';' or ',' after an operand, found '%r2'"),
        ("add.s32 %r1, ;", "6:14", "expected an operand, found ';'"),
        ("add. s32 %r1;", "6:4", "'.' is not allowed"),
        (";", "6:1", "expected an instruction, a label or a declaration, found ';'"),
        ("@%p { ret; }", "6:5", "expected an instruction after the guard"),
        ("ld.u32 %r1, [%rd1;", "6:18", "expected ']'"),
        ("ld.u32 %r1, {%r1;", "6:17", "expected '}'"),
        ("mov.b32 %r1, (1 + ;", "6:19", "expected a value"),
        ("ld.u32 %r1, [a+, 0];", "6:16", "expected a value"),
        ("mov.b32 %r1, (1 + 2;", "6:20", "expected ')' or an operator"),
        ("mov.f32 %f1, 1.0f;", "6:17", "found 'f'"),
        (".reg .u31 %r1;", "6:6", "expected a type"),
        (".reg .b32 %r<x>;", "6:14", "the number of registers"),
        (".reg .b32 a = 3;", "6:13", "expected ';' or ',' after a name"),
        (".shared .b8 s[4*8];", "6:16", "after the number of elements"),
        (".unknown 3;", "6:1", "found '.unknown'"),
        (".loc 1 x", "6:8", "the line of a location"),
        ("ret; /* no end", "6:6", "expected '*/'"),
        ("ret", "7:1", "expected ';' after the instruction"),
    ],
)
def test_an_invalid_statement_is_refused(body: str, where: str, message: str):
    error = refused(f"{HEADER}.entry f()\n{{\n{body}\n}}\n")
    assert f"error at {where}: " in str(error) and message in str(error)


@pytest.mark.parametrize(
    "text, message",
    [
        (".entry", "a function name"),
        (".entry f(.param .u32 a, ) { }", "expected a parameter"),
        (".entry f() { ret;", "expected '}' at the end of f"),
        (".entry f() { { ret; }", "expected '}'"),
        ("}", "found '}'"),
        ("add.s32 a, b, c;", "expected a directive"),
        (".func f() x", "expected '{', ';' or a directive"),
        ('.global .b8 s[] = "abc";', "expected an operand"),
        (".visible 3", "after .visible"),
        (".section .s { 3 }", "expected data"),
    ],
)
def test_an_invalid_module_level_directive_is_refused(text: str, message: str):
    assert message in str(refused(HEADER + text))


def test_an_error_is_a_ptx_error_and_underlines_its_column():
    error = refused(f"{HEADER}.entry f()\n{{\n\tadd.s32 %r1 %r2;\n}}\n")
    assert isinstance(error, PtxError) and isinstance(error, ValueError) and (error.line, error.col) == (6, 14)
    assert str(error).split("\n")[1:] == ["     add.s32 %r1 %r2;", "    " + " " * 13 + "^"]


def test_an_invalid_character_is_a_lex_error():
    with pytest.raises(LexError, match="Lex error at 4:1"):
        parse(HEADER + "§")


def test_deep_nesting_is_a_parse_error_not_a_recursion_error():
    def function(body: str) -> str:
        return f"{HEADER}.entry f() {{ {body} }}"

    for deep in (
        "{" * 100_000 + "}" * 100_000,
        "mov.b32 a, " + "(" * 100_000 + ";",
        "mov.b32 a, " + "{" * 100_000,
        "mov.b32 a, " + "[a+(" * 100_000,
        "mov.b32 a, " + "!" * 100_000,
        "mov.b32 a, " + "-(" * 100_000,
        "call " + "(" * 100_000,
        "mov.b32 a, " + "(a," * 100_000,
    ):
        with pytest.raises(ParseError):
            parse(function(deep))
        parse(function(deep), recover=True)
    fine = function(
        "{" * MAX_DEPTH
        + "}" * MAX_DEPTH
        + "mov.b32 a, "
        + "{" * MAX_OPERAND_DEPTH
        + "1"
        + "}" * MAX_OPERAND_DEPTH
        + ";"
    )
    assert emit(parse(fine)) == fine


# recovery -------------------------------------------------------------------------------------------------------------


def recovered(body: str):
    text = f"{HEADER}.entry f()\n{{\n{body}\n}}\n.entry after() {{ ret; }}\n"
    module = parse(text, recover=True)
    assert emit(module) == text
    return module


@pytest.mark.parametrize(
    "bad, lines",
    [
        ("add.s32 %r1 %r2;", [6]),
        ("add.s32 %r1, %r2", [7]),
        ("???", [6]),
        ("§", [6]),
        (".reg .u31 a;", [6]),
        ("ld.u32 %r1, [%rd1;", [6]),
        ("ld.u32 {%r1, %r2, %r3;", [6]),
        ("mov.b32 %r1, (((;", [6]),
        ("a b c; d e f;", [6, 6]),
        ("@%p { ret; }", [6]),
        ("@%p {\nret;\n}", [6]),
        ("ld.u32 %r1, [;", [6]),
    ],
)
def test_one_invalid_line_is_one_diagnostic(bad: str, lines: list[int]):
    module = recovered(f"{bad}\nmov.b32 %r1, 1;\nret;")
    assert [d.line for d in module.diagnostics] == lines
    assert all(d.severity == "error" and d.column is not None for d in module.diagnostics)
    assert [f.name for f in module.functions] == ["f", "after"]
    body = module.functions[0].body
    assert Instruction("ret") in body and any(isinstance(node, RawLine) for node in body)
    assert any(isinstance(node, Instruction) and node.opcode == "mov" for node in body)


def test_an_invalid_function_signature_is_one_diagnostic():
    text = f"{HEADER}.entry f(.param u32 x)\n{{\n\tadd.s32 a, b, c;\n\t{{ ret; }}\n}}\n.entry g() {{ ret; }}\n"
    module = parse(text, recover=True)
    assert len(module.diagnostics) == 1 and [f.name for f in module.functions] == ["g"] and emit(module) == text


def test_an_invalid_header_is_one_diagnostic():
    text = "// c\n.version x\n.target sm_90\n.address_size 64\n.entry g() { ret; }\n"
    module = parse(text, recover=True)
    assert len(module.diagnostics) == 1 and [f.name for f in module.functions] == ["g"] and emit(module) == text


def test_a_missing_brace_is_one_diagnostic():
    text = f"{HEADER}.entry f() {{ {{ ret;\n"
    module = parse(text, recover=True)
    assert len(module.diagnostics) == 2 and emit(module) == text  # the block, and the function
    assert module.functions[0].name == "f"


def test_an_unterminated_comment_extends_to_the_end_of_the_text():
    module = parse(HEADER + ".entry f() { ret; /* }\n" * 2000, recover=True)
    assert len(module.diagnostics) == 2


def test_a_valid_module_has_no_diagnostics():
    assert parse(HEADER, recover=True).diagnostics == ()


def test_an_unmatched_closing_brace_in_a_fragment_is_refused():
    with pytest.raises(ParseError, match="found '}'"):
        statements("ret; }")
