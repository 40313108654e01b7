"""Conditions under which a batch of launches of an entry can share one grid.

A batched grid differs from separate launches in three ways: CTAs of different elements run concurrently, the address of
each array depends on the CTA, and the grid is larger. An entry that could notice another difference than the ones that
the rewrite hides has an obstacle. The conditions are sufficient, not necessary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from pyptx.grid_batch.alignment import alignments
from pyptx.grid_batch.provenance import Provenance, is_pointer_load, names_in
from pyptx.ir.nodes import (
    BranchTargets,
    Function,
    Instruction,
    Label,
    LabelOperand,
    Module,
    Param,
    RawLine,
    RegisterOperand,
    Statement,
    VarDecl,
)
from pyptx.ir.operands import operand_text
from pyptx.ir.types import ScalarType, StateSpace
from pyptx.ir.visit import statements, undefined_functions
from pyptx.isa.registers import lookup

__all__ = ["DEPTH_REGISTERS", "MAX_GRID_Z", "is_depth_read", "obstacle", "waits_for_memory"]

MAX_GRID_Z = 65_535

_POINTERS = (ScalarType.U64, ScalarType.B64, ScalarType.S64)
_TEXTURES = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})
_TENSOR_MAPS = frozenset({"tensormap"})
_ONE_GRID = frozenset({"clusterlaunchcontrol", "multimem", "griddepcontrol"})
_OF_THE_GPU = ("%smid", "%nsmid", "%gridid", "%envreg", "%pm", "%current_graph_exec", "%perctamemory")
DEPTH_REGISTERS = frozenset({"%ctaid.z", "%nctaid.z", "%clusterid.z", "%nclusterid.z"})
_VECTORS = ("%ctaid", "%nctaid", "%clusterid", "%nclusterid")  # read as a whole, by PTX 1
_WAITING = frozenset({".volatile", ".acquire", ".relaxed", ".mmio", ".cv"})
_NARROW = (".shared", ".local", ".const", ".param")  # state spaces that other CTAs of the grid do not write
_SCOPES = frozenset({".cta", ".cluster"})


def obstacle(module: Module, entry: Function, strides: Mapping[str, int]) -> str | None:
    """Return why launches of an entry cannot share a grid, as a clause such as "it uses textures"; None if they can.

    Args:
        strides: bytes from one element's array to the next, for each parameter that is an array; 0 if all elements
            share it.
    """
    if undefined_functions(module):
        return "it calls functions of other modules"
    if module.address_size.size != 64:
        return "its addresses have 32 bits"
    bodies = [(function, list(statements(function.body))) for function in module.functions]
    return (
        _cluster_obstacle(entry)
        or _parameter_obstacle(entry, [param for param in entry.params if param.name in strides])
        or _variable_obstacle(module)
        or next(filter(None, (_instruction_obstacle(one) for _, body in bodies for one in body)), None)
        or next(filter(None, (_waiting_obstacle(function, body) for function, body in bodies)), None)
        or _write_obstacle(module, entry, strides)
        or _alignment_obstacle(module, entry, strides)
    )


def _write_obstacle(module: Module, entry: Function, strides: Mapping[str, int]) -> str | None:
    """Return an obstacle unless each element writes to its own arrays only."""
    for access in Provenance(module, entry, strides).accesses():
        if access.writes and not access.arrays:
            return f"it may write to memory other than its arrays ({access.instruction.mnemonic})"
        for name in access.arrays if access.writes else ():
            if not strides[name]:
                return f"it may write to {name}, which all elements share"
    return None


def _alignment_obstacle(module: Module, entry: Function, strides: Mapping[str, int]) -> str | None:
    for name, alignment in alignments(module, entry, strides).items():
        if strides[name] % alignment:
            return f"an element of {name} has {strides[name]} bytes, which is not a multiple of {alignment}"
    return None


def is_depth_read(one: Instruction) -> bool:
    """Return True if an instruction reads a register of the grid's z dimension, `mov.u32 %r1, %ctaid.z`."""
    return (
        one.opcode == "mov"
        and one.modifiers in ((".u32",), (".b32",), (".s32",))
        and isinstance(one.operands[-1], RegisterOperand)
        and one.operands[-1].name in DEPTH_REGISTERS
    )


def _cluster_obstacle(entry: Function) -> str | None:
    for directive in entry.directives:
        if directive.name == "blocksareclusters":
            return "its grid counts clusters (.blocksareclusters)"
        if directive.name == "reqnctapercluster" and directive.values[2:] not in ((), (1,)):
            return "its clusters extend in z"
    return None


