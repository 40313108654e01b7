"""mbarrier objects in shared memory: `ptx.mbarrier.init(bars[0], 1)`, rings of them: `ptx.mbarrier.array(bars)`."""

from __future__ import annotations

from pyptx.ptx._mbarrier import arrive, arrive_expect_tx, expect_tx, init, inval, try_wait, wait
from pyptx.ptx.rings import DynamicSlot, MbarrierRing, Slot
from pyptx.reg import Reg
from pyptx.smem import MbarrierArray

__all__ = ["DynamicSlot", "MbarrierRing", "Slot", "array", "arrive", "arrive_expect_tx", "expect_tx", "init", "inval",
           "try_wait", "wait"]


def array(base: MbarrierArray | Reg | str, byte_offset: int = 0, count: int | None = None) -> MbarrierRing:
    """A ring of `count` mbarriers, 8 bytes each, from `base + byte_offset` on.

    Args:
        base: what `smem.mbarrier(count)` gave, a 32-bit shared address, or the name of a shared variable.
        count: all of `base`, when it is of `smem.mbarrier`.
    Raises:
        ShapeError: no count, none that is positive, or more than `base` has.
    """
    return MbarrierRing(base, byte_offset, count)
