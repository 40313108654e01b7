"""Reading one statement of a body or of a module."""

from __future__ import annotations

from pyptx.ir.nodes import (
    Alias,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Function,
    Instruction,
    Label,
    PragmaDirective,
    Predicate,
    RegDecl,
    Statement,
    StateSpace,
    VarDecl,
)
from pyptx.parser.cursor import Cursor
from pyptx.parser.debuginfo import DEBUG_DIRECTIVES, dwarf_line
from pyptx.parser.declarations import (
    BANKS,
    LINKING,
    SPACES,
    attributes,
    declared,
    function_directives,
    head,
    name_of,
    number,
    parameters,
    symbol_value,
)
from pyptx.parser.ending import finish
from pyptx.parser.operands import compressed, operand

__all__ = ["function_head", "statement"]

_DECLARING = SPACES.keys() | BANKS.keys() | {".align", ".attribute"}


def statement(c: Cursor, *, module: bool = False) -> tuple[list[Statement], int]:
    """The statement at the cursor, and the offset behind it. Several names of one declaration are several nodes.

    Args:
        module: only what may stand outside a body.
    """
    kind, word = c.kind, c.word
    if kind == "directive":
        if word in _DECLARING:
            return _declaration(c, None, c.gap, [])
        if word in LINKING:
            return _linked(c)
        reader = _DIRECTIVES.get(word)
        if reader is not None:
            return reader(c)
    elif word == "@" and c.text.startswith("@@DWARF", c.start):
        return dwarf_line(c)
    elif not module:
        if kind == "identifier" or kind == "register":
            return _labelled_or_instruction(c)
        if word == "@":
            return _instruction(c, c.gap, [])
    if module:
        c.fail("expected a directive such as .entry, .func, .global or .file")
    c.fail("expected an instruction, a label or a declaration")


# instructions and labels ---------------------------------------------------------------------------------------------

def _labelled_or_instruction(c: Cursor) -> tuple[list[Statement], int]:
    indent, start, name = c.gap, c.start, c.take()
    if c.word != ":":
        c.seek(start)
        return _instruction(c, indent, [])
    layout = [(":", c.gap)]
    c.last = after = c.end
    c.advance()
    reader = _LABELLED.get(c.word) if c.kind == "directive" else None
    if reader is not None:
        return reader(c, indent, name, layout)
    c.last = after
    formatting, at = finish(c, indent, layout)
    return [Label(name, formatting)], at


def _instruction(c: Cursor, indent: str, layout: list[tuple[str, str]]) -> tuple[list[Statement], int]:
    guard = None
    if c.word == "@":
        c.advance()
        negated = c.word == "!"
        if negated:
            layout.append(("!", c.gap))
            c.advance()
        guard = Predicate(name_of(c, "guard", layout, "a predicate register"), negated)
        layout.append(("op", c.gap))
    if c.kind != "identifier":
        c.fail("expected an instruction after the guard")
    opcode = c.take()
    modifiers: list[str] = []
    blanks: list[tuple[str, str]] = []
    while c.kind == "directive":
        blanks.append((f"mod{len(modifiers)}", c.gap))
        modifiers.append(c.take())
    if any(gap for _, gap in blanks):
        layout += blanks
    operands = []
    if c.kind == "end" or c.word == "}":
        c.fail("expected ';' after the instruction")
    if c.word != ";":
        while True:
            layout.append((f"item{len(operands)}" if operands else "first", c.gap))
            operands.append(operand(c, call=opcode == "call"))
            if c.word != ",":
                break
            layout.append((f",{len(operands)}", c.gap))
            c.advance()
    gap = c.close(";", "or ',' after an operand" if operands else "after the instruction")
    if gap:
        layout.append((";", gap))
    formatting, at = finish(c, indent, layout)
    return [Instruction(opcode, tuple(modifiers), tuple(operands), guard, formatting)], at


def _call_prototype(c: Cursor, indent: str, name: str, layout) -> tuple[list[Statement], int]:
    layout.append(("kind", c.gap))
    c.advance()
    returns = None
    if c.word == "(":
        returns = parameters(c, "r", layout)
    layout.append(("name", c.expect("_", "in place of the function's name")))
    params = ()
    if c.word == "(":
        params = parameters(c, "p", layout)
    else:
        layout.append(("=p(", ""))
        layout.append(("=p)", ""))
    directives = function_directives(c, layout)
    layout.append((";", c.close(";", "after the prototype")))
    formatting, at = finish(c, indent, layout)
    return [CallPrototype(name, params, returns, directives, formatting)], at


