"""Who waits where, for whom, and why it may never come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyptx.errors import SimulationError
from pyptx.sim.actions import asynchronous as act
from pyptx.sim.actions.tcgen05 import TmemAlloc
from pyptx.sim.faults.accesses import cta_name, text_of
from pyptx.sim.faults.waits import MOST, mbarrier_text
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program

__all__ = ["Group", "deadlock", "doing", "too_long"]


@dataclass(frozen=True)
class Group:
    """Lanes of a warp that are at one place.

    Attributes:
        barrier, arrived, expected: the CTA barrier they wait at, in warps.
        address, word, phase: the mbarrier of the first lane, its 8 bytes, the phase it waits for the end of.
        missing: lanes of the warp that have not come to the cluster barrier.
        registers, free: of a thread of the warp; in the pool of the CTA (setmaxnreg).
    """

    cta: int
    warp: int
    lanes: int
    instruction: int
    state: str                          # ready, barrier, parked, waiting
    barrier: int = 0
    arrived: int = 0
    expected: int = 0
    live: int = 0xFFFFFFFF
    address: int = 0
    word: int = 0
    phase: int = 0
    missing: int = 0
    registers: int = 0
    free: int = 0


def deadlock(program: Program, plan: Plan, ctas: list[int], groups: list[Group]) -> SimulationError:
    """Every live thread of a cluster (of a CTA, where there are none) waits: who, where, for what."""
    whose = f"CTA {cta_name(plan, ctas[0])}" if len(ctas) == 1 else \
        f"the cluster of CTAs {', '.join(cta_name(plan, c) for c in ctas)}"
    lines = [f"deadlock: every thread of {whose} that has not exited waits", *_lines(program, plan, groups)]
    for cta in ctas:
        here = {g.warp for g in groups if g.cta == cta}
        gone = [w for w in range(plan.warps) if w not in here]
        if gone:
            where = f" of CTA {cta_name(plan, cta)}" if len(ctas) > 1 else ""
            lines.append(f"    {_warps(gone)}{where} exited")
    culprit, hint = next(_guesses(program, plan, ctas, groups), (None, None))
    waiting = list(dict.fromkeys(g.instruction for g in ([culprit, *groups] if culprit else groups)))
    return SimulationError("\n".join(lines), at=program.instructions[waiting[0]].place if waiting else None, hint=hint,
                           kind="deadlock", instructions=waiting)


def standing(program: Program, plan: Plan, ctas: list[int], groups: list[Group]) -> str:
    """Where a run was when somebody lost patience."""
    names = ", ".join(cta_name(plan, cta) for cta in ctas)
    return "\n".join([f"the simulator was in CTA {names}:", *_lines(program, plan, groups),
                      "max_steps= of a launch ends one that takes too many steps, and k.debug(...) walks through it"])


def too_long(program: Program, plan: Plan, cta: int, groups: list[Group]) -> SimulationError:
    """`max_steps` are over."""
    lines = [f"gave up after max_steps={plan.max_steps} warp-instructions, in CTA {cta_name(plan, cta)}",
             *_lines(program, plan, [g for g in groups if g.cta == cta])]
    first = program.instructions[groups[0].instruction] if groups else None
    return SimulationError("\n".join(lines), at=first.place if first else None,
                           hint="does a loop never end, or wait for another CTA?", kind="steps",
                           instructions=list(dict.fromkeys(g.instruction for g in groups)))


def _guesses(program: Program, plan: Plan, ctas: list[int], groups: list[Group]) -> Iterator[tuple[Group, str]]:
    """Who waits for what, and what may be wrong, the likeliest first."""
    at = {(g.instruction, g.barrier): g for g in groups if g.state == "barrier"}
    for g in sorted((g for g in groups if isinstance(_action(program, g), act.MbarrierWait)), key=_unlikely):
        yield g, _about_mbarrier(program, plan, g, groups)
    for g in groups:
        if isinstance(_action(program, g), act.ClusterWait):
            late = sorted({(o.cta, o.warp) for o in groups if o.missing})
            if late:
                who = ", ".join(f"warp {w} of CTA {cta_name(plan, c)}" for c, w in late)
                yield g, f"{who} did not come to the cluster barrier; every thread that has not exited arrives"
    if len({b for _, b in at}) < len(at):
        yield next(iter(at.values())), ("threads wait at the same barrier in different places; is a barrier inside a "
                                        "branch that only some take?")
    for g in groups:
        if g.state == "barrier" and g.expected > g.arrived:
            yield g, f"barrier {g.barrier} waits for {32 * g.expected} threads; {32 * g.arrived} came"
        action = _action(program, g)
        if isinstance(action, act.SetMaxRegisters):
            yield g, (f"setmaxnreg.inc waits for {action.count - g.registers} more registers a thread and the CTA has "
                      f"{g.free} free; another warpgroup gives some back with setmaxnreg.dec, or .maxnreg is larger")


def _action(program: Program, group: Group):
    if group.state != "waiting" or group.instruction >= len(program.actions):
        return None
    return program.actions[group.instruction]


def _counts(word: int) -> tuple[int, int, int]:
    """Of an mbarrier: arrivals to come, those of a phase, bytes to come."""
    return word & MOST, word >> 20 & MOST, (word >> 40 & 0x1FFFFF) - (1 << 21 if word >> 60 & 1 else 0)


def _unlikely(group: Group) -> int:
    """How little an mbarrier that is waited for explains: wrong bytes stop a phase by themselves, some arrivals too few
    are a wrong count or a role that went wrong, and none at all may be for what another role waits for."""
    pending, expected, tx = _counts(group.word)
    return 0 if tx and not pending else 1 if tx else 2 if pending < expected else 3


def _about_mbarrier(program: Program, plan: Plan, group: Group, groups: list[Group]) -> str:
    name = _symbol(program, group.address)
    pending, expected, tx = _counts(group.word)
    exited = plan.warps - len({g.warp for g in groups if g.cta == group.cta})
    gone = f"; {exited} warps have exited" if exited else ""
    if tx and not pending:
        if tx > 0:
            return (f"all arrivals at {name} came, but {tx} bytes did not: does expect_tx ask for more bytes than "
                    "the copies that name it bring, or was a copy not started?")
        return f"{-tx} bytes more came to {name} than expect_tx asked for"
    if pending == expected and not tx:
        round_ = f"; do more than {expected} arrive in a round? They end phases too early" if expected > 1 else ""
        return (f"nobody arrived at {name} in this phase{gone}; a wait for a slot that is empty from the start "
                f"takes the other parity (1){round_}")
    if pending == expected:
        return f"bytes came to {name} or are expected, but nobody arrived{gone}"
    return (f"{name} was initialised with {expected} arrivals and {expected - pending} came{gone}; is the count that "
            "of the threads which arrive?")


def _symbol(program: Program, address: int) -> str:
    """`the mbarrier full+8 (0x408)`: by the shared variable it lies in."""
    offset = address & 0xFFFFFF
    variables = {}
    for _, scope in program.names.instructions:
        while scope is not None:
            variables.update({v.address: v for v in scope.variables.values() if v.space == "shared" and v.address})
            scope = scope.parent
    below = max((a for a in variables if a <= offset), default=None)
    name = ""
    if below is not None and (offset - below < variables[below].size or not variables[below].size):
        name = f" {variables[below].name}{f'+{offset - below}' if offset > below else ''}"
    return f"the mbarrier{name} (0x{offset:x}{f' of rank {address >> 24}' if address >> 24 else ''})"


def _waits_for(program: Program, group: Group) -> str:
    match _action(program, group):
        case act.MbarrierWait():
            return (f"waits for the end of phase {group.phase} of {_symbol(program, group.address)}, which is in "
                    f"{mbarrier_text(group.word)}")
        case act.ClusterWait():
            return "waits for the other threads of the cluster"
        case act.SetMaxRegisters(count):
            return f"waits for {count - group.registers} more registers a thread ({group.free} are free)"
        case TmemAlloc(2):
            return "waits until the other CTA of the pair allocates too and both have columns of tensor memory free"
        case TmemAlloc():
            return "waits until other warps of the CTA free columns of tensor memory"
    return "waits"


def doing(program: Program, group: Group) -> str:
    """What the lanes of a group do: run, or wait, and for what."""
    match group.state:
        case "waiting":
            return _waits_for(program, group)
        case "barrier":
            return f"waits at barrier {group.barrier} for {group.expected} warps, {group.arrived} came"
        case "parked":
            return f"waits for the other lanes of its membermask (live lanes 0x{group.live:08x})"
    return "runs"


def _lines(program: Program, plan: Plan, groups: list[Group]) -> list[str]:
    """One line for each place and kind of wait, with the warps that are there."""
    merged: dict[tuple, list[Group]] = {}
    for g in groups:
        for_what = g.barrier if g.state == "barrier" else (g.address, g.phase) if g.state == "waiting" else 0
        merged.setdefault((g.cta, g.instruction, g.state, for_what, g.lanes), []).append(g)
    several = len({g.cta for g in groups}) > 1
    lines = []
    for (cta, instruction, _, _, lanes), members in merged.items():
        node = program.instructions[instruction] if instruction < len(program.instructions) else None
        who = _warps([g.warp for g in members]) + ("" if lanes == 0xFFFFFFFF else f" lanes 0x{lanes:08x}")
        if several:
            who += f" of CTA {cta_name(plan, cta)}"
        group = members[0]
        what = doing(program, group)
        if who.startswith("warps"):
            what = what.replace("waits", "wait", 1).replace("runs", "run", 1)
        place = f" ({node.place})" if node is not None and node.place is not None else ""
        lines.append(f"    {who} {what}: {text_of(node) if node is not None else 'end'}{place}")
    return lines


def _warps(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"warp {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"warps {numbers[0]}..{numbers[-1]}"
    return "warps " + ", ".join(map(str, numbers))