def _parameter_obstacle(entry: Function, arrays: Sequence[Param]) -> str | None:
    names = {param.name for param in arrays}
    for param in arrays:
        if param.type not in _POINTERS or param.array_size is not None or param.vector:
            return f"parameter {param.name} is not an address"
    for node in statements(entry.body):
        if isinstance(node, VarDecl) and node.symbol in names:
            return f"a variable hides the parameter {node.symbol}"
        if isinstance(node, Instruction) and not is_pointer_load(node, names):
            for name in names.intersection(names_in(node.operands)):
                return f"it uses the parameter {name} in {node.mnemonic}, not only to load the address"
    return None


def _variable_obstacle(module: Module) -> str | None:
    """Return an obstacle unless `.global` variables are only read by name."""
    declared = [d for d in module.directives if isinstance(d, VarDecl)]
    bodies = list(chain.from_iterable(statements(function.body) for function in module.functions))
    shared = {d.symbol for d in (*declared, *bodies) if isinstance(d, VarDecl) and d.state_space is StateSpace.GLOBAL}
    if not shared:
        return None
    for one in bodies:
        if isinstance(one, Instruction) and not (one.opcode == "ld" and _spaces(one) == [".global"]):
            for name in shared.intersection(names_in(one.operands)):
                return f"it can write to the variable {name}, which all launches share"
    for d in declared:
        text = d.initializer if isinstance(d.initializer, str) else operand_text(d.initializer) if d.initializer else ""
        for name in shared.intersection(names_in([LabelOperand(text)])):
            return f"it can write to the variable {name}, which all launches share"
    return None


def _instruction_obstacle(one: Statement) -> str | None:
    if isinstance(one, RawLine):
        return "its PTX has errors"
    if not isinstance(one, Instruction):
        return None
    if one.opcode in _TEXTURES:
        return "it uses textures or surfaces"
    if one.opcode in _TENSOR_MAPS or any(m in (".tensor", ".tensormap") for m in one.modifiers):
        return "it uses tensor maps, which hold addresses"
    if one.opcode in _ONE_GRID:
        return f"it uses {one.opcode}, which concerns the whole grid"
    for name in names_in(one.operands):
        if name in _VECTORS or (name.startswith(_OF_THE_GPU) and lookup(name) is not None):
            return f"it reads {name}"
        if name in DEPTH_REGISTERS and not is_depth_read(one):
            return f"it reads {name} in {one.mnemonic}"
    return None


def _waiting_obstacle(function: Function, body: Sequence[Statement]) -> str | None:
    """Return an obstacle if CTAs may wait for each other: in a larger grid, not all of them are resident."""
    for first, last in _loops(function, body):
        for one in body[first : last + 1]:
            if not isinstance(one, Instruction) or any(m.startswith(_NARROW) for m in one.modifiers):
                continue
            if _SCOPES.intersection(one.modifiers):
                continue
            waits = one.opcode == "ld" and _WAITING.intersection(one.modifiers)
            fences = one.opcode in ("membar", "fence") and {".gl", ".gpu", ".sys"}.intersection(one.modifiers)
            if waits or fences or one.opcode == "atom":
                return f"its CTAs may wait for each other ({one.mnemonic} in a loop)"
    return None


def waits_for_memory(module: Module) -> bool:
    """Return True if a loop loads global memory with acquire or volatile semantics: a CTA may wait for what another one writes."""
    for function in module.functions:
        body = list(statements(function.body))
        for first, last in _loops(function, body):
            for one in body[first : last + 1]:
                if (
                    isinstance(one, Instruction)
                    and one.opcode == "ld"
                    and {".acquire", ".volatile"} & set(one.modifiers)
                ):
                    if not any(m.startswith(_NARROW) for m in one.modifiers) and not _SCOPES.intersection(
                        one.modifiers
                    ):
                        return True
    return False


def _loops(function: Function, body: Sequence[Statement]) -> Iterator[tuple[int, int]]:
    """Yield index ranges of statements that may be executed repeatedly; of a function that is called, all statements."""
    if not function.is_entry or any(isinstance(one, BranchTargets) for one in body):
        yield 0, len(body) - 1
        return
    first: dict[str, int] = {}
    for index, one in enumerate(body):
        if isinstance(one, Label):
            first.setdefault(one.name, index)
        elif isinstance(one, Instruction) and one.opcode == "bra":
            for name in names_in(one.operands):
                if name in first:
                    yield first[name], index


def _spaces(one: Instruction) -> list[str]:
    return [m for m in one.modifiers if m.partition("::")[0] in (".global", ".const", ".param", ".shared", ".local")]