def _targets(c: Cursor, indent: str, name: str, layout) -> tuple[list[Statement], int]:
    layout.append(("kind", c.gap))
    branches = c.take() == ".branchtargets"
    names: list[str] = []
    while True:
        role = f"v{len(names)}"
        start = c.start
        name_of(c, role, layout, "a label" if branches else "a function")
        if branches and c.word == "<":
            c.advance()
            number(c, "count", [], "how many labels")
            c.expect(">", "after the number of labels")
        names.append(symbol_value(c, role, layout, start))
        if c.word != ",":
            break
        layout.append((f"v,{len(names)}", c.gap))
        c.advance()
    layout.append((";", c.close(";", "or ',' after a name")))
    formatting, at = finish(c, indent, layout)
    return [(BranchTargets if branches else CallTargets)(name, tuple(names), formatting)], at


_LABELLED = {".callprototype": _call_prototype, ".branchtargets": _targets, ".calltargets": _targets}


# declarations --------------------------------------------------------------------------------------------------------

def _linked(c: Cursor) -> tuple[list[Statement], int]:
    indent, linking = c.gap, LINKING[c.take()]
    if c.word not in _DECLARING:
        c.fail("expected .entry, .func or a state space after " + linking.ptx)
    return _declaration(c, linking, indent, [])


def _declaration(c: Cursor, linking, indent: str, layout) -> tuple[list[Statement], int]:
    """`.reg` or a variable, with all its names."""
    if linking is not None:
        layout.append(("space", c.gap))
    first = head(c, linking, layout)
    register = first.space is StateSpace.REG
    if register and (linking is not None or first.attributes):
        c.fail("a register has neither linking nor attributes; expected .global, .const or .shared")
    nodes: list[Statement] = []
    while True:
        one = declared(c, layout, register=register, first=not nodes)
        if c.word != ",":
            break
        layout += [(";", c.gap), ("=more", "")]
        nodes.append(_declared_node(first, one, c.source.formatting(indent, "", "", compressed(layout))))
        c.advance()
        indent, layout = c.gap, [("=continues", "")]
    layout.append((";", c.close(";", "or ',' after a name")))
    formatting, at = finish(c, indent, layout)
    nodes.append(_declared_node(first, one, formatting))
    return nodes, at


def _declared_node(first, one, formatting) -> RegDecl | VarDecl:
    if first.space is StateSpace.REG:
        return RegDecl(first.type, one.name, one.count, formatting, vector=first.vector, alignment=first.alignment)
    return VarDecl(first.space, first.type, one.name, one.size, first.alignment, one.initializer, first.linking,
                   formatting, vector=first.vector, attributes=first.attributes, bank=first.bank)


def _pragma(c: Cursor) -> tuple[list[Statement], int]:
    indent, layout = c.gap, []
    nodes: list[Statement] = []
    c.advance()
    while True:
        if c.kind != "string":
            c.fail("expected a text in quotes")
        if not nodes:
            layout.append(("value", c.gap))
        value = c.take()[1:-1]
        if c.word != ",":
            break
        layout += [(";", c.gap), ("=more", "")]
        nodes.append(PragmaDirective(value, c.source.formatting(indent, "", "", compressed(layout))))
        c.advance()
        indent, layout = c.gap, [("=continues", "")]
    layout.append((";", c.close(";", "or ',' after the text of a pragma")))
    formatting, at = finish(c, indent, layout)
    nodes.append(PragmaDirective(value, formatting))
    return nodes, at


def function_head(c: Cursor, linking, layout) -> Function:
    """Everything of a function in front of its body; its formatting is not set yet."""
    layout.append(("kind", c.gap))
    entry = c.take() == ".entry"
    given = attributes(c, layout) if c.word == ".attribute" else ()
    returns = None
    if c.word == "(":
        returns = parameters(c, "r", layout)
        if not returns:
            returns = None
            layout.append(("=r", "()"))
    name = name_of(c, "name", layout, "the name of a function")
    params = ()
    if c.word == "(":
        params = parameters(c, "p", layout)
    else:
        layout += [("=p(", ""), ("=p)", "")]
    directives = function_directives(c, layout)
    return Function(entry, name, params, returns, (), linking, directives, attributes=given)


# module level ---------------------------------------------------------------------------------------------------------

def _alias(c: Cursor) -> tuple[list[Statement], int]:
    indent, layout = c.gap, []
    c.advance()
    name = name_of(c, "name", layout, "the name of a function")
    layout.append((",", c.expect(",", "between the two functions")))
    aliasee = name_of(c, "aliasee", layout, "the name of a function")
    layout.append((";", c.close(";", "after the alias")))
    formatting, at = finish(c, indent, layout)
    return [Alias(name, aliasee, formatting)], at


_DIRECTIVES = {".pragma": _pragma, ".alias": _alias, **DEBUG_DIRECTIVES}
