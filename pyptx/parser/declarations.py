"""Parsing of declarations: registers, variables, parameters, and directives of functions.

Each function parses at the cursor and adds the formatting of what it consumed to `layout`.
"""

from __future__ import annotations

from typing import NamedTuple

from pyptx.ir.formatting import FormattingInfo, LayoutEntries, compress_layout, integer, strip_trivia
from pyptx.ir.nodes import Attribute, FunctionDirective, LinkingDirective, Operand, Param, ScalarType, StateSpace
from pyptx.parser.cursor import Cursor
from pyptx.parser.operands import parse_operand

__all__ = [
    "BANKS",
    "LINKING",
    "SPACES",
    "Declarator",
    "Specifiers",
    "parse_attributes",
    "parse_declarator",
    "parse_function_directives",
    "parse_specifiers",
    "parse_integer",
    "parse_name",
    "parse_parameters",
]

SPACES = {space.ptx: space for space in StateSpace}
BANKS = {f".const[{n}]": n for n in range(11)}  # constant banks of PTX 1.5 to 2.1
TYPES = {scalar.ptx: scalar for scalar in ScalarType}
LINKING = {linking.ptx: linking for linking in LinkingDirective}
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_POINTED = {".global", ".shared", ".const", ".local", ".param"}
# Directives that start the next statement after a function declaration without a semicolon.
_NEXT_DIRECTIVES = SPACES.keys() | LINKING.keys() | {".func", ".entry", ".file", ".section", ".alias"}


class Specifiers(NamedTuple):
    """State space, type and attributes shared by the names of a declaration."""

    linking: LinkingDirective | None
    space: StateSpace
    type: ScalarType
    vector: int | None
    alignment: int | None
    attributes: tuple[Attribute, ...]
    bank: int | None = None


class Declarator(NamedTuple):
    """One declared name: `name<count>` or `name[2][3] = initializer`."""

    name: str
    register_count: int | None = None
    size: int | None = None
    initializer: Operand | None = None


def parse_integer(c: Cursor, role: str, layout: LayoutEntries, what: str) -> int:
    """Parse an integer literal; `what` names it in the error."""
    value = integer(c.word) if c.kind in ("integer", "identifier") else None
    if value is None:
        c.fail(f"expected {what}")
    layout.append((role, c.trivia))
    word = c.take()
    if str(value) != word:
        layout.append(("=" + role, word))
    return value


def parse_name(c: Cursor, role: str, layout: LayoutEntries, what: str) -> str:
    """Parse an identifier or register name; `what` names it in the error."""
    if c.kind not in ("identifier", "register"):
        c.fail(f"expected {what}")
    layout.append((role, c.trivia))
    return c.take()


def parse_specifiers(c: Cursor, linking: LinkingDirective | None, layout: LayoutEntries) -> Specifiers:
    """Parse state space, `.align` and `.attribute` in any order, then vector width and type."""
    order = ""
    space = alignment = bank = None
    given: tuple[Attribute, ...] = ()
    while True:
        word = c.word
        if (word in SPACES or word in BANKS) and "s" not in order:
            layout.append(("space", c.trivia))
            bank = BANKS.get(c.take())
            space = SPACES[word] if bank is None else StateSpace.CONST
            order += "s"
        elif word == ".align" and "a" not in order:
            layout.append(("align", c.trivia))
            c.advance()
            alignment = parse_integer(c, "alignment", layout, "an alignment in bytes")
            order += "a"
        elif word == ".attribute" and "t" not in order:
            given = parse_attributes(c, layout)
            order += "t"
        else:
            break
    if space is None:
        c.fail(f"expected a state space ({', '.join(s for s in SPACES if '::' not in s)})")
    if order not in ("s", "sa", "st", "sta"):
        layout.append(("=order", order))
    vector = parse_vector_width(c, layout)
    return Specifiers(linking, space, parse_scalar_type(c, layout), vector, alignment, given, bank)


