"""Symbol tables: the names visible to an instruction in its block, function and module."""

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
    Statement,
    VarDecl,
)

__all__ = ["Declared", "Named", "Node", "Scope", "Versioned", "register_type", "walk"]

Declared = RegDecl | VarDecl | Function | CallPrototype | BranchTargets | CallTargets | Alias | File
Named = VarDecl | Function | Param | Label | CallPrototype | BranchTargets | CallTargets | Alias
Node = Instruction | Label | Declared
Versioned = Loc | Section  # nodes that declare nothing and depend on the PTX version


_MAX_DIGITS = 20  # longer numbers are in no family of registers


def register_type(node: RegDecl | Param) -> str:
    """Return the type of a declared register: "f32", or "v4.f32" for a vector register."""
    return f"v{node.vector}.{node.type.value}" if node.vector else node.type.value


class Scope:
    """Symbol table of a block, or of the module if it has no `outer` scope.

    Attributes:
        types: register name -> type.
        families: stem -> (type, count) of parameterized registers.
        labels: number of definitions of each label.
        names: all other declarations.
        files: indices of `.file`.
        function: the function that contains the scope.
        sections: labels of debug sections.
        located: (file, line, column) of every `.loc` so far.
    """

    def __init__(self, outer: Scope | None = None, function: Function | None = None):
        self.outer = outer
        self.function = function or (outer.function if outer else None)
        self.types: dict[str, str] = {}
        self.families: dict[str, tuple[str, int]] = {}  # %r<9> declares %r0 to %r8
        self.known: dict[str, str | None] = {}
        self.labels: Counter[str] = Counter()
        self.names: dict[str, Named] = {}
        self.files: set[int] = set()
        self.sections: set[str] = set()
        self.located: set[tuple[int, int, int]] = outer.located if outer else set()

    def declare(self, node: Node | Param) -> None:
        """Add the names that a node declares."""
        if isinstance(node, RegDecl):
            self.known.clear()
            type_name = register_type(node)
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
        """Return the type of a register, "v4.f32" for a vector register; None for any other name."""
        try:
            return self.known[name]
        except KeyError:
            found = self.known[name] = self._find(name)
            return found

    def find(self, name: str) -> Named | None:
        """Return the declaration of a name in this scope or an enclosing one; for registers see `type_of`."""
        found = self.names.get(name)
        return found if found is not None or self.outer is None else self.outer.find(name)

    def declared_here(self, name: str) -> object:
        """Return the declaration of a name, or the type of a register, in this scope itself; None without one."""
        return self.names.get(name) or self.types.get(name) or self._from_family(name)

    @staticmethod
    def in_family(name: str, stem: str, count: int) -> bool:
        """Return True if `stem<count>` declares the name."""
        digits = name.removeprefix(stem)
        if not digits.isdigit() or len(digits) > _MAX_DIGITS:
            return False
        return int(digits) < count and (digits == "0" or digits[0] != "0")

    def _from_family(self, name: str) -> str | None:
        if not self.families:
            return None
        stem = name.rstrip("0123456789")
        digits = name[len(stem) :]
        if len(digits) > _MAX_DIGITS:
            return None
        while digits:
            family = self.families.get(stem)
            if family and int(digits) < family[1] and (digits == "0" or digits[0] != "0"):
                return family[0]
            stem, digits = stem + digits[0], digits[1:]
        return None

    def _find(self, name: str) -> str | None:
        return self.types.get(name) or self._from_family(name) or (self.outer.type_of(name) if self.outer else None)


def walk(module: Module) -> Iterator[tuple[Node | Versioned, Scope]]:
    """Yield every instruction, label and declaration in source order with its scope, which declares it afterwards.

    Debug sections and locations of inlined code are included.
    """
    scope = Scope()
    for directive in module.directives:
        if isinstance(directive, Function):
            yield directive, scope
            scope.declare(directive)
            inside = Scope(scope, directive)
            for param in (*directive.params, *(directive.return_params or ())):
                if param.state_space.value == "reg":
                    inside.types[param.name] = register_type(param)
                inside.declare(param)
            yield from _walk_body(directive.body, inside)
        elif isinstance(directive, Node):
            yield directive, scope
            scope.declare(directive)
        elif isinstance(directive, Section):
            yield directive, scope
            scope.sections.update(part.name for part in directive.body if isinstance(part, Label))
        elif isinstance(directive, Loc) and _is_versioned(directive):
            yield directive, scope


def _is_versioned(node: Loc) -> bool:
    """Return True if the PTX version matters for a location."""
    return node.intermediate or node.function_name is not None or node.inlined_at is not None


def _walk_body(body: tuple[Statement, ...], scope: Scope) -> Iterator[tuple[Node | Versioned, Scope]]:
    _declare_labels(body, scope)
    yield from _walk_nodes(body, scope)


def _walk_nodes(body: tuple[Statement, ...], scope: Scope) -> Iterator[tuple[Node | Versioned, Scope]]:
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
            if _is_versioned(node):
                yield node, scope
            scope.located.add((node.file, node.line, node.column))


def _declare_labels(body: tuple[Statement, ...], scope: Scope) -> None:
    """Declare labels, prototypes and target lists, which may be used before they are defined."""
    for node in body:
        if isinstance(node, (Label, CallPrototype, BranchTargets, CallTargets)):
            scope.labels[node.name] += 1
            scope.names.setdefault(node.name, node)
        elif isinstance(node, (IntrinsicScope, CompoundExpr)):
            _declare_labels(node.body, scope)
