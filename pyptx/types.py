"""PTX scalar types: `from pyptx.types import f32, u64`."""

from __future__ import annotations

from typing import Final

from pyptx._frozen import frozen
from pyptx.errors import InputError

__all__ = [
    "ARRAY_NAMES",
    "PtxType",
    "from_name",
    "no_type",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "f16",
    "f16x2",
    "bf16",
    "bf16x2",
    "tf32",
    "f32",
    "f64",
    "e4m3",
    "e5m2",
    "pred",
]


@frozen
class PtxType:
    """A PTX scalar type.

    Attributes:
        name: without the dot, such as "f32".
        bits: width; 1 for predicates.
    """

    name: str
    bits: int

    @property
    def ptx(self) -> str:
        """The type modifier with its dot, such as ".f32"."""
        return "." + self.name

    @property
    def is_float(self) -> bool:
        """True for floating-point types, packed ones included."""
        return self.name in _FLOATS

    @property
    def is_signed(self) -> bool:
        """True for signed integer types."""
        return self.name[0] == "s"

    @property
    def register(self) -> str:
        """The type of a `.reg` declaration that holds it: bf16, tf32 and fp8 are instruction types only."""
        return _DECLARED_AS.get(self.name, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PtxType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64", "e4m3", "e5m2"})
_DECLARED_AS = {"bf16": "b16", "bf16x2": "b32", "tf32": "b32", "e4m3": "b8", "e5m2": "b8"}

b8: Final = PtxType("b8", 8)
b16: Final = PtxType("b16", 16)
b32: Final = PtxType("b32", 32)
b64: Final = PtxType("b64", 64)
b128: Final = PtxType("b128", 128)
u8: Final = PtxType("u8", 8)
u16: Final = PtxType("u16", 16)
u32: Final = PtxType("u32", 32)
u64: Final = PtxType("u64", 64)
s8: Final = PtxType("s8", 8)
s16: Final = PtxType("s16", 16)
s32: Final = PtxType("s32", 32)
s64: Final = PtxType("s64", 64)
f16: Final = PtxType("f16", 16)
f32: Final = PtxType("f32", 32)
f64: Final = PtxType("f64", 64)
f16x2: Final = PtxType("f16x2", 32)
bf16: Final = PtxType("bf16", 16)
bf16x2: Final = PtxType("bf16x2", 32)
tf32: Final = PtxType("tf32", 32)
e4m3: Final = PtxType("e4m3", 8)
e5m2: Final = PtxType("e5m2", 8)
pred: Final = PtxType("pred", 1)

ARRAY_NAMES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
    "int8": "s8",
    "int16": "s16",
    "int32": "s32",
    "int64": "s64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool": "pred",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
}  # dtype names of NumPy, torch and JAX
_BY_NAME = {t.name: t for t in tuple(globals().values()) if isinstance(t, PtxType)}


def no_type(value: object) -> TypeError:
    """Return the error for a value that should be a PtxType; it suggests the type that was probably meant."""
    name = value if isinstance(value, str) else getattr(value, "__name__", getattr(value, "name", None))
    meant = _BY_NAME.get(str(name)) or _BY_NAME.get(ARRAY_NAMES.get(str(name).rpartition(".")[2], ""))
    return TypeError(f"{value!r} is not a PTX type; expected one of pyptx.types, such as {meant or 'f32'}")


def from_name(name: str) -> PtxType:
    """Return the type called `name`, with or without its dot.

    Raises:
        ValueError: `name` is not the name of a PTX type.
    Examples:
        >>> from_name(".bf16"), from_name("bf16").bits
        (bf16, 16)
    """
    try:
        return _BY_NAME[name.removeprefix(".")]
    except KeyError:
        raise InputError(f"Unknown PTX type: {name!r}; expected one of {', '.join(_BY_NAME)}") from None