def parse_vector_width(c: Cursor, layout: LayoutEntries) -> int | None:
    if c.word not in _VECTORS:
        return None
    layout.append(("vector", c.trivia))
    return _VECTORS[c.take()]


def parse_scalar_type(c: Cursor, layout: LayoutEntries) -> ScalarType:
    found = TYPES.get(c.word)
    if found is None:
        c.fail("expected a type such as .b32, .u64, .f32 or .pred")
    layout.append(("type", c.trivia))
    c.advance()
    return found


def parse_attributes(c: Cursor, layout: LayoutEntries) -> tuple[Attribute, ...]:
    """Parse `.attribute(.managed, .unified(1, 2))`."""
    layout.append(("attribute", c.trivia))
    c.advance()
    layout.append(("a(", c.expect("(", "after .attribute")))
    found: list[Attribute] = []
    while True:
        i = len(found)
        if c.kind != "directive":
            c.fail("expected an attribute such as .managed")
        layout.append((f"a{i}", c.trivia))
        name = c.take()[1:]
        values: list[int] = []
        if c.word == "(":
            layout.append((f"a{i}(", c.trivia))
            c.advance()
            while True:
                values.append(parse_integer(c, f"a{i}v{len(values)}", layout, "a number"))
                if c.word != ",":
                    break
                layout.append((f"a{i}v,{len(values)}", c.trivia))
                c.advance()
            layout.append((f"a{i})", c.expect(")", "after the values of an attribute")))
        found.append(Attribute(name, tuple(values)))
        if c.word != ",":
            break
        layout.append((f"a,{len(found)}", c.trivia))
        c.advance()
    layout.append(("a)", c.expect(")", "after the attributes")))
    return tuple(found)


def parse_declarator(c: Cursor, layout: LayoutEntries, *, register: bool, first: bool) -> Declarator:
    """Parse one name with its register count, or with its dimensions and initializer."""
    if c.kind not in ("identifier", "register"):
        c.fail("expected a name")
    if first:
        layout.append(("name", c.trivia))
    name = c.take()
    if register:
        if c.word != "<":
            return Declarator(name)
        layout.append(("<", c.trivia))
        c.advance()
        count = parse_integer(c, "count", layout, "the number of registers")
        layout.append((">", c.expect(">", "after the number of registers")))
        return Declarator(name, count)
    name, size = parse_dimensions(c, name, layout)
    if c.word != "=":
        return Declarator(name, None, size)
    layout.append(("is", c.trivia))
    c.advance()
    layout.append(("value", c.trivia))
    return Declarator(name, None, size, parse_operand(c))


def parse_dimensions(c: Cursor, name: str, layout: LayoutEntries) -> tuple[str, int | None]:
    """Parse the dimensions after `name`; return the name and the array size. Several dimensions stay in the name."""
    sizes: list[int] = []
    while c.word == "[":
        i = len(sizes)
        layout.append((f"[{i}", c.trivia))
        c.advance()
        if c.word == "]":
            sizes.append(0)
        else:
            sizes.append(parse_integer(c, f"size{i}", layout, "the number of elements"))
            if sizes[-1] == 0 and not any(role == f"=size{i}" for role, _ in layout):
                layout.append((f"=size{i}", "0"))  # `[0]`, not `[]`
        layout.append((f"]{i}", c.expect("]", "after the number of elements")))
    if not sizes:
        return name, None
    if len(sizes) == 1:
        return name, sizes[0]
    return name + "".join(f"[{size or ''}]" for size in sizes), None


def parse_parameters(c: Cursor, mark: str, layout: LayoutEntries) -> tuple[Param, ...]:
    """Parse a parameter list with its parentheses; the roles of its tokens start with `mark`."""
    layout.append((f"{mark}(", c.trivia))
    c.advance()
    found: list[Param] = []
    if c.word != ")":
        while True:
            layout.append((f"{mark}{len(found)}", c.trivia))
            found.append(_parameter(c))
            if c.word != ",":
                break
            layout.append((f"{mark},{len(found)}", c.trivia))
            c.advance()
    layout.append((f"{mark})", c.expect(")", "or ',' after a parameter")))
    return tuple(found)


