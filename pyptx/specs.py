"""Array specifications of a kernel: shapes with symbolic sizes, types, layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any

from pyptx.errors import ArgumentValueError, MissingSizeError, OperandError, ShapeError
from pyptx.types import ARRAY_NAMES, PtxType, from_name

__all__ = ["Layout", "Tile", "select_arguments", "unify_envs"]

_ARRAY_BITS = {name: from_name(name).bits for name in ARRAY_NAMES.values()} | {"pred": 8}


class Layout(Enum):
    """Memory layout of an array; the TMA members select the swizzle of its tensor map."""

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

    Positional items may come in any order: an int or a name extends the shape, a type sets the dtype, a Layout sets the
    layout. A name is a symbolic size, bound by the arrays of a call.

    Attributes:
        shape: sizes in elements, ints or names.
        dtype: type of the elements.
        layout: memory layout; default `Layout.ROW`.
        tma_box: box of one TMA copy in elements, sizes or names. Clamped to the array unless `tma_whole` is set.
        tma_rank: rank of the tensor map, 2 or 3; with 3, a matrix is seen as blocks of 64 columns.
        tma_padding: with `tma_rank=3`, pad the rows of a box to 72 elements.
        tma_whole: keep the size of the box for arrays smaller than it, so that its shared-memory layout is fixed:
            elements out of bounds are read as zero and not written.
        l2_promotion: "64B", "128B" or "256B": L2 fetches so many bytes for each TMA access; default: no more than it needs.
        tensor_map: a function that makes the tensor map if a box cannot describe it (im2col, interleave, another view
            of the array): `lambda array, BM, PAD: TensorMap(array, ...)`. Its parameters after the array are sizes and
            template parameters, by name.
        zeroed: zero-fill a newly allocated output before the kernel runs, for kernels that accumulate into it (`red`,
            `atom`). By default the kernel must write every element. Arrays passed as `out=` are not changed.
        align: alignment of the array's address in bytes, as vector accesses require it; a GPU launch refuses arrays
            that are not aligned. (The pointer is declared `.ptr .global .align`.)

    Raises:
        ValueError: no dtype, no dimensions, two dtypes, an alignment that is not a power of two, or `tensor_map`
            together with another `tma_` argument.
        TypeError: any other positional item.
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
    l2_promotion: str | None
    tensor_map: Callable[..., Any] | None
    align: int | None
    zeroed: bool

    def __init__(
        self,
        *items: int | str | PtxType | Layout,
        dtype: PtxType | None = None,
        layout: Layout = Layout.ROW,
        tma_box: tuple[int | str, ...] | None = None,
        tma_rank: int = 2,
        tma_padding: bool = False,
        tma_whole: bool = False,
        l2_promotion: str | None = None,
        tensor_map: Callable[..., Any] | None = None,
        align: int | None = None,
        zeroed: bool = False,
    ):
        shape: list[int | str] = []
        for item in items:
            if isinstance(item, PtxType):
                if dtype is not None and dtype != item:
                    raise ShapeError(f"Tile has two dtypes, {dtype} and {item}")
                dtype = item
            elif isinstance(item, Layout):
                layout = item
            elif isinstance(item, int | str) and not isinstance(item, bool):
                shape.append(item)
            else:
                raise OperandError(f"Tile takes ints, names, a dtype and a Layout, not {item!r}")
        if dtype is None:
            raise ShapeError("Tile needs a dtype, for instance Tile('M', 'N', f32)")
        if not shape:
            raise ShapeError("Tile needs at least one dimension")
        if tensor_map is not None and (
            tma_box is not None or tma_whole or tma_padding or tma_rank != 2 or l2_promotion
        ):
            raise ShapeError("Tile: tensor_map= makes the whole tensor map; omit tma_box and the other tma_ arguments")
        if l2_promotion not in (None, "64B", "128B", "256B"):
            raise ShapeError(f"Tile: l2_promotion={l2_promotion!r}; expected None, '64B', '128B' or '256B'")
        if align is not None and (align < 1 or align & (align - 1)):
            raise ShapeError(f"Tile: align={align} is not a power of two")
        values = {
            "shape": tuple(shape),
            "dtype": dtype,
            "layout": layout,
            "tma_box": tuple(tma_box) if tma_box is not None else None,
            "tma_rank": tma_rank,
            "tma_padding": tma_padding,
            "tma_whole": tma_whole,
            "l2_promotion": l2_promotion,
            "tensor_map": tensor_map,
            "align": align,
            "zeroed": zeroed,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def symbolic_dims(self) -> tuple[str, ...]:
        """Names among the sizes, in order."""
        return tuple(d for d in self.shape if isinstance(d, str))

    def resolve_shape(self, env: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape with every name replaced by its size.

        Args:
            env: name -> size.
        Raises:
            KeyError: a name is missing from `env`.
        """
        missing = [d for d in self.symbolic_dims if d not in env]
        if missing:
            raise MissingSizeError(f"size {missing[0]!r} of {self} is not bound; available: {', '.join(env) or 'none'}")
        return tuple(env[d] if isinstance(d, str) else d for d in self.shape)

    def extract_env(self, shape: Iterable[int]) -> dict[str, int]:
        """Return the sizes of the names, read from the shape of an array.

        Args:
            shape: sizes in elements.
        Returns:
            name -> size.
        Raises:
            LaunchError: the rank or a fixed size differs, or one name has two sizes. It is a ValueError.
        """
        sizes = tuple(shape)
        if len(sizes) != self.rank:
            raise ArgumentValueError(f"array of shape {sizes} has rank {len(sizes)}, but {self} has rank {self.rank}")
        for wanted, size in zip(self.shape, sizes, strict=True):
            if isinstance(wanted, int) and wanted != size:
                raise ArgumentValueError(f"array of shape {sizes} does not fit {self}: expected {wanted}, got {size}")
        return unify_envs([{name: size} for name, size in zip(self.shape, sizes, strict=True) if isinstance(name, str)])

    def accepts_dtype(self, name: str) -> bool:
        """Return True if arrays of that NumPy, torch or JAX dtype can be passed.

        Kind and width must match; integers may differ in signedness, and b types accept anything of equal width.
        """
        given = ARRAY_NAMES.get(name, name)
        wanted = self.dtype.name
        if given == wanted or (wanted, given) == ("tf32", "f32"):
            return True
        width = _ARRAY_BITS.get(given) or int("".join(filter(str.isdigit, given)) or 0)
        same_width = width == _ARRAY_BITS.get(wanted, self.dtype.bits)
        integer = given[0] in "us" and wanted[0] in "us"
        return same_width and ((wanted[0] == "b" and wanted != "bf16") or integer)

    def matches(self, shape: Iterable[int], dtype_name: str) -> bool:
        """Return True if an array of that shape and dtype name fits."""
        try:
            self.extract_env(shape)
        except ValueError:
            return False
        return self.accepts_dtype(dtype_name)

    @classmethod
    def wgmma_a(
        cls, m: int | str, k: int | str, dtype: PtxType, *, tile_m: int | None = None, tile_k: int | None = None
    ) -> Tile:
        """Return the A operand of a wgmma GEMM: row-major M x K.

        Args:
            m, k: sizes of the array.
            dtype: type of the elements.
            tile_m, tile_k: box of one TMA copy; the bytes of its row select the swizzle.
        Raises:
            ShapeError: a row has no matching swizzle.
        """
        return _swizzled((m, k), dtype, (tile_m, tile_k))

    @classmethod
    def wgmma_b(
        cls, k: int | str, n: int | str, dtype: PtxType, *, tile_k: int | None = None, tile_n: int | None = None
    ) -> Tile:
        """Return the B operand of a wgmma GEMM: row-major K x N.

        Args:
            k, n: sizes of the array.
            dtype: type of the elements.
            tile_k, tile_n: box of one TMA copy; the bytes of its row select the swizzle.
        Raises:
            ShapeError: a row has no matching swizzle.
        """
        return _swizzled((k, n), dtype, (tile_k, tile_n))

    def __str__(self) -> str:
        return f"Tile({', '.join(map(str, self.shape))}, {self.dtype})"


