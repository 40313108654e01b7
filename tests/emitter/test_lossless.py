"""Emitting restores the parsed text, and editing a node changes only its own text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pyptx.emitter import emit, emit_lines
from pyptx.ir.nodes import (
    AddressOperand,
    Block,
    Comment,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Label,
    Module,
    Param,
    PragmaDirective,
    RegDecl,
    RegisterOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.ir.types import ScalarType, StateSpace
from pyptx.parser import parse

CORPUS = sorted((Path(__file__).parents[1] / "corpus").glob("*.ptx"))
TEXTS = {path.stem: path.read_bytes().decode() for path in CORPUS}
HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
NOP = Instruction("nop")
NOP_OPERAND = RegisterOperand("x")


@pytest.mark.parametrize("name", TEXTS)
def test_emitting_restores_the_text(name: str):
    module = parse(TEXTS[name])
    assert emit(module) == TEXTS[name]
    assert parse(emit(module)) == module


@pytest.mark.parametrize("name", TEXTS)
def test_no_node_stores_a_source_line(name: str):
    """No string in the IR contains a whole statement."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple):
            for item in value:
                yield from texts(item)
        elif hasattr(value, "__dataclass_fields__") and not isinstance(value, Comment):
            for field in value.__dataclass_fields__:
                inside = getattr(value, field)
                yield from texts(tuple(gap for _, gap in inside or ()) if field == "layout" else inside)

    for text in texts(parse(TEXTS[name])):
        code = text.split("//")[0].strip()
        assert ";" not in code or code.startswith(("/*", "#", "%")), text


# edits ----------------------------------------------------------------------------------------------------------------


def bodies(module: Module) -> Iterator[tuple[tuple[int, ...], tuple]]:
    """Yield every body with the path to the node that contains it."""

    def inside(path, nodes):
        for i, node in enumerate(nodes):
            if isinstance(node, (Function, Block, IntrinsicScope)) and not getattr(node, "declaration", False):
                yield (*path, i), node.body
                yield from inside((*path, i), node.body)

    yield from inside((), module.directives)


def with_body(module: Module, path: tuple[int, ...], body: tuple) -> Module:
    def rebuilt(nodes, path):
        i, *rest = path
        node = replace(nodes[i], body=rebuilt(nodes[i].body, rest) if rest else tuple(body))
        return (*nodes[:i], node, *nodes[i + 1 :])

    return replace(module, directives=rebuilt(module.directives, path))


