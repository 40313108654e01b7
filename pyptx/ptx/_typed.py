"""The entry of typed wrappers: convert, ask the table, append.

`ptx.inst.*` and operators append whatever they are given. A wrapper raises at the user's line, unless
`pyptx.spec.set_strict(False)` was called.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pyptx import isa, validate
from pyptx._loc import user_place
from pyptx.errors import FormError, PtxValidationError, ShapeError
from pyptx.ir.nodes import Instruction, Operand
from pyptx.reg import Reg
from pyptx.spec import UnvalidatedInstructionWarning, ValidationIssue, is_strict, validate_instruction
from pyptx.tracing.operand import address, operand
from pyptx.tracing.trace import TraceContext, get_ctx, guard, words
from pyptx.types import PtxType, from_name, no_type

__all__ = ["emit_strictly", "one_of", "register_address", "require_register",
           "shared_address", "type_name", "typed", "type_or_none"]

def typed(opcode: str, modifiers: str, *operands: object, pred: object = None) -> None:
    """Append `opcode` with dotted `modifiers`, after the table took it."""
    emit_strictly(opcode, modifiers, operands, pred)


def emit_strictly(opcode: str, modifiers: str | Sequence[str], operands: Sequence[object],
                  pred: object = None) -> Reg | None:
    """Append one instruction from Python values; in strict mode only when a form of the table fits.

    Args:
        modifiers: in order, with or without their dots; or one dotted text.
        pred: the guard, a predicate register or `~predicate`.
    Returns:
        The first operand when it is a register.
    Raises:
        PtxValidationError: strict mode, and no form fits.
    """
    chain = words(modifiers if isinstance(modifiers, str) else ".".join(modifiers))
    bits = 64 if chain and chain[-1] in (".f64", ".b64") else 32
    nodes = tuple([operand(o, bits) for o in operands])
    ctx = get_ctx()
    instruction = Instruction(opcode, chain, nodes, None if pred is None else guard(pred), None, user_place())
    if is_strict():
        _require_form(instruction, ctx)
    ctx.append(instruction)
    first = operands[0] if operands else None
    return first if isinstance(first, Reg) else None


def _require_form(instruction: Instruction, ctx: TraceContext) -> None:
    """Raise when no form of the table fits."""
    if instruction.opcode not in isa.OPS:
        warnings.warn(f"the table holds no {instruction.opcode!r}", UnvalidatedInstructionWarning, stacklevel=2)
        return
    try:
        validate.bind(instruction, ctx.type_of)
    except FormError as refused:
        message = refused.message.removeprefix(f"{instruction.mnemonic}: ")
        issues = [ValidationIssue(instruction, message), *validate_instruction(instruction)]
        raise PtxValidationError(issues, instruction=instruction.mnemonic, at=instruction.place,
                                 hint=refused.hint) from None


# arguments of wrappers --------------------------------------------------------------------------------------------

def shared_address(value: object) -> Operand:
    """The address operand of a shared-memory argument: a handle of `smem`, a slot of a ring, a register, an address.

    A handle in dynamic shared memory is put into a register first, so this may append instructions.
    """
    convert = getattr(value, "wrapper_address", None)
    return address(value) if convert is None else convert()


def register_address(value: object) -> object:
    """The 32-bit shared address of a handle in a register; everything else stays as it is."""
    convert = getattr(value, "address_register", None)
    return value if convert is None else convert()


def type_name(dtype: PtxType | str) -> str:
    """The PTX word of a type argument.

    Raises:
        TypeError: it is no type.
    """
    if isinstance(dtype, str):
        return from_name(dtype).name
    if not isinstance(dtype, PtxType):
        raise no_type(dtype)
    return dtype.name


def type_or_none(value: object) -> PtxType | None:
    """The type of a register argument; None for everything else."""
    return value.dtype if isinstance(value, Reg) else None


def require_register(value: object, what: str) -> Reg:
    """The argument, when it is a register."""
    if not isinstance(value, Reg):
        raise TypeError(f"{what} takes a register, not {value!r}")
    return value


def one_of(value: object, choices: Sequence[object], what: str) -> None:
    """Refuse an argument that is none of `choices`.

    Raises:
        ShapeError: a ValueError that names the argument and what would do.
    """
    if value not in choices:
        raise ShapeError(f"{what}={value!r}; expected {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}",
                         at=user_place())
