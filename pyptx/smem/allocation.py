"""Allocations of shared memory and their slices, with element access."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from pyptx import reg
from pyptx._loc import user_place
from pyptx.elements.indices import checked
from pyptx.elements.shared import SharedElements
from pyptx.elements.values import as_source, in_memory, in_register
from pyptx.errors import BoundsError, OperandError
from pyptx.ir.nodes import AddressOperand, LabelOperand, RegisterOperand
from pyptx.reg import Reg
from pyptx.smem.location import SharedLocation
from pyptx.tracing.operand import address
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import PtxType, pred, u32
from pyptx.wgmma_layout import GmmaLayout

__all__ = ["SharedAlloc", "SharedSlice"]


class SharedAlloc(SharedLocation, SharedElements):
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
        self._refuse_permuted()
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


class SharedSlice(SharedLocation, SharedElements):
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
    permuted: str | None

    def __init__(self, alloc: SharedAlloc, stage: int | Reg):
        self.alloc, self.stage, self.permuted = alloc, reg.readable(stage), alloc.permuted
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
