"""Arguments of CUDA C++ kernels: converted to the types of the source, and checked against them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.ir.nodes import Param
from pyptx.nvrtc.signatures import DeclaredVariable, Parameter, Signature

__all__ = ["converted", "element_type"]

_ALIASES = {
    "half": "__half", "half2": "__half2", "nv_bfloat16": "__nv_bfloat16", "nv_bfloat162": "__nv_bfloat162",
    "__bf16": "__nv_bfloat16", "unsigned": "unsigned int", "uint": "unsigned int", "size_t": "unsigned long",
    "ptrdiff_t": "long", "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short",
    "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long",
    "uint64_t": "unsigned long", "long int": "long", "unsigned long int": "unsigned long", "short int": "short",
    "long long int": "long long", "unsigned long long int": "unsigned long long",
}  # fmt: skip
_INTEGERS = {
    "signed char": "int8", "unsigned char": "uint8", "char": "int8", "short": "int16", "unsigned short": "uint16",
    "int": "int32", "unsigned int": "uint32", "long": "int64", "unsigned long": "uint64", "long long": "int64",
    "unsigned long long": "uint64",
}  # fmt: skip
_FLOATS = {"float": "float32", "double": "float64", "__half": "float16", "__half2": "float16"}
_BFLOAT = ("__nv_bfloat16", "__nv_bfloat162")
_VECTOR = re.compile(r"(u?char|u?short|u?int|u?long|u?longlong|float|double)([1234])(?:_\d+a)?")
_VECTOR_OF = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "float": "float32",
    "double": "float64",
}  # fmt: skip


def converted(signature: Signature, params: Sequence[Param], args: Sequence[Any]) -> list[Any]:
    """Return the arguments of a launch in the form that `launch` takes for PTX.

    Numbers become their C++ type, so negative `int`s, `__half`, `__nv_bfloat16` and `bool` work; vectors, records
    (`np.void`), and ctypes structures become bytes; None is a null pointer. Counts are checked by the launch.

    Args:
        params: parameters in PTX.
    Raises:
        LaunchError: an array has another element type than the pointer, a number is out of range, or the bytes of a
            structure do not fit.
    """
    found = list(args)
    if len(args) != len(params):
        if signature.params:
            raise ArgumentTypeError(f"{signature}: {len(args)} arguments are given, {len(params)} expected")
        return found
    for k, (arg, param, slot) in enumerate(zip(args, signature.params, params, strict=False)):
        found[k] = _converted(arg, param, slot, f"{signature.base}: {param.name or f'argument {k}'} is {param.type}")
    return found


def _converted(arg: Any, param: Parameter, slot: Param, what: str) -> Any:
    type_name = _alias(param.type) if param.type else ""
    if type_name.endswith(("*", "&")):
        if arg is None:
            return 0
        _check_elements(arg, _alias(type_name.rstrip("*&").strip()) if type_name.count("*") < 2 else "", what)
        return arg
    size = slot.array_size
    if isinstance(arg, ctypes.Structure | ctypes.Union | ctypes.Array):
        arg = bytes(arg)
    elif isinstance(arg, np.void) or (size and isinstance(arg, np.ndarray) and arg.dtype.names and arg.size == 1):
        arg = arg.tobytes()
    if isinstance(arg, bytes | bytearray | memoryview):
        if size and len(arg) != size:
            raise ArgumentValueError(
                f"{what}, {size} bytes; got {len(arg)}",
                hint="np.dtype([...], align=True) has the layout of a C++ structure",
            )
        return arg
    if type_name in _INTEGERS and isinstance(arg, int) and not isinstance(arg, bool):
        dtype = np.dtype(_INTEGERS[type_name])
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if not low <= arg <= high:
            raise ArgumentValueError(f"{what}, {low} to {high}; {arg} does not fit")
        return dtype.type(arg)
    if type_name == "bool" and isinstance(arg, bool | np.bool_ | int):
        return int(bool(arg))
    if isinstance(arg, bool | np.bool_) and type_name in _INTEGERS:
        return int(arg)
    if size and isinstance(arg, int | float | np.number):
        if type_name == "__half":
            return np.float16(arg).tobytes()
        if type_name == "__nv_bfloat16":
            return _bfloat16(float(arg))
    vector = _VECTOR.fullmatch(type_name)
    if size and vector and isinstance(arg, Sequence | np.ndarray) and not isinstance(arg, str):
        values = np.asarray(arg, dtype=_VECTOR_OF[vector[1]]).reshape(-1)
        if values.size != int(vector[2]):
            raise ArgumentValueError(f"{what}; got {values.size} values")
        return values.tobytes()
    if size and type(arg) in (int, float, tuple, list, dict):
        raise ArgumentTypeError(
            f"{what}, {size} bytes by value; got {type(arg).__name__}",
            hint="pass bytes, or a record of NumPy: np.array((1, 2.5), np.dtype([...], align=True))[()]",
        )
    return arg


def element_type(declared: DeclaredVariable, size: int) -> tuple[str, tuple[int, ...]] | None:
    """Return PTX element type and shape of a variable of `size` bytes; None for structures and other unknown types."""
    type_name = _alias(declared.type)
    vector = _VECTOR.fullmatch(type_name)
    name = _VECTOR_OF[vector[1]] if vector else _INTEGERS.get(type_name) or _FLOATS.get(type_name)
    if type_name in _BFLOAT:
        name = "bfloat16"
    if name is None:
        return None
    inner = (
        (int(vector[2]),) if vector and vector[2] != "1" else (2,) if type_name[-1] == "2" and "__" in type_name else ()
    )
    bits = int(re.sub(r"\D", "", name[-2:]))
    kind = {"f": "f", "i": "s", "u": "u", "b": "bf"}[name[0]]
    each = bits // 8 * (inner[0] if inner else 1)
    count = size // each
    shape = tuple(int(d) for d in declared.dimensions if d.isdigit())
    product = 1
    for extent in shape:
        product *= extent
    if not declared.dimensions and count == 1:
        shape = ()
    elif len(shape) != len(declared.dimensions) or product != count:
        shape = (count,)  # dimensions are expressions
    return f"{kind}{bits}", shape + inner


def _alias(type_name: str) -> str:
    return _ALIASES.get(type_name, type_name)


def _check_elements(arg: Any, element: str, what: str) -> None:
    """Raise an error if an array cannot hold elements of a type; types that are not known hold anything."""
    if not hasattr(arg, "dtype") or getattr(arg, "shape", ()) == () or getattr(arg.dtype, "names", None):
        return
    given = str(arg.dtype).removeprefix("torch.")
    wanted = _element(element)
    if wanted is None or given in wanted:
        return
    raise ArgumentTypeError(
        f"{what}; the array has dtype {given}",
        hint=f"pass an array of {wanted[0]}, or array.view({wanted[0]!r}) to reinterpret its bytes",
    )


def _element(element: str) -> tuple[str, ...] | None:
    """Return the names of the dtypes that arrays of a C++ type may have; None if any."""
    if element in _BFLOAT:
        return ("bfloat16", "uint16", "int16")
    if element in ("__half", "__half2"):
        return ("float16", "uint16", "int16")
    if vector := _VECTOR.fullmatch(element):
        name = _VECTOR_OF[vector[1]]
        return None if "8" in name else _element_names(name)
    name = _FLOATS.get(element) or _INTEGERS.get(element)
    return None if name is None or name.endswith("int8") else _element_names(name)


def _element_names(name: str) -> tuple[str, ...]:
    if name.startswith("float"):
        return (name, "complex64" if name == "float32" else "complex128")
    return (name, f"int{name[-2:]}" if name.startswith("u") else f"u{name}")


def _bfloat16(value: float) -> bytes:
    """Return a number rounded to bfloat16, to nearest even."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return b"\xff\x7f"
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")
