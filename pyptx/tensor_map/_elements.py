"""Element types of tensor maps: PTX names, driver names, sizes in global and shared memory."""

from __future__ import annotations

from typing import NamedTuple

from pyptx.errors import OperandError
from pyptx.types import PtxType

__all__ = ["ELEMENTS", "Element", "element_of"]


class Element(NamedTuple):
    """One element type.

    Attributes:
        name: PTX name, as in `tensormap.replace.tile.elemtype`.
        code: its number there, and in the simulator's encoding.
        driver: name in the driver, after `CU_TENSOR_MAP_DATA_TYPE_`.
        bits: of one element in global memory.
        floating: floating-point type; out-of-bounds elements can be filled with NaN.
        group: elements that are copied together.
        global_bytes, shared_bytes: size of a group, padding included.
    """

    name: str
    code: int
    driver: str
    bits: int
    floating: bool = False
    group: int = 1
    global_bytes: int = 0
    shared_bytes: int = 0

    @property
    def padded(self) -> bool:
        """True if sixteen elements are padded to 16 bytes in shared memory."""
        return self.group == 16


def _plain(name: str, code: int, driver: str, bits: int, floating: bool = False) -> Element:
    return Element(name, code, driver, bits, floating, 1, bits // 8, bits // 8)


ELEMENTS = (
    _plain("u8", 0, "UINT8", 8),
    _plain("u16", 1, "UINT16", 16),
    _plain("u32", 2, "UINT32", 32),
    _plain("s32", 3, "INT32", 32),
    _plain("u64", 4, "UINT64", 64),
    _plain("s64", 5, "INT64", 64),
    _plain("f16", 6, "FLOAT16", 16, True),
    _plain("f32", 7, "FLOAT32", 32, True),
    _plain("f32.ftz", 8, "FLOAT32_FTZ", 32, True),
    _plain("f64", 9, "FLOAT64", 64, True),
    _plain("bf16", 10, "BFLOAT16", 16, True),
    _plain("tf32", 11, "TFLOAT32", 32, True),
    _plain("tf32.ftz", 12, "TFLOAT32_FTZ", 32, True),
    Element("b4x16", 13, "16U4_ALIGN8B", 4, False, 2, 1, 1),
    Element("b4x16_p64", 14, "16U4_ALIGN16B", 4, False, 16, 8, 16),
    Element("b6x16_p32", 15, "16U6_ALIGN16B", 6, False, 16, 12, 16),
)
_BY_NAME = {e.name: e for e in ELEMENTS} | {e.driver: e for e in ELEMENTS} | {"b6p2x16": ELEMENTS[15]}
_ALIASES = {
    "u8": "uint8 int8 bool s8 b8 e4m3 e5m2 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu "
    "float8_e4m3 float8_e3m4 float8_e4m3b11fnuz",
    "u16": "uint16 int16 s16 b16",
    "u32": "uint32 b32",
    "s32": "int32",
    "u64": "uint64 b64",
    "s64": "int64",
    "f16": "float16 half",
    "f32": "float32 float",
    "f64": "float64 double",
    "bf16": "bfloat16",
    "b4x16": "float4_e2m1fn_x2",
}
_BY_NAME |= {alias: _BY_NAME[name] for name, aliases in _ALIASES.items() for alias in aliases.split()}
_UNPACKED = frozenset(("int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "int2", "uint2"))


def element_of(dtype: object) -> Element:
    """Return the element type for a NumPy, torch, JAX or ml_dtypes dtype, a type of `pyptx.types`, or a name.

    Raises:
        TypeError: tensor maps do not support the type; the message suggests one.
    """
    name = _name(dtype)
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _UNPACKED:
        raise OperandError(
            f"TensorMap: dtype {name} stores one element per byte, and a tensor map reads packed elements; pack "
            "them into uint8 and pass dtype='b4x16', 'b4x16_p64' (4 bits) or 'b6x16_p32' (6 bits)"
        )
    raise OperandError(
        f"TensorMap: dtype {name or dtype!r} is not an element type of tensor maps; expected one of "
        f"{', '.join(e.name for e in ELEMENTS)}"
    )


def _name(dtype: object) -> str:
    if isinstance(dtype, str | PtxType):
        return dtype.removeprefix(".") if isinstance(dtype, str) else dtype.name
    text = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(text).rpartition(".")[2] if "." in str(text) else str(text)
