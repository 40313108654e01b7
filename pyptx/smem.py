"""Shared memory: allocation, addressing, and element access.

Up to 48 KiB, every allocation is a `.shared` variable. Beyond that, the body is traced again in dynamic mode: all
allocations are offsets into one extern array, and the name of an allocation is `dyn_smem+<offset>`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, overload

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.indices import checked
from pyptx.elements.shared import SharedElements
from pyptx.elements.values import as_source, in_memory, in_register
from pyptx.errors import BoundsError, OperandError, ShapeError, TraceError
from pyptx.ir.nodes import AddressOperand, LabelOperand, RegisterOperand
from pyptx.ir.types import StateSpace
from pyptx.reg import Reg
from pyptx.tracing.operand import address, shifted
from pyptx.tracing.trace import DYNAMIC_SMEM, emit, get_ctx
from pyptx.types import PtxType, b8, b32, b64, no_type, pred, u32
from pyptx.wgmma_layout import GmmaLayout, Major, pick_gmma_layout

__all__ = [
    "MbarrierArray",
    "MbarrierRef",
    "SharedAlloc",
    "SharedSlice",
    "alloc",
    "alloc_with_layout",
    "apply_swizzle",
    "base",
    "load",
    "mbarrier",
    "store",
    "wgmma_tile",
]

_SWIZZLE_MASK = {"32B": 128, "64B": 384, "128B": 896}


class _Shared:
    """An object at a fixed shared-memory address.

    Its address is `name` plus `byte_offset`, and `name` is a valid source of `mov`; in dynamic mode it includes the
    offset of the allocation. As an operand the object is its whole address.
    """

    byte_offset = 0

    def __init__(self, name: str, dynamic_offset: int | None):
        self._symbol, self._offset = name, dynamic_offset or 0
        self._dynamic = dynamic_offset is not None

    @property
    def name(self) -> str:
        """Name of the variable; in dynamic mode `dyn_smem+<offset>`."""
        return self._symbol_sum

    @property
    def _symbol_sum(self) -> str:
        return f"{self._symbol}+{self._offset}" if self._offset else self._symbol

    @property
    def symbol_and_offset(self) -> tuple[str, int]:
        """The declared symbol, and the offset from it in bytes."""
        return self._symbol, self._offset

    def __ptx_operand__(self) -> LabelOperand | RegisterOperand:
        return LabelOperand(self._symbol_sum)

    def __ptx_address__(self) -> AddressOperand:
        return shifted(AddressOperand(self._symbol), self._offset)

    def wrapper_address(self) -> AddressOperand:
        """Return the address operand for typed wrappers: the symbol, or in dynamic mode a register holding the sum."""
        return AddressOperand(self.address_register().name) if self._dynamic else self.__ptx_address__()

    def address_register(self) -> Reg:
        """Emit the computation of the 32-bit shared address; return its register."""
        start = reg.scalar(u32)
        emit("mov", "b32", start, self._symbol)
        if not self._offset:
            return start
        total = reg.scalar(u32)
        emit("add", "s32", total, start, self._offset)
        return total


class SharedAlloc(_Shared, SharedElements):
    """A row-major shared-memory allocation.

    `a[i]` is slice i of the first dimension, `a[row, col]` loads an element into a new register, and
    `a[row, col] = value` stores one; `a.load(i)` and `a[i] = value` do so in one dimension. Indices are ints or
    registers; element access ignores the swizzle.

    Attributes:
        dtype: type of the elements.
        shape: sizes in elements, outermost first.
        swizzle: "32B", "64B", "128B" or None, as declared.
        gmma_layout, gmma_major: wgmma layout and contiguous dimension; None unless made by `wgmma_tile`.
    """

    dtype: PtxType
    shape: tuple[int, ...]
    swizzle: str | None
    gmma_layout: GmmaLayout | None
    gmma_major: str | None

    def __init__(
        self,
        name: str,
        dtype: PtxType,
        shape: tuple[int, ...],
        *,
        swizzle: str | None = None,
        gmma_layout: GmmaLayout | None = None,
        gmma_major: str | None = None,
        dynamic_offset: int | None = None,
    ):
        super().__init__(name, dynamic_offset)
        self.dtype, self.shape, self.swizzle = dtype, shape, swizzle
        self.gmma_layout, self.gmma_major = gmma_layout, gmma_major

    def __repr__(self) -> str:
        return f"SharedAlloc({self.name}, {self.dtype}, {self.shape})"

    def __add__(self, bytes_: object) -> None:
        raise OperandError(
            f"{self!r} is not a number; use a.address_register() for its address, ptx.addr(a, 16) for an "
            "address 16 bytes after it, and a[i] for slice i of its first dimension"
        )

    __radd__ = __add__

    def __getitem__(self, index: Any) -> Any:
        """`a[stage]`: a slice of the first dimension; `a[row, col]`: load the element into a new register."""
        if not isinstance(index, tuple):
            return SharedSlice(self, index)
        if len(index) != 2 or len(self.shape) != 2 or self.dtype == pred:
            return self.load(*index)
        at, result = self._place(*index), reg.scalar(in_register(self.dtype))
        emit("ld", f"shared.{in_memory(self.dtype)}", result, address(at))
        return result

    def __setitem__(self, index: Any, value: Any) -> None:
        """`a[row, col] = value`: store one element."""
        if not isinstance(index, tuple) or len(index) != 2 or len(self.shape) != 2 or self.dtype == pred:
            self.store(*(index if isinstance(index, tuple) else (index,)), value)
            return
        if not isinstance(value, Reg):
            raise OperandError(
                f"{self.name}[row, col] takes a register, not {value!r}",
                at=user_place(),
                hint=f"store a number with {self.name}.store(row, col, {value!r})",
            )
        source = as_source(self.name, self.dtype, value)
        emit("st", f"shared.{in_memory(self.dtype)}", address(self._place(*index)), source)

    def _start(self) -> tuple[str | Reg, int]:
        return self._symbol, self._offset

    def _place(self, row: Any, column: Any) -> Reg:
        """Emit the address of element [row, column] of a matrix; return its register."""
        row, column = checked(self.name, self.shape, (row, column))
        row, column = reg.readable(row), reg.readable(column)
        elem_bytes = self.dtype.bits // 8
        offset = _scaled(_flat_index(row, column, self.shape[1]), elem_bytes)
        start = reg.scalar(u32)
        emit("mov", "b32", start, self._symbol)
        emit("add", "u32", start, start, offset)
        if self._offset:
            emit("add", "u32", start, start, self._offset)
        return start


class SharedSlice(_Shared, SharedElements):
    """One stage of an allocation: `alloc[stage]`, where the stage is an int or a register.

    `alloc[stage][row, col]` loads an element of the stage, and `alloc[stage][row, col] = value` stores one.

    Attributes:
        alloc: the allocation.
        stage: index along its first dimension.
        stage_bytes: size of a stage in bytes.
    """

    alloc: SharedAlloc
    stage: int | Reg
    stage_bytes: int

    def __init__(self, alloc: SharedAlloc, stage: int | Reg):
        self.alloc, self.stage = alloc, reg.readable(stage)
        self.stage_bytes = prod(alloc.shape[1:]) * alloc.dtype.bits // 8
        if isinstance(stage, int):
            if not 0 <= stage < alloc.shape[0]:
                raise BoundsError(f"stage {stage} of {alloc.name}; expected 0..{alloc.shape[0] - 1}")
            offset = alloc._offset + stage * self.stage_bytes
            super().__init__(alloc._symbol, offset if alloc._dynamic else None)
            self._offset = offset
        elif isinstance(stage, Reg):
            super().__init__(alloc._symbol, alloc._offset if alloc._dynamic else None)
        else:
            raise OperandError(f"a stage is an int or a register, not {stage!r}")
        self._register: tuple[object, tuple[int, ...], Reg] | None = (
            None  # trace, point of definition, register of the address
        )

    def __repr__(self) -> str:
        return f"{self.alloc.name}[{self.stage!r}]"

    def __getitem__(self, index: Any) -> Any:
        """`alloc[stage][row, col]`: load the element into a new register."""
        return self.load(*(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index: Any, value: Any) -> None:
        """`alloc[stage][row, col] = value`: store one element."""
        self.store(*(index if isinstance(index, tuple) else (index,)), value)

    def _start(self) -> tuple[str | Reg, int]:
        return (self._symbol, self._offset) if isinstance(self.stage, int) else (self.address_register(), 0)

    def refuse_as_value(self, other: object = None) -> None:
        """Raise OperandError: it is used where the value of an element is expected."""
        where = self.alloc.name
        element = "an element" if not self.shape else "a slice"
        raise OperandError(
            f"{self!r} is the location of {element} in shared memory, not its value",
            at=user_place(),
            hint=f"load it: {where}.load({self.stage})" if not self.shape else f"load an element: {where}[i, j]",
        )

    __add__: Callable[..., Any] = refuse_as_value
    __radd__: Callable[..., Any] = refuse_as_value
    __sub__: Callable[..., Any] = refuse_as_value
    __rsub__: Callable[..., Any] = refuse_as_value
    __mul__: Callable[..., Any] = refuse_as_value
    __rmul__: Callable[..., Any] = refuse_as_value
    __truediv__: Callable[..., Any] = refuse_as_value
    __rtruediv__: Callable[..., Any] = refuse_as_value
    __lt__: Callable[..., Any] = refuse_as_value
    __le__: Callable[..., Any] = refuse_as_value
    __gt__: Callable[..., Any] = refuse_as_value
    __ge__: Callable[..., Any] = refuse_as_value

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of a stage in elements."""
        return self.alloc.shape[1:]

    @property
    def dtype(self) -> PtxType:
        """Type of the elements."""
        return self.alloc.dtype

    @property
    def gmma_layout(self) -> GmmaLayout | None:
        """wgmma layout of the stage; None unless allocated with one."""
        return self.alloc.gmma_layout

    @property
    def gmma_major(self) -> str | None:
        """Contiguous dimension of the tile, "K" or "MN"."""
        return self.alloc.gmma_major

    def __ptx_operand__(self) -> LabelOperand | RegisterOperand:
        return super().__ptx_operand__() if isinstance(self.stage, int) else self.address_register().__ptx_operand__()

    def __ptx_address__(self) -> AddressOperand:
        if isinstance(self.stage, int):
            return super().__ptx_address__()
        return AddressOperand(self.address_register().name)

    def wrapper_address(self) -> AddressOperand:
        """Return the address operand for typed wrappers; for a stage in a register, the register of its address."""
        return super().wrapper_address() if isinstance(self.stage, int) else self.__ptx_address__()

    def address_register(self) -> Reg:
        """Emit the computation of the stage's 32-bit shared address, unless still valid; return its register."""
        if isinstance(self.stage, int):
            return super().address_register()
        ctx = get_ctx()
        if self._register is None or self._register[0] is not ctx or not ctx.still_holds(self._register[1]):
            start = super().address_register()
            step = reg.scalar(u32)
            emit("mul", "lo.u32", step, self.stage, self.stage_bytes)
            total = reg.scalar(u32)
            emit("add", "u32", total, start, step)
            self._register = (ctx, ctx.here, total)
        return self._register[2]


