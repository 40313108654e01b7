"""A whole module against the table and its target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from pyptx import isa
from pyptx.emitter import declaration_spans, statement_spans
from pyptx.errors import Diagnostic, FormError
from pyptx.ir.nodes import (
    AddressSize,
    Function,
    Instruction,
    Label,
    Module,
    RegDecl,
    RegisterOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.isa import registers, targets
from pyptx.isa._schema import allowed, combined_needs
from pyptx.isa.targets import Needs, Target
from pyptx.validate._addressing import addressing_problems, size_problem
from pyptx.validate._bind import Bound, bind
from pyptx.validate._calls import call_problems
from pyptx.validate._constants import constant_problems
from pyptx.validate._debuginfo import debug_problems
from pyptx.validate._declarations import declaration_problems, head_problems
from pyptx.validate._directives import directive_problems
from pyptx.validate._eras import era_problems
from pyptx.validate._names import call_argument, name_problems
from pyptx.validate._problem import dotted, too_early
from pyptx.validate._scope import Dated, Node, Scope, walk

__all__ = ["check", "required_version"]


def check(module: Module, target: str | None = None) -> list[Diagnostic]:
    """Everything the table refuses in a module: forms, operands, types, and what its target or version lacks.

    Args:
        target: checked for instead of the module's own.
    Returns:
        One diagnostic each, with its line in the text and the Python place of the node; none when nothing is wrong.
    """
    name = target or next(iter(module.target.targets), "")  # a header that could not be read has none
    try:
        chip = targets.parse(name)
    except ValueError as error:
        return [Diagnostic("error", str(error))]
    version = (module.version.major, module.version.minor)
    found = list(_header(chip, version, module.address_size))
    statements, declarations = [], []
    for node, scope in walk(module):
        if isinstance(node, (Instruction, Label)):
            statements.append(list(_statement(node, scope, chip, version)))
        else:
            declarations += [(node, fault)
                             for fault in _declaration(node, scope, chip, version, module.target.targets[1:])]
    if any(statements):                         # only now is it worth knowing where they stand
        found += [replace(fault, line=span.line, column=span.column, end_column=span.end_column)
                  for span, faults in zip(statement_spans(module), statements, strict=True) for fault in faults]
    if declarations:
        spans = declaration_spans(module)
        for node, fault in declarations:
            span = spans[id(node)]
            found.append(replace(fault, line=span.line, column=span.column, end_column=span.end_column))
    return found


def _declaration(node: Node | Dated, scope: Scope, chip: Target, version: tuple[int, int],
                 options: tuple[str, ...]) -> Iterator[Diagnostic]:
    problems = [*era_problems(node, version), *debug_problems(node, scope), *declaration_problems(node, scope, options)]
    if isinstance(node, Function):
        problems += head_problems(node, options, chip, version)
        problems += directive_problems(node, chip, version)
    name = getattr(node, "name", None)
    if name is not None and scope.labels[name] > (0 if isinstance(node, (RegDecl, VarDecl)) else 1):
        problems.append(f"label {name} is declared twice in one scope")
    for problem in problems:
        yield Diagnostic("error", problem, place=getattr(node, "place", None))


def _header(chip: Target, version: tuple[int, int], size: AddressSize) -> Iterator[Diagnostic]:
    if version < (2, 3) and size.written:
        yield Diagnostic("error", too_early(".address_size", (2, 3), version))
    if problem := size_problem(size):
        yield Diagnostic("error", problem)
    if version < chip.first_ptx:
        yield Diagnostic("error", f".target {chip.name} requires .version {dotted(chip.first_ptx)} or later, "
                                  f"the module says {dotted(version)}")
    elif version > targets.LATEST_PTX:
        yield Diagnostic("error", f".version {dotted(version)} is unknown; expected "
                                  f"{dotted(targets.LATEST_PTX)} at most")


def _statement(node: Instruction | Label, scope: Scope, chip: Target,
               version: tuple[int, int]) -> Iterator[Diagnostic]:
    if isinstance(node, Label):
        if scope.labels[node.name] > 1:
            yield Diagnostic("error", f"label {node.name} stands {scope.labels[node.name]} times in one scope",
                             place=node.place)
        return
    try:
        bound = bind(node, scope.type_of)
    except FormError as error:
        yield Diagnostic("error", error.message, hint=error.hint, place=node.place)
        return
    for message, hint in (*name_problems(bound, scope), *addressing_problems(bound, scope)):
        yield _error(node, message, hint)
    for message in call_problems(bound, scope) if node.opcode == "call" else ():
        yield _error(node, message)
    for message in constant_problems(node.operands, scope.type_of):
        yield _error(node, message)
    yield from _guard(node, bound, scope)
    yield from _gates(node, bound, chip, version)


def _guard(instruction: Instruction, bound: Bound, scope: Scope) -> Iterator[Diagnostic]:
    predicate = instruction.predicate
    if predicate is None:
        return
    if (argument := call_argument(bound, scope)) is not None:
        yield _error(instruction, f"{argument} is an argument of a call, which every thread writes and reads",
                     "drop the guard, and select the value before")
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
        yield _error(instruction, too_early(instruction.mnemonic, best.ptx, version))
    for name, operand in bound.operands.items():
        whole = operand.__class__ is not VectorOperand and bound.form.operands[name].kind != "vector"
        for element in (operand,) if operand.__class__ is not VectorOperand else operand.elements:
            row = registers.lookup(element.name) if isinstance(element, RegisterOperand) else None
            if row is None or bound.form.operands[name].role == "write":
                continue
            if row.components and element.name == row.name and bound.form.operands[name].kind != "special":
                yield _error(instruction, f"{element.name} has components; write {element.name}.x")
            elif not row.needs.on(chip):
                yield _error(instruction, f"Feature '{element.name}' requires .target {row.needs.words}; {says}")
            elif version < row.needs.ptx:
                yield _error(instruction, too_early(element.name, row.needs.ptx, version))
            elif whole and bound.types[name] and bound.types[name] not in row.types:
                yield _error(instruction, f"{element.name} cannot be read as .{bound.types[name]}; expected "
                                          f"{' or '.join('.' + t for t in row.types)}")


def required_version(module: Module) -> tuple[int, int]:
    """The lowest `.version` that the module's target and instructions need; what the table refuses is left out."""
    chip = targets.parse(module.target.targets[0])
    version = chip.first_ptx
    for instruction, scope in walk(module):
        if not isinstance(instruction, Instruction):
            continue
        wanted = _version_of_mnemonic(instruction.opcode, instruction.modifiers, chip)
        if wanted is None:
            try:
                best = allowed(needs_of(bind(instruction, scope.type_of)), chip)
            except FormError:
                continue
            wanted = best.ptx if best is not None else version
        version = max(version, wanted)
        for operand in instruction.operands:
            for element in operand.elements if operand.__class__ is VectorOperand else (operand,):
                if element.__class__ is RegisterOperand:
                    version = max(version, _version_of_register(element.name, chip))
    return version


@lru_cache(maxsize=4096)
def _version_of_mnemonic(opcode: str, modifiers: tuple[str, ...], chip: Target) -> tuple[int, int] | None:
    """The version an instruction needs, where the operands do not matter for it; else None."""
    versions = set()
    for match in isa.match(opcode, modifiers):
        best = allowed(combined_needs(match.form, match.choices, frozenset()), chip)
        if best is None or any(operand.gate.text for operand in match.form.operands.values()):
            return None
        versions.add(best.ptx)
    return versions.pop() if len(versions) == 1 else None


@lru_cache(maxsize=4096)
def _version_of_register(name: str, chip: Target) -> tuple[int, int]:
    """The version a special register needs; (0, 0) for other registers and where the target lacks it."""
    row = registers.lookup(name)
    return row.needs.ptx if row is not None and row.needs.on(chip) else (0, 0)
