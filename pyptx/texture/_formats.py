"""Channel formats of textures and surfaces."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.errors import ShapeError
from pyptx.types import PtxType

__all__ = ["FORMATS", "Format", "format_of"]


class Format(NamedTuple):
    """A channel format.

    Attributes:
        name: PTX type.
        code: its number in the simulator's records.
        bits: width of a channel.
        driver: name in the driver, after `CU_AD_FORMAT_`.
        numpy: NumPy dtype of a channel.
    """

    name: str
    code: int
    bits: int
    driver: str
    numpy: str

    @property
    def floating(self) -> bool:
        """True for floating-point channels."""
        return self.name[0] == "f"

    @property
    def signed(self) -> bool:
        """True for signed integer channels."""
        return self.name[0] == "s"


FORMATS = (
    Format("u8", 0, 8, "UNSIGNED_INT8", "uint8"),
    Format("s8", 1, 8, "SIGNED_INT8", "int8"),
    Format("u16", 2, 16, "UNSIGNED_INT16", "uint16"),
    Format("s16", 3, 16, "SIGNED_INT16", "int16"),
    Format("u32", 4, 32, "UNSIGNED_INT32", "uint32"),
    Format("s32", 5, 32, "SIGNED_INT32", "int32"),
    Format("f16", 6, 16, "HALF", "float16"),
    Format("f32", 7, 32, "FLOAT", "float32"),
)
_BY_NAME = {name: f for f in FORMATS for name in (f.name, f.numpy)} | {"half": FORMATS[6], "float": FORMATS[7]}


def format_of(what: str, dtype: object) -> Format:
    """Return the channel format for a NumPy, torch or JAX dtype, a type of `pyptx.types`, or a name.

    Raises:
        ShapeError: textures do not support the dtype; the message lists those they do.
    """
    text = dtype.name if isinstance(dtype, PtxType) else getattr(dtype, "name", None) or str(dtype)
    name = str(text).rpartition(".")[2]
    if name not in _BY_NAME:
        hint = (
            "; view them as two channels: array.view(numpy.int32).reshape(*array.shape, 2)"
            if name in ("float64", "int64", "uint64", "complex64", "f64", "s64", "u64")
            else ""
        )
        raise ShapeError(
            f"{what}: unsupported dtype {name}; expected one of {', '.join(f.numpy for f in FORMATS)}{hint}"
        )
    return _BY_NAME[name]
