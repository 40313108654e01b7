"""Rewriting of an entry for a batched grid.

The z dimension of the batched grid is the batch times the entry's own z dimension, the batch outermost, so that CTAs are
numbered as by separate launches one after the other. In the rewritten module

* the entry starts with the index of its element, `%ctaid.z` divided by its own z dimension,
* each load of an array's address is followed by an addition of the index times the bytes from one element to the next,
* reads of `%ctaid.z`, `%nctaid.z`, `%clusterid.z` and `%nclusterid.z` give the values of a launch for one element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pyptx.grid_batch.obstacles import is_depth_read
from pyptx.grid_batch.provenance import is_pointer_load
from pyptx.ir.nodes import (
    AddressOperand,
    Block,
    CompoundExpr,
    Function,
    ImmediateOperand,
    Instruction,
    IntrinsicScope,
    Module,
    Operand,
    RegDecl,
    RegisterOperand,
    Statement,
)
from pyptx.ir.types import ScalarType
from pyptx.ir.visit import instructions, statements

__all__ = ["with_batched_grid"]

_DEPTH = RegisterOperand("%ctaid.z")


def with_batched_grid(module: Module, entry: str, strides: Mapping[str, int], depth: int) -> Module:
    """Return a module whose entry runs a batch of launches in one grid.

    Args:
        module: a module in which the entry has no `obstacle`.
        strides: bytes from one element's array to the next, for each parameter that is an array; 0 if all elements
            share it.
        depth: z dimension of the grid of one element.
    """
    declared = {
        node.name for function in module.functions for node in statements(function.body) if isinstance(node, RegDecl)
    }
    names = _Names(declared)
    directives = tuple(
        _Rewriter(names, {name: n for name, n in strides.items() if n and d.name == entry}, depth).function(d)
        if isinstance(d, Function) and not d.declaration
        else d
        for d in module.directives
    )
    return replace(module, directives=directives)


class _Names:
    """Registers that the module does not declare."""

    def __init__(self, declared: set[str]):
        self.element, self.own, self.wide = (
            _unused(name, declared) for name in ("%batch_element", "%batch_own_z", "%batch_offset")
        )


def _unused(name: str, declared: set[str]) -> RegisterOperand:
    while name in declared:
        name += "_"
    return RegisterOperand(name)


class _Rewriter:
    """Rewrites one function."""

    def __init__(self, names: _Names, strides: Mapping[str, int], depth: int):
        self._names, self._strides, self._depth = names, strides, depth

    def function(self, function: Function) -> Function:
        prologue = (replace(node, place=function.place) for node in self._prologue(function))
        body = (*prologue, *self._statements(function.body))
        return replace(function, body=body)

    def _prologue(self, function: Function) -> Iterator[RegDecl | Instruction]:
        own = self._depth > 1 and any(map(is_depth_read, instructions(function)))
        names, depth = self._names, ImmediateOperand(str(self._depth))
        if self._strides:
            yield RegDecl(ScalarType.U32, names.element.name)
            yield RegDecl(ScalarType.U64, names.wide.name)
            yield _instruction("mov.u32", names.element, _DEPTH)
            if self._depth > 1:
                yield _instruction("div.u32", names.element, names.element, depth)
            yield _instruction("cvt.u64.u32", names.wide, names.element)
        if own:
            yield RegDecl(ScalarType.U32, names.own.name)
            yield _instruction("mov.u32", names.own, _DEPTH)
            yield _instruction("rem.u32", names.own, names.own, depth)

    def _statements(self, body: Sequence[Statement]) -> Iterator[Statement]:
        for node in body:
            match node:
                case Block() | IntrinsicScope():
                    yield replace(node, body=tuple(self._statements(node.body)))
                case CompoundExpr():
                    written = tuple(one for each in node.instructions for one in self._instruction(each))
                    yield replace(node, instructions=written)
                case Instruction():
                    yield from self._instruction(node)
                case _:
                    yield node

    def _instruction(self, one: Instruction) -> Iterator[Instruction]:
        if is_depth_read(one):
            yield replace(one, operands=(*one.operands[:-1], self._own(one.operands[-1])), formatting=None)
            return
        yield one
        if self._strides and is_pointer_load(one, self._strides):
            address, source = one.operands
            assert isinstance(source, AddressOperand), "is_pointer_load checks it"
            stride = ImmediateOperand(str(self._strides[source.base]))
            added = _instruction("mad.lo.u64", address, self._names.wide, stride, address)
            yield replace(added, predicate=one.predicate, place=one.place)

    def _own(self, register: Operand) -> Operand:
        """Return the value of `%ctaid.z` or `%nctaid.z` in a launch for one element."""
        assert isinstance(register, RegisterOperand), "is_depth_read checks it"
        if register.name in ("%nctaid.z", "%nclusterid.z"):
            return ImmediateOperand(str(self._depth))
        return self._names.own if self._depth > 1 else ImmediateOperand("0")


def _instruction(mnemonic: str, *operands: Operand) -> Instruction:
    opcode, *modifiers = mnemonic.split(".")
    return Instruction(opcode, tuple(f".{modifier}" for modifier in modifiers), operands)
