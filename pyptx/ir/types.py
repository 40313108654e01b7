"""Enumerations of the IR: scalar types, state spaces, linking directives."""

from __future__ import annotations

from enum import Enum
from typing import Self

from pyptx.errors import InputError

__all__ = ["OPAQUE_TYPES", "LinkingDirective", "ScalarType", "StateSpace"]


class _Dotted(Enum):
    """Words of PTX. `ptx` is the spelling with its dot."""

    _value_: str
    ptx: str

    def __init__(self, word: str):
        self.ptx = "." + word

    @classmethod
    def from_ptx(cls, text: str) -> Self:
        """Return the member spelled `text`, with or without its dot.

        Raises:
            ValueError: `text` is not a member.
        """
        try:
            return cls(text.removeprefix("."))
        except ValueError:
            expected = ", ".join(m.ptx for m in cls)
            raise InputError(f"unknown {cls.__name__} {text!r}; expected one of {expected}") from None


class ScalarType(_Dotted):
    """Type of a declaration."""

    B8 = "b8"
    B16 = "b16"
    B32 = "b32"
    B64 = "b64"
    B128 = "b128"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    S8 = "s8"
    S16 = "s16"
    S32 = "s32"
    S64 = "s64"
    F16 = "f16"
    F16X2 = "f16x2"
    BF16 = "bf16"
    BF16X2 = "bf16x2"
    TF32 = "tf32"
    F32 = "f32"
    F64 = "f64"
    E4M3 = "e4m3"
    E5M2 = "e5m2"
    PRED = "pred"
    TEXREF = "texref"
    SAMPLERREF = "samplerref"
    SURFREF = "surfref"


OPAQUE_TYPES = frozenset({ScalarType.TEXREF, ScalarType.SAMPLERREF, ScalarType.SURFREF})
"""Types of textures, samplers and surfaces."""


class StateSpace(_Dotted):
    """State space of a variable."""

    REG = "reg"
    SREG = "sreg"
    CONST = "const"
    GLOBAL = "global"
    LOCAL = "local"
    PARAM = "param"
    SHARED = "shared"
    SHARED_CTA = "shared::cta"
    SHARED_CLUSTER = "shared::cluster"
    TEX = "tex"  # PTX 1 only


class LinkingDirective(_Dotted):
    """Linking directive of a symbol."""

    VISIBLE = "visible"
    EXTERN = "extern"
    WEAK = "weak"
    COMMON = "common"
