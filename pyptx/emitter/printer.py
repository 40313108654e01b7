"""The tree as PTX text, one node a line; the printer knows the tree and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from pyptx._loc import Place
from pyptx.ir.nodes import (AddressOperand, BlankLine, Block, Comment, Directive, Function, FunctionDirective,
                            ImmediateOperand, Instruction, IntrinsicScope, Label, LabelOperand, Module, NegatedOperand,
                            Operand, Param, ParenthesizedOperand, PipeOperand, PragmaDirective, Predicate, RawLine,
                            RegDecl, RegisterOperand, Statement, VarDecl, VectorOperand)

__all__ = ["Emitted", "emit", "emit_lines", "instruction_text", "operand_text"]


class Emitted(NamedTuple):
    """PTX text and, for each of its lines, the Python place that wrote it (None for lines nobody wrote)."""

    text: str
    places: tuple[Place | None, ...]


Line = tuple[str, Place | None]


def emit(module: Module) -> str:
    """The module as PTX text, ending with a newline."""
    return emit_lines(module).text


def emit_lines(module: Module) -> Emitted:
    """The module as PTX text with the Python place of every line."""
    lines = list(_module(module))
    return Emitted("".join(text + "\n" for text, _ in lines), tuple(place for _, place in lines))


def operand_text(operand: Operand) -> str:
    match operand:
        case RegisterOperand(name) | LabelOperand(name):
            return name
        case ImmediateOperand(text):
            return text
        case VectorOperand(elements):
            return "{" + ", ".join(map(operand_text, elements)) + "}"
        case ParenthesizedOperand(elements):
            return "(" + ", ".join(map(operand_text, elements)) + ")"
        case AddressOperand(base, None):
            return f"[{base}]"
        case AddressOperand(base, offset):
            joined = "+" if offset[0].isalnum() or offset[0] in "_%-($" else ""     # ptxas takes [%rd1+-8], not [%rd1-8]
            return f"[{base}{joined}{offset}]"
        case NegatedOperand(inner):
            return "!" + operand_text(inner)
        case PipeOperand(left, right):
            return f"{operand_text(left)}|{operand_text(right)}"
        case _:
            assert_never(operand)


def instruction_text(instruction: Instruction) -> str:
    """One instruction without indentation: guard, mnemonic, operands, semicolon."""
    guard = _guard(instruction.predicate)
    operands = ", ".join(map(operand_text, instruction.operands))
    return f"{guard}{instruction.mnemonic}{' ' if operands else ''}{operands};"


def _guard(predicate: Predicate | None) -> str:
    if predicate is None:
        return ""
    return f"@{'!' if predicate.negated else ''}{predicate.register} "


def _module(module: Module) -> Iterator[Line]:
    yield f".version {module.version.major}.{module.version.minor}", None
    yield f".target {', '.join(module.target.targets)}", None
    yield f".address_size {module.address_size.size}", None
    for directive in module.directives:
        yield from _directive(directive)


def _directive(node: Directive) -> Iterator[Line]:
    if isinstance(node, Function):
        yield "", None
        yield from _function(node)
    else:
        yield from _statement(node, "")


def _function(function: Function) -> Iterator[Line]:
    linking = f"{function.linking.ptx} " if function.linking else ""
    returns = f"({', '.join(map(_param, function.return_params))}) " if function.return_params else ""
    head = f"{linking}{'.entry' if function.is_entry else '.func'} {returns}{function.name}("
    if function.params:
        yield head, function.place
        last = len(function.params) - 1
        for i, param in enumerate(function.params):
            yield f"\t{_param(param)}{',' if i < last else ''}", function.place
        yield ")", function.place
    else:
        yield head + ")", function.place
    for directive in function.directives:
        yield _function_directive(directive), function.place
    yield "{", function.place
    for statement in function.body:
        yield from _statement(statement, "\t")
    yield "}", function.place


def _param(param: Param) -> str:
    words = [param.state_space.ptx]
    if param.alignment is not None:
        words.append(f".align {param.alignment}")
    words.append(param.type.ptx)
    if param.ptr_alignment is not None:
        space = f"{param.ptr_state_space.ptx} " if param.ptr_state_space else ""
        words.append(f".ptr {space}.align {param.ptr_alignment}")
    words.append(param.name + _brackets(param.array_size))
    return " ".join(words)


def _brackets(size: int | None) -> str:
    return "" if size is None else f"[{size or ''}]"


def _function_directive(directive: FunctionDirective) -> str:
    return f".{directive.name} {', '.join(map(str, directive.values))}".rstrip()


def _statement(node: Statement, indent: str) -> Iterator[Line]:
    match node:
        case Instruction(place=place):
            yield indent + instruction_text(node), place
        case Label(name, place=place):
            yield f"{name}:", place
        case RegDecl(type_, name, count, place=place):
            yield f"{indent}.reg {type_.ptx} {name}{'' if count is None else f'<{count}>'};", place
        case VarDecl(place=place):
            yield indent + _variable(node), place
        case PragmaDirective(value, place=place):
            yield f'{indent}.pragma "{value}";', place
        case Block(body, place=place):
            yield indent + "{", place
            for statement in body:
                yield from _statement(statement, indent + "\t")
            yield indent + "}", place
        case IntrinsicScope(name, args_repr, body, place=place):
            yield f"{indent}// BEGIN {name}({args_repr})", place
            for statement in body:
                yield from _statement(statement, indent)
            yield f"{indent}// END {name}", place
        case Comment(text):
            for line in text.split("\n"):
                yield indent + line, None
        case BlankLine():
            yield "", None
        case RawLine(text):
            yield text, None
        case _:
            assert_never(node)


def _variable(node: VarDecl) -> str:
    words = [node.linking.ptx] if node.linking else []
    words.append(node.state_space.ptx)
    if node.alignment is not None:
        words.append(f".align {node.alignment}")
    words += [node.type.ptx, node.name + _brackets(node.array_size)]
    if node.initializer is not None:
        words += ["=", node.initializer]
    return " ".join(words) + ";"
