"""Function bodies as Python: one call per instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from pyptx.codegen.expressions import Lookup, guard_expression, mnemonic_chain, operand_expression
from pyptx.codegen.python_source import Lines, literal
from pyptx.codegen.scopes import RegisterScopes
from pyptx.emitter import emit, instruction_text
from pyptx.errors import InputError
from pyptx.ir.nodes import (
    AddressSize,
    BlankLine,
    Block,
    Comment,
    Directive,
    DwarfLine,
    File,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Loc,
    Module,
    PragmaDirective,
    RegDecl,
    Section,
    Statement,
    Target,
    VarDecl,
    Version,
)
from pyptx.types import from_name

__all__ = ["MAX_DEPTH", "BodyWriter", "node_text", "variable_arguments"]

MAX_DEPTH = 16  # nested blocks; Python allows 20, deeper ones are written as PTX text
_PART_LINES = 1000  # about 6 MB while Python compiles them
_FRAME = Module(Version(9, 0), Target(("sm_90",)), AddressSize(64))
_HEAD = emit(_FRAME)


def node_text(node: Statement | Directive) -> str:
    """Return a statement or directive as PTX text without a trailing newline."""
    if getattr(node, "formatting", None) is not None and not hasattr(node, "body"):
        node = replace(node, formatting=None)  # pyright: ignore[reportCallIssue] - not every node has the field
    statement = cast(Directive, node)  # the emitter prints any node at module level
    return emit(Module(_FRAME.version, _FRAME.target, _FRAME.address_size, (statement,)))[len(_HEAD) :].strip("\n")


class BodyWriter:
    """Writes statements as Python lines.

    Args:
        lines: receives the Python.
        names: registers in scope.
        types: receives the names of the types used.
        debug: keep `.loc` lines, which matter for targets with the `debug` option.
    """

    def __init__(self, lines: Lines, names: RegisterScopes, types: set[str], *, debug: bool = False):
        self.lines, self.names, self.types, self.debug = lines, names, types, debug
        self._depth = 0

    def body(self, statements: tuple[Statement, ...]) -> None:
        """Write all statements; `pass` if they produce no code."""
        before = part = len(self.lines.out)
        for statement in statements:
            if not self._depth and len(self.lines.out) - part > _PART_LINES:
                self.lines.begin_part(inside=True)
                part = len(self.lines.out)
            self.statement(statement)
        if all(line.lstrip().startswith("#") for line in self.lines.out[before:]):
            self.lines.add("pass")

    def statement(self, node: Statement) -> None:
        """Write one statement."""
        match node:
            case Instruction():
                self._instruction(node)
            case RegDecl():
                self._register(node)
            case VarDecl():
                self._variable(node)
            case Label(name):
                self.lines.add(f"ptx.label({literal(name)})")
            case Block(body) if self._depth < MAX_DEPTH:
                self.lines.add("with ptx.scope():")
                self._inside(body)
            case IntrinsicScope(_, _, body):
                for statement in body:
                    self.statement(statement)
            case PragmaDirective(value):
                self.lines.add(f"ptx.pragma({literal(value)})")
            case Comment(text):
                self._comment(text)
            case Loc(file, line, column, None, None, intermediate=False) if self.debug:
                self.lines.add(f"ptx.loc({file}, {line}, {column})")
            case BlankLine() | File() | Section() | DwarfLine():
                pass
            case Loc() if not self.debug:
                pass
            case _:
                self._raw(node_text(node))

    def _inside(self, body: tuple[Statement, ...]) -> None:
        self.names.enter()
        self.lines.depth += 1
        self._depth += 1
        self.body(body)
        self._depth -= 1
        self.lines.depth -= 1
        self.names.leave()

    def _raw(self, text: str) -> None:
        self.lines.add(f"ptx.raw({literal(text)})")

    def _comment(self, text: str) -> None:
        text = text.removeprefix("//").removeprefix("/*").removesuffix("*/")
        for line in text.splitlines():
            if line.strip():
                self.lines.add("# " + "".join(c if c.isprintable() else " " for c in line.strip()))

    # declarations -----------------------------------------------------------------------------------------------------

    def _register(self, node: RegDecl) -> None:
        if node.vector is not None or node.alignment is not None or node.count == 0:
            self.names.hide(node.name)
            self._raw(node_text(node))
            return
        found = self.names.declare(node)
        dtype = self.type(node.type.value)
        if node.count is None:
            self.lines.add(f"{found.variable} = reg.scalar({dtype}, name={literal(node.name)})")
        else:
            self.lines.add(f"{found.variable} = reg.array({dtype}, {node.count}, name={literal(node.name)})")

    def _variable(self, node: VarDecl) -> None:
        arguments = variable_arguments(node, self.type)
        if arguments is None or node.initializer is not None:
            self._raw(node_text(node))
        else:
            self.lines.call("ptx.var(", arguments)

    def type(self, name: str) -> str:
        """Return the Python name of a type and record its use."""
        self.types.add(name)
        return name

    # instructions -----------------------------------------------------------------------------------------------------

    def _instruction(self, node: Instruction) -> None:
        try:
            head, arguments = call(node, self.names.find)
        except ValueError:
            self._raw(instruction_text(node))
        else:
            self.lines.call(head, arguments)


def call(node: Instruction, find: Lookup) -> tuple[str, list[str]]:
    """Return the call that writes an instruction: the text up to its open parenthesis, and the arguments.

    Raises:
        ValueError: the instruction can only be written as PTX text.
    """
    guard = guard_expression(node.predicate, find)
    keyword = [] if guard is None else [f"pred={guard}"]
    match node:
        case Instruction("bra", (), (LabelOperand(target),)) if find(target) is None:
            return "ptx.bra(", [literal(target), *keyword]
        case Instruction("ret", (), ()):
            return "ptx.ret(", keyword
    words = mnemonic_chain(node.opcode, node.modifiers)
    if words is None:
        raise InputError(f"{node.mnemonic} cannot be spelled as attributes")
    return f"ptx.inst.{words}(", [*(operand_expression(o, find) for o in node.operands), *keyword]


def variable_arguments(node: VarDecl, type_: Callable[[str], str]) -> list[str] | None:
    """Return the arguments of `ptx.var` for a declaration; None if `ptx.var` cannot express it."""
    try:
        dtype = from_name(node.type.value)
    except ValueError:
        return None
    if node.vector is not None or node.attributes or node.bank is not None or "[" in node.name:
        return None
    if dtype.register != dtype.name:
        return None
    found = [literal(node.state_space.value), type_(dtype.name), literal(node.name)]
    if node.array_size is not None:
        found.append(f"size={node.array_size}")
    if node.alignment is not None:
        found.append(f"align={node.alignment}")
    if node.linking is not None:
        found.append(f"linking={literal(node.linking.value)}")
    return found
