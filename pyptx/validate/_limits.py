"""Checks of memory sizes: the limits of ptxas, and the memory that a GPU has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyptx.ir.nodes import Function, Instruction, Module, Param, RegDecl, VarDecl
from pyptx.ir.operands import AddressOperand, LabelOperand, ParenthesizedOperand, RegisterOperand, SubscriptOperand
from pyptx.ir.types import LinkingDirective, StateSpace
from pyptx.ir.visit import instructions, leaves, statements
from pyptx.isa import _types
from pyptx.isa.targets import Target
from pyptx.validate._name_resolution import symbol_of

__all__ = ["bytes_of", "count_problem", "module_size_problems", "size_warning"]

LOCAL_BYTES = 512 << 10  # per thread
GLOBAL_BYTES = 512 << 30  # more than any GPU has
STATIC_SHARED_BYTES = 48 << 10  # per entry, of targets that also run on other GPUs
CONSTANT_BYTES = 64 << 10  # per module


def bytes_of(node: VarDecl | Param) -> int:
    """Return the size of a variable or parameter in bytes, at most 2**64; 0 for an unsized one."""
    item = max(_types.WIDTHS.get(node.type.value, 64) // 8, 1)
    count = node.elements if isinstance(node, VarDecl) else 1 if node.array_size is None else node.array_size
    return min(item * count, 1 << 64)


def count_problem(node: VarDecl | RegDecl) -> str | None:
    """Return the error of a count or dimension that ptxas cannot represent."""
    if isinstance(node, RegDecl):
        return f"{node.name}<{node.count}> does not fit in 32 bits" if (node.count or 0) >> 32 else None
    if any(size >> 64 for size in node.dimensions):
        return f"{node.symbol} has a dimension that does not fit in 64 bits"
    return None


def size_warning(node: VarDecl, chip: Target) -> str | None:
    """Return the warning about a variable that is larger than the memory of a GPU, which ptxas does not check."""
    size, space = bytes_of(node), node.state_space.value.partition("::")[0]
    if space in ("local", "param") and size > LOCAL_BYTES:
        return f"{node.symbol} takes {size:,} bytes; a thread has at most {LOCAL_BYTES:,} bytes of local memory"
    if space == "shared" and size > (limit := shared_bytes(chip)):
        return f"{node.symbol} takes {size:,} bytes; a CTA has at most {limit:,} bytes of shared memory on {chip}"
    if space == "global" and size > GLOBAL_BYTES:
        return f"{node.symbol} takes {size:,} bytes, more than the memory of a GPU"
    return None


def shared_bytes(chip: Target) -> int:
    """Return the largest amount of shared memory per CTA; 48 KiB on targets older than the table of limits."""
    return chip.limits.smem_per_cta if chip.number >= 70 else STATIC_SHARED_BYTES


def module_size_problems(module: Module, chip: Target) -> Iterator[tuple[VarDecl | Function, str]]:
    """Yield the errors of constant and static shared memory, each with the declaration that exceeds the limit."""
    used = 0
    limit = shared_bytes(chip) if chip.suffix == "a" else STATIC_SHARED_BYTES
    for node in module.directives:
        if isinstance(node, VarDecl) and node.state_space is StateSpace.CONST and _is_allocated(node):
            used += bytes_of(node)
            if used - bytes_of(node) <= CONSTANT_BYTES < used:
                yield node, f"the module has {used:,} bytes of constant memory; the limit is {CONSTANT_BYTES:,}"
    functions = {f.name: f for f in module.functions if not f.declaration}
    variables = _variables(module.directives)
    shared = {name: _static_shared(variables | _variables(statements(f.body))) for name, f in functions.items()}
    for entry in module.entries if any(shared.values()) else ():
        if entry.declaration:
            continue
        sizes = map(bytes_of, _used_variables(entry, functions, shared))
        used = sum(size for size in sizes if size < 1 << 32)  # ptxas computes with 32 bits; see `size_warning`
        if used > limit:
            yield (
                entry,
                f"{entry.name} uses {used:,} bytes of static shared memory; the limit is {limit:,}",
            )


def _is_allocated(node: VarDecl) -> bool:
    return node.linking is not LinkingDirective.EXTERN


def _variables(nodes: Iterable[object]) -> dict[str, VarDecl]:
    return {node.symbol: node for node in nodes if isinstance(node, VarDecl)}


def _static_shared(variables: dict[str, VarDecl]) -> dict[str, VarDecl]:
    spaces = (StateSpace.SHARED, StateSpace.SHARED_CTA)
    return {name: v for name, v in variables.items() if v.state_space in spaces and _is_allocated(v)}


def _used_variables(
    entry: Function, functions: dict[str, Function], shared: dict[str, dict[str, VarDecl]]
) -> Iterable[VarDecl]:
    """Return the shared variables that an entry or a function it calls refers to.

    Args:
        shared: function name -> the variables that it sees, by name.
    """
    found: dict[int, VarDecl] = {}
    seen, pending = {entry.name}, [entry]
    while pending:
        function = pending.pop()
        visible = shared[function.name]
        for name in {name for node in instructions(function) for name in _names(node)}:
            if name in visible:
                found[id(visible[name])] = visible[name]
            elif name in functions and name not in seen:
                seen.add(name)
                pending.append(functions[name])
    return found.values()


def _names(node: Instruction) -> Iterator[str]:
    for operand in node.operands:
        if isinstance(operand, RegisterOperand):
            continue
        for leaf in leaves(operand):
            if isinstance(leaf, (AddressOperand, LabelOperand, SubscriptOperand, ParenthesizedOperand)):
                name = symbol_of(leaf)
                if name is not None:
                    yield name
