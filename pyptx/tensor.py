"""Array parameters of a kernel while it is traced."""

from __future__ import annotations

from pyptx._loc import user_place
from pyptx.errors import OperandError
from pyptx.ir.nodes import AddressOperand, Instruction, LabelOperand, RegisterOperand
from pyptx.reg import Reg
from pyptx.specs import Layout
from pyptx.tracing.trace import get_ctx, in_trace
from pyptx.types import PtxType, u64

__all__ = ["TensorSpec", "TmaDescriptorHandle"]


class TensorSpec:
    """An array parameter of the kernel being traced.

    Attributes:
        name: of the parameter.
        shape: sizes in elements; None if a symbolic size is not bound.
        dtype, layout: those of its Tile; None for parameters without one.
    """

    name: str
    shape: tuple[int, ...] | None
    dtype: PtxType | None
    layout: Layout | None

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...] | None = None,
        dtype: PtxType | None = None,
        layout: Layout | None = None,
    ):
        self.name, self.shape, self.dtype, self.layout = name, shape, dtype, layout
        self._descriptor: tuple[object, Reg] | None = None

    def __repr__(self) -> str:
        return f"TensorSpec({self.name}, shape={self.shape}, dtype={self.dtype})"

    def __ptx_operand__(self) -> LabelOperand:
        return LabelOperand(self.name)

    def __ptx_address__(self) -> AddressOperand:
        return AddressOperand(self.name)

    def __getitem__(self, index: object) -> None:
        raise OperandError(
            f"{self.name} is an array in global memory and cannot be indexed; load and store its elements: "
            f"(at,) = ptx.global_ptrs({self.name}), then ptx.inst.ld.global_.{self.dtype or 'f32'}(value, "
            f"ptx.addr(at + index * {self.dtype.bits // 8 if self.dtype else 4})), with the offset in bytes"
        )

    def __setitem__(self, index: object, value: object) -> None:
        self[index]

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
            operands = RegisterOperand(name), AddressOperand(parameter)
            ctx.prologue.append(Instruction("ld", (".param", ".u64"), operands, place=user_place()))
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
