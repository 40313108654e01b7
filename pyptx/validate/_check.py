"""A whole module against the table and its target."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.errors import Diagnostic, FormError
from pyptx.ir.nodes import (
    Block,
    Function,
    Instruction,
    IntrinsicScope,
    Label,
    LabelOperand,
    Module,
    RegDecl,
    RegisterOperand,
)
from pyptx.isa import registers, targets
from pyptx.isa._schema import allowed, combined_needs
from pyptx.isa.targets import Needs, Target
from pyptx.validate._bind import Bound, bind

__all__ = ["check", "required_version"]


class Scope:
    """Names declared in a body, with the blocks around it."""

    def __init__(self, outer: Scope | None = None):
        self.outer = outer
        self.types: dict[str, str] = {}
        self.families: dict[str, tuple[str, int]] = {}          # %r<9> declares %r0 .. %r8
        self.known: dict[str, str | None] = {}

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


def walk(module: Module) -> Iterator[tuple[Instruction, Scope]]:
    """Every instruction of a module with the scope it stands in."""
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


def _walk_body(body: tuple, scope: Scope) -> Iterator[tuple[Instruction, Scope]]:
    for node in body:                           # ptxas wants a declaration before its use; helpers may declare late
        if isinstance(node, RegDecl):
            scope.declare(node)
        elif isinstance(node, IntrinsicScope):
            _declare_all(node.body, scope)
    for node in body:
        if isinstance(node, Instruction):
            yield node, scope
        elif isinstance(node, Block):
            yield from _walk_body(node.body, Scope(scope))
        elif isinstance(node, IntrinsicScope):
            yield from _walk_body(node.body, scope)


def _declare_all(body: tuple, scope: Scope) -> None:
    for node in body:
        if isinstance(node, RegDecl):
            scope.declare(node)


def check(module: Module, target: str | None = None) -> list[Diagnostic]:
    """Everything the table refuses in a module: forms, operands, types, and what its target or version lacks.

    Args:
        target: checked for instead of the module's own.
    Returns:
        One diagnostic each, with the Python place of the node; none when nothing is wrong.
    """
    found: list[Diagnostic] = []
    name = target or module.target.targets[0]
    try:
        chip = targets.parse(name)
    except ValueError as error:
        return [Diagnostic("error", str(error))]
    version = (module.version.major, module.version.minor)
    if version < chip.first_ptx:
        found.append(Diagnostic("error", f".target {name} requires .version {_dotted(chip.first_ptx)} or later, "
                                         f"the module says {_dotted(version)}"))
    elif version > targets.LATEST_PTX:
        found.append(Diagnostic("error", f".version {_dotted(version)} is unknown; expected "
                                         f"{_dotted(targets.LATEST_PTX)} at most"))
    found += _labels(module)
    for instruction, scope in walk(module):
        try:
            bound = bind(instruction, scope.type_of)
        except FormError as error:
            found.append(Diagnostic("error", error.message, hint=error.hint, place=instruction.place))
            continue
        found += _guard(instruction, scope)
        found += _gates(instruction, bound, chip, version)
    return found


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _guard(instruction: Instruction, scope: Scope) -> Iterator[Diagnostic]:
    predicate = instruction.predicate
    if predicate is None:
        return
    type_name = scope.type_of(predicate.register)
    if type_name is None:
        yield _error(instruction, f"guard {predicate.register} is not declared")
    elif type_name != "pred":
        yield _error(instruction, f"guard {predicate.register} is .{type_name}; expected a predicate")


def _error(instruction: Instruction, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic("error", f"{instruction.mnemonic}: {message}", hint=hint, place=instruction.place)


def needs_of(bound: Bound) -> tuple[Needs, ...]:
    """What an instruction needs: alternatives."""
    optional = [name for name, operand in bound.form.operands.items() if operand.gate.text and name in bound.operands]
    return combined_needs(bound.form, bound.choices, frozenset(optional))


def _gates(instruction: Instruction, bound: Bound, chip: Target, version: tuple[int, int]) -> Iterator[Diagnostic]:
    alternatives, says = needs_of(bound), f"the module says {chip.name}"
    best = allowed(alternatives, chip)
    if best is None:
        wanted = " or ".join(n.words for n in alternatives)
        yield _error(instruction, f"Feature '{instruction.mnemonic}' requires .target {wanted}; {says}")
    elif version < best.ptx:
        yield _error(instruction, _too_early(instruction.mnemonic, best.ptx, version))
    for name, operand in bound.operands.items():
        row = registers.lookup(operand.name) if isinstance(operand, RegisterOperand) else None
        if row is None or bound.form.operands[name].role == "write":
            continue
        if not row.needs.on(chip):
            yield _error(instruction, f"Feature '{operand.name}' requires .target {row.needs.words}; {says}")
        elif version < row.needs.ptx:
            yield _error(instruction, _too_early(operand.name, row.needs.ptx, version))
        elif bound.types[name] and bound.types[name] not in row.types:
            yield _error(instruction, f"{operand.name} cannot be read as .{bound.types[name]}; expected "
                                      f"{' or '.join('.' + t for t in row.types)}")


def _too_early(feature: str, wanted: tuple[int, int], version: tuple[int, int]) -> str:
    return f"Feature '{feature}' requires PTX ISA .version {_dotted(wanted)} or later; the module says " \
           f"{_dotted(version)}"


def required_version(module: Module) -> tuple[int, int]:
    """The lowest `.version` that the module's target and instructions need; what the table refuses is left out."""
    chip = targets.parse(module.target.targets[0])
    version = chip.first_ptx
    for instruction, scope in walk(module):
        try:
            bound = bind(instruction, scope.type_of)
        except FormError:
            continue
        best = allowed(needs_of(bound), chip)
        if best is not None:
            version = max(version, best.ptx)
        for operand in instruction.operands:
            row = registers.lookup(operand.name) if isinstance(operand, RegisterOperand) else None
            if row is not None and row.needs.on(chip):
                version = max(version, row.needs.ptx)
    return version


# labels and names -------------------------------------------------------------------------------------------------

def _labels(module: Module) -> Iterator[Diagnostic]:
    for function in module.functions:
        labels: set[str] = set()
        for node in _nodes(function.body):
            if isinstance(node, Label):
                if node.name in labels:
                    yield Diagnostic("error", f"label {node.name} stands twice in {function.name}", place=node.place)
                labels.add(node.name)
        for node in _nodes(function.body):
            if isinstance(node, Instruction) and node.opcode == "bra" and node.operands:
                target = node.operands[0]
                if isinstance(target, LabelOperand) and target.name not in labels:
                    yield _error(node, f"label {target.name} is not in {function.name}")


def _nodes(body: tuple) -> Iterator[object]:
    for node in body:
        yield node
        if isinstance(node, (Block, IntrinsicScope)):
            yield from _nodes(node.body)