def _parameter(c: Cursor) -> Param:
    start = c.start
    layout: LayoutEntries = []
    hidden = c.word == ".hidden"
    if hidden:
        c.advance()
    order = ""
    space = alignment = None
    while True:
        if c.word in SPACES and "s" not in order:
            layout.append(("space", c.trivia))
            space = SPACES[c.take()]
            order += "s"
        elif c.word == ".align" and "a" not in order:
            layout.append(("align", c.trivia))
            c.advance()
            alignment = parse_integer(c, "alignment", layout, "an alignment in bytes")
            order += "a"
        else:
            break
    if space is None:
        c.fail("expected a parameter (.param or .reg)")
    if order == "as":
        layout.append(("=order", order))
    vector = parse_vector_width(c, layout)
    scalar = parse_scalar_type(c, layout)
    if c.word == ".align" and alignment is None:  # ptxas accepts it here, too
        layout += [("align", c.trivia), ("=order", "sl")]
        c.advance()
        alignment = parse_integer(c, "alignment", layout, "an alignment in bytes")
    pointed = pointer_alignment = None
    pointer = False
    if c.word == ".ptr":
        layout.append(("ptr", c.trivia))
        c.advance()
        if c.word in _POINTED:
            layout.append(("pspace", c.trivia))
            pointed = SPACES[c.take()]
        if c.word == ".align":
            layout.append(("palign", c.trivia))
            c.advance()
            pointer_alignment = parse_integer(c, "palignment", layout, "an alignment in bytes")
        pointer = pointed is None and pointer_alignment is None
    name = parse_name(c, "name", layout, "a parameter name")
    name, size = parse_dimensions(c, name, layout)
    formatting = c.source.formatting("", "", "", compress_layout(layout)) if c.previous_end > start else None
    return Param(
        space,
        scalar,
        name,
        size,
        alignment,
        pointed,
        pointer_alignment,
        vector=vector,
        pointer=pointer,
        hidden=hidden,
        formatting=formatting,
    )


def parse_function_directives(c: Cursor, layout: LayoutEntries) -> tuple[FunctionDirective, ...]:
    """Parse any number of directives, `.maxntid 128, 1, 1 .noreturn .pragma "x";`."""
    found: list[FunctionDirective] = []
    while c.kind == "directive" and c.word not in _NEXT_DIRECTIVES:
        layout.append((f"d{len(found)}", c.trivia))
        found.append(_function_directive(c))
    return tuple(found)


def _function_directive(c: Cursor) -> FunctionDirective:
    layout: LayoutEntries = []
    name = c.take()[1:]
    values: list[int | str] = []
    while c.kind in ("integer", "string", "identifier"):
        i = len(values)
        if c.kind == "integer":
            values.append(parse_integer(c, f"v{i}", layout, "a number"))
        else:
            layout.append((f"v{i}", c.trivia))
            values.append(c.take())
        if c.word != ",":
            break
        layout.append((f"v,{len(values)}", c.trivia))
        c.advance()
        if c.kind not in ("integer", "string", "identifier"):
            c.fail(f"expected another value of .{name}")
    if name == "pragma":
        layout.append((";", c.expect(";", "after a pragma")))
    formatting: FormattingInfo = c.source.formatting("", "", "", compress_layout(layout))
    return FunctionDirective(name, tuple(values), formatting=formatting)


def source_text(c: Cursor, role: str, layout: LayoutEntries, start: int) -> str:
    """Return the source text from `start` to the cursor without trivia; record its spelling in `layout`."""
    text = c.text[start : c.previous_end]
    value = strip_trivia(text)
    if value != text:
        layout.append(("=" + role, text))
    return value
