"""Rings of mbarriers: `ptx.mbarrier.array(smem.mbarrier(count))`, or at an address of their own."""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import ShapeError
from pyptx.ir.nodes import AddressOperand, RegisterOperand
from pyptx.ptx import _mbarrier, cluster
from pyptx.ptx._typed import typed
from pyptx.reg import NegPred, Reg
from pyptx.smem import MbarrierArray
from pyptx.tracing.trace import get_ctx
from pyptx.types import u32

__all__ = ["DynamicSlot", "MbarrierRing", "Slot"]

Guard = Reg | NegPred | None


class MbarrierRing:
    """`count` mbarriers of 8 bytes; `ring[i]` is one of them, `ring.at(register)` the one of a stage in a register."""

    def __init__(self, base: MbarrierArray | Reg | str, byte_offset: int, count: int | None):
        if not isinstance(base, MbarrierArray | Reg | str):
            raise TypeError(f"a ring of mbarriers is of smem.mbarrier, or lies at a register or a name, not {base!r}")
        most = len(base) - byte_offset // 8 if isinstance(base, MbarrierArray) else None
        count = most if count is None else count
        if count is None or count <= 0 or (most is not None and count > most):
            raise ShapeError(f"a ring of {count} mbarriers; expected a positive count"
                             + (f" up to {most}, what {base!r} holds" if most is not None else ""), at=user_place())
        if not isinstance(base, Reg):                   # beyond 48 KiB a name is `dyn_smem+<offset>`
            base, _, offset = (base if isinstance(base, str) else base.name).partition("+")
            byte_offset += int(offset or 0)
        self.base, self.byte_offset, self.count = base, byte_offset, count

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"MbarrierRing({self.base!r}+{self.byte_offset}, {self.count})"

    def __getitem__(self, i: int) -> Slot:
        if isinstance(i, Reg):
            return self.at(i)
        if not 0 <= i < self.count:
            raise IndexError(f"mbarrier {i} of {self!r}; expected 0..{self.count - 1}")
        return Slot(self.base, self.byte_offset + 8 * i)

    def at(self, stage: Reg) -> DynamicSlot:
        """The mbarrier of a stage (0..count-1, u32) that is only known in the kernel."""
        return DynamicSlot(self.base, self.byte_offset, stage)

    def init_all(self, count: int | Reg, *, pred: Guard = None) -> None:
        """Set up every mbarrier of the ring for `count` arrivals."""
        for i in range(self.count):
            self[i].init(count, pred=pred)

    def arrive_remote_all(self, cta: int | Reg, count: int | Reg = 1, *, pred: Guard = None) -> None:
        """Arrive at every mbarrier of this ring in CTA `cta` of the cluster."""
        for i in range(self.count):
            self[i].arrive_remote(cta, count, pred=pred)


class Slot:
    """One mbarrier at `base + byte_offset`."""

    def __init__(self, base: Reg | str, byte_offset: int):
        self.base, self.byte_offset = base, byte_offset

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base!r}+{self.byte_offset})"

    def address_operand(self) -> AddressOperand:
        """`[base+byte_offset]`."""
        return AddressOperand(self.base.name if isinstance(self.base, Reg) else self.base, str(self.byte_offset))

    def addr_reg(self) -> Reg:
        """The address in a 32-bit register: the base itself where the offset is 0."""
        start = _base_register(self.base)
        if self.byte_offset == 0:
            return start
        total = reg.scalar(u32)
        typed("add", "u32", total, start, self.byte_offset)
        return total

    def address_register(self) -> Reg:
        return self.addr_reg()

    def __ptx_address__(self) -> AddressOperand:
        return self.address_operand()

    def __ptx_operand__(self) -> RegisterOperand:
        return RegisterOperand(self.addr_reg().name)

    def init(self, count: int | Reg, *, pred: Guard = None) -> None:
        """See ptx.mbarrier.init."""
        _mbarrier.init(self, count, pred=pred)

    def wait(self, phase: int | Reg, *, pred: Guard = None) -> None:
        """See ptx.mbarrier.wait."""
        _mbarrier.wait(self, phase, pred=pred)

    def arrive(self, *, pred: Guard = None) -> Reg:
        """See ptx.mbarrier.arrive."""
        return _mbarrier.arrive(self, pred=pred)

    def arrive_expect_tx(self, tx: int | Reg, *, pred: Guard = None) -> Reg:
        """See ptx.mbarrier.arrive_expect_tx."""
        return _mbarrier.arrive_expect_tx(self, tx, pred=pred)

    def arrive_remote(self, cta: int | Reg, count: int | Reg = 1, *, pred: Guard = None) -> None:
        """Arrive at this mbarrier in CTA `cta` of the cluster."""
        cluster.arrive_remote(self.addr_reg(), cta, count, pred=pred)


class DynamicSlot(Slot):
    """The mbarrier of a stage in a register; its address is computed once and used while that value holds."""

    def __init__(self, base: Reg | str, byte_offset: int, stage: Reg):
        if not isinstance(stage, Reg):
            raise TypeError(f"ring.at takes a register, not {stage!r}; ring[i] takes an int")
        super().__init__(base, byte_offset)
        self.stage = reg.readable(stage)
        self._address: tuple[object, tuple[int, ...], Reg] | None = None     # trace, where it was set, the register

    def addr_reg(self) -> Reg:
        ctx = get_ctx()
        if self._address is None or self._address[0] is not ctx or not ctx.still_holds(self._address[1]):
            offset = reg.scalar(u32)
            typed("shl", "b32", offset, self.stage, 3)
            if self.byte_offset:
                total = reg.scalar(u32)
                typed("add", "u32", total, offset, self.byte_offset)
                offset = total
            start = _base_register(self.base)
            address = reg.scalar(u32)
            typed("add", "u32", address, start, offset)
            self._address = ctx, ctx.here, address
        return self._address[2]

    def address_operand(self) -> AddressOperand:
        return AddressOperand(self.addr_reg().name)


def _base_register(base: Reg | str) -> Reg:
    if isinstance(base, Reg):
        return base
    start = reg.scalar(u32)
    typed("mov", "u32", start, base)
    return start
