"""Position of a thread in the grid: `ptx.tid.x`, `ptx.ctaid.y`, `ptx.laneid`, `ptx.global_id()`.

They are the special registers of `ptx.special`, spelled without a call. An operator, an index or a comparison that uses
one copies it into a register first (`mov.u32 %r0, %tid.x`).
"""

from __future__ import annotations

from pyptx import reg
from pyptx.ptx._checked import one_of
from pyptx.ptx._uncalled import Uncalled
from pyptx.ptx.special import sreg
from pyptx.reg import Reg
from pyptx.tracing.trace import emit
from pyptx.types import u32

__all__ = [
    "cluster_ctaid",
    "cluster_ctarank",
    "cluster_nctaid",
    "cluster_nctarank",
    "clusterid",
    "ctaid",
    "global_id",
    "laneid",
    "nclusterid",
    "nctaid",
    "ntid",
    "tid",
    "warpid",
]


class Extent(Uncalled):
    """A special register with the components `x`, `y` and `z`, each a u32 register."""

    x: Reg
    y: Reg
    z: Reg
    _name: str

    def __init__(self, name: str):
        self.x, self.y, self.z = (sreg(f"%{name}.{axis}") for axis in "xyz")
        self._name = name

    @property
    def _instead(self) -> str:
        return f"it has the components ptx.{self._name}.x, ptx.{self._name}.y and ptx.{self._name}.z"

    def __repr__(self) -> str:
        return f"ptx.{self._name}"


tid: Extent = Extent("tid")
ntid: Extent = Extent("ntid")
ctaid: Extent = Extent("ctaid")
nctaid: Extent = Extent("nctaid")
clusterid: Extent = Extent("clusterid")
nclusterid: Extent = Extent("nclusterid")
cluster_ctaid: Extent = Extent("cluster_ctaid")
cluster_nctaid: Extent = Extent("cluster_nctaid")
laneid: Reg = sreg("%laneid")
warpid: Reg = sreg("%warpid")
cluster_ctarank: Reg = sreg("%cluster_ctarank")
cluster_nctarank: Reg = sreg("%cluster_nctarank")


def global_id(axis: str = "x") -> Reg:
    """Return the index of the thread in the grid, ctaid * ntid + tid, in a new u32 register.

    Args:
        axis: "x", "y" or "z".
    Raises:
        ShapeError: another axis.
    Examples:
        >>> @kernel
        ... def position():
        ...     print(ptx.global_id())
        >>> print(position.ptx())
        Reg(%r0, u32)
        .version 8.5
        ...
            mov.u32 %r1, %ctaid.x;
            mov.u32 %r2, %ntid.x;
            mov.u32 %r3, %tid.x;
            mad.lo.u32 %r0, %r1, %r2, %r3;
        }
    """
    one_of(axis, ("x", "y", "z"), "axis")
    result = reg.scalar(u32)
    cta, threads, thread = (reg.readable(getattr(extent, axis)) for extent in (ctaid, ntid, tid))
    emit("mad", "lo.u32", result, cta, threads, thread)
    return result
