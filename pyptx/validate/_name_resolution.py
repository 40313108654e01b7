"""Checks of names in instructions: they are declared, and in the state space that the instruction accesses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pyptx.ir.nodes import (
    BranchTargets,
    Function,
    Label,
    Param,
    VarDecl,
)
from pyptx.ir.operands import AddressOperand, LabelOperand, Operand, SubscriptOperand
from pyptx.isa import Form
from pyptx.validate._bind import Bound
from pyptx.validate._symbols import Named, Scope

__all__ = ["param_variable", "name_problems"]

_SPACES = (
    "global",
    "shared::cta",
    "shared::cluster",
    "shared",
    "const",
    "local",
    "param::entry",
    "param::func",
    "param",
)
_GENERIC = ("global", "shared", "local")
_IMAGES = {"t": "texref", "s": "surfref"}  # operands of textures and surfaces
_UNIFIED = ("ld", "ldu", "atom")  # opcodes that accept `[a].unified`


def name_problems(bound: Bound, scope: Scope) -> Iterator[tuple[str, str | None]]:
    """Yield the errors in the names of an instruction: message and hint."""
    for name, kind in _named_operands(bound.form):
        operand = bound.operands.get(name)
        if operand is None:
            continue
        if kind == "address":
            if _is_register(operand, scope) and not _addresses_arguments(bound):
                continue
            yield from _address(bound, name, operand, scope)
        elif kind == "symbol":
            yield from _symbol(bound, operand, scope)
        elif kind == "label":
            yield from _label(bound, operand, scope)
        elif isinstance(operand, AddressOperand):
            yield from _handle(name, operand, scope)


@cache
def _named_operands(form: Form) -> tuple[tuple[str, str], ...]:
    """Return the operands of a form that may contain a symbol: name and kind."""
    return tuple(
        (name, operand.kind)
        for name, operand in form.operands.items()
        if operand.kind in ("address", "symbol", "label")
        or (operand.kind == "register" and operand.type in ("u32", "u64"))
    )


def _is_register(operand: Operand, scope: Scope) -> bool:
    """Return True for the address in a register, without a suffix."""
    return (
        isinstance(operand, AddressOperand)
        and not operand.suffix
        and operand.base != "_"
        and scope.type_of(operand.base) is not None
    )


def _addresses_arguments(bound: Bound) -> bool:
    """Return True if the mnemonic names the space of call arguments, which registers do not address."""
    return "param::func" in bound.choices.values() or any(word.text == ".param::func" for word in bound.form.words)


def symbol_of(operand: Operand) -> str | None:
    """Return the name in `[name+4]`, `name+4` or `name[2]`; None for other operands."""
    if isinstance(operand, AddressOperand):
        name = operand.base
    elif isinstance(operand, (LabelOperand, SubscriptOperand)):
        name = operand.name
    else:
        return None
    return name.partition("+")[0].partition("[")[0].strip()


def _address(bound: Bound, name: str, operand: Operand, scope: Scope) -> Iterator[tuple[str, str | None]]:
    wanted = spaces(bound.form, bound.choices, name)
    symbol = symbol_of(operand)
    if symbol == "_":
        yield "_ is not an address", None
        return
    if isinstance(operand, AddressOperand) and operand.suffix:
        yield from _unified(bound, operand, wanted, scope)
    if symbol and wanted == ("param::func",) and scope.type_of(symbol) is not None:
        yield f"{symbol} is a register; address a call argument by name, as in [argument+8]", None
    if not symbol or scope.type_of(symbol) is not None or not (symbol[0].isalpha() or symbol[0] in "_$%"):
        return
    found = scope.find(symbol)
    if wanted is None:
        if isinstance(found, (Function, Label)):
            yield f"{symbol} is not a variable; expected an address", None
        return
    if found is None:
        yield f"variable {symbol} is not declared", "declare it first, outside the function or in this scope"
        return
    there = space_of(found, scope)
    if there is None:
        yield f"{symbol} is not a variable; expected one in {_either(wanted)}", None
    elif not any(_within(there, space) for space in wanted):
        yield f"{symbol} is in .{there}; the instruction addresses {_either(wanted)}", None
    elif there.startswith("param"):
        yield from _parameter(bound, symbol, found, scope)


def _parameter(bound: Bound, symbol: str, found: Named, scope: Scope) -> Iterator[tuple[str, None]]:
    store, function = bound.form.effect.startswith("store"), scope.function
    if function is None or function.is_entry or not isinstance(found, Param):
        if store and space_of(found, scope) == "param::entry":
            yield f"{symbol} is a parameter of the entry and read-only", None
    elif store and found in function.params:
        yield f"{symbol} is an input parameter of {function.name} and read-only", None
    elif not store and found in (function.return_params or ()):
        yield f"{symbol} is the return parameter of {function.name} and write-only", None


def param_variable(bound: Bound, scope: Scope) -> str | None:
    """Return the `.param` variable of a call that an instruction loads or stores; None for other instructions."""
    if not bound.form.effect.startswith(("load", "store")):
        return None
    for name, kind in _named_operands(bound.form):
        operand = bound.operands.get(name) if kind == "address" else None
        if operand is None or _is_register(operand, scope):
            continue
        symbol = symbol_of(operand)
        if symbol and scope.type_of(symbol) is None:
            found = scope.find(symbol)
            if found is not None and space_of(found, scope) == "param::func":
                return symbol
    return None


def _unified(
    bound: Bound, operand: AddressOperand, wanted: tuple[str, ...] | None, scope: Scope
) -> Iterator[tuple[str, None]]:
    variable = scope.find(operand.base)
    plain = isinstance(variable, VarDecl) and all(a.name != "unified" for a in variable.attributes)
    if bound.form.op.opcode not in _UNIFIED or wanted not in (("global",), _GENERIC):
        yield f"{operand.suffix} is only allowed on global addresses of ld, ldu and atom", None
    elif plain:
        yield f"{operand.base} is declared without .attribute(.unified(...)); drop {operand.suffix}", None


def _handle(name: str, operand: AddressOperand, scope: Scope) -> Iterator[tuple[str, str | None]]:
    """Check the handle of a texture or surface: a variable or a register."""
    symbol, wanted = operand.base, _IMAGES.get(name)
    if operand.offset and not operand.offset.startswith(","):
        yield f"{symbol} is a handle and takes no offset; drop +{operand.offset}", None
    if scope.type_of(symbol) is not None or symbol.startswith("%"):
        return
    found = scope.find(symbol)
    if wanted is None:
        yield f"{symbol} is not a register", None
    elif found is None:
        yield f"variable {symbol} is not declared", f"declare it outside the function: .global .{wanted} {symbol};"
    elif not isinstance(found, (VarDecl, Param)) or found.type.value != wanted:
        yield f"{symbol} is not a .{wanted}; expected one, or its handle in a .u64 register", None


def _symbol(bound: Bound, operand: Operand, scope: Scope) -> Iterator[tuple[str, str | None]]:
    symbol = symbol_of(operand)
    if symbol is None or scope.type_of(symbol) is not None or symbol.startswith("%"):
        return
    found = scope.find(symbol)
    if found is None:
        yield f"variable or function {symbol} is not declared", "declare it first"
        return
    words = [word for word in _words(bound.form, bound.choices) if word in _SPACES]
    there = space_of(found, scope)
    if there is None and not isinstance(found, Function):
        yield f"{symbol} is a label and has no address", None
    elif there == "param::func" and isinstance(found, VarDecl):
        yield f"{symbol} is a call argument and has no address", None
    elif words and bound.form.op.opcode != "mov" and not any(_within(there or "", word) for word in words):
        yield f"{symbol} is {'in .' + there if there else 'a function'}; expected a variable in {_either(words)}", None


def _label(bound: Bound, operand: Operand, scope: Scope) -> Iterator[tuple[str, str | None]]:
    if not isinstance(operand, LabelOperand):
        return
    found = scope.find(operand.name)
    if bound.form.op.opcode == "bra":
        if not isinstance(found, Label):
            yield f"label {operand.name} is not defined", "define it with ptx.label(name)"
    elif bound.form.op.opcode == "brx":
        if not isinstance(found, BranchTargets):
            yield f"{operand.name} must be a list of labels", f"{operand.name}: .branchtargets L0, L1;"
    elif found is None or isinstance(found, (Label, BranchTargets)):
        yield f"{operand.name} must be a prototype", f"{operand.name}: .callprototype _ ();"


# state spaces -------------------------------------------------------------------------------------------------------


def _words(form: Form, choices: dict[str, str | None]) -> list[str]:
    return [
        word
        for w in form.words
        if (
            word := choices.get(w.slot)
            if w.slot is not None
            else None
            if w.optional and w.text[1:] not in choices.values()
            else w.text[1:]
        )
    ]


def spaces(form: Form, choices: dict[str, str | None], name: str) -> tuple[str, ...] | None:
    """Return the state spaces that the address operand `name` may refer to; None where ptxas does not check.

    The mnemonic names the space. Of two, as in `.shared::cluster.global`, the first is that of the first address and
    the second that of the next; mbarriers are in shared memory. Without a space the address is generic.
    """
    if form.operands[name].type in ("addr32", "addrb32") or form.op.name in ("fence.proxy", "cvta"):
        return None
    words = [word for word in _words(form, choices) if word in _SPACES]
    if not words:
        if form.effect.startswith("mbarrier") and form.op.name != "mbarrier.check_layout":
            return ("shared",)
        return ("global",) if form.op.opcode == "prefetchu" else _GENERIC
    if len(words) == 1:
        return (words[0],)
    if name == "mb":
        return ("shared",)
    addresses = [n for n, operand in form.operands.items() if operand.kind == "address"]
    return (words[min(addresses.index(name), 1)],)


def space_of(node: Named, scope: Scope) -> str | None:
    """Return the state space of a declaration, such as "global" or "param::entry"; None if it is not a variable."""
    if isinstance(node, Param):
        return "param::entry" if scope.function is not None and scope.function.is_entry else "param"
    if not isinstance(node, VarDecl):
        return None
    space = node.state_space.value.partition("::")[0]
    return "param::func" if space == "param" else space


def _within(there: str, wanted: str) -> bool:
    if there == wanted:
        return True
    kind = there.partition("::")[0]
    return kind == wanted.partition("::")[0] and (kind != "param" or "param" in (there, wanted))


def _either(names: tuple[str, ...] | list[str]) -> str:
    return " or ".join("." + name for name in names)
