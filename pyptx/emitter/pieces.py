"""How declarations, directives and function heads are spelled: their tokens, and the canonical blank before each.

The roles are those the parser writes into `FormattingInfo.layout`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyptx.ir.formatting import Layout, Piece, tight, weave
from pyptx.ir.nodes import (
    Alias,
    Attribute,
    BranchTargets,
    CallPrototype,
    CallTargets,
    DwarfLine,
    File,
    Function,
    FunctionDirective,
    Instruction,
    Loc,
    Param,
    PragmaDirective,
    RegDecl,
    SectionData,
    VarDecl,
)
from pyptx.ir.operands import operand_text

__all__ = ["function_head", "instruction", "layout_of", "pieces", "variable"]

_DIMENSION = re.compile(r"\[([^\]]*)\]")


def layout_of(node) -> Layout:
    return node.formatting.layout if node.formatting is not None else ()


def pieces(node, layout: dict[str, str], *, continues: bool = False, more: bool = False) -> Iterator[Piece]:
    """The tokens of a statement that is no instruction and holds no others.

    Args:
        continues: the node is a further name of the declaration before it.
        more: the next node is a further name of this declaration.
    """
    match node:
        case RegDecl():
            if not continues:
                yield from _prefix(".reg", node.alignment, (), node.vector, node.type.ptx, layout)
            yield Piece("name", node.name)
            if node.count is not None:
                yield Piece("<", "<", "")
                yield Piece("count", str(node.count), "", "int")
                yield Piece(">", ">", "")
            yield Piece(";", "," if more else ";", "")
        case VarDecl():
            if not continues:
                if node.linking is not None:
                    yield Piece("linking", node.linking.ptx)
                bank = "" if node.bank is None else f"[{node.bank}]"
                yield from _prefix(node.state_space.ptx + bank, node.alignment, node.attributes, node.vector,
                                   node.type.ptx, layout)
            yield from _name(node.name, node.array_size, layout)
            if node.initializer is not None:
                text = node.initializer if isinstance(node.initializer, str) else operand_text(node.initializer)
                yield Piece("is", "=")
                yield Piece("value", text)
            yield Piece(";", "," if more else ";", "")
        case PragmaDirective(value):
            if not continues:
                yield Piece("kind", ".pragma")
            yield Piece("value", f'"{value}"')
            yield Piece(";", "," if more else ";", "")
        case Alias(name, aliasee):
            yield Piece("kind", ".alias")
            yield Piece("name", name)
            yield Piece(",", ",", "")
            yield Piece("aliasee", aliasee)
            yield Piece(";", ";", "")
        case File(index, name, timestamp, size):
            yield Piece("kind", ".file")
            yield Piece("index", str(index), " ", "int")
            yield Piece("name", f'"{name}"')
            for role, value in (("timestamp", timestamp), ("size", size)):
                if value is not None:
                    yield Piece(role + ",", ",", "")
                    yield Piece(role, str(value), " ", "int")
        case Loc():
            yield from _loc(node, layout)
        case SectionData(kind, values):
            yield Piece("kind", "." + kind)
            yield from _values(values, layout)
        case DwarfLine(words):
            yield Piece("kind", "@@DWARF")
            for i, word in enumerate(words):
                yield Piece(f"w{i}", word)
        case BranchTargets(name, names) | CallTargets(name, names):
            yield Piece("name", name)
            yield Piece(":", ":", "")
            yield Piece("kind", ".branchtargets" if isinstance(node, BranchTargets) else ".calltargets")
            yield from _values(names, layout)
            yield Piece(";", ";", "")
        case CallPrototype(name, params, returns, directives):
            yield Piece("label", name)
            yield Piece(":", ":", "")
            yield Piece("kind", ".callprototype")
            if returns is not None:
                yield from _parameters("r", returns, " ")
            yield Piece("name", "_")
            yield from _parameters("p", params, " ")
            for i, directive in enumerate(directives):
                yield Piece(f"d{i}", _function_directive(directive))
            yield Piece(";", ";", "")
        case _:
            raise TypeError(f"{node!r} is no statement of a PTX module")


def instruction(node: Instruction) -> Iterator[Piece]:
    if node.predicate is not None:
        yield Piece("@", "@")
        if node.predicate.negated:
            yield Piece("!", "!", "")
        yield Piece("guard", node.predicate.register, "")
    yield Piece("op", node.opcode)
    for i, modifier in enumerate(node.modifiers):
        yield Piece(f"mod{i}", modifier, "")
    for i, operand in enumerate(node.operands):
        if i:
            yield Piece(f",{i}", ",", "")
        yield Piece(f"item{i}" if i else "first", operand_text(operand))
    yield Piece(";", ";", "")


def function_head(node: Function, layout: dict[str, str]) -> Iterator[Piece]:
    """Everything in front of the body, its opening brace included; of a declaration, all of it."""
    if node.linking is not None:
        yield Piece("linking", node.linking.ptx)
    yield Piece("kind", ".entry" if node.is_entry else ".func")
    yield from _attributes(node.attributes)
    if node.return_params or "=r" in layout:
        yield from _parameters("r", node.return_params or (), " ")
    yield Piece("name", node.name)
    yield from _parameters("p", node.params, "", "\n\t", "\n")
    for i, directive in enumerate(node.directives):
        yield Piece(f"d{i}", _function_directive(directive), "\n")
    if node.declaration:
        yield Piece(";", ";", "")
    else:
        yield Piece("{", "{", "\n")


def variable(node: VarDecl) -> str:
    return weave(pieces(node, {}), ())


def _prefix(space: str, alignment, attributes, vector, kind: str, layout: dict[str, str]) -> Iterator[Piece]:
    """State space, alignment and attributes in the order they were written, then vector and type.

    The order is a letter for each: space, align, attribute (t), and l for an alignment behind the type.
    """
    present = "s" + ("t" if attributes else "") + ("a" if alignment is not None else "")
    order = layout.get("=order", "")
    late = "l" in order and alignment is not None
    if sorted(order.replace("l", "a")) != sorted(present):
        order, late = present, False
    for part in order:
        if part == "s":
            yield Piece("space", space)
        elif part == "a":
            yield from _alignment(alignment)
        elif part == "t":
            yield from _attributes(attributes)
    if vector is not None:
        yield Piece("vector", f".v{vector}")
    yield Piece("type", kind)
    if late:
        yield from _alignment(alignment)


def _alignment(alignment: int) -> Iterator[Piece]:
    yield Piece("align", ".align")
    yield Piece("alignment", str(alignment), " ", "int")


def _attributes(attributes: tuple[Attribute, ...]) -> Iterator[Piece]:
    if not attributes:
        return
    yield Piece("attribute", ".attribute")
    yield Piece("a(", "(", "")
    for i, attribute in enumerate(attributes):
        if i:
            yield Piece(f"a,{i}", ",", "")
        yield Piece(f"a{i}", "." + attribute.name, " " if i else "")
        if attribute.values:
            yield Piece(f"a{i}(", "(", "")
            for j, value in enumerate(attribute.values):
                if j:
                    yield Piece(f"a{i}v,{j}", ",", "")
                yield Piece(f"a{i}v{j}", str(value), " " if j else "", "int")
            yield Piece(f"a{i})", ")", "")
    yield Piece("a)", ")", "")


def _name(name: str, size: int | None, layout: dict[str, str]) -> Iterator[Piece]:
    """`name[4]`, `name[]`, `name[2][3]`"""
    symbol, bracket, _ = name.partition("[")
    yield Piece("name", symbol)
    sizes = _DIMENSION.findall(name) if bracket else []
    if size is not None:
        sizes.append(str(size or ""))
    for i, text in enumerate(sizes):
        yield Piece(f"[{i}", "[", "")
        if text:
            yield Piece(f"size{i}", text, "", "int")
        elif f"=size{i}" in layout:                         # `[0]` says the same as `[]`
            yield Piece(f"size{i}", "0", "", "int")
        yield Piece(f"]{i}", "]", "")


def _parameters(mark: str, params: tuple[Param, ...], opening: str, first: str = "", last: str = "") -> Iterator[Piece]:
    kind = "" if params else "optional"
    yield Piece(f"{mark}(", "(", opening, kind)
    for i, param in enumerate(params):
        if i:
            yield Piece(f"{mark},{i}", ",", "")
        yield Piece(f"{mark}{i}", weave(_parameter(param), layout_of(param)), first or (" " if i else ""))
    yield Piece(f"{mark})", ")", last if params else "", kind)


def _parameter(param: Param) -> Iterator[Piece]:
    layout = dict(layout_of(param))
    yield from _prefix(param.state_space.ptx, param.alignment, (), param.vector, param.type.ptx, layout)
    if param.ptr_alignment is not None or param.ptr_state_space is not None or param.pointer:
        yield Piece("ptr", ".ptr")
        if param.ptr_state_space is not None:
            yield Piece("pspace", param.ptr_state_space.ptx)
        if param.ptr_alignment is not None:
            yield Piece("palign", ".align")
            yield Piece("palignment", str(param.ptr_alignment), " ", "int")
    yield from _name(param.name, param.array_size, layout)


def _function_directive(directive: FunctionDirective) -> str:
    return weave(_directive_pieces(directive), layout_of(directive))


def _directive_pieces(directive: FunctionDirective) -> Iterator[Piece]:
    yield Piece("kind", "." + directive.name)
    for i, value in enumerate(directive.values):
        if i:
            yield Piece(f"v,{i}", ",", "")
        yield Piece(f"v{i}", str(value), " ", "int" if isinstance(value, int) else "")
    if directive.name == "pragma":
        yield Piece(";", ";", "")


def _loc(node: Loc, layout: dict[str, str]) -> Iterator[Piece]:
    yield Piece("kind", ".loc_intermediate" if node.intermediate else ".loc")
    for role in ("file", "line", "column"):
        yield Piece(role, str(getattr(node, role)), " ", "int")
    if node.function_name is not None:
        yield Piece("function,", ",", "")
        yield Piece("function", "function_name")
        yield Piece("label", _unless_changed(node.function_name, layout.get("=label")))
    if node.inlined_at is not None:
        yield Piece("inlined,", ",", "")
        yield Piece("inlined", "inlined_at")
        for role, value in zip(("ifile", "iline", "icolumn"), node.inlined_at, strict=True):
            yield Piece(role, str(value), " ", "int")


def _values(values: tuple[str, ...], layout: dict[str, str]) -> Iterator[Piece]:
    for i, value in enumerate(values):
        if i:
            yield Piece(f"v,{i}", ",", "")
        yield Piece(f"v{i}", _unless_changed(value, layout.get(f"=v{i}")))


def _unless_changed(text: str, spelled: str | None) -> str:
    return spelled if spelled is not None and tight(spelled) == text else text
