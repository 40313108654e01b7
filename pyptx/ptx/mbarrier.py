"""mbarrier objects in shared memory, `ptx.mbarrier.init(bars[0], 1)`, and rings of them, `ptx.mbarrier.array(bars)`.

An argument `mbar` is an element of `smem.mbarrier(n)`, a slot of a ring, a register or an address.
"""

from __future__ import annotations

from pyptx import reg
from pyptx._loc import user_place
from pyptx.errors import BoundsError, OperandError, ShapeError
from pyptx.ir.nodes import AddressOperand, LabelOperand, RegisterOperand
from pyptx.ptx import cluster
from pyptx.ptx._checked import check_option, emit_checked, shared_address
from pyptx.reg import NegPred, Reg
from pyptx.smem import MbarrierArray
from pyptx.tracing.trace import emit, get_ctx
from pyptx.types import b64, u32
from pyptx.types import pred as pred_type

__all__ = [
    "DynamicSlot",
    "MbarrierRing",
    "Slot",
    "array",
    "arrive",
    "arrive_expect_tx",
    "expect_tx",
    "init",
    "inval",
    "try_wait",
    "wait",
]

Guard = Reg | NegPred | None


def init(mbar: object, count: int | Reg, *, pred: Guard = None) -> None:
    """Initialize an mbarrier: a phase completes after `count` arrivals and all expected bytes."""
    emit_checked("mbarrier", "init.shared::cta.b64", shared_address(mbar), count, pred=pred)


def inval(mbar: object, *, pred: Guard = None) -> None:
    """Invalidate an mbarrier, so that its memory can be reused."""
    emit_checked("mbarrier", "inval.shared.b64", shared_address(mbar), pred=pred)


def arrive(mbar: object, *, pred: Guard = None) -> Reg:
    """Arrive once; return the prior state, a b64 register."""
    target = shared_address(mbar)
    state = reg.scalar(b64)
    emit_checked("mbarrier", "arrive.shared.b64", state, target, pred=pred)
    return state


def arrive_expect_tx(mbar: object, tx: int | Reg, *, pred: Guard = None) -> Reg:
    """Expect `tx` more bytes in the current phase and arrive once; return the prior state, a b64 register."""
    target = shared_address(mbar)
    state = reg.scalar(b64)
    emit_checked("mbarrier", "arrive.expect_tx.shared::cta.b64", state, target, tx, pred=pred)
    return state


def expect_tx(mbar: object, tx: int | Reg, *, pred: Guard = None) -> None:
    """Expect `tx` more bytes in the current phase."""
    emit_checked("mbarrier", "expect_tx.shared.b64", shared_address(mbar), tx, pred=pred)


def try_wait(
    mbar: object, phase: int | Reg, *, parity: bool = True, scope: str | None = None, pred: Guard = None
) -> Reg:
    """Test once whether a phase has completed; return a predicate.

    The instruction may suspend the thread up to a system time limit and then yields false; `wait` repeats it.

    Args:
        phase: parity of the phase, 0 or 1 (u32); with parity=False the state that `arrive` returned (b64).
        scope: "cluster" to acquire what other CTAs of the cluster released; default: what the own CTA did.
    """
    check_option(scope, (None, "cta", "cluster"), "scope")
    acquire = f".acquire.{scope}" if scope else ""
    target = shared_address(mbar)
    over = reg.scalar(pred_type)
    emit_checked(
        "mbarrier",
        f"try_wait{'.parity' if parity else ''}{acquire}.shared{'::cta' * bool(scope)}.b64",
        over,
        target,
        phase,
        pred=pred,
    )
    return over


def wait(mbar: object, phase: int | Reg, *, scope: str | None = None, pred: Guard = None) -> None:
    """Wait until the phase of the given parity has completed; with `pred=`, only in threads where it holds.

    Args:
        scope: as for `try_wait`.
    """
    ctx = get_ctx()
    target = shared_address(mbar)
    again = ctx.label("mbar_wait")
    skip = None if pred is None else ctx.label("mbar_done")
    if pred is not None and skip is not None:
        emit("bra", "", LabelOperand(skip), pred=~pred)
    ctx.place_label(again)
    over = try_wait(target, phase, scope=scope)
    emit("bra", "", LabelOperand(again), pred=~over)
    if skip is not None:
        ctx.place_label(skip)


def array(base: MbarrierArray | Reg | str, byte_offset: int = 0, count: int | None = None) -> MbarrierRing:
    """Return a ring of `count` mbarriers of 8 bytes, starting at `base + byte_offset`.

    Args:
        base: an array of `smem.mbarrier(count)`, a 32-bit shared address, or the name of a shared variable.
        byte_offset: bytes from `base` to the first mbarrier.
        count: number of mbarriers; default: all of an array of `smem.mbarrier`.
    Raises:
        ShapeError: the count is missing, not positive, or exceeds the array.
        TypeError: any other base.
    """
    return MbarrierRing(base, byte_offset, count)