class MbarrierArray(_Shared):
    """`count` mbarrier objects of 8 bytes; `bars[i]` is one of them."""

    def __init__(self, name: str, count: int, dynamic_offset: int | None = None):
        super().__init__(name, dynamic_offset)
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> MbarrierRef:
        if not 0 <= i < self.count:
            raise BoundsError(f"mbarrier {i} of {self.name}; expected 0..{self.count - 1}")
        return MbarrierRef(self, i)

    def __repr__(self) -> str:
        return f"MbarrierArray({self.name}, {self.count})"


class MbarrierRef(_Shared):
    """One mbarrier of an array, at `byte_offset` bytes from `name`."""

    array: MbarrierArray
    idx: int
    byte_offset: int

    def __init__(self, array: MbarrierArray, idx: int):
        super().__init__(array._symbol, array._offset + 8 * idx if array._dynamic else None)
        self._offset = array._offset + 8 * idx
        self.array, self.idx, self.byte_offset = array, idx, 8 * idx

    @property
    def name(self) -> str:
        """Name of its array."""
        return self.array.name

    def __repr__(self) -> str:
        return f"{self.array.name}[{self.idx}]"


# allocating -------------------------------------------------------------------------------------------------------


def alloc(
    dtype: PtxType,
    shape: int | tuple[int, ...],
    swizzle: str | None = None,
    align: int | None = None,
    name: str | None = None,
) -> SharedAlloc:
    """Allocate shared memory.

    Args:
        dtype: type of the elements.
        shape: sizes in elements, outermost first.
        swizzle: "32B", "64B", "128B" or None; recorded on the allocation, without effect on its memory.
        align: alignment in bytes; default 128. Beyond 48 KiB, the extern array has the largest alignment.
        name: of the variable; default `smem_<n>`.
    Raises:
        ShapeError: a size is not a positive int.
        TypeError: `dtype` is not a type.
    Examples:
        >>> @kernel
        ... def tile():
        ...     stages = smem.alloc(bf16, (3, 64, 64), swizzle="128B")
        ...     print(stages, stages[1].symbol_and_offset)
        >>> text = tile.ptx()
        SharedAlloc(smem_0, bf16, (3, 64, 64)) ('smem_0', 8192)
    """
    return alloc_with_layout(dtype, shape, swizzle=swizzle, align=align, name=name)


