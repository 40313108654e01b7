"""Initializers of `.global` and `.const` variables, as bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from pyptx.ir.nodes import ImmediateOperand, LabelOperand, Operand, RegisterOperand, VectorOperand
from pyptx.sim.memory.arguments import size_of
from pyptx.sim.symbols.literals import bits_of, integer

__all__ = ["UnsupportedInitializerError", "elements_of", "initializer_bytes"]

Initializer = Operand | str | None

_WORD = re.compile(r"[A-Za-z_$%]|0[xX][0-9a-fA-F]+\(")  # a name, or 0xff(name)
_MASKED = re.compile(r"(0[xX][0-9a-fA-F]+)\((.+)\)")


class UnsupportedInitializerError(Exception):
    """An element of an initializer that is not simulated."""


def elements_of(initializer: Initializer) -> list[Operand]:
    """Return the elements of an initializer, with nested braces flattened."""
    match initializer:
        case None:
            return []
        case VectorOperand(elements):
            return [inner for element in elements for inner in elements_of(element)]
        case str(text):
            return [ImmediateOperand(word) for word in re.split(r"[\s{},=]+", text) if word]
    return [initializer]


def initializer_bytes(initializer: Initializer, type_name: str, resolve: Callable[[str], int | None]) -> bytes:
    """Encode an initializer.

    Args:
        type_name: element type, without its dot.
        resolve: address of a symbol expression (`name`, `name+4`, `generic(name)`), None if it is not one.
    Raises:
        UnsupportedInitializerError: an element is not simulated.
    """
    plain = _numbers(initializer, type_name)
    if plain is not None:
        return plain
    item = size_of(type_name)
    return b"".join(
        _element_bits(element, type_name, resolve).to_bytes(16, "little")[:item] for element in elements_of(initializer)
    )


def _element_bits(element: Operand, type_name: str, resolve: Callable[[str], int | None]) -> int:
    match element:
        case ImmediateOperand(text):
            masked = _MASKED.fullmatch(text)
            address = resolve(masked[2]) if masked else None
            if masked is None or address is None:
                return bits_of(text, type_name, 8 * size_of(type_name))
            mask = integer(masked[1])  # 0xff00(name): one byte of an address
            return (address & mask) >> ((mask & -mask).bit_length() - 1)
        case LabelOperand(name) | RegisterOperand(name):
            address = resolve(name)
            if address is not None:
                return address
    raise UnsupportedInitializerError(f"the initializer {getattr(element, 'name', element)} is not simulated")


@lru_cache(maxsize=256)
def _numbers(initializer: Initializer, type_name: str) -> bytes | None:
    """The bytes of an initializer that contains numbers only, else None."""
    texts = [e.text for e in elements_of(initializer) if isinstance(e, ImmediateOperand) and not _WORD.match(e.text)]
    if len(texts) != len(elements_of(initializer)):
        return None
    item = size_of(type_name)
    return b"".join(bits_of(text, type_name, 8 * item).to_bytes(16, "little")[:item] for text in texts)