def _swizzled(shape: tuple[int | str, int | str], dtype: PtxType, box: tuple[int | None, int | None]) -> Tile:
    """Return a matrix whose layout has the swizzle of the rows of its TMA box; None: the box has the size of the array."""
    rows, columns = box[0] or shape[0], box[1] or shape[1]
    return Tile(*shape, dtype, _layout_of_row(columns, dtype), tma_box=(rows, columns) if any(box) else None)


def _layout_of_row(inner: int | str, dtype: PtxType) -> Layout:
    if isinstance(inner, str):
        return Layout.ROW
    row_bytes = min(inner * dtype.bits // 8, 128)
    if row_bytes not in _LAYOUT_OF_ROW_BYTES:
        raise ShapeError(
            f"a tile row of {row_bytes} bytes has no matching swizzle; expected 16, 32, 64 or at least 128 bytes"
        )
    return _LAYOUT_OF_ROW_BYTES[row_bytes]


def unify_envs(envs: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Merge mappings of names to sizes.

    Raises:
        LaunchError: one name has two sizes. It is a ValueError.
    """
    merged: dict[str, int] = {}
    for env in envs:
        for name, size in env.items():
            if merged.setdefault(name, size) != size:
                raise ArgumentValueError(f"conflicting sizes for {name!r}: {merged[name]} and {size}")
    return merged


def select_arguments(
    function: Callable[..., Any], sizes: Mapping[str, int], template: Mapping[str, Any] | None = None, *, skip: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """Select the sizes and template values that a user's function takes by name.

    Args:
        function: the function; if it takes `**sizes`, it gets all sizes.
        sizes: name -> size.
        template: name -> value of template parameters.
        skip: number of leading parameters that are passed otherwise.
    Returns:
        The keyword arguments, and the names of required parameters that are missing.
    """
    known, given, missing = {**(template or {}), **sizes}, {}, []
    for name, parameter in _parameters(function)[skip:]:
        if parameter.kind is Parameter.VAR_KEYWORD:
            given = {**sizes, **given}
        elif name in known and parameter.kind is not Parameter.POSITIONAL_ONLY:
            given[name] = known[name]
        elif parameter.default is Parameter.empty:
            missing.append(name)
    return given, missing


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, Parameter], ...]:
    return tuple(signature(function).parameters.items())