def alloc_with_layout(
    dtype: PtxType,
    shape: int | tuple[int, ...],
    swizzle: str | None = None,
    align: int | None = None,
    name: str | None = None,
    gmma_layout: GmmaLayout | None = None,
    gmma_major: str | None = None,
) -> SharedAlloc:
    """Allocate shared memory as `alloc` does, with a wgmma layout recorded on it."""
    if not isinstance(dtype, PtxType):
        raise no_type(dtype)
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    if not dims or any(not isinstance(d, int) or d <= 0 for d in dims):
        raise ShapeError(f"shared memory of shape {shape!r}; expected positive ints", at=user_place())
    size = prod(dims) * dtype.bits // 8
    symbol, offset = _reserve(b8, size, size, 128 if align is None else align, name, "smem")
    return SharedAlloc(
        symbol, dtype, dims, swizzle=swizzle, gmma_layout=gmma_layout, gmma_major=gmma_major, dynamic_offset=offset
    )


def wgmma_tile(
    dtype: PtxType, shape: tuple[int, int], major: str = "K", *, align: int | None = None, name: str | None = None
) -> SharedAlloc:
    """Allocate a tile whose layout wgmma can read.

    Args:
        dtype: type of the elements.
        shape: (M or N, K) elements with major "K", (K, M or N) with major "MN".
        major: contiguous dimension, "K" or "MN".
        align: alignment in bytes; default 128. Beyond 48 KiB, the extern array has the largest alignment.
        name: of the variable; default `smem_<n>`.
    Raises:
        ShapeError: an unknown major, or a shape without a canonical layout.
    """
    if major not in ("K", "MN"):
        raise ShapeError(f"major {major!r}; expected 'K' or 'MN'", at=user_place())
    m_or_n, k = shape if major == "K" else shape[::-1]
    layout = pick_gmma_layout(elem_bytes=dtype.bits // 8, m_or_n=m_or_n, k=k, major=Major[major])
    return alloc_with_layout(dtype, shape, layout.smem_swizzle, align, name, layout, major)


def mbarrier(count: int, name: str | None = None) -> MbarrierArray:
    """Allocate `count` mbarrier objects; initialize each with `ptx.mbarrier.init` before use.

    Raises:
        ShapeError: `count` is not positive.
    """
    if count <= 0:
        raise ShapeError(f"{count} mbarriers; the count must be positive", at=user_place())
    symbol, offset = _reserve(b64, count, 8 * count, 8, name, "mbar")
    return MbarrierArray(symbol, count, offset)


def _reserve(
    dtype: PtxType, elements: int, size_bytes: int, align: int, name: str | None, prefix: str
) -> tuple[str, int | None]:
    """Reserve memory; return its symbol, and its offset in the dynamic array (None for a variable of its own)."""
    ctx = get_ctx()
    offset = ctx.allocate_shared(size_bytes, align)
    if ctx.force_dynamic_smem:
        return DYNAMIC_SMEM, offset
    symbol = name or f"{prefix}_{ctx.next_index(prefix)}"
    ctx.declare_variable(StateSpace.SHARED, dtype, symbol, size=elements, align=align)
    return symbol, None


# access -----------------------------------------------------------------------------------------------------------


def base(name: str | None = None) -> Reg:
    """Return the shared address of a variable in a new u32 register.

    Args:
        name: the variable; default: the kernel's extern array, or `smem`.
    Raises:
        TraceError: no such variable is declared.
    """
    ctx = get_ctx()
    symbol = name or ctx.extern_smem_name or "smem"
    if symbol not in ctx.variables and symbol != ctx.extern_smem_name:
        raise TraceError(
            f"shared variable {symbol!r} is not declared",
            at=user_place(),
            hint="decorate with @kernel(extern_smem=True), or allocate with smem.alloc(..., name=...)",
        )
    start = reg.scalar(u32)
    emit("mov", "u32", start, symbol)
    return start


def load(dtype: PtxType, address_: object) -> Reg:
    """Load one element into a new register.

    Args:
        dtype: type of the element.
        address_: shared address: a register, an allocation, a slice, or `ptx.addr(...)`.
    """
    result = reg.scalar(dtype)
    emit("ld", f"shared.{in_memory(dtype)}", result, _location(address_, "load"))
    return result


def store(dtype: PtxType, address_: object, value: Reg) -> None:
    """Store a register.

    Args:
        dtype: type of the element.
        address_: shared address: a register, an allocation, a slice, or `ptx.addr(...)`.
        value: the register.
    Raises:
        TypeError: `value` is not a register.
    """
    if not isinstance(value, Reg):
        raise OperandError(
            f"smem.store takes a register, not {value!r}; load a number into one with reg.scalar(dtype, init)"
        )
    emit("st", f"shared.{in_memory(dtype)}", _location(address_, "store"), value)


def _location(value: object, function: str) -> AddressOperand:
    """Convert the address of `load` and `store`.

    Raises:
        TypeError: the value of an element is passed for its address.
    """
    if isinstance(value, Reg) and (value.dtype.is_float or value.dtype.bits not in (32, 64)):
        fix = "value = tile[row, col]" if function == "load" else "tile[row, col] = value"
        raise OperandError(
            f"{value!r} is a value, and smem.{function} expects an address",
            at=user_place(),
            hint=f"tile[row, col] already loads the element; write `{fix}`, or give its location: "
            f"tile.pointer(row, col)",
        )
    return address(value)


@overload
def apply_swizzle(offset: Reg, swizzle: str | None) -> Reg: ...
@overload
def apply_swizzle(offset: int, swizzle: str | None) -> int: ...
def apply_swizzle(offset: Reg | int, swizzle: str | None) -> Reg | int:
    """Return a byte offset with a swizzle applied: 16-byte chunk index XOR row index.

    Args:
        offset: bytes from a swizzle-aligned address, an int or a u32 register.
        swizzle: "32B", "64B", "128B"; None or "NONE" returns the offset unchanged.
    Returns:
        An int for an int, else a new register.
    Raises:
        ShapeError: an unknown swizzle.
    Source: PTX ISA, "Swizzling Modes" of tensors.
    Examples:
        >>> [smem.apply_swizzle(128 * row, "128B") for row in range(4)]
        [0, 144, 288, 432]
    """
    if swizzle in (None, "NONE"):
        return offset
    if swizzle not in _SWIZZLE_MASK:
        raise ShapeError(
            f"swizzle {swizzle!r}; expected one of None, 'NONE', {', '.join(map(repr, _SWIZZLE_MASK))}", at=user_place()
        )
    if isinstance(offset, int):
        return offset ^ (offset & _SWIZZLE_MASK[swizzle]) >> 3
    offset, bits, result = reg.readable(offset), reg.scalar(b32), reg.scalar(u32)
    emit("and", "b32", bits, offset, _SWIZZLE_MASK[swizzle])
    emit("shr", "u32", bits, bits, 3)
    emit("xor", "b32", result, offset, bits)
    return result


def _flat_index(row: int | Reg, column: int | Reg, columns: int) -> Reg:
    """Emit row * columns + column; return its register."""
    index = reg.scalar(u32)
    match row, column:
        case int(), int():
            emit("mov", "u32", index, row * columns + column)
        case int(), _:
            start = row * columns
            if start == 0:
                emit("mov", "u32", index, column)
            else:
                emit("add", "u32", index, column, start)
        case _:
            start = reg.scalar(u32)
            emit("mul", "lo.u32", start, row, columns)
            emit("add", "u32", index, start, column)
    return index


def _scaled(index: Reg, elem_bytes: int) -> Reg:
    """Emit the byte offset of an element index; return its register."""
    if elem_bytes == 1:
        return index
    scaled = reg.scalar(u32)
    if elem_bytes & (elem_bytes - 1) == 0:
        emit("shl", "b32", scaled, index, elem_bytes.bit_length() - 1)
    else:
        emit("mul", "lo.u32", scaled, index, elem_bytes)
    return scaled
