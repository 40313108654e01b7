"""Tensor maps as immutable values, in array order, validated on construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, SupportsIndex

from pyptx._frozen import frozen
from pyptx.errors import ShapeError
from pyptx.launch_config import check_plain
from pyptx.tensor_map import _check
from pyptx.tensor_map._elements import Element, element_of
from pyptx.tensor_map._layout import pack
from pyptx.tensor_map._source import dense_strides, source_of

__all__ = ["Im2col", "TensorMap"]

_SLICES = {None: 0, "16B": 16, "32B": 32}
_SWIZZLES = {
    None: (0, 0),
    "32B": (1, 0),
    "64B": (2, 0),
    "128B": (3, 0),
    "128B_ATOM_32B": (3, 1),
    "128B_ATOM_32B_FLIP_8B": (3, 2),
    "128B_ATOM_64B": (3, 3),
}
_PROMOTIONS = (None, "64B", "128B", "256B")
_FILLS = (None, "nan")
_MODES = (None, "w", "w128")


@frozen
class Im2col:
    """The bounding box of im2col copies, in pixels.

    Args:
        lower, upper: offsets of its corners from the first and the last pixel, outermost first: (d, h, w), (h, w) or
            (w,), one per spatial dimension of the tensor; only w in modes "w" and "w128".
        mode: None for `.im2col`, "w" or "w128" for `.im2col::w` and `.im2col::w::128` (sm_100).
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    mode: str | None = None

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, int) else tuple(map(int, value)))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class TensorMap:
    """Description of a tensor for TMA copies; one value serves the simulator and a GPU.

    Shapes, strides and boxes are in array order, outermost first; the encodings reverse them.

    Args:
        array_or_address: the memory: a NumPy or torch array, an array with `__cuda_array_interface__`, or an address.
        box: elements of one copy along each dimension, 1..256; with `im2col` (pixels per column, channels per pixel).
        shape, strides: of the tensor, in elements and bytes; default: those of the array. `strides` may omit the
            innermost. With `interleave`, the array's last dimension, the channel slice, is not part of the map.
        dtype: type of the elements; default: that of the array. A dtype, a type of `pyptx.types`, or a name such as
            "tf32" (rounds on load), "b4x16", "b4x16_p64", "b6x16_p32".
        element_strides: element step of the box along each dimension, 1..8; default 1.
        swizzle: None, "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B".
        interleave: None, "16B" (NC/8HWC8), "32B" (NC/16HWC16).
        oob_fill: value of out-of-bounds elements: None for zero, "nan" for the out-of-bounds NaN.
        l2_promotion: None, "64B", "128B", "256B".
        im2col: an `Im2col`, or (lower, upper).
    Raises:
        ShapeError: a value the driver refuses; the message has the argument and the expected values.
        TypeError: unsupported memory or element type.
    Source: CUDA Driver API, cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2colWide.
    Examples:
        >>> tensor_map = pyptx.TensorMap(np.zeros((256, 64), np.float16), (128, 64), swizzle="128B")
        >>> tensor_map.box_bytes, tensor_map.rank
        (16384, 2)
    """

    source: Any
    address: int | None
    element: Element
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: str | None
    interleave: str | None
    oob_fill: str | None
    l2_promotion: str | None
    im2col: Im2col | None

    def __init__(
        self,
        array_or_address: Any,
        box: Sequence[int],
        *,
        shape: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        dtype: Any = None,
        element_strides: Sequence[int] | None = None,
        swizzle: str | None = None,
        interleave: str | None = None,
        oob_fill: str | None = None,
        l2_promotion: str | None = None,
        im2col: Im2col | tuple[Any, ...] | None = None,
    ):
        source = source_of(array_or_address)
        if dtype is None and source.dtype is None:
            raise ShapeError("TensorMap: dtype is not known for an address; pass dtype='f16', shape= and box")
        check_plain(source.dtype, "TensorMap: the array")
        element = element_of(source.dtype if dtype is None else dtype)
        _choice("swizzle", swizzle, _SWIZZLES)
        _choice("interleave", interleave, _SLICES)
        _choice("oob_fill", oob_fill, _FILLS)
        _choice("l2_promotion", l2_promotion, _PROMOTIONS)
        if im2col is not None and not isinstance(im2col, Im2col):
            im2col = Im2col(*im2col)
        if im2col is not None:
            _choice("im2col.mode", im2col.mode, _MODES)
        extents, pitches = _geometry(
            source, element, _integers("shape", shape), _integers("strides", strides), _SLICES[interleave]
        )
        steps = _integers("element_strides", element_strides)
        values = {
            "source": source.array,
            "address": source.address,
            "element": element,
            "shape": extents,
            "strides": pitches,
            "box": _integers("box", box),
            "element_strides": (1,) * len(extents) if steps is None else steps,
            "swizzle": swizzle,
            "interleave": interleave,
            "oob_fill": oob_fill,
            "l2_promotion": l2_promotion,
            "im2col": im2col,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _check.check(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorMap) and self.source is other.source and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((id(self.source), self._key()))

    def _key(self) -> tuple[Any, ...]:
        return (
            self.address,
            self.element,
            self.shape,
            self.strides,
            self.box,
            self.element_strides,
            self.swizzle,
            self.interleave,
            self.oob_fill,
            self.l2_promotion,
            self.im2col,
        )

    def __repr__(self) -> str:
        more = "".join(
            f", {name}={getattr(self, name)!r}"
            for name in ("swizzle", "interleave", "oob_fill", "im2col")
            if getattr(self, name) is not None
        )
        return f"TensorMap(shape={self.shape}, dtype={self.element.name}, box={self.box}{more})"

    # derived properties ----------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        """Number of dimensions, 1 to 5."""
        return len(self.shape)

    @property
    def slice_bytes(self) -> int:
        """Size of an interleaved channel slice in bytes; 0 without interleave."""
        return _SLICES[self.interleave]

    @property
    def span_bytes(self) -> int:
        """Span of the swizzle in bytes; 0 without one."""
        return (0, 32, 64, 128)[_SWIZZLES[self.swizzle][0]]

    @property
    def box_bytes(self) -> int:
        """Bytes that one copy adds to the transaction count of its mbarrier.

        Counts all elements of the box, in bounds or not, without padding and without the halo pixels of `.im2col::w`.
        """
        if self.im2col is not None:
            pixels = 128 if self.im2col.mode == "w128" else self.box[0]
            return pixels * (self.slice_bytes or self.box[1] * self.element.bits // 8)
        count = 1
        for extent, step in zip(self.box, self.element_strides, strict=True):
            count *= -(-extent // step)
        return count * self.slice_bytes if self.slice_bytes else count * self.element.bits // 8

    # encodings -------------------------------------------------------------------------------------------------------

    def encode(self, address: int | None = None) -> bytes:
        """Encode the map for the simulator: 128 bytes in the layout of `pyptx.tensor_map._layout`.

        Args:
            address: of the tensor; required for host arrays, which have no device address.
        Raises:
            ShapeError: the address is not known or not aligned.
        """
        mode = 0 if self.im2col is None else 1 + _MODES.index(self.im2col.mode)
        corner = [(0, 0, 0), (0, 0, 0)]
        if self.im2col is not None:
            corner = [tuple(reversed(c)) + (0,) * (3 - len(c)) for c in (self.im2col.lower, self.im2col.upper)]
        width, atomicity = _SWIZZLES[self.swizzle]
        return pack(
            rank=self.rank,
            element=self.element.code,
            interleave=list(_SLICES).index(self.interleave),
            swizzle=width,
            atomicity=atomicity,
            fill=_FILLS.index(self.oob_fill),
            promotion=_PROMOTIONS.index(self.l2_promotion),
            address=self.resolve(address),
            shape=self.shape[::-1],
            strides=self.strides[-2::-1],
            box=self.box[::-1],
            steps=self.element_strides[::-1],
            mode=mode,
            lower=corner[0],
            upper=corner[1],
        )

    def resolve(self, address: int | None = None) -> int:
        """Return the given address, or that of the map, after checking its alignment.

        Raises:
            ShapeError: the address is not known, or not a multiple of 16 or 32 bytes.
        """
        address = self.address if address is None else address
        if address is None:
            raise ShapeError(
                "TensorMap: the array has no device address; pass the map to a launch, which allocates it, "
                "or pass address= here"
            )
        _check.check_address(self, address)
        return address

    def driver_call(self, driver: Any, address: int | None = None) -> tuple[Any, tuple[Any, ...]]:
        """Return the driver function that encodes the map for a GPU, and its arguments.

        Args:
            driver: the module `cuda.bindings.driver`.
            address: of the tensor; default: that of the array.
        Returns:
            (function, arguments); `error, map = function(*arguments)`, with the 128 bytes in `map.opaque`.
        """
        wide, narrow = driver.cuuint64_t, driver.cuuint32_t

        def choice(kind: str, name: str, value: str | None) -> Any:
            return getattr(getattr(driver, f"CUtensorMap{kind}"), f"CU_TENSOR_MAP_{name}_{value or 'NONE'}")

        strides = self.strides[-2::-1] or (16,)  # a 1-d map reads no stride, but the driver refuses a null pointer
        head = (
            choice("DataType", "DATA_TYPE", self.element.driver),
            narrow(self.rank),
            self.resolve(address),
            [wide(n) for n in reversed(self.shape)],
            [wide(n) for n in strides],
        )
        steps = [narrow(n) for n in reversed(self.element_strides)]
        interleave = choice("Interleave", "INTERLEAVE", self.interleave)
        promotion = self.l2_promotion and "L2_" + self.l2_promotion
        tail = (
            choice("Swizzle", "SWIZZLE", self.swizzle),
            choice("L2promotion", "L2_PROMOTION", promotion),
            choice("FloatOOBfill", "FLOAT_OOB_FILL", self.oob_fill and "NAN_REQUEST_ZERO_FMA"),
        )
        if self.im2col is None:
            return driver.cuTensorMapEncodeTiled, (
                *head,
                [narrow(n) for n in reversed(self.box)],
                steps,
                interleave,
                *tail,
            )
        pixels, channels = (narrow(n) for n in self.box)
        lower, upper = self.im2col.lower[::-1], self.im2col.upper[::-1]
        if self.im2col.mode is None:
            return driver.cuTensorMapEncodeIm2col, (
                *head,
                list(lower),
                list(upper),
                channels,
                pixels,
                steps,
                interleave,
                *tail,
            )
        mode = choice("Im2ColWideMode", "IM2COL_WIDE_MODE", self.im2col.mode.upper())
        return driver.cuTensorMapEncodeIm2colWide, (
            *head,
            lower[0],
            upper[0],
            channels,
            pixels,
            steps,
            interleave,
            mode,
            *tail,
        )


def _choice(name: str, value: Any, choices: Any) -> None:
    if value not in choices:
        raise ShapeError(f"TensorMap: {name}={value!r}; expected one of {', '.join(map(repr, choices))}")


def _integers(name: str, values: Sequence[int] | SupportsIndex | None) -> tuple[int, ...] | None:
    if values is None:
        return None
    items = (values,) if isinstance(values, SupportsIndex) else tuple(values)
    for i, item in enumerate(items):
        if isinstance(item, bool) or not hasattr(item, "__index__"):
            raise ShapeError(f"TensorMap: {name}[{i}] is {item!r}; pass an int")
    return tuple(map(index, items))


def _geometry(source, element: Element, shape, strides, slice_bytes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape in elements and the strides in bytes of all dimensions."""
    inner = slice_bytes or element.bits // 8 or 1
    if shape is None:
        if source.shape is None:
            raise ShapeError("TensorMap: shape is not known for an address; pass shape=")
        shape, own = source.shape, source.strides
        if slice_bytes:
            if not shape or shape[-1] * element.bits != 8 * slice_bytes:
                raise ShapeError(
                    "TensorMap: with interleave the last dimension of the array must be a slice of "
                    f"{slice_bytes} bytes ({slice_bytes * 8 // element.bits} of {element.name}), "
                    f"but shape is {shape}"
                )
            shape, own = shape[:-1], own[:-1]
        elif element.bits < 8:
            if own and own[-1] != 1:
                raise ShapeError(
                    f"TensorMap: {element.name} elements are packed in bytes; pass a uint8 array, not {source.dtype}"
                )
            shape = (*shape[:-1], shape[-1] * 8 // element.bits)
        strides = own if strides is None else strides
    if strides is None:
        row = slice_bytes * shape[-1] if slice_bytes else shape[-1] * element.bits // 8 if shape else 0
        strides = (*dense_strides(shape[:-1], row), inner)
    if len(strides) == len(shape) - 1:
        strides = (*strides, inner)
    if len(strides) != len(shape):
        raise ShapeError(
            f"TensorMap: strides has {len(strides)} values for {len(shape)} dimensions; pass one for each, in "
            "bytes; the innermost may be omitted"
        )
    if shape and strides[-1] != inner and shape[-1] != 1:
        raise ShapeError(
            f"TensorMap: strides[{len(shape) - 1}] is {strides[-1]} bytes; the innermost dimension of "
            f"a tensor map must be dense ({inner} bytes here): transpose or copy the array"
        )
    return tuple(shape), (*strides[:-1], inner)
