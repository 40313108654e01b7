"""Asynchronous copies and stores with their groups, mbarriers and clusters.

Primary and conditional phases of an mbarrier complete together and its reports are zero in both layouts: nothing that
can report (a fabric operation, a copy of sm_107 with a report mechanism) is simulated (PTX ISA, "Contents of the
mbarrier object").
"""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.actions import Action, Address, Apply, Compute, Const, Leaf, Move, Nop, Value
from pyptx.sim.decode._registry import decodes, type_words
from pyptx.sim.memory.arguments import size_of
from pyptx.sim.symbols.operands import Operands

__all__ = ["place"]

_OPERATIONS = frozenset("add min max inc dec and or xor".split())
_SHARED = (".shared::cta", ".shared::cluster")


@decodes("cp")
def copy(o: Operands) -> Action | None:
    words = set(o.instruction.modifiers)
    if ".tensor" in words:
        return None
    if ".bulk" in words:
        return _bulk(o, words)
    if ".commit_group" in words:
        return act.AsyncGroup("cp", "commit")
    if ".wait_group" in words:
        return act.AsyncGroup("cp", "wait", o.number("n"))
    if ".wait_all" in words:
        return act.AsyncGroup("cp", "all")
    if ".mbarrier" in words:
        return act.CpAsyncArrive(place(o, "mb"), ".noinc" in words)
    to, source = place(o, "d"), o.address("a", "global")
    skip = o.value("ign") if "ign" in o else None
    return act.CpAsync(
        to, source, o.number("size"), o.value("sz") if "sz" in o else None, skip, skip is not None and o.negated("ign")
    )


def _reduction(o: Operands, words: set[str]) -> act.Reduction:
    type_name = type_words(o.instruction.modifiers)[-1]
    operation = next(m[1:] for m in o.instruction.modifiers if m[1:] in _OPERATIONS)
    return act.Reduction(operation, type_name, operation == "add" and type_name == "f32" and ".noftz" not in words)


def _bulk(o: Operands, words: set[str]) -> Action | None:
    modifiers = o.instruction.modifiers
    if ".commit_group" in words:
        return act.AsyncGroup("bulk", "commit")
    if ".wait_group" in words:
        return act.AsyncGroup("bulk", "read" if ".read" in words else "wait", o.number("n"))
    if ".prefetch" in words:
        return Nop()
    if any(m.startswith(".mbarrier::report") for m in modifiers):
        return None
    spaces = [m for m in modifiers if m in (".global", *_SHARED)]
    to, source = spaces
    direction = "store" if to == ".global" else "load" if source == ".global" else "peer"
    target, origin = (_in(o, name, space) for name, space in (("d", to), ("a", source)))
    barrier = None if direction == "store" else _in(o, "mb", to)

    def optional(name: str) -> Value | None:
        return o.value(name) if name in o else None

    reduction = _reduction(o, words) if ".reduce" in words else None
    return act.BulkCopy(
        direction,
        target,
        origin,
        o.value("sz"),
        barrier,
        reduction,
        optional("mask"),
        optional("bm"),
        optional("l"),
        optional("r"),
    )


def _in(o: Operands, name: str, space: str) -> Address:
    return o.address(name, "global") if space == ".global" else place(o, name, space)


@decodes("st", "red")
def send(o: Operands) -> Action | None:
    words = set(o.instruction.modifiers)
    if ".bulk" in words:
        return act.StBulk(place(o, "a"), o.value("sz"))
    if ".async" not in words:
        return None
    size = size_of(type_words(o.instruction.modifiers)[-1])
    reduction = _reduction(o, words) if o.instruction.opcode == "red" else None
    if "mb" not in o:
        return act.AsyncStore(
            o.address("a", "global" if ".global" in words else ""), o.values("b"), size, None, reduction
        )
    space = ".shared::cluster"
    if space in words:
        return act.AsyncStore(place(o, "a", space), o.values("b"), size, place(o, "mb", space), reduction)
    return act.AsyncStore(o.address("a", ""), o.values("b"), size, o.address("mb", ""), reduction)


# mbarrier, and cp.async.mbarrier.arrive (in async_.py) -------------------------------------------------------------


def place(o: Operands, name: str, *words: str) -> Address:
    """Read an address in shared memory: of the own CTA (shared), of any CTA of the cluster (cluster), or generic.

    Args:
        words: modifiers that select the space; without any of them the address is generic.
    """
    present = [m for m in o.instruction.modifiers if m in (words or (".shared", ".shared::cta", ".shared::cluster"))]
    if not present:
        return o.address(name, "")
    space = "cluster" if present[0] == ".shared::cluster" else "shared"
    found = o.address(name, "shared")
    return Address(space, found.base, found.offset)


@decodes("mbarrier")
def mbarrier(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    operation, words = modifiers[0], set(modifiers)
    if operation == ".check_layout":
        return act.MbarrierLayout(o.required_target("p"), place(o, "a"), int(".layout::v1" in words))
    if any(m.startswith(".multicast") for m in modifiers):
        return None
    if operation == ".pending_count":
        return act.MbarrierPending(o.required_target("d"), o.value("st"))
    address = place(o, "a")
    match operation:
        case ".init":
            return act.MbarrierInit(address, o.value("n"), int(".layout::v1" in words))
        case ".inval":
            return act.MbarrierInval(address)
        case ".expect_tx" | ".complete_tx":
            expect = operation == ".expect_tx"
            return act.MbarrierArrive(None, address, o.value("n"), expect=expect, complete=not expect)
        case ".arrive" | ".arrive_drop":
            state = o.target("st") if "st" in o else None
            return act.MbarrierArrive(
                state,
                address,
                o.value("n") if "n" in o else None,
                expect=".expect_tx" in words,
                arrivals=int(".expect_tx" in words),
                drop=operation == ".arrive_drop",
                no_complete=".noComplete" in words,
            )
        case ".test_wait" | ".try_wait":
            kind = act.MbarrierTest if operation == ".test_wait" else act.MbarrierWait
            parity = ".parity" in words
            report = tuple(o.target(name) for name in ("rp", "rv") if name in o)
            return kind(o.target("p"), address, o.value("ph" if parity else "st"), parity, report)
    return None


# Clusters: mapa, getctarank, their barrier; setmaxnreg; clusterlaunchcontrol ---------------------------------------

_RANK = 24  # lowest bit of the CTA rank in a shared or generic address


@decodes("mapa")
def mapa(o: Operands) -> Action | None:
    """Address of the same shared memory in another CTA: the rank is inserted in the upper bits."""
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
        return act.IsCanceled(o.required_target("p"), handle)
    if ".get_first_ctaid" in words:
        return Move(o.targets("d"), (handle,))
    axis = next((k for k, a in enumerate("xyz") if f".get_first_ctaid::{a}" in words), None)
    return None if axis is None else Move((*(None,) * axis, o.target("d"), *(None,) * (3 - axis)), (handle,))
