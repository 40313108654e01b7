"""Clusters: mapa, getctarank, their barrier; setmaxnreg; clusterlaunchcontrol."""

from __future__ import annotations

from pyptx.sim.actions import asynchronous as act
from pyptx.sim.actions.basic import Action, Compute, Const, Move
from pyptx.sim.actions.means import Apply, Leaf
from pyptx.sim.decode import decodes
from pyptx.sim.decode.mbarrier import place
from pyptx.sim.symbols.operands import Operands

_RANK = 24                      # bit of a shared address where the rank begins, also of a generic one


@decodes("mapa")
def mapa(o: Operands) -> Action | None:
    """The same place in another CTA: the rank is put into the upper bits."""
    type_name = o.type("d")
    width = 64 if type_name[-2:] == "64" else 32
    kind = f"u{width}"
    rest = Leaf(Const(~(0xFF << _RANK) & (1 << width) - 1, width), kind)
    own = Apply.of("and", Leaf(o.value("a"), kind), rest, type=kind)
    rank = Apply.of("shl", Leaf(o.value("b"), "u32"), Leaf(Const(_RANK, 32), "u32"), type="u32")
    if width == 64:
        rank = Apply.of("resize", rank, type="u32", result="u64")
    return Compute(((o.target("d"), Apply.of("or", own, rank, type=kind)),))


@decodes("getctarank")
def getctarank(o: Operands) -> Action | None:
    wide = o.type("a")[-2:] == "64"
    kind = "u64" if wide else "u32"
    low = Leaf(o.value("a"), kind)
    if wide:
        low = Apply.of("resize", low, type="u64", result="u32")
    return Compute(((o.target("d"), Apply.of("shr", low, Leaf(Const(_RANK, 32), "u32"), type="u32")),))


@decodes("barrier")
def barrier(o: Operands) -> Action | None:
    words = set(o.instruction.modifiers)
    if ".cluster" not in words:
        return None
    return act.ClusterArrive() if ".arrive" in words else act.ClusterWait()


@decodes("setmaxnreg")
def setmaxnreg(o: Operands) -> Action | None:
    count = o.number("n")
    if count % 8 or not 24 <= count <= 256:
        raise o.refuse(f"{count} registers; expected a multiple of 8 from 24 to 256")
    return act.SetMaxRegisters(count, ".inc" in o.instruction.modifiers)


@decodes("clusterlaunchcontrol")
def clusterlaunchcontrol(o: Operands) -> Action | None:
    words = set(o.instruction.modifiers)
    if ".try_cancel" in words:
        return act.TryCancel(place(o, "a"), place(o, "mb"), ".multicast::cluster::all" in words)
    handle = o.value("h")
    if ".is_canceled" in words:
        return act.IsCanceled(o.target("p"), handle)
    if ".get_first_ctaid" in words:
        return Move(o.targets("d"), (handle,))
    axis = next((k for k, a in enumerate("xyz") if f".get_first_ctaid::{a}" in words), None)
    return None if axis is None else Move((*(None,) * axis, o.target("d"), *(None,) * (3 - axis)), (handle,))
