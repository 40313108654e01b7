"""Variables, parameters and functions: what may be declared where, and twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pyptx.ir.formatting import integer
from pyptx.ir.nodes import (
    Alias,
    BranchTargets,
    CallPrototype,
    CallTargets,
    File,
    Function,
    ImmediateOperand,
    Label,
    LabelOperand,
    Param,
    RegDecl,
    VarDecl,
    VectorOperand,
)
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace
from pyptx.isa import _types
from pyptx.isa.targets import Target
from pyptx.validate._constants import expression_problem
from pyptx.validate._eras import OPAQUE
from pyptx.validate._scope import Declared, Scope
from pyptx.validate._tokens import literal

__all__ = ["declaration_problems", "head_problems"]

_MANY_PARAMETER_BYTES, _PARAMETER_BYTES = 32764, 4352       # from PTX 8.1 on sm_70; before
_MASKED = re.compile(r"(?!generic)\w+\s*\(")                          # 0xFF00(name), a byte of an address
_POINTED = ("const", "global", "local", "shared")
_RESERVED = ("_", "WARP_SZ")


def declaration_problems(node: Declared, scope: Scope, options: tuple[str, ...]) -> Iterator[str]:
    """Everything wrong with a declaration, read before `scope` knows it.

    Args:
        scope: where it stands; one without `outer` is the module.
        options: of `.target`.
    """
    match node:
        case VarDecl():
            yield from _named(node.symbol, node, scope)
            yield from _variable(node, scope, options)
        case RegDecl():
            yield from _named(node.name, node, scope)
            yield from _type(node.type, StateSpace.REG, node.vector)
            if scope.outer is None:
                yield ".reg variables stand inside a function"
        case Function():
            yield from _named(node.name, node, scope)
        case CallPrototype():
            yield from head_problems(node, options)
        case BranchTargets(labels=labels):
            for label in labels:
                stem, _, count = label.rstrip(">").partition("<")
                for name in (stem + str(i) for i in range(integer(count) or 0)) if count else [label]:
                    if not isinstance(scope.find(name), Label):
                        yield f".branchtargets {node.name} names {name}, which is no label here"
                        break
        case CallTargets(functions=functions):
            for name in functions:
                found = scope.find(name)
                if not isinstance(found, Function) or found.is_entry:
                    yield f".calltargets {node.name} names {name}, which is no function that can be called here"
        case Alias(name, aliasee):
            yield from _alias(scope.find(name), scope.find(aliasee), node)
        case File(index):
            if index in scope.files:
                yield f".file {index} is declared twice"


# names --------------------------------------------------------------------------------------------------------------

def _named(name: str, node: Declared, scope: Scope) -> Iterator[str]:
    if name in _RESERVED:
        yield f"{name} is reserved and cannot be declared"
        return
    if isinstance(node, RegDecl) and node.count is not None:
        twice = next((n for n in scope.types if n[:len(name)] == name and scope.in_family(n, name, node.count)), None)
        if twice or name in scope.families:
            yield f"{twice or name + '<' + str(node.count) + '>'} is declared twice in one scope"
        return
    earlier = scope.here(name)
    if earlier is None:
        return
    if isinstance(node, Function) and isinstance(earlier, Function):
        yield from _redeclared(node, earlier)
    elif isinstance(node, VarDecl) and isinstance(earlier, VarDecl) and earlier.linking is LinkingDirective.EXTERN:
        if _shape(node) != _shape(earlier):
            yield f"{name} is declared .extern with another type, size or space"
        elif node.linking is None:
            yield f"{name} is declared .extern, so its definition must be .visible"
    else:
        yield f"{name} is declared twice in one scope"


def _shape(node: VarDecl) -> tuple:
    return node.state_space, node.type, node.vector, node.dimensions


def _redeclared(node: Function, earlier: Function) -> Iterator[str]:
    name = node.name
    if node.is_entry != earlier.is_entry:
        yield f"{name} is declared as an .entry and as a .func"
    elif not earlier.declaration:
        yield f"function {name} is defined already"
    elif earlier.linking is LinkingDirective.EXTERN and not node.declaration:
        yield f"{name} is declared .extern and defined here; declare it .visible"
    elif node.linking not in (None, earlier.linking):
        yield f"{name} is .{node.linking.value} here, but not where it was declared"
    else:
        yield from _prototypes(name, node, earlier)


def _prototypes(name: str, one: Function, other: Function) -> Iterator[str]:
    for what, left, right in (("parameters", one.params, other.params),
                              ("return parameters", one.return_params or (), other.return_params or ())):
        if len(left) != len(right):
            yield f"{name} has {len(left)} {what} here and {len(right)} where it was declared"
        elif [(p.state_space, p.type, p.array_size, p.alignment) for p in left] != \
                [(p.state_space, p.type, p.array_size, p.alignment) for p in right]:
            yield f"{name} is declared with other {what}"


def _alias(alias: object, aliasee: object, node: Alias) -> Iterator[str]:
    for name, found in ((node.name, alias), (node.aliasee, aliasee)):
        if not isinstance(found, Function):
            yield f".alias: there is no function {name}; declare it first"
            return
    if not alias.declaration:
        yield f".alias: {node.name} has a body; an alias has none"
    yield from _prototypes(node.name, alias, aliasee)


# variables ----------------------------------------------------------------------------------------------------------

def _type(type_: ScalarType, space: StateSpace, vector: int | None) -> Iterator[str]:
    if type_ in OPAQUE:
        return
    if type_.value not in _types.DECLARABLE:
        yield f".{type_.value} is a type of instructions only; declare .b{_types.width(type_.value)}"
    elif type_ is ScalarType.PRED and (vector or space is not StateSpace.REG):
        yield "a .pred is a scalar register; keep it elsewhere as .b8 or .b32"
    elif vector == 8:
        yield "a declared vector has 2 or 4 elements"
    elif vector and vector * _types.width(type_.value) > 128:
        yield f".v{vector} .{type_.value} is larger than 128 bits"


def _alignment(*alignments: int | None) -> Iterator[str]:
    for alignment in alignments:
        if alignment is not None and (alignment < 1 or alignment & (alignment - 1)):
            yield f".align takes a power of two, not {alignment}"


def _variable(node: VarDecl, scope: Scope, options: tuple[str, ...]) -> Iterator[str]:
    space, name = node.state_space, node.symbol
    extern = node.linking is LinkingDirective.EXTERN
    yield from _type(node.type, space, node.vector)
    yield from _alignment(node.alignment)
    if scope.outer is None:
        if space in (StateSpace.LOCAL, StateSpace.REG, StateSpace.PARAM):
            yield f".{space.value} variables stand inside a function; here .global, .const or .shared may"
        if node.linking is LinkingDirective.COMMON and space is not StateSpace.GLOBAL:
            yield ".common is for .global variables only"
    elif node.linking is not None:
        yield f".{node.linking.value} variables stand outside of functions"
    if node.type in OPAQUE:
        if space is not StateSpace.GLOBAL or scope.outer is not None:
            yield f".{node.type.value} variables are .global and stand outside of functions"
        elif node.type is ScalarType.SAMPLERREF and "texmode_independent" not in options:
            yield ".samplerref needs the .target option texmode_independent"
    dimensions = node.dimensions
    if 0 in dimensions[1:]:
        yield f"{name}: only the first dimension may be left open"
    elif dimensions[:1] == (0,) and not extern and node.initializer is None:
        yield f"{name} has no size; give one, or declare it .extern"
    for attribute in node.attributes:
        if attribute.name not in ("managed", "unified"):
            yield f".attribute knows .managed and .unified, not .{attribute.name}"
        elif space is not StateSpace.GLOBAL:
            yield f".attribute(.{attribute.name}) is for .global variables only"
    if node.initializer is not None and not isinstance(node.initializer, str) and node.type not in OPAQUE:
        if extern:
            yield f"{name} is .extern and has no value here"
        elif space not in (StateSpace.GLOBAL, StateSpace.CONST):
            yield f"a .{space.value} variable has no value at the start; store one"
        else:
            shape = dimensions + ((node.vector,) if node.vector else ())
            yield from _initializer(node, node.initializer, shape, scope)


def _initializer(node: VarDecl, value: object, shape: tuple[int, ...], scope: Scope) -> Iterator[str]:
    name = node.symbol
    if bool(shape) != isinstance(value, VectorOperand):
        yield f"{name} takes {'values in braces' if shape else 'one value, without braces'}"
    elif shape:
        if shape[0] and len(value.elements) > shape[0]:
            yield f"{name} takes {shape[0]} values in braces, not {len(value.elements)}"
            return
        for element in value.elements:
            nested = shape[1:] if isinstance(element, VectorOperand) or (node.vector and len(shape) == 2) else ()
            yield from _initializer(node, element, nested, scope)
    elif node.type in (ScalarType.F16, ScalarType.F16X2):
        yield f"a .{node.type.value} variable has no value at the start; declare it .b{_types.width(node.type.value)}"
    elif isinstance(value, ImmediateOperand):
        kind = literal(value.text)
        if kind == "name" and _MASKED.match(value.text):
            yield from _address(node, value.text, scope)
        elif kind == "name":
            yield f"{value.text} is no constant; a name stands first, as in name+4"
        elif problem := expression_problem(value.text):
            yield problem
        elif node.type in (ScalarType.F32, ScalarType.F64) and kind == "int":
            yield f"{value.text} is an integer, {name} is .{node.type.value}; write {value.text}.0"
        elif kind in ("float", "hex") and node.type.value[0] in "us":
            yield f"{value.text} is a float, {name} is .{node.type.value}"
    elif isinstance(value, LabelOperand):
        yield from _address(node, value.name, scope)


def _address(node: VarDecl, text: str, scope: Scope) -> Iterator[str]:
    masked = _MASKED.match(text) is not None
    symbol = text.partition("(")[2].partition(")")[0] if "(" in text else text
    symbol = symbol.partition("+")[0].strip()
    types = (ScalarType.U8,) if masked else (ScalarType.U64, ScalarType.U32)
    if node.type not in types:
        yield f"the address of {symbol} takes a .{types[0].value} variable, {node.symbol} is .{node.type.value}"
    found = node if symbol == node.symbol else scope.find(symbol)
    if found is None:
        yield f"there is no variable or function {symbol} here; declare it first"
    elif isinstance(found, VarDecl) and found.state_space not in (StateSpace.GLOBAL, StateSpace.CONST):
        yield f"{symbol} is .{found.state_space.value}; the address of a .global or .const variable may stand here"


# heads of functions -------------------------------------------------------------------------------------------------

def head_problems(node: Function | CallPrototype, options: tuple[str, ...], chip: Target | None = None,
                  version: tuple[int, int] = (0, 0)) -> Iterator[str]:
    """Everything wrong with linking and parameters of a function or prototype."""
    entry = isinstance(node, Function) and node.is_entry
    returns = node.return_params or ()
    if isinstance(node, Function):
        if node.linking is LinkingDirective.COMMON:
            yield ".common is for .global variables only"
        if node.linking is LinkingDirective.EXTERN and not node.declaration:
            yield f"{node.name} is .extern and has a body"
        if node.name in _RESERVED:
            yield f"{node.name} is reserved and cannot be declared"
    yield from _parameters(node.params, entry, options)
    yield from _parameters(returns, False, options)
    if len(returns) > 1 and any(p.state_space is not StateSpace.REG for p in returns):
        yield "several return parameters must all be .reg"
    if entry and chip is not None:
        limit = _MANY_PARAMETER_BYTES if version >= (8, 1) and chip.number >= 70 else _PARAMETER_BYTES
        used = _bytes(node.params)
        if used > limit:
            yield f"the parameters of {node.name} take {used} bytes; {limit} are allowed"


def _bytes(params: Iterable[Param]) -> int:
    end = 0
    for param in params:
        item = 8 if param.type in OPAQUE else max(_types.WIDTHS.get(param.type.value, 8) // 8, 1)
        alignment = max(param.alignment or 1, item)
        end = -(-end // alignment) * alignment + item * (1 if param.array_size is None else param.array_size)
    return end


def _parameters(params: tuple[Param, ...], entry: bool, options: tuple[str, ...]) -> Iterator[str]:
    names: set[str] = set()
    for i, param in enumerate(params):
        if param.name in names and param.name != "_":
            yield f"parameter {param.name} is declared twice"
        names.add(param.name)
        if entry and param.state_space is not StateSpace.PARAM:
            yield f"parameter {param.name} of an entry must be .param, not .{param.state_space.value}"
        elif param.state_space not in (StateSpace.PARAM, StateSpace.REG):
            yield f"parameter {param.name} must be .param or .reg, not .{param.state_space.value}"
        if not entry and (param.ptr_state_space or param.ptr_alignment) is not None:
            yield f"parameter {param.name}: .ptr stands on parameters of an entry only"
        elif param.ptr_state_space is not None and param.ptr_state_space.value not in _POINTED:
            yield f"parameter {param.name} points to .{param.ptr_state_space.value}; expected .const, .global, " \
                ".local or .shared"
        if param.type is ScalarType.SAMPLERREF and "texmode_independent" not in options:
            yield ".samplerref needs the .target option texmode_independent"
        yield from _type(param.type, param.state_space, None)
        yield from _alignment(param.alignment, param.ptr_alignment)
        if param.vector:
            yield f"parameter {param.name} cannot be a vector; declare an array"
        if param.array_size == 0 and (entry or i + 1 < len(params)):
            yield f"parameter {param.name} has no size; only the last parameter of a .func may be without"
