"""Textures and surfaces as values: arrays and their sampling state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyptx.errors import ShapeError
from pyptx.texture._levels import levels_of
from pyptx.texture._mipped_array import MippedArray

__all__ = ["ADDRESS_MODES", "FILTERS", "Surface", "Texture"]

ADDRESS_MODES = ("wrap", "clamp", "mirror", "border")  # CU_TR_ADDRESS_MODE_, in the driver's order
FILTERS = ("nearest", "linear")  # CU_TR_FILTER_MODE_POINT, _LINEAR
MEMORIES = ("array", "linear", "pitch2d")
READS = ("element", "normalized_float")
MAX_LINEAR = 1 << 28  # elements
MAX_PITCH_2D = (131072, 65000, 2097120)  # elements of a row, rows, bytes from row to row
PITCH_ALIGNMENT = 32


class Texture(MippedArray):
    """An array sampled through the texture unit; passed to a kernel as the handle for a `.u64` parameter.

    On a GPU the array is copied to a CUDA array at each launch, or read in place with `memory=`.

    Args:
        array: NumPy, torch or JAX array, or one with `__cuda_array_interface__`; for several levels of detail a list of
            them, finest first. Dimensions outermost first, 1, 2 or 4 channels last (or none).
        geometry: PTX modifier: "1d" (width), "2d" (height, width), "3d" (depth, height, width), "a1d" (layers, width),
            "a2d" (layers, height, width), "cube" (6, size, size), "acube" (cubes, 6, size, size), "2dms" (height,
            width, samples), "a2dms" (layers, height, width, samples). None: "1d" or "2d", by the dimensions.
        address: addressing mode out of bounds, one for all dimensions or one per dimension, x first: "clamp" (nearest
            element), "border", and with normalized coordinates "wrap" and "mirror".
        filter: "nearest", or "linear" interpolation for textures that read as floating point.
        normalized: coordinates range from 0 to 1.
        read: "element", or "normalized_float": 8- and 16-bit integers read as 0..1 or -1..1.
        border: 4 channel values for `address="border"`; default zeros.
        srgb: convert uint8 from sRGB to linear; needs read="normalized_float".
        mip_filter: filter between levels: "nearest" or "linear".
        lod_bias: added to the level of detail.
        lod_clamp: (minimum, maximum) level of detail.
        memory: "array" (a CUDA array); "linear" for geometry "1d", with integer coordinates and no filter; "pitch2d"
            for "2d", with a row pitch that is a multiple of 32 bytes.
    Raises:
        ShapeError: a value the driver refuses; the message has the argument and the expected values.
        TypeError: `array` is not an array.
    Source: CUDA Driver API, "Texture Object Management"; CUDA C++ Programming Guide, "Texture Fetching".
    Examples:
        >>> picture = pyptx.Texture(np.zeros((48, 64, 4), np.uint8), "2d", filter="linear", read="normalized_float")
        >>> picture.geometry.name, picture.reads_floats
        ('2d', True)
    """

    address: tuple[str, ...]
    filter: str
    normalized: bool
    read: str
    srgb: bool
    lod_bias: float
    memory: str
    mip_filter: str
    lod_clamp: tuple[float, float]
    border: tuple[float, ...]

    def __init__(
        self,
        array: Any,
        geometry: str | None = None,
        *,
        address: str | Sequence[str] = "clamp",
        filter: str = "nearest",
        normalized: bool = False,
        read: str = "element",
        border: Sequence[float] | None = None,
        srgb: bool = False,
        mip_filter: str = "nearest",
        lod_bias: float = 0.0,
        lod_clamp: tuple[float, float] | None = None,
        memory: str = "array",
    ):
        self.levels = levels_of("Texture", array, geometry, "texture")
        modes = (address,) * 3 if isinstance(address, str) else tuple(address)
        for mode in modes:
            _choice("address", mode, ADDRESS_MODES)
        dims = self.geometry.dims
        if len(modes) not in (dims, 3):
            raise ShapeError(f"Texture: address has {len(modes)} modes; expected one, or {dims}, x first")
        self.address = (*modes, *(modes[-1],) * (3 - len(modes)))
        _choice("filter", filter, FILTERS)
        _choice("read", read, READS)
        _choice("mip_filter", mip_filter, FILTERS)
        _choice("memory", memory, MEMORIES)
        self.filter, self.normalized, self.read, self.srgb = filter, bool(normalized), read, bool(srgb)
        self.mip_filter, self.memory, self.lod_bias = mip_filter, memory, float(lod_bias)
        last = float(len(self.levels.whole) - 1)
        self.lod_clamp = (0.0, last) if lod_clamp is None else (float(lod_clamp[0]), float(lod_clamp[1]))
        if border is not None and len(tuple(border)) != 4:
            raise ShapeError(f"Texture: border has {len(tuple(border))} numbers; expected 4")
        self.border = (0.0,) * 4 if border is None else tuple(float(v) for v in border)
        _check(self, border is not None)

    @property
    def reads_floats(self) -> bool:
        """True if a fetch returns floating point, False for integers."""
        return self.format.floating or self.read == "normalized_float"

    def over(self, arrays: Sequence[Any]) -> Texture:
        """Return a texture with the same state over other arrays, one per level."""
        return Texture(
            list(arrays),
            self.geometry.name,
            address=self.address,
            filter=self.filter,
            normalized=self.normalized,
            read=self.read,
            border=self.border if "border" in self.address else None,
            srgb=self.srgb,
            mip_filter=self.mip_filter,
            lod_bias=self.lod_bias,
            lod_clamp=self.lod_clamp,
            memory=self.memory,
        )

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, filter={self.filter!r})"


class Surface(MippedArray):
    """An array that kernels access with `suld`, `sust` and `sured`; passed as the handle for a `.u64` parameter.

    On a GPU the array is copied to a CUDA array for the launch and back after it.

    Args:
        array: NumPy or torch array, or one with `__cuda_array_interface__`, with 1, 2 or 4 channels last (or none).
        geometry: as for Texture, except multisampled ones; a cube face is layer 6 * cube + face.
    Raises:
        ShapeError: a value the driver refuses.
        TypeError: `array` is not an array.
    Source: CUDA Driver API, "Surface Object Management".
    """

    def __init__(self, array: Any, geometry: str | None = None):
        self.levels = levels_of("Surface", [array], geometry, "surface")

    def over(self, arrays: Sequence[Any]) -> Surface:
        """Return a surface of the same geometry over another array."""
        return Surface(arrays[0], self.geometry.name)


def _check(t: Texture, border: bool) -> None:
    """Check the driver's rules.

    Raises:
        ShapeError: the first violated rule.
    """
    used = t.address[: t.geometry.dims]
    if not t.normalized and not t.geometry.cube and (wrong := {"wrap", "mirror"} & set(used)):
        raise ShapeError(
            f"Texture: address={min(wrong)!r} without normalized=True; with unnormalized coordinates "
            "use 'clamp' or 'border'"
        )
    if border and "border" not in used:
        raise ShapeError("Texture: border= without address='border'")
    if t.read == "normalized_float" and (t.format.floating or t.format.bits == 32):
        raise ShapeError(f"Texture: read='normalized_float' of {t.format.numpy}; expected 8- or 16-bit integers")
    if t.srgb and (t.format.name != "u8" or t.read != "normalized_float"):
        raise ShapeError("Texture: srgb=True needs uint8 and read='normalized_float'")
    if t.filter == "linear" and not t.reads_floats:
        raise ShapeError(
            f"Texture: filter='linear' of {t.format.numpy} with read='element'; only "
            "floating point is filtered: use read='normalized_float', or float32 or float16 elements"
        )
    if t.lod_clamp[0] > t.lod_clamp[1]:
        raise ShapeError(f"Texture: lod_clamp {t.lod_clamp}; expected (minimum, maximum)")
    if t.memory != "array":
        _check_memory(t)


def _check_memory(t: Texture) -> None:
    wanted = {"linear": "1d", "pitch2d": "2d"}[t.memory]
    if t.geometry.name != wanted or len(t.levels.whole) > 1:
        raise ShapeError(
            f"Texture: memory={t.memory!r} is for geometry {wanted} of one level, not {t.geometry.name} "
            f"of {len(t.levels.whole)}"
        )
    if t.memory == "linear":
        if t.filter != "nearest" or t.normalized:
            raise ShapeError(
                "Texture: memory='linear' takes integer coordinates; omit filter='linear' and normalized=True"
            )
        if t.extents.width > MAX_LINEAR:
            raise ShapeError(f"Texture: {t.extents.width} elements of memory='linear'; at most 2**28")
        return
    width, rows, most = MAX_PITCH_2D
    strides = t.levels.finest.source.strides
    pitch = strides[0] if strides else 0
    if pitch % PITCH_ALIGNMENT or not 0 < pitch <= most:
        raise ShapeError(
            f"Texture: row pitch {pitch} bytes; with memory='pitch2d', expected a multiple of "
            f"{PITCH_ALIGNMENT}, at most {most}: pad the rows, or use memory='array'"
        )
    if t.extents.width > width or t.extents.height > rows:
        raise ShapeError(
            f"Texture: {t.extents.height} rows of {t.extents.width} with memory='pitch2d'; at most {rows} of {width}"
        )


def _choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ShapeError(f"Texture: {name}={value!r}; expected one of {', '.join(map(repr, choices))}")
