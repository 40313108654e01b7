"""Registry of decoders: opcode -> function from operands to an action."""

from __future__ import annotations

from collections.abc import Callable

from pyptx.sim.actions import Action
from pyptx.sim.symbols.operands import Operands

__all__ = ["DECODERS", "Decoder", "UnsupportedFormError", "decodes", "type_words"]

Decoder = Callable[[Operands], Action | None]
DECODERS: dict[str, Decoder] = {}

_TYPES = frozenset(
    """.b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32
    .f64 .pred""".split()
)


class UnsupportedFormError(Exception):
    """A form of an instruction that is not simulated; raised while its expression is built."""


def decodes(*opcodes: str) -> Callable[[Decoder], Decoder]:
    """Register a decoder for opcodes. Several decoders may share an opcode: the first that returns an action wins."""

    def register(function: Decoder) -> Decoder:
        for opcode in opcodes:
            earlier = DECODERS.get(opcode)
            DECODERS[opcode] = function if earlier is None else _either(earlier, function)
        return function

    return register


def _either(first: Decoder, second: Decoder) -> Decoder:
    def decode(operands: Operands) -> Action | None:
        action = first(operands)
        return second(operands) if action is None else action

    return decode


def type_words(modifiers: tuple[str, ...]) -> list[str]:
    """Return the types among the modifiers, without their dots, in order."""
    return [m[1:] for m in modifiers if m in _TYPES]
