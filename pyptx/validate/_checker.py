"""Checks of whole modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyptx._gc import gc_paused
from pyptx.emitter import declaration_spans, statement_spans
from pyptx.errors import Diagnostic, FormError
from pyptx.ir.nodes import (
    CallPrototype,
    DwarfLine,
    Function,
    Instruction,
    Label,
    Loc,
    Module,
    Predicate,
    RegDecl,
    RegisterOperand,
    VarDecl,
    VectorOperand,
)
from pyptx.ir.visit import undefined_functions
from pyptx.isa import _types, registers, satisfied_needs, targets
from pyptx.isa.registers import SpecialRegister
from pyptx.isa.targets import Target
from pyptx.validate._bind import Bound, bind
from pyptx.validate._calls import CallSequence, call_problems
from pyptx.validate._constant_expressions import constant_problems
from pyptx.validate._debug_info import debug_problems, dwarf_problem
from pyptx.validate._declarations import declaration_problems, signature_problems
from pyptx.validate._function_directives import directive_problems
from pyptx.validate._limits import count_problem, module_size_problems, size_warning
from pyptx.validate._messages import requires_version, version_text
from pyptx.validate._name_resolution import name_problems, param_variable
from pyptx.validate._shapes import instruction_shape, valid_shapes
from pyptx.validate._symbols import Declared, Scope, Versioned, walk
from pyptx.validate._target_options import option_problems
from pyptx.validate._version_checks import address_size_problem, addressing_problems, version_problems

__all__ = ["check"]


@gc_paused()
def check(module: Module, target: str | None = None) -> list[Diagnostic]:
    """Check a module: forms, operands, types, names, declarations, and support by its target and version.

    Args:
        target: check for this target instead of the module's own.
    Returns:
        Diagnostics, each with its line in the text and the Python location of the node; empty for a valid module.
    """
    name = target or next(iter(module.target.targets), "")  # a header that could not be parsed has none
    try:
        chip = targets.parse(name)
    except ValueError as error:
        if target or not module.target.targets:
            return [Diagnostic("error", str(error))]
        span = declaration_spans(module)[id(module.target)]
        return [Diagnostic("error", str(error), span.line, span.column, span.end_column)]
    version = (module.version.major, module.version.minor)
    found: list[Diagnostic] = []
    statements: list[list[Diagnostic]] = []
    declarations: list[tuple[object, Diagnostic]] = list(_header(chip, version, module))
    calls = CallSequence()
    valid, none = valid_shapes(chip, version), []
    for node, scope in walk(module):
        shape = instruction_shape(node, scope) if type(node) is Instruction else None
        if shape in valid:
            statements.append(none)
        elif isinstance(node, (Instruction, Label)):
            faults = list(_statement(node, scope, chip, version, calls))
            if shape is not None and not faults:
                valid.add(shape)
            statements.append(faults)
        else:
            declarations += [
                (node, fault) for fault in _declaration(node, scope, chip, version, module.target.targets[1:])
            ]
    declarations += [
        (node, Diagnostic("error", text, place=node.place)) for node, text in module_size_problems(module, chip)
    ]
    declarations += [
        (node, Diagnostic("error", problem))
        for node in module.directives
        if isinstance(node, DwarfLine) and (problem := dwarf_problem(node, version))
    ]
    declarations += [
        (
            node,
            Diagnostic(
                "warning", f"{name} is called, but not defined in this module", hint=_LINK_HINT, place=node.place
            ),
        )
        for name in undefined_functions(module)
        for node in module.functions
        if node.name == name
    ]
    if any(statements):  # spans are expensive
        found += [
            replace(fault, line=span.line, column=span.column, end_column=span.end_column)
            for span, faults in zip(statement_spans(module), statements, strict=True)
            for fault in faults
        ]
    if declarations:
        spans = declaration_spans(module)
        for node, fault in declarations:
            span = spans.get(id(node))
            if span is not None:
                fault = replace(fault, line=span.line, column=span.column, end_column=span.end_column)
            found.append(fault)
    return found


_LINK_HINT = "define it, or load this module together with the one that defines it: pyptx.load([...])"


def _declaration(
    node: Declared | Versioned, scope: Scope, chip: Target, version: tuple[int, int], options: tuple[str, ...]
) -> Iterator[Diagnostic]:
    problems = list(declaration_problems(node, scope, options, version))
    if not isinstance(node, RegDecl):
        problems = [*version_problems(node, version), *debug_problems(node, scope), *problems]
    if isinstance(node, Function):
        problems += signature_problems(node, options, chip, version)
    if isinstance(node, (Function, CallPrototype)):
        problems += directive_problems(node, chip, version)
    if not isinstance(node, Loc) and scope.labels[node.name] > (0 if isinstance(node, (RegDecl, VarDecl)) else 1):
        problems.append(f"label {node.name} is declared twice in one scope")
    if isinstance(node, (VarDecl, RegDecl)) and (problem := count_problem(node)):
        problems.append(problem)
    for problem in problems:
        yield Diagnostic("error", problem, place=node.place)
    if isinstance(node, VarDecl) and (warning := size_warning(node, chip)):
        yield Diagnostic("warning", warning, place=node.place)


def _header(chip: Target, version: tuple[int, int], module: Module) -> Iterator[tuple[object, Diagnostic]]:
    size = module.address_size
    if version < (2, 3) and size.written:
        yield size, Diagnostic("error", requires_version(".address_size", (2, 3), version))
    if problem := address_size_problem(size):
        yield size, Diagnostic("error", problem)
    for problem in option_problems(module, chip, version):
        yield module.target, Diagnostic("error", problem)
    if version < chip.first_ptx:
        yield (
            module.target,
            Diagnostic(
                "error",
                f".target {chip.name} requires .version {version_text(chip.first_ptx)} or later; "
                f"the module has .version {version_text(version)}",
            ),
        )
    elif version > targets.LATEST_PTX:
        latest = version_text(targets.LATEST_PTX)
        yield (
            module.version,
            Diagnostic("error", f".version {version_text(version)} is unknown; the latest is {latest}"),
        )


def _statement(
    node: Instruction | Label, scope: Scope, chip: Target, version: tuple[int, int], calls: CallSequence
) -> Iterator[Diagnostic]:
    if isinstance(node, Label):
        if scope.labels[node.name] > 1:
            yield Diagnostic(
                "error", f"label {node.name} is defined {scope.labels[node.name]} times in one scope", place=node.place
            )
        return
    try:
        bound = bind(node, scope.type_of)
    except FormError as error:
        yield Diagnostic("error", error.message, hint=error.hint, place=node.place)
        return
    for message, hint in name_problems(bound, scope):
        yield _error(node, message, hint)
    for message, hint in addressing_problems(bound, scope) if node.opcode in ("cvta", "mov") else ():
        yield _error(node, message, hint)
    for message in call_problems(bound, scope) if node.opcode == "call" else ():
        yield _error(node, message)
    if message := calls.problem(bound, scope):
        yield _error(node, message)
    for message in constant_problems(node.operands, scope.type_of):
        yield _error(node, message)
    if node.predicate is not None:
        yield from _guard(node, node.predicate, bound, scope)
    yield from _gates(node, bound, chip, version)


def _guard(instruction: Instruction, predicate: Predicate, bound: Bound, scope: Scope) -> Iterator[Diagnostic]:
    if (argument := param_variable(bound, scope)) is not None:
        yield _error(
            instruction,
            f"{argument} is a call argument, which every thread must load or store",
            "drop the guard, and select the value before the access",
        )
    type_name = scope.type_of(predicate.register)
    if type_name is None:
        yield _error(instruction, f"guard {predicate.register} is not declared")
    elif type_name != "pred":
        yield _error(instruction, f"guard {predicate.register} is .{type_name}; expected a predicate")


def _error(instruction: Instruction, message: str, hint: str | None = None) -> Diagnostic:
    return Diagnostic("error", f"{instruction.mnemonic}: {message}", hint=hint, place=instruction.place)


def _gates(instruction: Instruction, bound: Bound, chip: Target, version: tuple[int, int]) -> Iterator[Diagnostic]:
    best = satisfied_needs(bound.needs, chip)
    if best is None:
        wanted = " or ".join(n.words for n in bound.needs)
        yield _error(
            instruction, f"Feature '{instruction.mnemonic}' requires .target {wanted}; the module targets {chip.name}"
        )
    elif version < best.ptx:
        yield _error(instruction, requires_version(instruction.mnemonic, best.ptx, version))
    for name, operand in bound.operands.items():
        for element in operand.elements if isinstance(operand, VectorOperand) else (operand,):
            row = registers.lookup(element.name) if isinstance(element, RegisterOperand) else None
            if row is None or not isinstance(element, RegisterOperand) or bound.form.operands[name].role == "write":
                continue
            whole = not isinstance(operand, VectorOperand) and bound.form.operands[name].kind != "vector"
            if row.components and element.name == row.name and bound.form.operands[name].kind != "special":
                yield _error(instruction, f"{element.name} has components; write {element.name}.x")
            elif not row.needs.on(chip):
                yield _error(
                    instruction,
                    f"Feature '{element.name}' requires .target {row.needs.words}; the module targets {chip.name}",
                )
            elif version < row.needs.ptx:
                yield _error(instruction, requires_version(element.name, row.needs.ptx, version))
            elif whole and bound.types[name] and not _readable(row, bound, name):
                yield _error(
                    instruction,
                    f"{element.name} cannot be read as .{bound.types[name]}; expected "
                    f"{' or '.join('.' + t for t in row.types)}",
                )


def _readable(row: SpecialRegister, bound: Bound, name: str) -> bool:
    """Return True if the operand `name` may be this special register: of a `mov` type, or as wide as `cvt` reads."""
    if bound.form.op.opcode == "cvt":
        return row.types[0] != "pred" and _types.width(bound.types[name]) <= _types.width(row.types[0])
    return bound.types[name] in row.types
