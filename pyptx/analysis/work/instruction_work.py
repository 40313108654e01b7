"""Work per execution of a PTX instruction: operations by pipe, bytes of shared and tensor memory.

The instruction table defines the number of operations of a form; this module assigns them to a pipe. Operations are those
of the program, not of the machine code: a division is one, a multiply-add two, and a packed pair counts twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyptx.errors import FormError
from pyptx.ir.nodes import Instruction
from pyptx.sim.actions import (
    Address,
    Atomic,
    BulkCopy,
    CpAsync,
    Load,
    LoadFragment,
    LoadMatrix,
    Mma,
    Shuffle,
    Store,
    StoreFragment,
    StoreMatrix,
    Tcgen05Mma,
    TensorCopy,
    TmemLoad,
    TmemStore,
    Wgmma,
)
from pyptx.sim.layouts.fragments import BITS
from pyptx.sim.program.program import Program
from pyptx.validate import bind

__all__ = ["LINE", "InstructionWork", "program_work"]

LINE = 128  # bytes of one pass over shared memory
_MUFU = frozenset("ex2 lg2 sin cos tanh rcp rsqrt sqrt".split())
_FLOAT = re.compile(r"\.(?P<type>bf16|f16|f32|f64|tf32)(?P<packed>x2)?")
_INTEGER = re.compile(r"\.[us](16|32|64)(x2)?")
_KINDS = {"f16": "f16", "tf32": "tf32", "f8f6f4": "f8", "i8": "s8", "mxf8f6f4": "f8", "mxf4": "f4", "mxf4nvf4": "f4"}


@dataclass(frozen=True, slots=True)
class InstructionWork:
    """Work of one execution.

    Attributes:
        pipe: "core.f32", "mma.f16", "wgmma.bf16", "tcgen05.f8", ...; "" for no computation. Names as in
            `gpus.Gpu.flops_per_s`; "core.mufu" for special functions, "core.s32" for integers.
        operations: operations of one lane; the simulator counts those of tensor cores.
        passes: 128-byte passes over shared memory by one warp, without bank conflicts.
        operand_bytes: bytes of shared memory that tensor cores read for one warp.
        tmem_bytes: bytes of tensor memory moved by one warp.
        space: "shared", "global", "generic", "tma" or "".
        copy_bytes: bytes that one lane copies to shared memory (cp.async).
        writes: it writes the memory of `space`.
    """

    pipe: str = ""
    operations: int = 0
    passes: int = 0
    operand_bytes: int = 0
    tmem_bytes: int = 0
    space: str = ""
    copy_bytes: int = 0
    writes: bool = False


def program_work(program: Program) -> tuple[InstructionWork, ...]:
    """Return the work of each instruction of a program."""
    found = []
    for (instruction, scope), action in zip(program.symbols.instructions, program.actions, strict=True):

        def type_of(name: str, scope=scope) -> str | None:
            entry = scope.register(name)
            return entry[1] if entry else None

        found.append(_memory(action) or _product(action) or _arithmetic(instruction, type_of))
    return tuple(found)


def _memory(action: object) -> InstructionWork | None:
    """Return the work of a memory instruction; None for others."""
    match action:
        case Load() | Store() | Atomic():
            size, space = action.size * action.count, _space(action.address)
            return InstructionWork(
                passes=_passes(size) if space in ("shared", "generic") else 0,
                space=space,
                writes=not isinstance(action, Load),
            )
        case LoadMatrix():
            bits = {"m8n8": 64 * 16, "m16n16": 256 * 8, "m8n16": 128 * 8}[action.shape]
            return InstructionWork(passes=action.count * max(1, bits // 8 // LINE), space="shared")
        case StoreMatrix():
            return InstructionWork(passes=action.count, space="shared", writes=True)
        case LoadFragment() | StoreFragment() if action.address.space == "shared":
            moved = action.fragment.rows * action.fragment.columns * action.bits // 8
            return InstructionWork(
                passes=max(1, moved // LINE), space="shared", writes=isinstance(action, StoreFragment)
            )
        case CpAsync():
            return InstructionWork(space="global", copy_bytes=action.size, passes=_passes(action.size))
        case BulkCopy() | TensorCopy():
            way = action.direction
            return InstructionWork(space="tma", writes=way in ("store", "reduce"))
        case Shuffle():
            return InstructionWork(passes=1)  # lanes use the shared memory crossbar
        case TmemLoad(data=registers) | TmemStore(source=registers):
            return InstructionWork(tmem_bytes=LINE * len(registers))
    return None


def _space(address: Address) -> str:
    return "shared" if address.space in ("shared", "cluster") else address.space


def _passes(size: int) -> int:
    """Return the passes of an access of `size` bytes by each of 32 lanes."""
    return max(1, 32 * min(size, 16) // LINE) * max(1, size // 16)


def _product(action: object) -> InstructionWork | None:
    """Return the work of a matrix product; None for other instructions."""
    match action:
        case Mma():
            return InstructionWork(f"mma.{_element(action.product.a)}")
        case Wgmma(product=product):
            bits, stored = BITS.get(product.a, 8), product.k // (2 if product.sparse else 1)
            own = 16 * stored * bits // 8 if len(action.a) == 1 else 0
            shared = product.n * product.k * BITS.get(product.b, 8) // 8 // 4  # four warps read B together
            return InstructionWork(f"wgmma.{_element(product.a)}", operand_bytes=own + shared)
        case Tcgen05Mma():
            return InstructionWork(f"tcgen05.{_KINDS[action.kind]}")
    return None


def _element(name: str) -> str:
    return name.removesuffix("x8")


def _arithmetic(instruction: Instruction, type_of) -> InstructionWork:
    """Return the work of an instruction on registers."""
    try:
        form = bind(instruction, type_of).form
    except FormError:
        return InstructionWork()
    if form.effect not in ("", "pure"):
        return InstructionWork()
    words = "".join(instruction.modifiers)
    if form.work:
        found = list(_FLOAT.finditer(words))
        if instruction.opcode in _MUFU and ".rn" not in words and "f64" not in words:
            lanes = 2 if found and found[-1]["packed"] else 1
            return InstructionWork("core.mufu", lanes)
        if found:
            kind = found[-1]
            return InstructionWork(f"core.{kind['type']}", int(form.work.split()[0]) * (2 if kind["packed"] else 1))
        return InstructionWork()
    assert form.op is not None, f"{instruction.opcode} has no row in the table"
    if form.op.family in ("integer", "extended", "mixed", "logic") and _INTEGER.search(words + ".u32"):
        return InstructionWork("core.s32", 2 if instruction.opcode in ("mad", "mad24", "madc", "dp4a", "dp2a") else 1)
    return InstructionWork()
