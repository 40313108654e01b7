"""Checks of declarations: variables, parameters, functions and redeclarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyptx._lazy import pattern
from pyptx.ir.constants import literal_kind
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
    Operand,
    Param,
    RegDecl,
    VarDecl,
    VectorOperand,
)
from pyptx.ir.types import OPAQUE_TYPES, LinkingDirective, ScalarType, StateSpace
from pyptx.isa import _types
from pyptx.isa.targets import Target
from pyptx.validate._constant_expressions import expression_problem
from pyptx.validate._messages import requires_version
from pyptx.validate._symbols import Declared, Named, Scope, Versioned

__all__ = ["declaration_problems", "signature_problems"]

_MANY_PARAMETER_BYTES, _PARAMETER_BYTES = 32764, 4352  # from PTX 8.1 on sm_70; before
_MASKED = pattern(r"(?!generic)\w+\s*\(")  # 0xFF00(name), a byte of an address
_POINTED = ("const", "global", "local", "shared")
_RESERVED = ("_", "WARP_SZ")


def declaration_problems(
    node: Declared | Versioned, scope: Scope, options: tuple[str, ...], version: tuple[int, int]
) -> Iterator[str]:
    """Yield the errors of a declaration that `scope` does not contain yet.

    Args:
        scope: the enclosing scope; one without `outer` is the module.
        options: options of `.target`.
        version: `.version` of the module.
    """
    match node:
        case VarDecl():
            yield from _named(node.symbol, node, scope)
            yield from _variable(node, scope, options)
        case RegDecl():
            yield from _named(node.name, node, scope)
            yield from _type(node.type, StateSpace.REG, node.vector)
            if node.type in OPAQUE_TYPES:
                yield f".{node.type.value} variables must be .global and outside functions"
            if scope.outer is None:
                yield ".reg variables are only allowed inside functions"
        case Function():
            yield from _named(node.name, node, scope)
        case CallPrototype():
            yield from signature_problems(node, options, version=version)
        case BranchTargets(labels=labels):
            for label in labels:
                stem, _, count = label.rstrip(">").partition("<")
                for name in (stem + str(i) for i in range(integer(count) or 0)) if count else [label]:
                    if not isinstance(scope.find(name), Label):
                        yield f".branchtargets {node.name} lists {name}, which is not a label of this scope"
                        break
        case CallTargets(functions=functions):
            for name in functions:
                found = scope.find(name)
                if not isinstance(found, Function) or found.is_entry:
                    yield f".calltargets {node.name} lists {name}, which is not a callable function"
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
        twice = next((n for n in scope.types if n[: len(name)] == name and scope.in_family(n, name, node.count)), None)
        if twice or name in scope.families:
            yield f"{twice or name + '<' + str(node.count) + '>'} is declared twice in one scope"
        return
    earlier = scope.declared_here(name)
    if earlier is None:
        return
    if isinstance(node, Function) and isinstance(earlier, Function):
        yield from _redeclared(node, earlier)
    elif isinstance(node, VarDecl) and isinstance(earlier, VarDecl) and earlier.linking is LinkingDirective.EXTERN:
        if _shape(node) != _shape(earlier):
            yield f"{name} is declared .extern with a different type, size or state space"
        elif node.linking is None:
            yield f"{name} is declared .extern; its definition must be .visible"
    else:
        yield f"{name} is declared twice in one scope"


def _shape(node: VarDecl) -> tuple:
    return node.state_space, node.type, node.vector, node.dimensions


def _redeclared(node: Function, earlier: Function) -> Iterator[str]:
    name = node.name
    if node.is_entry != earlier.is_entry:
        yield f"{name} is declared as an .entry and as a .func"
    elif not earlier.declaration:
        yield f"function {name} is already defined"
    elif earlier.linking is LinkingDirective.EXTERN and not node.declaration:
        yield f"{name} is declared .extern and defined here; declare it .visible"
    elif node.linking not in (None, earlier.linking):
        yield f"{name} is .{node.linking.value} here, but not in its declaration"
    else:
        yield from _prototypes(name, node, earlier)


def _prototypes(name: str, one: Function, other: Function) -> Iterator[str]:
    for what, left, right in (
        ("parameters", one.params, other.params),
        ("return parameters", one.return_params or (), other.return_params or ()),
    ):
        if len(left) != len(right):
            yield f"{name} has {len(left)} {what} here and {len(right)} in its declaration"
        elif [(p.state_space, p.type, p.array_size, p.alignment) for p in left] != [
            (p.state_space, p.type, p.array_size, p.alignment) for p in right
        ]:
            yield f"{name} is declared with different {what}"


def _alias(alias: Named | None, aliasee: Named | None, node: Alias) -> Iterator[str]:
    if not isinstance(alias, Function):
        yield f".alias: function {node.name} is not declared; declare it first"
    elif not isinstance(aliasee, Function):
        yield f".alias: function {node.aliasee} is not declared; declare it first"
    else:
        if not alias.declaration:
            yield f".alias: {node.name} has a body; an alias must not have one"
        yield from _prototypes(node.name, alias, aliasee)


# variables ----------------------------------------------------------------------------------------------------------


def _type(type_: ScalarType, space: StateSpace, vector: int | None) -> Iterator[str]:
    if type_ in OPAQUE_TYPES:
        return
    if type_.value not in _types.DECLARABLE:
        yield f".{type_.value} is only allowed in instructions; declare .b{_types.width(type_.value)}"
    elif type_ is ScalarType.PRED and (vector or space is not StateSpace.REG):
        yield "a .pred is a scalar register; store it as .b8 or .b32"
    elif vector == 8:
        yield "a declared vector has 2 or 4 elements"
    elif vector and vector * _types.width(type_.value) > 128:
        yield f".v{vector} .{type_.value} is larger than 128 bits"


def _alignment(*alignments: int | None) -> Iterator[str]:
    for alignment in alignments:
        if alignment is not None and (alignment < 1 or alignment & (alignment - 1) or alignment >> 32):
            yield f".align takes a power of two below 2**32, not {alignment}"


def _variable(node: VarDecl, scope: Scope, options: tuple[str, ...]) -> Iterator[str]:
    space, name = node.state_space, node.symbol
    extern = node.linking is LinkingDirective.EXTERN
    yield from _type(node.type, space, node.vector)
    yield from _alignment(node.alignment)
    if scope.outer is None:
        if space in (StateSpace.LOCAL, StateSpace.REG, StateSpace.PARAM):
            yield f".{space.value} variables are only allowed inside functions; declare .global, .const or .shared"
        if node.linking is LinkingDirective.COMMON and space is not StateSpace.GLOBAL:
            yield ".common is only allowed on .global variables"
    elif node.linking is not None:
        yield f".{node.linking.value} variables are only allowed outside functions"
    if node.type in OPAQUE_TYPES:
        if space is not StateSpace.GLOBAL or scope.outer is not None:
            yield f".{node.type.value} variables must be .global and outside functions"
        elif node.type is ScalarType.SAMPLERREF and "texmode_independent" not in options:
            yield ".samplerref requires the .target option texmode_independent"
    dimensions = node.dimensions
    if 0 in dimensions[1:]:
        yield f"{name}: only the first dimension may be unsized"
    elif dimensions[:1] == (0,) and not extern and node.initializer is None:
        yield f"{name} has no size; give one, or declare it .extern"
    for attribute in node.attributes:
        if attribute.name not in ("managed", "unified"):
            yield f".attribute takes .managed or .unified, not .{attribute.name}"
        elif space is not StateSpace.GLOBAL:
            yield f".attribute(.{attribute.name}) is only allowed on .global variables"
    if node.initializer is not None and not isinstance(node.initializer, str) and node.type not in OPAQUE_TYPES:
        if extern:
            yield f"{name} is .extern and cannot have an initializer"
        elif space not in (StateSpace.GLOBAL, StateSpace.CONST):
            yield f"a .{space.value} variable cannot have an initializer; store the value in the function"
        else:
            shape = dimensions + ((node.vector,) if node.vector else ())
            yield from _initializer(node, node.initializer, shape, scope)


def _initializer(node: VarDecl, value: Operand, shape: tuple[int, ...], scope: Scope) -> Iterator[str]:
    name = node.symbol
    if bool(shape) != isinstance(value, VectorOperand):
        yield f"{name} takes {'values in braces' if shape else 'one value, without braces'}"
    elif isinstance(value, VectorOperand):
        if shape[0] and len(value.elements) > shape[0]:
            yield f"{name} takes {shape[0]} values in braces, not {len(value.elements)}"
            return
        for element in value.elements:
            nested = shape[1:] if isinstance(element, VectorOperand) or (node.vector and len(shape) == 2) else ()
            yield from _initializer(node, element, nested, scope)
    elif node.type in (ScalarType.F16, ScalarType.F16X2):
        yield f"a .{node.type.value} variable cannot have an initializer; declare it .b{_types.width(node.type.value)}"
    elif isinstance(value, ImmediateOperand):
        kind = literal_kind(value.text)
        if kind == "name" and _MASKED.match(value.text):
            yield from _address(node, value.text, scope)
        elif kind == "name":
            yield f"{value.text} is not a constant; a name must come first, as in name+4"
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
        yield f"the address of {symbol} requires a .{types[0].value} variable, {node.symbol} is .{node.type.value}"
    found = node if symbol == node.symbol else scope.find(symbol)
    if found is None:
        yield f"variable or function {symbol} is not declared; declare it first"
    elif isinstance(found, VarDecl) and found.state_space not in (StateSpace.GLOBAL, StateSpace.CONST):
        yield f"{symbol} is .{found.state_space.value}; expected the address of a .global or .const variable"


# signatures of functions -------------------------------------------------------------------------------------------------


def signature_problems(
    node: Function | CallPrototype,
    options: tuple[str, ...],
    chip: Target | None = None,
    version: tuple[int, int] = (0, 0),
) -> Iterator[str]:
    """Yield the errors in linking and parameters of a function or prototype."""
    entry = isinstance(node, Function) and node.is_entry
    returns = node.return_params or ()
    if isinstance(node, Function):
        if node.linking is LinkingDirective.COMMON:
            yield ".common is only allowed on .global variables"
        if node.linking is LinkingDirective.EXTERN and not node.declaration:
            yield f"{node.name} is .extern and must not have a body"
        if node.name in _RESERVED:
            yield f"{node.name} is reserved and cannot be declared"
    if entry and node.return_params is not None:
        yield f"{node.name} is an .entry, which returns nothing; write the result to memory"
    function = isinstance(node, Function)
    yield from _parameters(node.params, entry, options, function, version)
    yield from _parameters(returns, False, options, function, version)
    if len(returns) > 1 and any(p.state_space is not StateSpace.REG for p in returns):
        yield "several return parameters must all be .reg"
    if entry and chip is not None:
        limit = _MANY_PARAMETER_BYTES if version >= (8, 1) and chip.number >= 70 else _PARAMETER_BYTES
        used = _bytes(node.params)
        if used > limit:
            yield f"the parameters of {node.name} take {used} bytes; the limit is {limit}"


def _bytes(params: Iterable[Param]) -> int:
    end = 0
    for param in params:
        item = 8 if param.type in OPAQUE_TYPES else max(_types.WIDTHS.get(param.type.value, 8) // 8, 1)
        alignment = max(param.alignment or 1, item)
        end = -(-end // alignment) * alignment + item * (1 if param.array_size is None else param.array_size)
    return end


def _parameters(
    params: tuple[Param, ...], entry: bool, options: tuple[str, ...], function: bool, version: tuple[int, int]
) -> Iterator[str]:
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
            yield f"parameter {param.name}: .ptr is only allowed on parameters of an entry"
        elif param.ptr_state_space is not None and param.ptr_state_space.value not in _POINTED:
            yield (
                f"parameter {param.name} points to .{param.ptr_state_space.value}; expected .const, .global, "
                ".local or .shared"
            )
        if param.type is ScalarType.SAMPLERREF and "texmode_independent" not in options:
            yield ".samplerref requires the .target option texmode_independent"
        if param.type in OPAQUE_TYPES and function and not entry:
            yield f"parameter {param.name} is .{param.type.value}, which only an entry can have"
        if param.hidden and function and not entry:
            yield f"parameter {param.name}: .hidden is only allowed on parameters of an entry"
        elif param.hidden and version < (8, 8):
            yield requires_version(".hidden", (8, 8), version)
        yield from _type(param.type, param.state_space, param.vector)
        yield from _alignment(param.alignment, param.ptr_alignment)
        if param.vector and param.state_space is not StateSpace.REG:
            yield f"parameter {param.name} cannot be a vector; declare an array"
        if param.array_size == 0 and (entry or i + 1 < len(params)):
            yield f"parameter {param.name} has no size; only the last parameter of a .func may be unsized"
