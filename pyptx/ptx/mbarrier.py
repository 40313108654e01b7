"""mbarrier objects in shared memory: `ptx.mbarrier.init(bars[0], 1)`, `ptx.mbarrier.array(base, offset, count)`."""

from __future__ import annotations

from pyptx.ptx._mbarrier import arrive, arrive_expect_tx, expect_tx, init, inval, try_wait, wait
from pyptx.ptx.rings import DynamicSlot, MbarrierRing, Slot
from pyptx.reg import Reg

__all__ = ["DynamicSlot", "MbarrierRing", "Slot", "array", "arrive", "arrive_expect_tx", "expect_tx", "init", "inval",
           "try_wait", "wait"]


def array(base: Reg | str, byte_offset: int, count: int) -> MbarrierRing:
    """A ring of `count` mbarriers, 8 bytes each, from `base + byte_offset` on.

    Args:
        base: a 32-bit shared address, or the name of a shared variable.
    """
    return MbarrierRing(base, byte_offset, count)
