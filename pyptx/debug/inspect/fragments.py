"""Fragments: registers shown as the matrix they hold, by the layouts of mma, wgmma, and wmma operands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.inspect.python_names import Binding, Parts, Register
from pyptx.debug.inspect.values import bits_of, decoded
from pyptx.debug.inspect.warp_state import WarpState
from pyptx.sim.actions import Action, Mma, Reg, Wgmma
from pyptx.sim.layouts.fragments import BITS, Fragment, accumulator, left

__all__ = ["FragmentTile", "Operand", "fragment", "named_fragments", "operands_of"]

_MOST_SHOWN = 64  # rows and columns


@dataclass(frozen=True, eq=False)
class Operand:
    """A register operand of a matrix instruction, with its layout in one warp.

    Attributes:
        matrix: "A", "B", "C", or "D".
        warps: number of warps that hold the matrix, each 16 rows of it if more than one.
    """

    instruction: int
    matrix: str
    registers: tuple[Any, ...]
    layout: Fragment
    type: str
    warps: int


@dataclass(frozen=True, eq=False)
class FragmentTile:
    """A matrix read from registers; `owner[row][column]` is the (warp, lane, register) that holds an element."""

    name: str
    operand: Operand
    shape: tuple[int, int]
    first: tuple[int, int]
    values: np.ndarray
    owner: np.ndarray
    title: str


def operands_of(instruction: int, action: Action) -> Iterator[Operand]:
    """Yield the register operands of a matrix instruction."""
    match action:
        case Mma():
            product = action.product
            parts = zip(
                "ABCD",
                (action.a, action.b, action.c, action.data),
                action.fragments,
                (product.a, product.b, product.c, product.d),
                strict=True,
            )
            for matrix, registers, layout, kind in parts:
                if layout.batch is None:
                    yield Operand(instruction, matrix, tuple(registers), layout, kind, 1)
        case Wgmma():
            product = action.product
            yield Operand(
                instruction, "D", tuple(action.data), accumulator(16, product.n, BITS[product.d]), product.d, 4
            )
            if len(action.a) > 1:
                stored = product.k // 2 if product.sparse else product.k
                yield Operand(instruction, "A", tuple(action.a), left(16, stored, BITS[product.a]), product.a, 4)


def _operands(state: WarpState) -> list[Operand]:
    """Return all register operands in the program, those nearest to the current instruction first."""
    kinds, actions = state.run.program.kinds, state.run.program.actions
    numbers = [i for i, kind in enumerate(kinds) if isinstance(kind, Mma | Wgmma)]
    numbers.sort(key=lambda i: (abs(i - state.instruction), i))
    return [operand for i in numbers for operand in operands_of(i, actions[i])]


def _flat(state: WarpState, binding: Binding | None) -> list[Reg]:
    """Return the registers of a binding, in order."""
    match binding:
        case Register(name=name):
            return [state.register(name)[0]]
        case tuple():
            return [r for part in binding for r in _flat(state, part)]
    return []


def _named_registers(state: WarpState, name: str) -> list[Reg]:
    """Return the registers of a Python or PTX name; a range of PTX registers is written as %f<64> or %f."""
    own = state.names.at(state.instruction) if state.names is not None else {}
    head, *steps = name.replace("]", "").replace("[", ".").split(".")
    if head in own:
        binding: Binding | None = own[head]
        for step in steps:
            if isinstance(binding, Parts) and step in binding.attributes:
                binding = binding.attributes[step]
            elif isinstance(binding, tuple) and step.isdigit() and int(step) < len(binding):
                binding = binding[int(step)]
            else:
                raise DebugError(f"{name} does not name registers here")
        return _flat(state, binding)
    if name.startswith("%"):
        found = state.scope.register(name)
        if found is not None:
            return [found[0]]
        prefix = name.split("<")[0]
        return [
            r
            for r in state.run.program.symbols.registers
            if r.name.startswith(prefix) and r.name[len(prefix) :].isdigit()
        ]
    return []


def fragment(
    state: WarpState, name: str, *, rows: Sequence[int] | None = None, columns: Sequence[int] | None = None
) -> FragmentTile:
    """Return the matrix that registers hold in the focused warp (for wgmma: warpgroup).

    Args:
        name: Python name of the registers ("acc", "sums[0]", "frag.sums"), a PTX name ("%f3", "%f<64>"), or an operand of the next
            matrix instruction: "A", "B", "C", "D".
        rows, columns: (first, count) of the part to show; at most 64 of each.
    Raises:
        DebugError: the registers are not an operand of a matrix instruction.
    """
    if name in "ABCD" and len(name) == 1:
        here = [o for o in _operands(state) if o.matrix == name and o.instruction == state.instruction]
        if not here:
            raise DebugError(
                f"the next instruction is not a matrix instruction with {name} in registers", hint="name its registers"
            )
        return _read(state, name, here[0], rows, columns)
    registers = _named_registers(state, name)
    if not registers:
        known = ", ".join(found for found, _ in named_fragments(state)) or "none"
        raise DebugError(f"{name!r} does not name registers here; fragments here: {known}")
    wanted = {r.index for r in registers}
    candidates = [(len(wanted & {r.index for r in o.registers if isinstance(r, Reg)}), o) for o in _operands(state)]
    most = max((count for count, _ in candidates), default=0)
    if not most:
        raise DebugError(f"{name} is not an operand of a matrix instruction")
    order = "DACB"
    best = min((o for count, o in candidates if count == most), key=lambda o: order.index(o.matrix))
    return _read(state, name, best, rows, columns)


def named_fragments(state: WarpState) -> list[tuple[str, Operand]]:
    """Return the Python names whose registers are an operand of a matrix instruction."""
    if state.names is None:
        return []
    by_register: dict[int, Operand] = {}
    for operand in _operands(state):
        for r in operand.registers:
            if isinstance(r, Reg):
                by_register.setdefault(r.index, operand)
    found = []
    for name, binding in state.names.at(state.instruction).items():
        found += list(_matching(state, name, binding, by_register))
    return found


def _matching(
    state: WarpState, name: str, binding: Binding | None, by_register: dict[int, Operand]
) -> Iterator[tuple[str, Operand]]:
    if isinstance(binding, Parts):
        for attribute, part in binding.attributes.items():
            yield from _matching(state, f"{name}.{attribute}", part, by_register)
        return
    if not isinstance(binding, tuple) or not binding:
        return
    if isinstance(binding[0], tuple | Parts):
        for k, part in enumerate(binding):
            yield from _matching(state, f"{name}[{k}]", part, by_register)
        return
    try:
        registers = _flat(state, binding)
    except DebugError:
        return
    if registers and registers[0].index in by_register:
        yield name, by_register[registers[0].index]


def _read(
    state: WarpState, name: str, operand: Operand, rows: Sequence[int] | None, columns: Sequence[int] | None
) -> FragmentTile:
    layout, first_warp = operand.layout, state.warp // operand.warps * operand.warps
    warps = [w for w in range(first_warp, first_warp + operand.warps) if w < state.run.plan.warps]
    tall = operand.warps > 1
    shape = layout.rows * len(warps), layout.columns
    values = np.zeros(shape, np.int64 if operand.type[0] in "su" or operand.type == "b1" else np.float64)
    owner = np.zeros((*shape, 3), np.int32)
    lanes = np.broadcast_to(np.arange(32), layout.row.shape)
    numbers = np.broadcast_to(np.arange(layout.registers)[:, None, None], layout.row.shape)
    offsets = state.run.machine.register_offsets
    for k, warp in enumerate(warps):
        file = state.resident.registers(warp)
        bits = [_bits(offsets, file, r) for r in operand.registers[: layout.registers]]
        at = layout.row + (layout.rows * k if tall else 0), layout.column
        values[at] = np.array([_elements(b, operand.type, layout.elements) for b in bits])
        owner[(*at, 0)], owner[(*at, 1)], owner[(*at, 2)] = warp, lanes, numbers
    (top, count), (first, width) = _window(rows, shape[0]), _window(columns, shape[1])
    part = slice(top, top + count), slice(first, first + width)
    text = state.run.program.instructions[operand.instruction].mnemonic
    who = f"warps {warps[0]} to {warps[-1]}" if len(warps) > 1 else f"warp {warps[0]}"
    return FragmentTile(
        name,
        operand,
        shape,
        (top, first),
        values[part],
        owner[part],
        f"{name}: {operand.matrix} {shape[0]} x {shape[1]} {operand.type} of {text}, {who}",
    )


def _window(given: Sequence[int] | None, size: int) -> tuple[int, int]:
    first, count = (0, size) if given is None else map(int, given)
    if not 0 <= first < size:
        raise DebugError(f"first index {first} is not within 0 to {size - 1}")
    return first, min(count, size - first, _MOST_SHOWN)


def _bits(offsets: dict[int, int], file: np.ndarray, register: Any) -> np.ndarray:
    if isinstance(register, Reg):
        return bits_of(offsets, file, register)
    return np.full(32, getattr(register, "bits", 0), np.uint64)


def _elements(bits: np.ndarray, kind: str, count: int) -> np.ndarray:
    """Return the elements [element][lane] that a register holds."""
    size = {"e2m1x8": 4}.get(kind, BITS[kind])
    if size == 64:
        return bits.view(np.float64)[None]
    parts = np.array([bits.astype(np.uint64) >> np.uint64(size * j) & np.uint64((1 << size) - 1) for j in range(count)])
    if size < 8:
        if kind == "e2m1x8":
            return decoded(parts.astype(np.uint8), "e2m1")
        return (
            np.where(parts >> (size - 1) & 1, parts.astype(np.int64) - (1 << size), parts) if kind[0] == "s" else parts
        )
    narrow = np.ascontiguousarray(parts.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[size]))
    return decoded(narrow.view(np.uint8), kind).reshape(narrow.shape)
