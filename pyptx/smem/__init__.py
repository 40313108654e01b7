"""Shared memory: allocation, addressing, and element access.

Up to 48 KiB, every allocation is a `.shared` variable. Beyond that, the body is traced again in dynamic mode: all
allocations are offsets into one extern array, and the name of an allocation is `dyn_smem+<offset>`.
"""

from pyptx.smem.access import base, load, store
from pyptx.smem.allocation import SharedAlloc, SharedSlice
from pyptx.smem.declarations import alloc, alloc_with_layout, mbarrier, wgmma_tile
from pyptx.smem.mbarriers import MbarrierArray, MbarrierRef
from pyptx.smem.swizzle import apply_swizzle

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
