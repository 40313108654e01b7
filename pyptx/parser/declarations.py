"""Reading declarations: registers, variables, parameters, function headers, call prototypes.

Each function reads at the cursor and returns nodes with the layout of what it read; the caller knows the line around.
"""

from __future__ import annotations

from typing import NamedTuple

from pyptx.ir.formatting import FormattingInfo, integer, tight
from pyptx.ir.nodes import Attribute, FunctionDirective, LinkingDirective, Operand, Param, ScalarType, StateSpace
from pyptx.parser.cursor import Cursor
from pyptx.parser.operands import compressed, operand

__all__ = ["BANKS", "LINKING", "SPACES", "Declared", "Head", "attributes", "declared", "function_directives", "head",
           "number", "parameters"]

SPACES = {space.ptx: space for space in StateSpace}
BANKS = {f".const[{n}]": n for n in range(11)}          # banks of PTX 1.5 to 2.1
TYPES = {scalar.ptx: scalar for scalar in ScalarType}
LINKING = {linking.ptx: linking for linking in LinkingDirective}
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_POINTED = {".global", ".shared", ".const", ".local", ".param"}

Roles = list[tuple[str, str]]


class Head(NamedTuple):
    """What stands in front of the names of a declaration."""

    linking: LinkingDirective | None
    space: StateSpace
    type: ScalarType
    vector: int | None
    alignment: int | None
    attributes: tuple[Attribute, ...]
    bank: int | None = None


class Declared(NamedTuple):
    """One name of a declaration: `name<count>`, `name[2][3] = initializer`."""

    name: str
    count: int | None = None
    size: int | None = None
    initializer: Operand | None = None


def spelled_integer(c: Cursor, role: str, layout: Roles, what: str) -> int:
    """An integer literal at the cursor."""
    value = integer(c.word) if c.kind in ("integer", "identifier") else None
    if value is None:
        c.fail(f"expected {what}")
    layout.append((role, c.gap))
    word = c.take()
    if str(value) != word:
        layout.append(("=" + role, word))
    return value


number = spelled_integer


def name_of(c: Cursor, role: str, layout: Roles, what: str) -> str:
    if c.kind not in ("identifier", "register"):
        c.fail(f"expected {what}")
    layout.append((role, c.gap))
    return c.take()


def head(c: Cursor, linking: LinkingDirective | None, layout: Roles) -> Head:
    """State space, `.align`, `.attribute` in any order, then vector and type."""
    order = ""
    space = alignment = bank = None
    given: tuple[Attribute, ...] = ()
    while True:
        word = c.word
        if (word in SPACES or word in BANKS) and "s" not in order:
            layout.append(("space", c.gap))
            bank = BANKS.get(c.take())
            space = SPACES[word] if bank is None else StateSpace.CONST
            order += "s"
        elif word == ".align" and "a" not in order:
            layout.append(("align", c.gap))
            c.advance()
            alignment = spelled_integer(c, "alignment", layout, "an alignment in bytes")
            order += "a"
        elif word == ".attribute" and "t" not in order:
            given = attributes(c, layout)
            order += "t"
        else:
            break
    if space is None:
        c.fail(f"expected a state space ({', '.join(s for s in SPACES if '::' not in s)})")
    if order not in ("s", "sa", "st", "sta"):
        layout.append(("=order", order))
    vector = vector_width(c, layout)
    return Head(linking, space, scalar_type(c, layout), vector, alignment, given, bank)


def vector_width(c: Cursor, layout: Roles) -> int | None:
    if c.word not in _VECTORS:
        return None
    layout.append(("vector", c.gap))
    return _VECTORS[c.take()]


def scalar_type(c: Cursor, layout: Roles) -> ScalarType:
    found = TYPES.get(c.word)
    if found is None:
        c.fail("expected a type such as .b32, .u64, .f32 or .pred")
    layout.append(("type", c.gap))
    c.advance()
    return found


def attributes(c: Cursor, layout: Roles) -> tuple[Attribute, ...]:
    """`.attribute(.managed, .unified(1, 2))`"""
    layout.append(("attribute", c.gap))
    c.advance()
    layout.append(("a(", c.expect("(", "after .attribute")))
    found: list[Attribute] = []
    while True:
        i = len(found)
        if c.kind != "directive":
            c.fail("expected an attribute such as .managed")
        layout.append((f"a{i}", c.gap))
        name = c.take()[1:]
        values: list[int] = []
        if c.word == "(":
            layout.append((f"a{i}(", c.gap))
            c.advance()
            while True:
                values.append(spelled_integer(c, f"a{i}v{len(values)}", layout, "a number"))
                if c.word != ",":
                    break
                layout.append((f"a{i}v,{len(values)}", c.gap))
                c.advance()
            layout.append((f"a{i})", c.expect(")", "after the values of an attribute")))
        found.append(Attribute(name, tuple(values)))
        if c.word != ",":
            break
        layout.append((f"a,{len(found)}", c.gap))
        c.advance()
    layout.append(("a)", c.expect(")", "after the attributes")))
    return tuple(found)


