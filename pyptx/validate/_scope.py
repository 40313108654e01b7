"""Which names an instruction can see: registers and labels of its body and of the blocks around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pyptx.ir.nodes import Block, CompoundExpr, Function, Instruction, IntrinsicScope, Label, Module, RegDecl

__all__ = ["Scope", "walk"]


class Scope:
    """Names declared in a body, with the blocks around it."""

    def __init__(self, outer: Scope | None = None):
        self.outer = outer
        self.types: dict[str, str] = {}
        self.families: dict[str, tuple[str, int]] = {}          # %r<9> declares %r0 .. %r8
        self.known: dict[str, str | None] = {}
        self.labels: Counter[str] = Counter()

    def declare(self, node: RegDecl) -> None:
        self.known.clear()
        type_name = f"v{node.vector}.{node.type.value}" if node.vector else node.type.value
        if node.count is None:
            self.types[node.name] = type_name
        else:
            self.families[node.name] = (type_name, node.count)

    def type_of(self, name: str) -> str | None:
        """The type of a register, "v4.f32" for a vector one, None when nothing of that name is a register."""
        try:
            return self.known[name]
        except KeyError:
            found = self.known[name] = self._find(name)
            return found

    def sees_label(self, name: str) -> bool:
        """Whether a branch from here may go to the label."""
        return name in self.labels or (self.outer is not None and self.outer.sees_label(name))

    def _find(self, name: str) -> str | None:
        found = self.types.get(name)
        if found is not None:
            return found
        stem = name.rstrip("0123456789")
        digits = name[len(stem):]
        while digits:
            family = self.families.get(stem)
            if family and int(digits) < family[1] and (digits == "0" or digits[0] != "0"):
                return family[0]
            stem, digits = stem + digits[0], digits[1:]
        return self.outer.type_of(name) if self.outer else None


def walk(module: Module) -> Iterator[tuple[Instruction | Label, Scope]]:
    """Every instruction and label of a module, in order of text, with the scope it stands in."""
    for directive in module.directives:
        if isinstance(directive, Function):
            yield from _walk_body(directive.body, _function_scope(directive))
        elif isinstance(directive, Instruction):
            yield directive, Scope()


def _function_scope(function: Function) -> Scope:
    scope = Scope()
    for param in (*function.params, *(function.return_params or ())):
        if param.state_space.value == "reg":
            scope.types[param.name] = param.type.value
    return scope


def _walk_body(body: tuple, scope: Scope) -> Iterator[tuple[Instruction | Label, Scope]]:
    _declare_all(body, scope)                   # ptxas wants a declaration before its use; helpers may declare late
    yield from _walk_nodes(body, scope)


def _walk_nodes(body: tuple, scope: Scope) -> Iterator[tuple[Instruction | Label, Scope]]:
    for node in body:
        if isinstance(node, (Instruction, Label)):
            yield node, scope
        elif isinstance(node, Block):
            yield from _walk_body(node.body, Scope(scope))
        elif isinstance(node, (IntrinsicScope, CompoundExpr)):
            yield from _walk_nodes(node.body, scope)


def _declare_all(body: tuple, scope: Scope) -> None:
    for node in body:
        if isinstance(node, RegDecl):
            scope.declare(node)
        elif isinstance(node, Label):
            scope.labels[node.name] += 1
        elif isinstance(node, (IntrinsicScope, CompoundExpr)):
            _declare_all(node.body, scope)