def changed(before: str, after: str) -> tuple[str, str]:
    """Return the parts of two texts that differ."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


_JOINED = (RegDecl, VarDecl, PragmaDirective)  # names of one declaration
EDITED = [name for name in TEXTS if name in ("statements", "windows", "clang_sm80", "directives")]


@pytest.mark.parametrize("name", EDITED)
def test_changing_the_opcode_changes_only_its_text(name: str):
    module, text = parse(TEXTS[name]), TEXTS[name]
    for path, body in bodies(module):
        for i, node in enumerate(body):
            if isinstance(node, Instruction):
                edited = (*body[:i], replace(node, opcode="\N{SNOWMAN}"), *body[i + 1 :])
                assert changed(text, emit(with_body(module, path, edited))) == (node.opcode, "\N{SNOWMAN}")


@pytest.mark.parametrize("name", EDITED)
def test_changing_an_operand_changes_only_its_text(name: str):
    module, text = parse(TEXTS[name]), TEXTS[name]
    for path, body in bodies(module):
        for i, node in enumerate(body):
            for j in range(len(node.operands) if isinstance(node, Instruction) else 0):
                operands = (*node.operands[:j], RegisterOperand("\N{SNOWMAN}"), *node.operands[j + 1 :])
                edited = (*body[:i], replace(node, operands=operands), *body[i + 1 :])
                old, new = changed(text, emit(with_body(module, path, edited)))
                assert new == "\N{SNOWMAN}" and ";" not in old.replace("x;", "") and old.count(",") <= 8


@pytest.mark.parametrize("name", EDITED)
def test_removing_a_statement_removes_only_its_text(name: str):
    module, text = parse(TEXTS[name]), TEXTS[name]
    for path, body in bodies(module):
        for i in range(len(body)):
            shorter = emit(with_body(module, path, (*body[:i], *body[i + 1 :])))
            old, new = changed(text, shorter)
            assert new.strip("\n\t ,;") == "" or isinstance(body[i], _JOINED), (old, new)
            assert len(shorter) <= len(text) + 40
            parse(shorter)


@pytest.mark.parametrize("name", EDITED)
def test_an_inserted_statement_has_its_own_line(name: str):
    module, text = parse(TEXTS[name]), TEXTS[name]
    for path, body in bodies(module):
        for i in range(len(body) + 1):
            longer = emit(with_body(module, path, (*body[:i], NOP, *body[i:])))
            lines = [line for line in longer.split("\n") if line.strip() == "nop;"]
            assert len(lines) >= 1
            assert sum(line.strip() == "nop;" for line in text.split("\n")) + 1 == len(lines)
            assert NOP in parse_body(longer, path)


def parse_body(text: str, path: tuple[int, ...]) -> tuple:
    nodes = parse(text).directives
    for i in path:
        nodes = nodes[i].body
    return nodes


def function(body: str) -> str:
    return f"{HEADER}\n.visible .entry f()\n{{\n{body}\n}}\n"


def edited(body: str, edit) -> str:
    """Return the text of the body after `edit` changed its first statement."""
    module = parse(function(body))
    (f,) = module.functions
    text = emit(replace(module, directives=(replace(f, body=(edit(f.body[0]), *f.body[1:])),)))
    return text.removeprefix(f"{HEADER}\n.visible .entry f()\n{{\n").removesuffix("\n}\n")


@pytest.mark.parametrize(
    "before, change, after",
    [
        ("  add.s32  a ,b,  c ; // sum", {"modifiers": (".sat", ".s32")}, "  add.sat.s32  a ,b,  c ; // sum"),
        ("  add.s32  a ,b,  c ; // sum", {"operands": (NOP_OPERAND, NOP_OPERAND)}, "  add.s32  x ,x ; // sum"),
        (" @ p ret;", {"predicate": None}, " ret;"),
        (".reg .b32 %r<0x10>;", {"count": 17}, ".reg .b32 %r<17>;"),
        (".reg .b32 %r<0x10>;", {"name": "%x"}, ".reg .b32 %x<0x10>;"),
        (".reg  .b32  a , b;", {"name": "c"}, ".reg  .b32  c , b;"),
        (".reg  .b32  a , b;", {"type": ScalarType.F32}, ".reg  .f32  a ;\n\t.reg .b32 b;"),
        (".shared  .b8 s[ 010 ];", {"alignment": 4}, ".shared .align 4  .b8 s[ 010 ];"),
        (".shared .align 4  .b8 s[ 010 ];", {"array_size": 9}, ".shared .align 4  .b8 s[ 9 ];"),
        (".loc  1 0x2  3", {"line": 7}, ".loc  1 7  3"),
        ("\tL :  ret;", {"name": "M"}, "\tM :  ret;"),
        (
            "p :  .callprototype  _ ( .param .b32 x ) ;",
            {"params": (Param(StateSpace.PARAM, ScalarType.B8, "y", 4),)},
            "p :  .callprototype  _ ( .param .b8 y[4] ) ;",
        ),
    ],
)
def test_an_edit_keeps_the_surrounding_trivia(before: str, change: dict, after: str):
    assert edited(before, lambda node: replace(node, **change)) == after


@pytest.mark.parametrize(
    "before, operand, after",
    [
        ("ld.u32 a, [ b + 4 ];", AddressOperand("c", "4"), "ld.u32 a, [c+4];"),
        ("st.u32 a, { b,c };", VectorOperand((RegisterOperand("d"),)), "st.u32 a, {d};"),
        ("mov.b32 a, (1/* x */+ 2);", ImmediateOperand("3"), "mov.b32 a, 3;"),
    ],
)
def test_an_inserted_operand_is_canonical(before: str, operand, after: str):
    assert edited(before, lambda node: replace(node, operands=(node.operands[0], operand))) == after


def test_changing_part_of_an_operand_keeps_its_trivia():
    def elsewhere(node):
        return replace(node, operands=(node.operands[0], replace(node.operands[1], base="c")))

    assert edited("ld.u32 a, [ b + 4 ];", elsewhere) == "ld.u32 a, [ c + 4 ];"


def test_a_line_comment_never_swallows_the_next_statement():
    module = parse(f"{HEADER}// the end")
    f = Function(True, "f", body=(NOP,))
    text = emit(replace(module, directives=(*module.directives, f)))
    assert text.endswith("// the end\n\n.entry f()\n{\n\tnop;\n}\n")
    inside = parse(f"{HEADER}.entry f() {{ ret; // one\n}}")
    (g,) = inside.functions
    moved = replace(g.body[0], formatting=replace(g.body[0].formatting, newline=""))
    text = emit(replace(inside, directives=(replace(g, body=(moved, g.body[0])),)))
    assert parse(text).functions[0].body == (g.body[0], g.body[0])


def test_a_header_directive_can_be_added_and_changed():
    module = parse("// c\n.version  8.5 // v\n.target sm_90 , debug\n.entry f() { ret; }\n")
    text = emit(
        replace(module, version=replace(module.version, minor=6), address_size=replace(module.address_size, size=32))
    )
    assert text == "// c\n.version  8.6 // v\n.target sm_90 , debug\n.address_size 32\n.entry f() { ret; }\n"


# places ---------------------------------------------------------------------------------------------------------------


def placed(node, place: str):
    return replace(node, place=place)


def test_every_line_has_the_location_of_its_first_statement():
    module = parse(function("\tadd.s32 a,\n\t\tb, c;\n\tsub.s32 a, b, c; ret;\n\tL: ret;\n\t{\n\t\tret; }"))
    (f,) = module.functions
    add, sub, ret, label, ret2, block = f.body
    inner = replace(block, body=(placed(block.body[0], "inner"),), place="block")
    body = (placed(add, "add"), placed(sub, "sub"), placed(ret, "ret"), label, placed(ret2, "ret2"), inner)
    text, places = emit_lines(replace(module, directives=(replace(f, body=body, place="f"),)))
    assert dict(enumerate(zip(text.split("\n"), places, strict=False), 1)) == {
        1: (".version 8.5", None),
        2: (".target sm_90a", None),
        3: (".address_size 64", None),
        4: ("", None),
        5: (".visible .entry f()", "f"),
        6: ("{", "f"),
        7: ("\tadd.s32 a,", "add"),
        8: ("\t\tb, c;", "add"),
        9: ("\tsub.s32 a, b, c; ret;", "sub"),
        10: ("\tL: ret;", "ret2"),
        11: ("\t{", "block"),
        12: ("\t\tret; }", "inner"),
        13: ("}", "f"),
    }


def test_every_line_has_an_entry_in_places():
    for text in TEXTS.values():
        lines = text.count("\n") + (not text.endswith("\n"))
        assert len(emit_lines(parse(text)).places) == lines


def test_labels_from_python_are_not_indented():
    f = Function(True, "f", body=(Label("L"), Block((Label("M"), NOP)), Comment("// a\n// b")))
    assert emit(replace(parse(HEADER), directives=(f,))).split("\n")[5:] == [
        "{",
        "L:",
        "\t{",
        "M:",
        "\t\tnop;",
        "\t}",
        "\t// a",
        "\t// b",
        "}",
        "",
    ]
