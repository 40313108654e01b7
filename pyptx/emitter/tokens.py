"""Tokens of instructions, declarations and directives, with canonical trivia.

Roles are the keys that the parser records in `FormattingInfo.layout`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyptx._lazy import pattern
from pyptx.errors import OperandError
from pyptx.ir.formatting import Layout, SyntaxToken, join_tokens, strip_trivia
from pyptx.ir.nodes import (
    Alias,
    Attribute,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Directive,
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
    Statement,
    VarDecl,
)
from pyptx.ir.operands import operand_text

__all__ = ["function_head", "instruction_tokens", "layout_of", "tokens_of", "variable"]

_DIMENSION = pattern(r"\[([^\]]*)\]")


Spellings = Mapping[str, str]


def layout_of(node: Statement | Param | FunctionDirective) -> Layout:
    """Return the layout of a node; empty without formatting."""
    return node.formatting.layout if node.formatting is not None else ()


def tokens_of(
    node: Directive | Statement | SectionData, layout: Spellings, *, continues: bool = False, more: bool = False
) -> Iterator[SyntaxToken]:
    """Yield the tokens of a directive or declaration that contains no other statements.

    Args:
        continues: the node is a further name of the previous declaration.
        more: the next node is a further name of this declaration.
    Raises:
        OperandError: The node is not a statement of this kind.
    """
    match node:
        case RegDecl():
            if not continues:
                yield from _prefix(".reg", node.alignment, (), node.vector, node.type.ptx, layout)
            yield SyntaxToken("name", node.name)
            if node.count is not None:
                yield SyntaxToken("<", "<", "")
                yield SyntaxToken("count", str(node.count), "", "int")
                yield SyntaxToken(">", ">", "")
            yield SyntaxToken(";", "," if more else ";", "")
        case VarDecl():
            if not continues:
                if node.linking is not None:
                    yield SyntaxToken("linking", node.linking.ptx)
                bank = "" if node.bank is None else f"[{node.bank}]"
                yield from _prefix(
                    node.state_space.ptx + bank, node.alignment, node.attributes, node.vector, node.type.ptx, layout
                )
            yield from _name(node.name, node.array_size, layout)
            if node.initializer is not None:
                text = node.initializer if isinstance(node.initializer, str) else operand_text(node.initializer)
                yield SyntaxToken("is", "=")
                yield SyntaxToken("value", text)
            yield SyntaxToken(";", "," if more else ";", "")
        case PragmaDirective(value):
            if not continues:
                yield SyntaxToken("kind", ".pragma")
            yield SyntaxToken("value", f'"{value}"')
            yield SyntaxToken(";", "," if more else ";", "")
        case Alias(name, aliasee):
            yield SyntaxToken("kind", ".alias")
            yield SyntaxToken("name", name)
            yield SyntaxToken(",", ",", "")
            yield SyntaxToken("aliasee", aliasee)
            yield SyntaxToken(";", ";", "")
        case File(index, name, timestamp, size):
            yield SyntaxToken("kind", ".file")
            yield SyntaxToken("index", str(index), " ", "int")
            yield SyntaxToken("name", f'"{name}"')
            for role, value in (("timestamp", timestamp), ("size", size)):
                if value is not None:
                    yield SyntaxToken(role + ",", ",", "")
                    yield SyntaxToken(role, str(value), " ", "int")
        case Loc():
            yield from _loc(node, layout)
        case SectionData(kind, values):
            yield SyntaxToken("kind", "." + kind)
            yield from _values(values, layout)
        case DwarfLine(words):
            yield SyntaxToken("kind", "@@DWARF")
            for i, word in enumerate(words):
                yield SyntaxToken(f"w{i}", word)
        case BranchTargets(name, names) | CallTargets(name, names):
            yield SyntaxToken("name", name)
            yield SyntaxToken(":", ":", "")
            yield SyntaxToken("kind", ".branchtargets" if isinstance(node, BranchTargets) else ".calltargets")
            yield from _values(names, layout)
            yield SyntaxToken(";", ";", "")
        case CallPrototype(name, params, returns, directives):
            yield SyntaxToken("label", name)
            yield SyntaxToken(":", ":", "")
            yield SyntaxToken("kind", ".callprototype")
            if returns is not None:
                yield from _parameters("r", returns, " ")
            yield SyntaxToken("name", "_")
            yield from _parameters("p", params, " ")
            for i, directive in enumerate(directives):
                yield SyntaxToken(f"d{i}", _function_directive(directive))
            yield SyntaxToken(";", ";", "")
        case _:
            raise OperandError(f"{node!r} is not a statement of a PTX module")


def instruction_tokens(node: Instruction) -> Iterator[SyntaxToken]:
    """Yield the tokens of an instruction."""
    if node.predicate is not None:
        yield SyntaxToken("@", "@")
        if node.predicate.negated:
            yield SyntaxToken("!", "!", "")
        yield SyntaxToken("guard", node.predicate.register, "")
    yield SyntaxToken("op", node.opcode)
    for i, modifier in enumerate(node.modifiers):
        yield SyntaxToken(f"mod{i}", modifier, "")
    for i, operand in enumerate(node.operands):
        if i:
            yield SyntaxToken(f",{i}", ",", "")
        yield SyntaxToken(f"item{i}" if i else "first", operand_text(operand))
    yield SyntaxToken(";", ";", "")


def function_head(node: Function, layout: Spellings) -> Iterator[SyntaxToken]:
    """Yield the tokens up to and including the opening brace; for a declaration, all tokens."""
    if node.linking is not None:
        yield SyntaxToken("linking", node.linking.ptx)
    yield SyntaxToken("kind", ".entry" if node.is_entry else ".func")
    yield from _attributes(node.attributes)
    if node.return_params or "=r" in layout:
        yield from _parameters("r", node.return_params or (), " ")
    yield SyntaxToken("name", node.name)
    yield from _parameters("p", node.params, "", "\n\t", "\n")
    for i, directive in enumerate(node.directives):
        yield SyntaxToken(f"d{i}", _function_directive(directive), "\n")
    if node.declaration:
        yield SyntaxToken(";", ";", "", "optional")
    else:
        yield SyntaxToken("{", "{", "\n")


def variable(node: VarDecl) -> str:
    return join_tokens(tokens_of(node, {}), ())


def _prefix(
    space: str,
    alignment: int | None,
    attributes: tuple[Attribute, ...],
    vector: int | None,
    kind: str,
    layout: Spellings,
) -> Iterator[SyntaxToken]:
    """Yield state space, alignment and attributes in source order, then vector width and type.

    `layout["=order"]` has one letter for each: s(pace), a(lign), (at)t(ribute), and l for an alignment after the type.
    """
    present = "s" + ("t" if attributes else "") + ("a" if alignment is not None else "")
    order = layout.get("=order", "")
    late = "l" in order and alignment is not None
    if sorted(order.replace("l", "a")) != sorted(present):
        order, late = present, False
    for part in order:
        if part == "s":
            yield SyntaxToken("space", space)
        elif part == "a":
            yield from _alignment(alignment)
        elif part == "t":
            yield from _attributes(attributes)
    if vector is not None:
        yield SyntaxToken("vector", f".v{vector}")
    yield SyntaxToken("type", kind)
    if late:
        yield from _alignment(alignment)


def _alignment(alignment: int | None) -> Iterator[SyntaxToken]:
    if alignment is None:
        return
    yield SyntaxToken("align", ".align")
    yield SyntaxToken("alignment", str(alignment), " ", "int")


def _attributes(attributes: tuple[Attribute, ...]) -> Iterator[SyntaxToken]:
    if not attributes:
        return
    yield SyntaxToken("attribute", ".attribute")
    yield SyntaxToken("a(", "(", "")
    for i, attribute in enumerate(attributes):
        if i:
            yield SyntaxToken(f"a,{i}", ",", "")
        yield SyntaxToken(f"a{i}", "." + attribute.name, " " if i else "")
        if attribute.values:
            yield SyntaxToken(f"a{i}(", "(", "")
            for j, value in enumerate(attribute.values):
                if j:
                    yield SyntaxToken(f"a{i}v,{j}", ",", "")
                yield SyntaxToken(f"a{i}v{j}", str(value), " " if j else "", "int")
            yield SyntaxToken(f"a{i})", ")", "")
    yield SyntaxToken("a)", ")", "")


def _name(name: str, size: int | None, layout: Spellings) -> Iterator[SyntaxToken]:
    """`name[4]`, `name[]`, `name[2][3]`"""
    symbol, bracket, _ = name.partition("[")
    yield SyntaxToken("name", symbol)
    sizes = _DIMENSION.findall(name) if bracket else []
    if size is not None:
        sizes.append(str(size or ""))
    for i, text in enumerate(sizes):
        yield SyntaxToken(f"[{i}", "[", "")
        if text:
            yield SyntaxToken(f"size{i}", text, "", "int")
        elif f"=size{i}" in layout:  # `[0]` says the same as `[]`
            yield SyntaxToken(f"size{i}", "0", "", "int")
        yield SyntaxToken(f"]{i}", "]", "")


def _parameters(
    mark: str, params: tuple[Param, ...], opening: str, first: str = "", last: str = ""
) -> Iterator[SyntaxToken]:
    kind = "" if params else "optional"
    yield SyntaxToken(f"{mark}(", "(", opening, kind)
    for i, param in enumerate(params):
        if i:
            yield SyntaxToken(f"{mark},{i}", ",", "")
        yield SyntaxToken(f"{mark}{i}", join_tokens(_parameter(param), layout_of(param)), first or (" " if i else ""))
    yield SyntaxToken(f"{mark})", ")", last if params else "", kind)


def _parameter(param: Param) -> Iterator[SyntaxToken]:
    layout = dict(layout_of(param))
    if param.hidden:
        yield SyntaxToken("hidden", ".hidden")
    yield from _prefix(param.state_space.ptx, param.alignment, (), param.vector, param.type.ptx, layout)
    if param.ptr_alignment is not None or param.ptr_state_space is not None or param.pointer:
        yield SyntaxToken("ptr", ".ptr")
        if param.ptr_state_space is not None:
            yield SyntaxToken("pspace", param.ptr_state_space.ptx)
        if param.ptr_alignment is not None:
            yield SyntaxToken("palign", ".align")
            yield SyntaxToken("palignment", str(param.ptr_alignment), " ", "int")
    yield from _name(param.name, param.array_size, layout)


def _function_directive(directive: FunctionDirective) -> str:
    return join_tokens(_directive_tokens(directive), layout_of(directive))


def _directive_tokens(directive: FunctionDirective) -> Iterator[SyntaxToken]:
    yield SyntaxToken("kind", "." + directive.name)
    for i, value in enumerate(directive.values):
        if i:
            yield SyntaxToken(f"v,{i}", ",", "")
        yield SyntaxToken(f"v{i}", str(value), " ", "int" if isinstance(value, int) else "")
    if directive.name == "pragma":
        yield SyntaxToken(";", ";", "")


def _loc(node: Loc, layout: Spellings) -> Iterator[SyntaxToken]:
    yield SyntaxToken("kind", ".loc_intermediate" if node.intermediate else ".loc")
    for role in ("file", "line", "column"):
        yield SyntaxToken(role, str(getattr(node, role)), " ", "int")
    if node.function_name is not None:
        yield SyntaxToken("function,", ",", "")
        yield SyntaxToken("function", "function_name")
        yield SyntaxToken("label", _unless_changed(node.function_name, layout.get("=label")))
    if node.inlined_at is not None:
        yield SyntaxToken("inlined,", ",", "")
        yield SyntaxToken("inlined", "inlined_at")
        for role, value in zip(("ifile", "iline", "icolumn"), node.inlined_at, strict=True):
            yield SyntaxToken(role, str(value), " ", "int")


def _values(values: tuple[str, ...], layout: Spellings) -> Iterator[SyntaxToken]:
    for i, value in enumerate(values):
        if i:
            yield SyntaxToken(f"v,{i}", ",", "")
        yield SyntaxToken(f"v{i}", _unless_changed(value, layout.get(f"=v{i}")))


def _unless_changed(text: str, spelled: str | None) -> str:
    return spelled if spelled is not None and strip_trivia(spelled) == text else text
