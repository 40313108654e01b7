"""Checked emission for typed wrappers: convert operands, validate against the table, append.

`ptx.inst.*` and operators append without validation. A typed wrapper raises at the user's line, unless
`pyptx.spec.set_strict(False)` was called.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pyptx import isa, validate
from pyptx._loc import user_place
from pyptx.compat.spec import UnvalidatedInstructionWarning, ValidationIssue, is_strict, validate_instruction
from pyptx.errors import FormError, OperandError, PtxValidationError, ShapeError
from pyptx.ir.nodes import Instruction, Operand
from pyptx.reg import Reg
from pyptx.tracing.operand import address, operand
from pyptx.tracing.trace import TraceContext, get_ctx, guard, split_modifiers
from pyptx.types import PtxType, from_name, no_type

__all__ = [
    "check_option",
    "emit_checked",
    "emit_sequence",
    "one_of",
    "refuse",
    "register_address",
    "require_register",
    "shared_address",
    "type_name",
    "type_or_none",
]


def emit_checked(opcode: str, modifiers: str, *operands: object, pred: object = None) -> Reg | None:
    """Append one instruction built from Python values; in strict mode only if a form of the table fits.

    Args:
        modifiers: dotted text, such as "rn.f32".
        operands: in PTX order.
        pred: the guard, a predicate register or `~predicate`.
    Returns:
        The first operand if it is a register.
    Raises:
        PtxValidationError: strict mode, and no form fits.
    """
    chain = split_modifiers(modifiers)
    bits = 64 if chain and chain[-1] in (".f64", ".b64") else 32
    nodes = tuple([operand(o, bits) for o in operands])
    ctx = get_ctx()
    instruction = Instruction(opcode, chain, nodes, None if pred is None else guard(pred), None, user_place(2))
    if is_strict():
        _require_form(instruction, ctx)
    ctx.append(instruction)
    first = operands[0] if operands else None
    return first if isinstance(first, Reg) else None


def emit_sequence(
    opcode: str, modifiers: str | Sequence[str], operands: Sequence[object], pred: object = None
) -> Reg | None:
    """Call `emit_checked` with operands as a sequence: `ptx._emit` of the 0.1 API.

    Args:
        modifiers: one dotted text, or a sequence with or without dots.
    """
    return emit_checked(opcode, modifiers if isinstance(modifiers, str) else ".".join(modifiers), *operands, pred=pred)


def _require_form(instruction: Instruction, ctx: TraceContext) -> None:
    """Raise PtxValidationError if no form of the table fits."""
    if instruction.opcode not in isa.OPCODES:
        warnings.warn(
            f"opcode {instruction.opcode!r} is not in the instruction table",
            UnvalidatedInstructionWarning,
            stacklevel=2,
        )
        return
    try:
        validate.require_form(instruction, ctx.type_of)
    except FormError as refused:
        message = refused.message.removeprefix(f"{instruction.mnemonic}: ")
        issues = [ValidationIssue(instruction, message), *validate_instruction(instruction)]
        raise PtxValidationError(
            issues, instruction=instruction.mnemonic, at=instruction.place, hint=refused.hint
        ) from None


# arguments of wrappers --------------------------------------------------------------------------------------------


def shared_address(value: object) -> Operand:
    """Convert a shared-memory argument to an address: an allocation, a slot of a ring, a register or an address.

    For an allocation in dynamic shared memory this emits the computation of its address.
    """
    convert = getattr(value, "wrapper_address", None)
    return address(value) if convert is None else convert()


def register_address(value: object) -> object:
    """Emit the 32-bit shared address of an allocation and return its register; return other values unchanged."""
    convert = getattr(value, "address_register", None)
    return value if convert is None else convert()


def type_name(dtype: PtxType | str) -> str:
    """Return the PTX name of a type argument.

    Raises:
        TypeError: the argument is not a type.
    """
    if isinstance(dtype, str):
        return from_name(dtype).name
    if not isinstance(dtype, PtxType):
        raise no_type(dtype)
    return dtype.name


def type_or_none(value: object) -> PtxType | None:
    """Return the type of a register argument; None for any other value."""
    return value.dtype if isinstance(value, Reg) else None


def require_register(value: object, what: str) -> Reg:
    """Return the argument, which must be a register.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(value, Reg):
        raise OperandError(f"{what} takes a register, not {value!r}")
    return value


def check_option(value: object, choices: Sequence[object], what: str) -> None:
    """Require an argument that becomes a modifier or operand to be one of `choices`; in strict mode only.

    Raises:
        ShapeError: it is not; see `one_of`.
    """
    if is_strict():
        one_of(value, choices, what)


def refuse(message: str) -> None:
    """Refuse the arguments of a wrapper; without effect unless strict.

    Raises:
        ShapeError: strict mode.
    """
    if is_strict():
        raise ShapeError(message, at=user_place())


def one_of(value: object, choices: Sequence[object], what: str) -> None:
    """Require an argument to be one of `choices`.

    Raises:
        ShapeError: it is not; the message lists the choices. It is a ValueError.
    """
    if value not in choices:
        raise ShapeError(
            f"{what}={value!r}; expected {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}", at=user_place()
        )
