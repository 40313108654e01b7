"""From a bound instruction to an action: one file for each stateful family; what computes values goes by `means`.

A decoder is registered for an opcode word and may give None for forms it does not simulate.
"""

from __future__ import annotations

from collections.abc import Callable

from pyptx.sim.actions.basic import Action
from pyptx.sim.symbols.operands import Operands

__all__ = ["DECODERS", "Decoder", "decodes", "type_words"]

Decoder = Callable[[Operands], Action | None]
DECODERS: dict[str, Decoder] = {}

_TYPES = frozenset(""".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .bf16x2 .f32
    .f64 .pred""".split())


def decodes(*opcodes: str):
    """Register a decoder for opcode words. Several may share one: the first that gives an action has it."""
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
    """The types among modifiers, without their dots, in order."""
    return [m[1:] for m in modifiers if m in _TYPES]
