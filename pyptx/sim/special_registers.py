"""Special registers: their values in the lanes of a warp."""

from __future__ import annotations

import numpy as np

from pyptx.sim.abi import CTA_SPECIALS
from pyptx.sim.memory.address_space import GRID_WORKSPACE, shared_offset
from pyptx.sim.plan import Plan

__all__ = ["known", "value"]


_LANES = np.arange(32, dtype=np.uint64)
_MASKS = {
    "%lanemask_eq": lambda i: 1 << i,
    "%lanemask_le": lambda i: (2 << i) - 1,
    "%lanemask_lt": lambda i: (1 << i) - 1,
    "%lanemask_ge": lambda i: 0xFFFFFFFF << i & 0xFFFFFFFF,
    "%lanemask_gt": lambda i: 0xFFFFFFFE << i & 0xFFFFFFFF,
}
_GRID = ("%ntid", "%nctaid", "%nclusterid", "%cluster_nctaid")
_ZERO = frozenset(
    [
        "%smid",
        "%gridid",
        "%current_graph_exec",
        "%reserved_smem_offset_begin",
        "%perctamemoryoffset",
        "%perctamemorysize",
        *(f"%pm{k}" for k in range(8)),
        *(f"%pm{k}_64" for k in range(8)),
        *(f"%envreg{k}" for k in range(32) if k not in (1, 2)),
    ]
)


def known(name: str) -> bool:
    """Return whether the special register is simulated."""
    return name in CTA_SPECIALS or shared_offset(name) is not None or value(name, _ANY, 0) is not None


def value(name: str, plan: Plan, warp: int) -> np.ndarray | None:
    """Return the values in the 32 lanes of a register that is the same in every CTA; None for all others."""
    base, _, axis = name.partition(".")
    if name in _MASKS:
        return np.array([_MASKS[name](i) for i in range(32)], np.uint64)
    if axis == "w" and (base == "%tid" or base == "%ctaid" or base in _GRID):
        return _all(0 if base in ("%tid", "%ctaid") else 1 if base != "%ntid" else 0)
    if base == "%tid" and axis:
        thread = warp * 32 + _LANES
        x, y = plan.block[0], plan.block[1]
        return {"x": thread % x, "y": thread // x % y, "z": thread // (x * y)}[axis]
    if base in _GRID and axis in ("x", "y", "z"):
        k = "xyz".index(axis)
        sizes = {
            "%ntid": plan.block,
            "%nctaid": plan.grid,
            "%cluster_nctaid": plan.cluster,
            "%nclusterid": tuple(g // c for g, c in zip(plan.grid, plan.cluster, strict=True)),
        }[base]
        return _all(sizes[k])
    single = {
        "%laneid": None,
        "%warpid": warp,
        "%nwarpid": 64,
        "%nsmid": 1,
        "%total_smem_size": plan.shared_bytes,
        "%is_explicit_cluster": int(plan.explicit_cluster),
        "%cluster_nctarank": plan.cluster[0] * plan.cluster[1] * plan.cluster[2],
        "%dynamic_smem_size": plan.dynamic_bytes,
        "%aggr_smem_size": plan.shared_end,
        "%reserved_smem_offset_end": 0x400,
        "%reserved_smem_offset_cap": 0x400,
        "%envreg1": GRID_WORKSPACE >> 32,
        "%envreg2": GRID_WORKSPACE & 0xFFFFFFFF,
    }
    if name == "%laneid":
        return _LANES.copy()
    if name in single:
        return _all(single[name])
    return _all(0) if name in _ZERO else None


def _all(number: int) -> np.ndarray:
    return np.full(32, number, np.uint64)


_ANY = Plan((1, 1, 1), (32, 1, 1), (1, 1, 1), 0, 0, 1, 1, 1, False, 1)
