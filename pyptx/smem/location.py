"""Objects at a fixed shared-memory address."""

from __future__ import annotations

from pyptx import reg
from pyptx.ir.nodes import AddressOperand, LabelOperand, RegisterOperand
from pyptx.reg import Reg
from pyptx.tracing.operand import shifted
from pyptx.tracing.trace import emit
from pyptx.types import u32

__all__ = ["SharedLocation"]


class SharedLocation:
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