class MbarrierRing:
    """A ring of mbarriers: `ring[i]` is mbarrier i, `ring.at(register)` that of a stage known at run time."""

    base: str | Reg
    byte_offset: int
    count: int

    def __init__(self, base: MbarrierArray | Reg | str, byte_offset: int, count: int | None):
        if not isinstance(base, MbarrierArray | Reg | str):
            raise OperandError(f"the base of a ring is an array of smem.mbarrier, a register or a name, not {base!r}")
        most = len(base) - byte_offset // 8 if isinstance(base, MbarrierArray) else None
        count = most if count is None else count
        if count is None or count <= 0 or (most is not None and count > most):
            raise ShapeError(
                f"a ring of {count} mbarriers; expected a positive count"
                + (f" up to {most}, what {base!r} holds" if most is not None else ""),
                at=user_place(),
            )
        if not isinstance(base, Reg):  # in dynamic shared memory a name is `dyn_smem+<offset>`
            base, _, offset = (base if isinstance(base, str) else base.name).partition("+")
            byte_offset += int(offset or 0)
        self.base, self.byte_offset, self.count = base, byte_offset, count

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"MbarrierRing({self.base!r}+{self.byte_offset}, {self.count})"

    def __getitem__(self, i: int | Reg) -> Slot:
        if isinstance(i, Reg):
            return self.at(i)
        if not 0 <= i < self.count:
            raise BoundsError(f"mbarrier {i} of {self!r}; expected 0..{self.count - 1}")
        return Slot(self.base, self.byte_offset + 8 * i)

    def at(self, stage: Reg) -> DynamicSlot:
        """Return the mbarrier of a stage in a u32 register, 0..count-1."""
        return DynamicSlot(self.base, self.byte_offset, stage)

    def init_all(self, count: int | Reg, *, pred: Guard = None) -> None:
        """Initialize every mbarrier of the ring for `count` arrivals."""
        for i in range(self.count):
            self[i].init(count, pred=pred)

    def arrive_remote_all(self, cta: int | Reg, count: int | Reg = 1, *, pred: Guard = None) -> None:
        """Arrive at every mbarrier of this ring in CTA `cta` of the cluster."""
        for i in range(self.count):
            self[i].arrive_remote(cta, count, pred=pred)


class Slot:
    """One mbarrier at `base + byte_offset`."""

    base: Reg | str
    byte_offset: int

    def __init__(self, base: Reg | str, byte_offset: int):
        self.base, self.byte_offset = base, byte_offset

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base!r}+{self.byte_offset})"

    def address_operand(self) -> AddressOperand:
        """`[base+byte_offset]`."""
        return AddressOperand(self.base.name if isinstance(self.base, Reg) else self.base, str(self.byte_offset))

    def addr_reg(self) -> Reg:
        """Emit the 32-bit shared address; return its register, the base itself if the offset is 0."""
        start = _base_register(self.base)
        if self.byte_offset == 0:
            return start
        total = reg.scalar(u32)
        emit_checked("add", "u32", total, start, self.byte_offset)
        return total

    def address_register(self) -> Reg:
        return self.addr_reg()

    def __ptx_address__(self) -> AddressOperand:
        return self.address_operand()

    def __ptx_operand__(self) -> RegisterOperand:
        return RegisterOperand(self.addr_reg().name)

    def init(self, count: int | Reg, *, pred: Guard = None) -> None:
        """See ptx.mbarrier.init."""
        init(self, count, pred=pred)

    def wait(self, phase: int | Reg, *, scope: str | None = None, pred: Guard = None) -> None:
        """See ptx.mbarrier.wait."""
        wait(self, phase, scope=scope, pred=pred)

    def arrive(self, *, pred: Guard = None) -> Reg:
        """See ptx.mbarrier.arrive."""
        return arrive(self, pred=pred)

    def arrive_expect_tx(self, tx: int | Reg, *, pred: Guard = None) -> Reg:
        """See ptx.mbarrier.arrive_expect_tx."""
        return arrive_expect_tx(self, tx, pred=pred)

    def arrive_remote(self, cta: int | Reg, count: int | Reg = 1, *, pred: Guard = None) -> None:
        """Arrive at this mbarrier in CTA `cta` of the cluster."""
        cluster.arrive_remote(self.addr_reg(), cta, count, pred=pred)


class DynamicSlot(Slot):
    """The mbarrier of a stage in a register; its address is computed once and reused while it is valid."""

    stage: Reg

    def __init__(self, base: Reg | str, byte_offset: int, stage: Reg):
        if not isinstance(stage, Reg):
            raise OperandError(f"ring.at takes a register, not {stage!r}; use ring[i] for an int")
        super().__init__(base, byte_offset)
        self.stage = reg.readable(stage)
        self._address: tuple[object, tuple[int, ...], Reg] | None = None  # trace, point of definition, register

    def addr_reg(self) -> Reg:
        ctx = get_ctx()
        if self._address is None or self._address[0] is not ctx or not ctx.still_holds(self._address[1]):
            offset = reg.scalar(u32)
            emit_checked("shl", "b32", offset, self.stage, 3)
            if self.byte_offset:
                total = reg.scalar(u32)
                emit_checked("add", "u32", total, offset, self.byte_offset)
                offset = total
            start = _base_register(self.base)
            address = reg.scalar(u32)
            emit_checked("add", "u32", address, start, offset)
            self._address = ctx, ctx.here, address
        return self._address[2]

    def address_operand(self) -> AddressOperand:
        return AddressOperand(self.addr_reg().name)


def _base_register(base: Reg | str) -> Reg:
    if isinstance(base, Reg):
        return base
    start = reg.scalar(u32)
    emit_checked("mov", "u32", start, base)
    return start
