"""Special registers, one row each. They are usually read with `mov`.

Source: PTX ISA "Special Registers"; types and versions measured with ptxas 13.5.
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.isa.targets import Needs, needs

__all__ = ["SPECIAL", "SpecialRegister", "lookup"]

_32, _64 = ("u32", "s32", "b32"), ("u64", "b64")
_OLD = ("u32", "u16", "s32", "b16", "b32")          # 16-bit reads are from PTX 1.x and still accepted


@frozen
class SpecialRegister:
    """A predefined, read-only register.

    Attributes:
        name: with its percent sign; of a vector, without a component.
        types: `mov` types that may read it, the usual one first.
        needs: targets and version.
        summary: one line.
        components: ("x", "y", "z", "w") for a vector, else empty.
    """

    name: str
    types: tuple[str, ...]
    needs: Needs
    summary: str
    components: tuple[str, ...] = ()


def _row(name: str, types: tuple[str, ...], summary: str, need: str = "", vector: bool = False) -> SpecialRegister:
    return SpecialRegister(name, types, needs(need), summary, ("x", "y", "z", "w") if vector else ())


_CLUSTER, _RESERVED = "sm_90 ptx_78", "sm_80 ptx_76"
_ROWS = (
    _row("%tid", _OLD, "thread index in the CTA", vector=True),
    _row("%ntid", _OLD, "threads of the CTA in each dimension", vector=True),
    _row("%ctaid", _OLD, "CTA index in the grid", vector=True),
    _row("%nctaid", _OLD, "CTAs of the grid in each dimension", vector=True),
    _row("%laneid", _32, "lane in the warp, 0..31"),
    _row("%warpid", _32, "warp slot; may change while running, not tid / 32 by contract"),
    _row("%nwarpid", _32, "number of warp slots"),
    _row("%smid", _32, "SM number; may change while running"),
    _row("%nsmid", _32, "bound of SM numbers; there may be gaps"),
    _row("%gridid", ("u64", "u32", "u16", "s32", "b16", "b32", "b64"), "number of the grid in its context"),
    _row("%is_explicit_cluster", ("pred",), "true when launched with explicit cluster dimensions", _CLUSTER),
    _row("%clusterid", _32, "cluster index in the grid", _CLUSTER, True),
    _row("%nclusterid", _32, "clusters of the grid in each dimension", _CLUSTER, True),
    _row("%cluster_ctaid", _32, "CTA index in the cluster", _CLUSTER, True),
    _row("%cluster_nctaid", _32, "CTAs of the cluster in each dimension", _CLUSTER, True),
    _row("%cluster_ctarank", _32, "flat CTA index in the cluster", _CLUSTER),
    _row("%cluster_nctarank", _32, "CTAs in the cluster", _CLUSTER),
    _row("%lanemask_eq", _32, "1 << laneid"),
    _row("%lanemask_le", _32, "mask of lanes up to the own one"),
    _row("%lanemask_lt", _32, "mask of lanes below the own one"),
    _row("%lanemask_ge", _32, "mask of lanes from the own one"),
    _row("%lanemask_gt", _32, "mask of lanes above the own one"),
    _row("%clock", _32, "cycle counter, low 32 bits"),
    _row("%clock_hi", _32, "cycle counter, high 32 bits", "ptx_50"),
    _row("%clock64", _64, "cycle counter"),
    *(_row(f"%pm{i}", _32, "performance counter", "ptx_30" if i >= 4 else "") for i in range(8)),
    *(_row(f"%pm{i}_64", _64, "performance counter, 64 bits", "sm_50 ptx_40") for i in range(8)),
    *(_row(f"%envreg{i}", _32, "set by the driver") for i in range(32)),
    _row("%globaltimer", _64, "timer in ns", "sm_30 ptx_31"),
    _row("%globaltimer_lo", _32, "timer in ns, low 32 bits", "sm_30 ptx_31"),
    _row("%globaltimer_hi", _32, "timer in ns, high 32 bits", "sm_30 ptx_31"),
    _row("%reserved_smem_offset_begin", _32, "start of the shared memory the system reserves", _RESERVED),
    _row("%reserved_smem_offset_end", _32, "end of the shared memory the system reserves", _RESERVED),
    _row("%reserved_smem_offset_cap", _32, "capacity of the shared memory the system reserves", _RESERVED),
    _row("%reserved_smem_offset_0", _32, "offset in the reserved shared memory", _RESERVED),
    _row("%reserved_smem_offset_1", _32, "offset in the reserved shared memory", _RESERVED),
    _row("%total_smem_size", _32, "shared bytes of the CTA, static and dynamic, without the reserved ones", "ptx_41"),
    _row("%aggr_smem_size", _32, "shared bytes of the CTA with the reserved ones", "sm_90 ptx_81"),
    _row("%dynamic_smem_size", _32, "dynamic shared bytes of the CTA", "ptx_41"),
    _row("%current_graph_exec", _64, "handle of the running device graph, 0 if none", "sm_50 ptx_80"),
    _row("%perctamemoryoffset", _64, "needs .minperctamemory on the entry", "sm_80 ptx_94"),
    _row("%perctamemorysize", ("u32", "b32"), "needs .minperctamemory on the entry", "sm_80 ptx_94"),
)
SPECIAL: dict[str, SpecialRegister] = {row.name: row for row in _ROWS}


def lookup(name: str) -> SpecialRegister | None:
    """Return the row of a special register such as `%tid`, `%tid.x` or `%clock64`; None for other names."""
    row = SPECIAL.get(name)
    if row is None and "." in name:
        base, _, component = name.rpartition(".")
        row = SPECIAL.get(base)
        if row is not None and component not in row.components:
            return None
    return row
