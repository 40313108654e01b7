"""What one execution of a PTX instruction is worth: operations by pipe, bytes through shared and tensor memory.

The table of instructions says how many operations a form is; here they are only given to a pipe. Counted are
operations that the program asks for, whatever the machine makes of them: a division is one, a multiply-add two, and a
vector of two numbers counts both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyptx.errors import FormError
from pyptx.ir.nodes import Instruction
from pyptx.sim.actions.asynchronous import BulkCopy, CpAsync
from pyptx.sim.actions.basic import Address, Atomic, Load, Shuffle, Store
from pyptx.sim.actions.products import LoadMatrix, Mma, StoreMatrix, Wgmma
from pyptx.sim.actions.tcgen05 import Product5, TmemLoad, TmemStore
from pyptx.sim.actions.tensor_copies import TensorCopy
from pyptx.sim.layouts.fragments import BITS
from pyptx.sim.program.program import Program
from pyptx.validate import bind

__all__ = ["LINE", "Worth", "worths_of"]

LINE = 128                      # bytes that shared memory moves at a time
_MUFU = frozenset("ex2 lg2 sin cos tanh rcp rsqrt sqrt".split())
_FLOAT = re.compile(r"\.(?P<type>bf16|f16|f32|f64|tf32)(?P<packed>x2)?")
_INTEGER = re.compile(r"\.[us](16|32|64)(x2)?")
_KINDS = {"f16": "f16", "tf32": "tf32", "f8f6f4": "f8", "i8": "s8", "mxf8f6f4": "f8", "mxf4": "f4", "mxf4nvf4": "f4"}


@dataclass(frozen=True, slots=True)
class Worth:
    """Attributes:
        pipe: "core.f32", "mma.f16", "wgmma.bf16", "tcgen05.f8"; "" for what computes nothing. The words are those of
            `gpus.Gpu.flops_per_s`; "core.mufu" is for the special functions, "core.s32" for integers.
        operations: of one lane; of tensor cores, the simulator counts them.
        passes: 128-byte passes over shared memory of one warp-wide execution, without bank conflicts.
        operand_bytes: bytes of shared memory that tensor cores read for one execution by a warp.
        tmem_bytes: bytes of tensor memory that one warp moves.
        space: "shared", "global", "generic", "tma" or "".
        copy_bytes: bytes that one lane copies to shared memory (cp.async).
        writes: whether it writes the memory of `space`.
    """

    pipe: str = ""
    operations: int = 0
    passes: int = 0
    operand_bytes: int = 0
    tmem_bytes: int = 0
    space: str = ""
    copy_bytes: int = 0
    writes: bool = False


def worths_of(program: Program) -> tuple[Worth, ...]:
    """Of each instruction of a program."""
    found = []
    for (instruction, scope), action in zip(program.names.instructions, program.actions, strict=True):
        def type_of(name: str, scope=scope) -> str | None:
            entry = scope.register(name)
            return entry[1] if entry else None
        found.append(_memory(action) or _product(action) or _arithmetic(instruction, type_of))
    return tuple(found)


def _memory(action: object) -> Worth | None:
    """Of what moves data."""
    match action:
        case Load() | Store() | Atomic():
            size, space = action.size * action.count, _space(action.address)
            return Worth(passes=_passes(size) if space in ("shared", "generic") else 0, space=space,
                         writes=not isinstance(action, Load))
        case LoadMatrix():
            bits = {"m8n8": 64 * 16, "m16n16": 256 * 8, "m8n16": 128 * 8}[action.shape]
            return Worth(passes=action.count * max(1, bits // 8 // LINE), space="shared")
        case StoreMatrix():
            return Worth(passes=action.count, space="shared", writes=True)
        case CpAsync():
            return Worth(space="global", copy_bytes=action.size, passes=_passes(action.size))
        case BulkCopy() | TensorCopy():
            way = action.way if isinstance(action, BulkCopy) else action.direction
            return Worth(space="tma", writes=way in ("store", "reduce"))
        case Shuffle():
            return Worth(passes=1)                      # lanes go through the same crossbar
        case TmemLoad(data=registers) | TmemStore(source=registers):
            return Worth(tmem_bytes=LINE * len(registers))
    return None


def _space(address: Address) -> str:
    return "shared" if address.space in ("shared", "cluster") else address.space


def _passes(size: int) -> int:
    """Of an access of so many bytes by each of 32 lanes."""
    return max(1, 32 * min(size, 16) // LINE) * max(1, size // 16)


def _product(action: object) -> Worth | None:
    """Of a matrix product."""
    match action:
        case Mma():
            return Worth(f"mma.{_element(action.product.a)}")
        case Wgmma(product=product):
            bits, stored = BITS.get(product.a, 8), product.k // (2 if product.sparse else 1)
            own = 16 * stored * bits // 8 if len(action.a) == 1 else 0
            shared = product.n * product.k * BITS.get(product.b, 8) // 8 // 4     # four warps read B together
            return Worth(f"wgmma.{_element(product.a)}", operand_bytes=own + shared)
        case Product5():
            return Worth(f"tcgen05.{_KINDS[action.kind]}")
    return None


def _element(name: str) -> str:
    return name.removesuffix("x8")


def _arithmetic(instruction: Instruction, type_of) -> Worth:
    """Of an instruction on registers."""
    try:
        form = bind(instruction, type_of).form
    except FormError:
        return Worth()
    if form.effect not in ("", "pure"):
        return Worth()
    words = "".join(instruction.modifiers)
    if form.work:
        found = list(_FLOAT.finditer(words))
        if instruction.opcode in _MUFU and ".rn" not in words and "f64" not in words:
            lanes = 2 if found and found[-1]["packed"] else 1
            return Worth("core.mufu", lanes)
        if found:
            kind = found[-1]
            return Worth(f"core.{kind['type']}", int(form.work.split()[0]) * (2 if kind["packed"] else 1))
        return Worth()
    if form.op.family in ("integer", "extended", "mixed", "logic") and _INTEGER.search(words + ".u32"):
        return Worth("core.s32", 2 if instruction.opcode in ("mad", "mad24", "madc", "dp4a", "dp2a") else 1)
    return Worth()
