"""Enumerations of the tree: scalar types, state spaces, linking directives."""

from __future__ import annotations

from enum import Enum

__all__ = ["LinkingDirective", "ScalarType", "StateSpace"]


class _Dotted(Enum):
    @property
    def ptx(self) -> str:
        return "." + self.value

    @classmethod
    def from_ptx(cls, text: str):
        """The member spelled `text`, with or without its dot.

        Raises:
            ValueError: no member is spelled so.
        """
        try:
            return cls(text.removeprefix("."))
        except ValueError:
            expected = ", ".join(m.ptx for m in cls)
            raise ValueError(f"unknown {cls.__name__} {text!r}; expected one of {expected}") from None


ScalarType = _Dotted("ScalarType", {name.upper(): name for name in (
    "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 tf32 f32 f64 e4m3 e5m2 pred "
    "texref samplerref surfref".split())},
    module=__name__)
ScalarType.__doc__ = "A type word of a declaration; the last three are opaque types of textures, samplers and surfaces."


class StateSpace(_Dotted):
    """Where a variable lives."""

    REG = "reg"
    SREG = "sreg"
    CONST = "const"
    GLOBAL = "global"
    LOCAL = "local"
    PARAM = "param"
    SHARED = "shared"
    SHARED_CTA = "shared::cta"
    SHARED_CLUSTER = "shared::cluster"
    TEX = "tex"                                 # of PTX 1


class LinkingDirective(_Dotted):
    """Who may see a name."""

    VISIBLE = "visible"
    EXTERN = "extern"
    WEAK = "weak"
    COMMON = "common"
