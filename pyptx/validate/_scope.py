"""Which names an instruction can see: those of its body, of what is around it, and of the module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pyptx.ir.nodes import (
    Alias,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    CompoundExpr,
    File,
    Function,
    Instruction,
    IntrinsicScope,
    Label,
    Loc,
    Module,
    Param,
    RegDecl,
    Section,
    VarDecl,
)

__all__ = ["Dated", "Declared", "Node", "Scope", "walk"]

Declared = RegDecl | VarDecl | Function | CallPrototype | BranchTargets | CallTargets | Alias | File
Named = VarDecl | Function | Param | Label | CallPrototype | BranchTargets | CallTargets | Alias
Node = Instruction | Label | Declared
Dated = Loc | Section                                   # what declares nothing, and came with some version


class Scope:
    """Names declared in a body, or in the module when there is no `outer`.

    Attributes:
        types, families: registers.    labels: how often each label is placed.    names: what else is declared.
        files: indices of `.file`.    function: whose body it is.
        sections: labels of sections.    located: (file, line, column) of every `.loc` so far.
    """

    def __init__(self, outer: Scope | None = None, function: Function | None = None):
        self.outer = outer
        self.function = function or (outer.function if outer else None)
        self.types: dict[str, str] = {}
        self.families: dict[str, tuple[str, int]] = {}          # %r<9> declares %r0 .. %r8
        self.known: dict[str, str | None] = {}
        self.labels: Counter[str] = Counter()
        self.names: dict[str, Named] = {}
        self.files: set[int] = set()
        self.sections: set[str] = set()
        self.located: set[tuple[int, int, int]] = outer.located if outer else set()

    def declare(self, node: Node | Param) -> None:
        if isinstance(node, RegDecl):
            self.known.clear()
            type_name = f"v{node.vector}.{node.type.value}" if node.vector else node.type.value
            if node.count is None:
                self.types[node.name] = type_name
            else:
                self.families[node.name] = (type_name, node.count)
        elif isinstance(node, VarDecl):
            self.names[node.symbol] = node
        elif isinstance(node, File):
            self.files.add(node.index)
        elif not isinstance(node, Instruction):
            self.names.setdefault(node.name, node)
            if isinstance(node, Function) and not node.declaration:
                self.names[node.name] = node

    def type_of(self, name: str) -> str | None:
        """The type of a register, "v4.f32" for a vector one, None when nothing of that name is a register."""
        try:
            return self.known[name]
        except KeyError:
            found = self.known[name] = self._find(name)
            return found

    def find(self, name: str) -> Named | None:
        """What is declared under a name, in this scope or one around it; registers have `type_of`."""
        found = self.names.get(name)
        return found if found is not None or self.outer is None else self.outer.find(name)

    def here(self, name: str) -> object:
        """What this very scope declares under a name, registers too; None when nothing."""
        return self.names.get(name) or self.types.get(name) or self._from_family(name)

    @staticmethod
    def in_family(name: str, stem: str, count: int) -> bool:
        """Whether `stem<count>` declares the name."""
        digits = name.removeprefix(stem)
        return digits.isdigit() and int(digits) < count and (digits == "0" or digits[0] != "0")

    def _from_family(self, name: str) -> str | None:
        stem = name.rstrip("0123456789")
        digits = name[len(stem):]
        while digits:
            family = self.families.get(stem)
            if family and int(digits) < family[1] and (digits == "0" or digits[0] != "0"):
                return family[0]
            stem, digits = stem + digits[0], digits[1:]
        return None

    def _find(self, name: str) -> str | None:
        return self.types.get(name) or self._from_family(name) or (self.outer.type_of(name) if self.outer else None)


def walk(module: Module) -> Iterator[tuple[Node | Dated, Scope]]:
    """Every instruction, label and declaration in order of text, with its scope, which learns of it afterwards.

    Lines of inlined code and sections are among them.
    """
    scope = Scope()
    for directive in module.directives:
        if isinstance(directive, Function):
            yield directive, scope
            scope.declare(directive)
            inside = Scope(scope, directive)
            for param in (*directive.params, *(directive.return_params or ())):
                if param.state_space.value == "reg":
                    inside.types[param.name] = param.type.value
                inside.declare(param)
            yield from _walk_body(directive.body, inside)
        elif isinstance(directive, Node):
            yield directive, scope
            scope.declare(directive)
        elif _is_dated(directive):
            yield directive, scope
            if isinstance(directive, Section):
                scope.sections.update(part.name for part in directive.body if isinstance(part, Label))


def _is_dated(node: object) -> bool:
    match node:
        case Section() | Loc(intermediate=True) | Loc(function_name=str()) | Loc(inlined_at=tuple()):
            return True
    return False


def _walk_body(body: tuple, scope: Scope) -> Iterator[tuple[Node, Scope]]:
    _place_labels(body, scope)
    yield from _walk_nodes(body, scope)


def _walk_nodes(body: tuple, scope: Scope) -> Iterator[tuple[Node, Scope]]:
    for node in body:
        if isinstance(node, Instruction):
            yield node, scope
        elif isinstance(node, Block):
            yield from _walk_body(node.body, Scope(scope))
        elif isinstance(node, (IntrinsicScope, CompoundExpr)):
            yield from _walk_nodes(node.body, scope)
        elif isinstance(node, Node):
            yield node, scope
            scope.declare(node)
        elif isinstance(node, Loc):
            if _is_dated(node):
                yield node, scope
            scope.located.add((node.file, node.line, node.column))


def _place_labels(body: tuple, scope: Scope) -> None:
    """Labels, and what is written like one, may be named before they are placed."""
    for node in body:
        if isinstance(node, (Label, CallPrototype, BranchTargets, CallTargets)):
            scope.labels[node.name] += 1
            scope.names.setdefault(node.name, node)
        elif isinstance(node, (IntrinsicScope, CompoundExpr)):
            _place_labels(node.body, scope)