def declared(c: Cursor, layout: Roles, *, register: bool, first: bool) -> Declared:
    """One name with what follows it."""
    if c.kind not in ("identifier", "register"):
        c.fail("expected a name")
    if first:
        layout.append(("name", c.gap))
    name = c.take()
    if register:
        if c.word != "<":
            return Declared(name)
        layout.append(("<", c.gap))
        c.advance()
        count = spelled_integer(c, "count", layout, "how many registers")
        layout.append((">", c.expect(">", "after the number of registers")))
        return Declared(name, count)
    name, size = dimensions(c, name, layout)
    if c.word != "=":
        return Declared(name, None, size)
    layout.append(("is", c.gap))
    c.advance()
    layout.append(("value", c.gap))
    return Declared(name, None, size, operand(c))


def dimensions(c: Cursor, name: str, layout: Roles) -> tuple[str, int | None]:
    """Name and size of `name[4]`; several dimensions stay in the name."""
    sizes: list[int] = []
    while c.word == "[":
        i = len(sizes)
        layout.append((f"[{i}", c.gap))
        c.advance()
        if c.word == "]":
            sizes.append(0)
        else:
            sizes.append(spelled_integer(c, f"size{i}", layout, "the number of elements"))
            if sizes[-1] == 0 and not any(role == f"=size{i}" for role, _ in layout):
                layout.append((f"=size{i}", "0"))           # `[0]`, not `[]`
        layout.append((f"]{i}", c.expect("]", "after the number of elements")))
    if not sizes:
        return name, None
    if len(sizes) == 1:
        return name, sizes[0]
    return name + "".join(f"[{size or ''}]" for size in sizes), None


def parameters(c: Cursor, mark: str, layout: Roles) -> tuple[Param, ...]:
    """A parameter list with its parentheses; the roles of its pieces start with `mark`."""
    layout.append((f"{mark}(", c.gap))
    c.advance()
    found: list[Param] = []
    if c.word != ")":
        while True:
            layout.append((f"{mark}{len(found)}", c.gap))
            found.append(_parameter(c))
            if c.word != ",":
                break
            layout.append((f"{mark},{len(found)}", c.gap))
            c.advance()
    layout.append((f"{mark})", c.expect(")", "or ',' after a parameter")))
    return tuple(found)


def _parameter(c: Cursor) -> Param:
    start, layout = c.start, []
    order = ""
    space = alignment = None
    while True:
        if c.word in SPACES and "s" not in order:
            layout.append(("space", c.gap))
            space = SPACES[c.take()]
            order += "s"
        elif c.word == ".align" and "a" not in order:
            layout.append(("align", c.gap))
            c.advance()
            alignment = spelled_integer(c, "alignment", layout, "an alignment in bytes")
            order += "a"
        else:
            break
    if space is None:
        c.fail("expected a parameter (.param or .reg)")
    if order == "as":
        layout.append(("=order", order))
    vector = vector_width(c, layout)
    scalar = scalar_type(c, layout)
    if c.word == ".align" and alignment is None:            # ptxas takes it here as well
        layout += [("align", c.gap), ("=order", "sl")]
        c.advance()
        alignment = spelled_integer(c, "alignment", layout, "an alignment in bytes")
    pointed = pointer_alignment = None
    pointer = False
    if c.word == ".ptr":
        layout.append(("ptr", c.gap))
        c.advance()
        if c.word in _POINTED:
            layout.append(("pspace", c.gap))
            pointed = SPACES[c.take()]
        if c.word == ".align":
            layout.append(("palign", c.gap))
            c.advance()
            pointer_alignment = spelled_integer(c, "palignment", layout, "an alignment in bytes")
        pointer = pointed is None and pointer_alignment is None
    name = name_of(c, "name", layout, "the name of a parameter")
    name, size = dimensions(c, name, layout)
    formatting = c.source.formatting("", "", "", compressed(layout)) if c.last > start else None
    return Param(space, scalar, name, size, alignment, pointed, pointer_alignment, vector=vector, pointer=pointer,
                 formatting=formatting)


def function_directives(c: Cursor, layout: Roles) -> tuple[FunctionDirective, ...]:
    """`.maxntid 128, 1, 1 .noreturn .pragma "x";` in any number."""
    found: list[FunctionDirective] = []
    while c.kind == "directive":
        layout.append((f"d{len(found)}", c.gap))
        found.append(_function_directive(c))
    return tuple(found)


def _function_directive(c: Cursor) -> FunctionDirective:
    layout: Roles = []
    name = c.take()[1:]
    values: list[int | str] = []
    while c.kind in ("integer", "string", "identifier"):
        i = len(values)
        if c.kind == "integer":
            values.append(spelled_integer(c, f"v{i}", layout, "a number"))
        else:
            layout.append((f"v{i}", c.gap))
            values.append(c.take())
        if c.word != ",":
            break
        layout.append((f"v,{len(values)}", c.gap))
        c.advance()
        if c.kind not in ("integer", "string", "identifier"):
            c.fail(f"expected another value of .{name}")
    if name == "pragma":
        layout.append((";", c.expect(";", "after a pragma")))
    formatting: FormattingInfo = c.source.formatting("", "", "", compressed(layout))
    return FunctionDirective(name, tuple(values), formatting=formatting)


def symbol_value(c: Cursor, role: str, layout: Roles, start: int) -> str:
    """The text from `start` to the cursor, without blanks; its spelling goes into the layout."""
    text = c.text[start:c.last]
    value = tight(text)
    if value != text:
        layout.append(("=" + role, text))
    return value
