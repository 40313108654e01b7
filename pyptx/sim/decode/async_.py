"""cp.async, bulk copies and reductions, st.async, red.async, st.bulk, and their groups."""

from __future__ import annotations

from pyptx.sim.actions import asynchronous as act
from pyptx.sim.actions.basic import Action, Address, Nop
from pyptx.sim.decode import decodes, type_words
from pyptx.sim.decode.mbarrier import place
from pyptx.sim.memory.args import size_of
from pyptx.sim.symbols.operands import Operands

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
        return act.CpArrive(place(o, "mb"), ".noinc" in words)
    to, source = place(o, "d"), o.address("a", "global")
    skip = o.value("ign") if "ign" in o else None
    return act.CpAsync(to, source, o.number("size"), o.value("sz") if "sz" in o else None, skip,
                       skip is not None and o.negated("ign"))


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
    way = "store" if to == ".global" else "load" if source == ".global" else "peer"
    target, origin = (_in(o, name, space) for name, space in (("d", to), ("a", source)))
    barrier = None if way == "store" else _in(o, "mb", to)
    def optional(name):
        return o.value(name) if name in o else None
    reduction = _reduction(o, words) if ".reduce" in words else None
    return act.BulkCopy(way, target, origin, o.value("sz"), barrier, reduction,
                        optional("mask"), optional("bm"), optional("l"), optional("r"))


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
        return act.Send(o.address("a", "global" if ".global" in words else ""), o.values("b"), size, None, reduction)
    space = ".shared::cluster"
    if space in words:
        return act.Send(place(o, "a", space), o.values("b"), size, place(o, "mb", space), reduction)
    return act.Send(o.address("a", ""), o.values("b"), size, o.address("mb", ""), reduction)
