"""The scalar types of PTX as values: `from pyptx.types import f32, u64`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ARRAY_NAMES", "PtxType", "from_name", "no_type", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32",
           "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64", "e4m3", "e5m2",
           "pred"]


@dataclass(frozen=True, slots=True, repr=False)
class PtxType:
    """A PTX scalar type: its name without the dot and its width in bits (1 for predicates)."""

    name: str
    bits: int

    @property
    def ptx(self) -> str:
        """The type as PTX spells it, with its dot."""
        return "." + self.name

    @property
    def is_float(self) -> bool:
        """Whether it is a type of floating-point numbers, packed ones included."""
        return self.name in _FLOATS

    @property
    def is_signed(self) -> bool:
        """Whether it is a type of signed integers."""
        return self.name[0] == "s"

    @property
    def register(self) -> str:
        """The type a `.reg` declaration must use for it: bf16, tf32 and fp8 are instruction types only."""
        return _DECLARED_AS.get(self.name, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PtxType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64", "e4m3", "e5m2"})
_DECLARED_AS = {"bf16": "b16", "bf16x2": "b32", "tf32": "b32", "e4m3": "b8", "e5m2": "b8"}

b8, b16, b32, b64, b128 = (PtxType(f"b{n}", n) for n in (8, 16, 32, 64, 128))
u8, u16, u32, u64 = (PtxType(f"u{n}", n) for n in (8, 16, 32, 64))
s8, s16, s32, s64 = (PtxType(f"s{n}", n) for n in (8, 16, 32, 64))
f16, f32, f64 = (PtxType(f"f{n}", n) for n in (16, 32, 64))
f16x2, bf16, bf16x2, tf32 = PtxType("f16x2", 32), PtxType("bf16", 16), PtxType("bf16x2", 32), PtxType("tf32", 32)
e4m3, e5m2 = PtxType("e4m3", 8), PtxType("e5m2", 8)
pred = PtxType("pred", 1)

ARRAY_NAMES = {"float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "int8": "s8", "int16": "s16",
               "int32": "s32", "int64": "s64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
               "bool": "pred", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}     # of NumPy, torch and JAX
_BY_NAME = {t.name: t for t in tuple(globals().values()) if isinstance(t, PtxType)}


def no_type(value: object) -> TypeError:
    """What to raise for a value that should be a PtxType: names the type it may mean."""
    name = value if isinstance(value, str) else getattr(value, "__name__", getattr(value, "name", None))
    meant = _BY_NAME.get(name) or _BY_NAME.get(ARRAY_NAMES.get(str(name).rpartition(".")[2], ""))
    return TypeError(f"{value!r} is no type of PTX; expected one of pyptx.types, for instance {meant or 'f32'}")


def from_name(name: str) -> PtxType:
    """The type called `name`, with or without its dot.

    Raises:
        ValueError: no PTX type has that name.
    Examples:
        >>> from_name(".bf16"), from_name("bf16").bits
        (bf16, 16)
    """
    try:
        return _BY_NAME[name.removeprefix(".")]
    except KeyError:
        raise ValueError(f"Unknown PTX type: {name!r}; expected one of {', '.join(_BY_NAME)}") from None
