"""Parsing of single statements: instructions, labels, declarations and directives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyptx.ir.formatting import FormattingInfo, LayoutEntries, compress_layout
from pyptx.ir.nodes import (
    Alias,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Directive,
    DwarfLine,
    File,
    Function,
    Instruction,
    Label,
    LinkingDirective,
    Loc,
    PragmaDirective,
    Predicate,
    RegDecl,
    Statement,
    StateSpace,
    VarDecl,
)
from pyptx.parser.cursor import Cursor
from pyptx.parser.debug_info import DEBUG_DIRECTIVES, parse_dwarf_line
from pyptx.parser.declarations import (
    BANKS,
    LINKING,
    SPACES,
    Declarator,
    Specifiers,
    parse_attributes,
    parse_declarator,
    parse_function_directives,
    parse_integer,
    parse_name,
    parse_parameters,
    parse_specifiers,
    source_text,
)
from pyptx.parser.operands import parse_operand

__all__ = ["parse_directive", "parse_function_head", "parse_statement"]

_DECLARING = SPACES.keys() | BANKS.keys() | {".align", ".attribute"}


def parse_statement(c: Cursor) -> tuple[Sequence[Statement], int]:
    """Parse the statement of a function body at the cursor; return its nodes and the offset after it.

    A declaration of several names yields one node per name.
    """
    found = _directive(c)
    if found is not None:
        return found
    if c.kind == "identifier" or c.kind == "register":
        return _labeled_or_instruction(c)
    if c.word == "@":
        return _instruction(c, c.trivia, [])
    c.fail("expected an instruction, a label or a declaration")


def parse_directive(c: Cursor) -> tuple[Sequence[Directive], int]:
    """Parse the module-level statement at the cursor, except functions and sections; see `parse_statement`."""
    found = _directive(c)
    if found is None:
        c.fail("expected a directive such as .entry, .func, .global or .file")
    return found


_Directives = Sequence[RegDecl | VarDecl | PragmaDirective | Alias | File | Loc | DwarfLine]


def _directive(c: Cursor) -> tuple[_Directives, int] | None:
    """Parse a directive that is allowed both in and outside functions; None when there is none."""
    if c.kind == "directive":
        if c.word in _DECLARING:
            return _declaration(c, None, c.trivia, [])
        if c.word in LINKING:
            return _linked(c)
        parse = _DIRECTIVES.get(c.word)
        return parse(c) if parse is not None else None
    if c.word == "@" and c.text.startswith("@@DWARF", c.start):
        return parse_dwarf_line(c)
    return None


# instructions and labels ---------------------------------------------------------------------------------------------


def _labeled_or_instruction(c: Cursor) -> tuple[Sequence[Statement], int]:
    indent, start, name = c.trivia, c.start, c.take()
    if c.word != ":":
        c.seek(start)
        return _instruction(c, indent, [])
    layout: LayoutEntries = [(":", c.trivia)]
    c.previous_end = after = c.end
    c.advance()
    parse = _LABELED.get(c.word) if c.kind == "directive" else None
    if parse is not None:
        return parse(c, indent, name, layout)
    c.previous_end = after
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [Label(name, formatting)], at


def _instruction(c: Cursor, indent: str, layout: LayoutEntries) -> tuple[Sequence[Statement], int]:
    guard = None
    if c.word == "@":
        c.advance()
        negated = c.word == "!"
        if negated:
            layout.append(("!", c.trivia))
            c.advance()
        guard = Predicate(parse_name(c, "guard", layout, "a predicate register"), negated)
        layout.append(("op", c.trivia))
    if c.kind != "identifier":
        c.fail("expected an instruction after the guard")
    opcode = c.take()
    modifiers: list[str] = []
    blanks: LayoutEntries = []
    while c.kind == "directive":
        blanks.append((f"mod{len(modifiers)}", c.trivia))
        modifiers.append(c.take())
    if any(trivia for _, trivia in blanks):
        layout += blanks
    operands = []
    if c.kind == "end" or c.word == "}":
        c.fail("expected ';' after the instruction")
    if c.word != ";":
        while True:
            layout.append((f"item{len(operands)}" if operands else "first", c.trivia))
            operands.append(parse_operand(c, call=opcode == "call"))
            if c.word != ",":
                break
            layout.append((f",{len(operands)}", c.trivia))
            c.advance()
    trivia = c.close(";", "or ',' after an operand" if operands else "after the instruction")
    if trivia:
        layout.append((";", trivia))
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [Instruction(opcode, tuple(modifiers), tuple(operands), guard, formatting)], at


def _call_prototype(c: Cursor, indent: str, name: str, layout: LayoutEntries) -> tuple[Sequence[Statement], int]:
    layout.append(("kind", c.trivia))
    c.advance()
    returns = None
    if c.word == "(":
        returns = parse_parameters(c, "r", layout)
    layout.append(("name", c.expect("_", "in place of the function's name")))
    params = ()
    if c.word == "(":
        params = parse_parameters(c, "p", layout)
    else:
        layout.append(("=p(", ""))
        layout.append(("=p)", ""))
    directives = parse_function_directives(c, layout)
    layout.append((";", c.close(";", "after the prototype")))
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [CallPrototype(name, params, returns, directives, formatting)], at


def _targets(c: Cursor, indent: str, name: str, layout: LayoutEntries) -> tuple[Sequence[Statement], int]:
    layout.append(("kind", c.trivia))
    branches = c.take() == ".branchtargets"
    names: list[str] = []
    while True:
        role = f"v{len(names)}"
        start = c.start
        parse_name(c, role, layout, "a label" if branches else "a function")
        if branches and c.word == "<":
            c.advance()
            parse_integer(c, "count", [], "the number of labels")
            c.expect(">", "after the number of labels")
        names.append(source_text(c, role, layout, start))
        if c.word != ",":
            break
        layout.append((f"v,{len(names)}", c.trivia))
        c.advance()
    layout.append((";", c.close(";", "or ',' after a name")))
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [(BranchTargets if branches else CallTargets)(name, tuple(names), formatting)], at


_LABELED = {".callprototype": _call_prototype, ".branchtargets": _targets, ".calltargets": _targets}


# declarations --------------------------------------------------------------------------------------------------------


def _linked(c: Cursor) -> tuple[_Directives, int]:
    indent, linking = c.trivia, LINKING[c.take()]
    if c.word not in _DECLARING:
        c.fail("expected .entry, .func or a state space after " + linking.ptx)
    return _declaration(c, linking, indent, [])


def _declaration(
    c: Cursor, linking: LinkingDirective | None, indent: str, layout: LayoutEntries
) -> tuple[_Directives, int]:
    """Parse a `.reg` or variable declaration with all its names."""
    if linking is not None:
        layout.append(("space", c.trivia))
    first = parse_specifiers(c, linking, layout)
    register = first.space is StateSpace.REG
    if register and (linking is not None or first.attributes):
        c.fail("a register takes neither a linking directive nor attributes; expected .global, .const or .shared")
    nodes: list[RegDecl | VarDecl] = []
    while True:
        one = parse_declarator(c, layout, register=register, first=not nodes)
        if c.word != ",":
            break
        layout += [(";", c.trivia), ("=more", "")]
        nodes.append(_declared_node(first, one, c.source.formatting(indent, "", "", compress_layout(layout))))
        c.advance()
        indent = c.trivia
        layout = [("=continues", "")]
    layout.append((";", c.close(";", "or ',' after a name")))
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    nodes.append(_declared_node(first, one, formatting))
    return nodes, at


def _declared_node(first: Specifiers, one: Declarator, formatting: FormattingInfo) -> RegDecl | VarDecl:
    if first.space is StateSpace.REG:
        return RegDecl(
            first.type, one.name, one.register_count, formatting, vector=first.vector, alignment=first.alignment
        )
    return VarDecl(
        first.space,
        first.type,
        one.name,
        one.size,
        first.alignment,
        one.initializer,
        first.linking,
        formatting,
        vector=first.vector,
        attributes=first.attributes,
        bank=first.bank,
    )


def _pragma(c: Cursor) -> tuple[_Directives, int]:
    indent = c.trivia
    layout: LayoutEntries = []
    nodes: list[PragmaDirective] = []
    c.advance()
    while True:
        if c.kind != "string":
            c.fail("expected a quoted string")
        if not nodes:
            layout.append(("value", c.trivia))
        value = c.take()[1:-1]
        if c.word != ",":
            break
        layout += [(";", c.trivia), ("=more", "")]
        nodes.append(PragmaDirective(value, c.source.formatting(indent, "", "", compress_layout(layout))))
        c.advance()
        indent = c.trivia
        layout = [("=continues", "")]
    layout.append((";", c.close(";", "or ',' after the string of .pragma")))
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    nodes.append(PragmaDirective(value, formatting))
    return nodes, at


def parse_function_head(c: Cursor, linking: LinkingDirective | None, layout: LayoutEntries) -> Function:
    """Parse a function up to its body. The node has no formatting yet."""
    layout.append(("kind", c.trivia))
    entry = c.take() == ".entry"
    given = parse_attributes(c, layout) if c.word == ".attribute" else ()
    returns = None
    if c.word == "(":
        returns = parse_parameters(c, "r", layout)
        if not returns:
            returns = None
            layout.append(("=r", "()"))
    name = parse_name(c, "name", layout, "a function name")
    params = ()
    if c.word == "(":
        params = parse_parameters(c, "p", layout)
    else:
        layout += [("=p(", ""), ("=p)", "")]
    directives = parse_function_directives(c, layout)
    return Function(entry, name, params, returns, (), linking, directives, attributes=given)


# module level ---------------------------------------------------------------------------------------------------------


def _alias(c: Cursor) -> tuple[_Directives, int]:
    indent = c.trivia
    layout: LayoutEntries = []
    c.advance()
    name = parse_name(c, "name", layout, "a function name")
    layout.append((",", c.expect(",", "between the two function names")))
    aliasee = parse_name(c, "aliasee", layout, "a function name")
    layout.append((";", c.close(";", "after the alias")))
    formatting, at = c.source.statement_formatting(indent, layout, c.previous_end)
    return [Alias(name, aliasee, formatting)], at


_DIRECTIVES: dict[str, Callable[[Cursor], tuple[_Directives, int]]] = {
    ".pragma": _pragma,
    ".alias": _alias,
    **DEBUG_DIRECTIVES,
}
