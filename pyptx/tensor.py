"""Array parameters of a kernel while it is traced."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyptx._loc import user_place
from pyptx.elements import Elements
from pyptx.elements.addresses import in_global, register_of
from pyptx.elements.indices import Offset
from pyptx.elements.not_numpy import NotNumpy
from pyptx.ir.nodes import AddressOperand, Instruction, LabelOperand, RegisterOperand
from pyptx.reg import Reg
from pyptx.specs import Layout
from pyptx.tracing.trace import get_ctx, in_trace
from pyptx.types import PtxType, u64

__all__ = ["ArrayRow", "TensorSpec", "TmaDescriptorHandle"]


class _GlobalElements(NotNumpy, Elements):
    """Elements of an array in global memory: `x[i, j]` loads one, `x[i, j] = value` stores one."""

    _space: str = "global"

    @abstractmethod
    def _base(self) -> Reg:
        """Return the 64-bit address of the first element."""

    def _address(self, offset: Offset, elements: int) -> AddressOperand:
        return in_global(self._base(), offset, self._element_bytes, elements)

    def _copied(self, address: AddressOperand) -> Reg:
        return register_of(address, u64)

    @property
    def _element_bytes(self) -> int:
        return max(8, self._typed().bits) // 8

    def __getitem__(self, index: Any) -> Any:
        return self.load(*(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.store(*(index if isinstance(index, tuple) else (index,)), value)

    def row(self, *indices: Any) -> ArrayRow:
        """Return the array of the remaining dimensions at the given leading indices.

        Its address is computed once, here: in a loop over the elements of a row, each access then needs one `mad.wide`.
        """
        start, shape = self.pointer(*indices), tuple(self.shape)[len(indices) :]
        return ArrayRow(f"{self.name}.row({', '.join(map(str, indices))})", shape, self._typed(), start)


class ArrayRow(_GlobalElements):
    """The elements of an array at fixed leading indices; made by `row`. They index as those of the array.

    Attributes:
        name: for messages.
        shape: sizes of the remaining dimensions, in elements.
        dtype: type of the elements.
        start: address of the first element, a u64 register.
    """

    name: str
    shape: Any
    dtype: Any
    start: Reg

    def __init__(self, name: str, shape: tuple[int, ...], dtype: PtxType, start: Reg):
        self.name, self.shape, self.dtype, self.start = name, shape, dtype, start

    def _base(self) -> Reg:
        return self.start

    def __repr__(self) -> str:
        return f"ArrayRow({self.name}, shape={self.shape}, dtype={self.dtype})"


class TensorSpec(_GlobalElements):
    """An array parameter of the kernel being traced.

    `x[i, j]` loads the element that NumPy's `x[i, j]` is into a new register, and `x[i, j] = value` stores one. Indices
    are ints and integer registers, special registers included. An access emits the arithmetic of its address and one
    `ld` or `st`; the first access to an array also emits the load of its pointer at the start of the kernel.

    Attributes:
        name: of the parameter.
        shape: sizes in elements; None if a symbolic size is not bound.
        dtype, layout: those of its Tile; None for parameters without one.
        tma_box: sizes of a TMA copy in elements; None if the Tile has none or a size is not bound.
        has_tensor_map: the Tile has a `tma_box` or a `tensor_map`.
    """

    name: str
    shape: tuple[int, ...] | None
    dtype: PtxType | None
    layout: Layout | None
    tma_box: tuple[int, ...] | None
    has_tensor_map: bool

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...] | None = None,
        dtype: PtxType | None = None,
        layout: Layout | None = None,
        tma_box: tuple[int, ...] | None = None,
        has_tensor_map: bool = True,
    ):
        self.has_tensor_map = has_tensor_map
        self.name, self.shape, self.dtype, self.layout, self.tma_box = name, shape, dtype, layout, tma_box
        self._descriptor: tuple[object, Reg] | None = None
        self._pointer: tuple[object, Reg] | None = None

    def __repr__(self) -> str:
        return f"TensorSpec({self.name}, shape={self.shape}, dtype={self.dtype})"

    def __ptx_operand__(self) -> LabelOperand:
        return LabelOperand(self.name)

    def __ptx_address__(self) -> AddressOperand:
        return AddressOperand(self.name)

    def _base(self) -> Reg:
        """Return the address of the array in a register that is set at the start of the kernel."""
        ctx = get_ctx()
        if self._pointer is None or self._pointer[0] is not ctx:
            name = f"%rd{ctx.next_index('%rd')}"
            ctx.declare_first(u64, name)
            pointer, place = RegisterOperand(name), user_place()
            ctx.prologue.append(
                Instruction("ld", (".param", ".u64"), (pointer, AddressOperand(self.name)), place=place)
            )
            ctx.prologue.append(Instruction("cvta", (".to", ".global", ".u64"), (pointer, pointer), place=place))
            self._pointer = (ctx, Reg(name, u64))
        return self._pointer[1]

    def tma_desc(self) -> Reg | TmaDescriptorHandle:
        """Return the address of this array's tensor map, in a register loaded at the start of the kernel.

        Outside a trace, return a handle that names the parameter.
        """
        if not in_trace():
            return TmaDescriptorHandle(self)
        ctx = get_ctx()
        if self._descriptor is None or self._descriptor[0] is not ctx:
            parameter = f"{self.name}_tma_desc"
            name = f"%rd{ctx.next_index('%rd')}"
            ctx.declare_first(u64, name)
            ctx.tma_tensors.append(self.name)
            register, place = RegisterOperand(name), user_place()
            if ctx.maps_by_value:  # the address of the parameter itself
                ctx.prologue.append(Instruction("mov", (".u64",), (register, LabelOperand(parameter)), place=place))
                ctx.prologue.append(Instruction("cvta", (".param", ".u64"), (register, register), place=place))
            else:
                operands = register, AddressOperand(parameter)
                ctx.prologue.append(Instruction("ld", (".param", ".u64"), operands, place=place))
            self._descriptor = (ctx, Reg(name, u64))
        return self._descriptor[1]


class TmaDescriptorHandle:
    """Name of a tensor-map parameter, for use outside a trace."""

    tensor: TensorSpec
    name: str

    def __init__(self, tensor: TensorSpec):
        self.tensor = tensor
        self.name = f"{tensor.name}_tma_desc"

    def __ptx_operand__(self) -> LabelOperand:
        return LabelOperand(self.name)

    def __ptx_address__(self) -> AddressOperand:
        return AddressOperand(self.name)

    def __repr__(self) -> str:
        return f"TmaDescriptorHandle({self.name})"
