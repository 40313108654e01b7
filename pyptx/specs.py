"""What a kernel expects of an array: shape with symbolic sizes, type, layout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

from pyptx.errors import LaunchError, ShapeError
from pyptx.types import ARRAY_NAMES, PtxType

__all__ = ["Layout", "Tile", "named", "unify_envs"]

_WIDTH = {"e4m3": 8, "e5m2": 8, "pred": 8, "bf16": 16, "tf32": 32}


class Layout(Enum):
    """How an array lies in memory; the TMA members choose the swizzle of its tensor map."""

    ROW = "row"
    COL = "col"
    TMA_128B = "tma_128b"
    TMA_64B = "tma_64b"
    TMA_32B = "tma_32b"
    INTERLEAVED = "interleaved"


_LAYOUT_OF_ROW_BYTES = {16: Layout.ROW, 32: Layout.TMA_32B, 64: Layout.TMA_64B, 128: Layout.TMA_128B}


@dataclass(frozen=True, init=False)
class Tile:
    """Shape, type and layout of one array: `Tile("M", "K", f32)`.

    Positional items in any order: an int or a name extends the shape, a type sets the dtype, a Layout the layout. A
    name is a symbolic size, bound by the arrays of a call.

    Attributes:
        tma_box: elements that one copy by TMA moves, sizes or names. It is cut to the array where that is smaller; with
            `tma_whole` it keeps its size, so that it lies in shared memory as ever: what the array does not have is
            read as zero and not written.
        tensor_map: a function that makes the tensor map, where a box does not describe it (im2col, interleave, another
            view of the array): `lambda array, BM, PAD: TensorMap(array, ...)`. After the array it takes the sizes and
            template parameters it names.

        zeroed: a new array for this output is all zeros before the kernel runs, which may add to it (`red`, `atom`); of
            other outputs it must write every element. Arrays given as `out=` stay as they are.
        align: bytes of which the array's address is a multiple, as accesses of several numbers at a time need it; a
            launch on a GPU refuses others by name. (The pointer is declared `.ptr .global .align`.)

    Raises:
        ValueError: no dtype, no dimensions, two dtypes, an alignment that is no power of two, or a tensor_map beside
            what describes one.
        TypeError: any other item.
    Examples:
        >>> a = Tile("M", "K", bf16)
        >>> a.extract_env((64, 32))
        {'M': 64, 'K': 32}
        >>> a.resolve_shape({"M": 128, "K": 64})
        (128, 64)
        >>> Tile("M", "N", f32, align=16).rank
        2
    """

    shape: tuple[int | str, ...]
    dtype: PtxType
    layout: Layout
    tma_box: tuple[int | str, ...] | None
    tma_rank: int
    tma_padding: bool
    tma_whole: bool
    tensor_map: Callable[..., Any] | None
    align: int | None
    zeroed: bool

    def __init__(self, *items: int | str | PtxType | Layout, dtype: PtxType | None = None, layout: Layout = Layout.ROW,
                 tma_box: tuple[int | str, ...] | None = None, tma_rank: int = 2, tma_padding: bool = False,
                 tma_whole: bool = False, tensor_map: Callable[..., Any] | None = None,
                 align: int | None = None, zeroed: bool = False):
        shape: list[int | str] = []
        for item in items:
            if isinstance(item, PtxType):
                if dtype is not None and dtype != item:
                    raise ValueError(f"Tile has two dtypes, {dtype} and {item}")
                dtype = item
            elif isinstance(item, Layout):
                layout = item
            elif isinstance(item, int | str) and not isinstance(item, bool):
                shape.append(item)
            else:
                raise TypeError(f"Tile takes ints, names, a dtype and a Layout, not {item!r}")
        if dtype is None:
            raise ValueError("Tile needs a dtype, for instance Tile('M', 'N', f32)")
        if not shape:
            raise ValueError("Tile needs at least one dimension")
        if tensor_map is not None and (tma_box is not None or tma_whole or tma_padding or tma_rank != 2):
            raise ValueError("Tile: tensor_map= makes the whole map; leave out tma_box and the other tma_ arguments")
        if align is not None and (align < 1 or align & (align - 1)):
            raise ValueError(f"Tile: align={align} is no power of two")
        values = {"shape": tuple(shape), "dtype": dtype, "layout": layout,
                  "tma_box": tuple(tma_box) if tma_box is not None else None, "tma_rank": tma_rank,
                  "tma_padding": tma_padding, "tma_whole": tma_whole, "tensor_map": tensor_map, "align": align,
                  "zeroed": zeroed}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def rank(self) -> int:
        """How many dimensions the array has."""
        return len(self.shape)

    @property
    def symbolic_dims(self) -> tuple[str, ...]:
        """The names among the sizes, in their order."""
        return tuple(d for d in self.shape if isinstance(d, str))

    def resolve_shape(self, env: Mapping[str, int]) -> tuple[int, ...]:
        """The shape with every name replaced by its size.

        Raises:
            KeyError: a name that env does not hold.
        """
        missing = [d for d in self.symbolic_dims if d not in env]
        if missing:
            raise KeyError(f"size {missing[0]!r} of {self} is not known; available: {', '.join(env) or 'none'}")
        return tuple(env[d] if isinstance(d, str) else d for d in self.shape)

    def extract_env(self, shape: Iterable[int]) -> dict[str, int]:
        """Sizes of the names, read off the shape of an array.

        Raises:
            ValueError: another rank, another fixed size, or one name with two sizes.
        """
        sizes = tuple(shape)
        if len(sizes) != self.rank:
            raise LaunchError(f"array of shape {sizes} has rank {len(sizes)}, but {self} has rank {self.rank}")
        for wanted, size in zip(self.shape, sizes, strict=True):
            if isinstance(wanted, int) and wanted != size:
                raise LaunchError(f"array of shape {sizes} does not fit {self}: expected {wanted}, got {size}")
        return unify_envs([{name: size} for name, size in zip(self.shape, sizes, strict=True) if isinstance(name, str)])

    def accepts_dtype(self, name: str) -> bool:
        """Whether arrays of that NumPy, torch or JAX dtype name may be passed: same kind and width, integers of either
        sign, and anything of equal width for b types."""
        given = ARRAY_NAMES.get(name, name)
        wanted = self.dtype.name
        if given == wanted or (wanted, given) == ("tf32", "f32"):
            return True
        width = _WIDTH.get(given) or int("".join(filter(str.isdigit, given)) or 0)
        same_width = width == _WIDTH.get(wanted, self.dtype.bits)
        integer = given[0] in "us" and wanted[0] in "us"
        return same_width and ((wanted[0] == "b" and wanted != "bf16") or integer)

    def matches(self, shape: Iterable[int], dtype_name: str) -> bool:
        """Whether an array of that shape and dtype name fits."""
        try:
            self.extract_env(shape)
        except ValueError:
            return False
        return self.accepts_dtype(dtype_name)

    @classmethod
    def wgmma_a(cls, m: int | str, k: int | str, dtype: PtxType, *, tile_m: int | None = None,
                tile_k: int | None = None) -> Tile:
        """The A operand of a wgmma GEMM: row-major M x K, swizzled by the bytes of a tile row."""
        box = (tile_m or m, tile_k or k) if tile_m or tile_k else None
        return cls(m, k, dtype, _layout_of_row(tile_k or k, dtype), tma_box=box)

    @classmethod
    def wgmma_b(cls, k: int | str, n: int | str, dtype: PtxType, *, tile_k: int | None = None,
                tile_n: int | None = None) -> Tile:
        """The B operand of a wgmma GEMM: row-major K x N, swizzled by the bytes of a tile row."""
        box = (tile_k or k, tile_n or n) if tile_k or tile_n else None
        return cls(k, n, dtype, _layout_of_row(tile_n or n, dtype), tma_box=box)

    def __str__(self) -> str:
        return f"Tile({', '.join(map(str, self.shape))}, {self.dtype})"


def _layout_of_row(inner: int | str, dtype: PtxType) -> Layout:
    if isinstance(inner, str):
        return Layout.ROW
    row_bytes = min(inner * dtype.bits // 8, 128)
    if row_bytes not in _LAYOUT_OF_ROW_BYTES:
        raise ShapeError(f"a tile row of {row_bytes} bytes has no swizzle; expected 16, 32, 64 or at least 128 bytes")
    return _LAYOUT_OF_ROW_BYTES[row_bytes]


def unify_envs(envs: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """All sizes in one mapping.

    Raises:
        ValueError: one name with two sizes.
    """
    merged: dict[str, int] = {}
    for env in envs:
        for name, size in env.items():
            if merged.setdefault(name, size) != size:
                raise LaunchError(f"conflicting sizes for {name!r}: {merged[name]} and {size}")
    return merged


def named(function: Callable, sizes: Mapping[str, int], template: Mapping[str, Any] | None = None, *,
          behind: int = 0) -> tuple[dict[str, Any], list[str]]:
    """The sizes and template values that a user's function names, and its other parameters without a default value.
    One that takes any (`**sizes`) gets all sizes.

    Args:
        behind: how many parameters it has before those.
    """
    known, given, missing = {**(template or {}), **sizes}, {}, []
    for name, parameter in _parameters(function)[behind:]:
        if parameter.kind is Parameter.VAR_KEYWORD:
            given = {**sizes, **given}
        elif name in known and parameter.kind is not Parameter.POSITIONAL_ONLY:
            given[name] = known[name]
        elif parameter.default is Parameter.empty:
            missing.append(name)
    return given, missing


@lru_cache(maxsize=256)
def _parameters(function: Callable) -> tuple[tuple[str, Parameter], ...]:
    return tuple(signature(function).parameters.items())
