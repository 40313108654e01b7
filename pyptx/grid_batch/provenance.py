"""The arrays that addresses may belong to, traced from the parameters of an entry through the registers of its module.

The analysis ignores the order of instructions: a register belongs to the arrays of everything that is ever assigned to
it. Everything that is stored to memory, or passed to a function, may be loaded again, or received.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pyptx.ir.nodes import AddressOperand, Function, Instruction, LabelOperand, Module, Operand, RegisterOperand
from pyptx.ir.operands import operand_text
from pyptx.ir.visit import instructions

__all__ = ["Access", "Provenance", "is_pointer_load", "names_in"]

_NAME = re.compile(r"[%$A-Za-z_][\w$]*(?:\.[xyzw]\b)?")
_ACCESSES = frozenset({"ld", "ldu", "st", "atom", "red", "cp", "wmma", "discard", "applypriority"})
_SPACES = (".global", ".shared", ".local", ".const", ".param")
_MEMORY = ("", "memory")
_Node = tuple[str, str]  # function and register


class Access(NamedTuple):
    """An access to memory through an address that may be one of an array.

    Attributes:
        arrays: parameters from which the address may be derived; empty if it is not an address of an array.
        writes: True if it may write.
    """

    instruction: Instruction
    arrays: frozenset[str]
    writes: bool


class Provenance:
    """The arrays of addresses in the functions of a module.

    Args:
        arrays: parameters of the entry that are addresses of arrays.
    """

    def __init__(self, module: Module, entry: Function, arrays: Collection[str]):
        self._module, self._reached = module, _reached(module, entry, arrays)

    def arrays_of(self, function: Function, operands: Collection[Operand]) -> frozenset[str]:
        """Return the arrays of which an operand may hold an address."""
        nodes = {(function.name, name) for name in names_in(operands)}
        return frozenset(name for name, known in self._reached.items() if not nodes.isdisjoint(known))

    def accesses(self) -> Iterator[Access]:
        """Yield the accesses to global memory and to unknown state spaces."""
        for function in self._module.functions:
            for one in instructions(function):
                if one.opcode not in _ACCESSES:
                    continue
                spaces = [m.partition("::")[0] for m in one.modifiers if m.startswith(_SPACES)]
                for k, operand in enumerate(one.operands):
                    if isinstance(operand, AddressOperand) and _space(one, spaces, k) in ("", ".global"):
                        yield Access(one, self.arrays_of(function, [operand]), _writes(one, k))


def _space(one: Instruction, spaces: Sequence[str], operand: int) -> str:
    """Return the state space of an address; a copy has two, in the order of its operands."""
    return "" if not spaces else spaces[min(operand, len(spaces) - 1) if one.opcode == "cp" else 0]


def _writes(one: Instruction, operand: int) -> bool:
    if one.opcode == "cp":
        return operand == 0 and ".prefetch" not in one.modifiers
    return one.opcode not in ("ld", "ldu") and ".load" not in one.modifiers


def is_pointer_load(one: Instruction, names: Collection[str]) -> bool:
    """Return True if an instruction loads one of the parameters as an address, `ld.param.u64 %rd1, [a]`."""
    return (
        one.opcode == "ld"
        and one.modifiers[:1] in ((".param",), (".param::entry",))
        and one.modifiers[1:] in ((".u64",), (".b64",), (".s64",))
        and len(one.operands) == 2
        and isinstance(one.operands[0], (RegisterOperand, LabelOperand))
        and one.operands[0] != LabelOperand("_")
        and isinstance(one.operands[1], AddressOperand)
        and one.operands[1].base in names
        and one.operands[1].offset in (None, "0")
    )


def names_in(operands: Collection[Operand]) -> list[str]:
    """Return all names in operands, special registers with their component."""
    return [name for operand in operands for name in _NAME.findall(operand_text(operand))]


def _reached(module: Module, entry: Function, arrays: Collection[str]) -> dict[str, set[_Node]]:
    """Return the registers that may hold an address of each array."""
    targets: dict[_Node, set[_Node]] = defaultdict(set)
    starts: dict[str, set[_Node]] = {name: set() for name in arrays}
    for function in module.functions:
        for param in (*function.params, *(function.return_params or ())):
            if not function.is_entry:
                targets[_MEMORY].add((function.name, param.name))
        for one in instructions(function):
            if function.name == entry.name and is_pointer_load(one, arrays):
                (source,) = names_in(one.operands[1:])
                starts[source].update((function.name, name) for name in names_in(one.operands[:1]))
                continue
            for source, target in _flows(one, function.name):
                targets[source].add(target)
    return {name: _closure(nodes, targets) for name, nodes in starts.items()}


def _flows(one: Instruction, function: str) -> Iterator[tuple[_Node, _Node]]:
    """Yield pairs of a register that an instruction reads and one that it writes, or memory."""
    if one.opcode in ("setp", "set", "bra", "ret") or not one.operands:
        return
    first, rest = one.operands[:1], [x for x in one.operands[1:] if not isinstance(x, AddressOperand)]
    results = [] if isinstance(first[0], AddressOperand) else [(function, name) for name in names_in(first)]
    values = [(function, name) for name in names_in(rest)]
    if one.opcode == "call":
        for node in (*results, *values):
            yield node, _MEMORY
            yield _MEMORY, node
    elif any(isinstance(operand, AddressOperand) for operand in one.operands):
        yield from ((value, _MEMORY) for value in values)
        yield from ((_MEMORY, result) for result in results)
    else:
        yield from ((value, result) for value in values for result in results)


def _closure(nodes: set[_Node], targets: dict[_Node, set[_Node]]) -> set[_Node]:
    found, pending = set(nodes), list(nodes)
    while pending:
        for node in targets.get(pending.pop(), ()):
            if node not in found:
                found.add(node)
                pending.append(node)
    return found
