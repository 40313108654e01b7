"""Warp collectives, CTA barriers and fences."""

from __future__ import annotations

from pyptx.sim.actions import Action, ActiveMask, CtaBarrier, Elect, Match, Nop, Redux, Shuffle, Vote, WarpBarrier
from pyptx.sim.decode._registry import decodes, type_words
from pyptx.sim.decode.tensor_copies import map_fence
from pyptx.sim.symbols.operands import Operands


def _one_of(o: Operands, words: str) -> str | None:
    return next((m[1:] for m in o.instruction.modifiers if m[1:] in words.split()), None)


@decodes("shfl")
def shuffle(o: Operands) -> Action | None:
    mode, data = _one_of(o, "up down bfly idx"), o.target("d")
    if ".sync" not in o.instruction.modifiers or mode is None or data is None:
        return None
    return Shuffle(mode, data, o.target("p"), o.value("a"), o.value("b"), o.value("c"), o.value("mask"))


@decodes("vote")
def vote(o: Operands) -> Action | None:
    mode = _one_of(o, "all any uni ballot")
    target = o.target("d") if "d" in o else o.target("p")
    if ".sync" not in o.instruction.modifiers or mode is None or target is None:
        return None
    return Vote(mode, target, o.value("a"), o.negated("a"), o.value("m"))


@decodes("match")
def match_(o: Operands) -> Action | None:
    mode = _one_of(o, "any all")
    return Match(mode, o.target("d"), o.target("p"), o.value("a"), o.value("m")) if mode else None


@decodes("redux")
def redux(o: Operands) -> Action | None:
    operation, data = _one_of(o, "add min max and or xor"), o.target("d")
    type_name = type_words(o.instruction.modifiers)[-1]
    if operation is None or data is None:
        return None
    modifiers = o.instruction.modifiers
    return Redux(operation, type_name, ".abs" in modifiers, ".NaN" in modifiers, data, o.value("a"), o.value("m"))


@decodes("elect")
def elect(o: Operands) -> Action | None:
    return Elect(o.target("d"), o.target("p"), o.value("m"))


@decodes("activemask")
def activemask(o: Operands) -> Action | None:
    data = o.target("d")
    return ActiveMask(data) if data is not None else None


# CTA barriers and fences --------------------------------------------------------------------------------------------


@decodes("bar", "barrier")
def barrier(o: Operands) -> Action | None:
    modifiers = set(o.instruction.modifiers)
    if ".cluster" in modifiers:
        return None
    if ".warp" in modifiers:
        return WarpBarrier(o.value(next(iter(o.bound.operands))))
    aligned = o.instruction.opcode == "bar" or ".aligned" in modifiers
    count = o.value("b") if "b" in o else None
    if ".red" in modifiers:
        mode = next(m for m in ("popc", "and", "or") if f".{m}" in modifiers)
        target = o.target("d") if "d" in o else o.target("p")
        return CtaBarrier(mode, aligned, o.value("a"), count, o.value("c"), o.negated("c"), target)
    return CtaBarrier("arrive" if ".arrive" in modifiers else "sync", aligned, o.value("a"), count)


@decodes("membar", "fence")
def fence(o: Operands) -> Action | None:
    if ".tensormap::generic" in o.instruction.modifiers and ".acquire" in o.instruction.modifiers:
        return map_fence(o)
    return Nop()  # lanes run in program order and see a single memory
