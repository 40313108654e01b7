"""Deadlock reports: where each warp waits, for what, and the likely cause."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyptx.errors import SimulationError
from pyptx.sim import actions as act
from pyptx.sim.actions import TmemAlloc
from pyptx.sim.faults.mbarriers import MOST, mbarrier_text
from pyptx.sim.faults.messages import cta_name, text_of
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program

__all__ = ["Group", "deadlock", "activity", "too_long"]


@dataclass(frozen=True)
class Group:
    """Lanes of a warp at an instruction.

    Attributes:
        barrier, arrived, expected: CTA barrier they wait at; warps that have arrived and that are expected.
        address, word, phase: mbarrier of the first lane, its 8 bytes, and the phase that must complete.
        missing: lanes of the warp that have not arrived at the cluster barrier.
        registers, free: registers per thread of the warp, and free ones in the pool of the CTA (setmaxnreg).
    """

    cta: int
    warp: int
    lanes: int
    instruction: int
    state: str  # ready, barrier, parked, waiting
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
    """Make the error for a cluster, or a CTA without clusters, in which every live thread waits."""
    whose = (
        f"CTA {cta_name(plan, ctas[0])}"
        if len(ctas) == 1
        else f"the cluster of CTAs {', '.join(cta_name(plan, c) for c in ctas)}"
    )
    lines = [f"deadlock: every thread of {whose} that has not exited waits", *_lines(program, plan, groups)]
    for cta in ctas:
        here = {g.warp for g in groups if g.cta == cta}
        gone = [w for w in range(plan.warps) if w not in here]
        if gone:
            where = f" of CTA {cta_name(plan, cta)}" if len(ctas) > 1 else ""
            lines.append(f"    {_warps(gone)}{where} exited")
    culprit, hint = next(_causes(program, plan, ctas, groups), (None, None))
    waiting = list(dict.fromkeys(g.instruction for g in ([culprit, *groups] if culprit else groups)))
    return SimulationError(
        "\n".join(lines),
        at=program.instructions[waiting[0]].place if waiting else None,
        hint=hint,
        kind="deadlock",
        instructions=waiting,
    )


def progress_report(program: Program, plan: Plan, ctas: list[int], groups: list[Group]) -> str:
    """Describe where an interrupted launch was."""
    names = ", ".join(cta_name(plan, cta) for cta in ctas)
    return "\n".join(
        [
            f"the simulator was in CTA {names}:",
            *_lines(program, plan, groups),
            "pass max_steps= to limit a launch, or step through it with k.debug(...)",
        ]
    )


def too_long(program: Program, plan: Plan, cta: int, groups: list[Group]) -> SimulationError:
    """Make the error for a launch that exceeds `max_steps`."""
    lines = [
        f"stopped after max_steps={plan.max_steps} warp instructions, in CTA {cta_name(plan, cta)}",
        *_lines(program, plan, [g for g in groups if g.cta == cta]),
    ]
    first = program.instructions[groups[0].instruction] if groups else None
    return SimulationError(
        "\n".join(lines),
        at=first.place if first else None,
        hint="check for an infinite loop, or a loop that waits for another CTA",
        kind="steps",
        instructions=list(dict.fromkeys(g.instruction for g in groups)),
    )


def _causes(program: Program, plan: Plan, ctas: list[int], groups: list[Group]) -> Iterator[tuple[Group, str]]:
    """Yield possible causes, the most likely first: a group that waits, and a hint."""
    at = {(g.instruction, g.barrier): g for g in groups if g.state == "barrier"}
    for g in sorted((g for g in groups if isinstance(_action(program, g), act.MbarrierWait)), key=_unlikely):
        yield g, _about_mbarrier(program, plan, g, groups)
    for g in groups:
        if isinstance(_action(program, g), act.ClusterWait):
            late = sorted({(o.cta, o.warp) for o in groups if o.missing})
            if late:
                who = ", ".join(f"warp {w} of CTA {cta_name(plan, c)}" for c, w in late)
                yield g, f"{who} did not arrive at the cluster barrier; every thread that has not exited must arrive"
    if len({b for _, b in at}) < len(at):
        yield (
            next(iter(at.values())),
            "threads wait at the same barrier at different instructions; is it inside a branch that only some take?",
        )
    for g in groups:
        if g.state == "barrier" and g.expected > g.arrived:
            yield g, f"barrier {g.barrier} expects {32 * g.expected} threads; {32 * g.arrived} arrived"
        action = _action(program, g)
        if isinstance(action, act.SetMaxRegisters):
            yield (
                g,
                (
                    f"setmaxnreg.inc needs {action.count - g.registers} more registers per thread and the CTA has "
                    f"{g.free} free; release some in another warpgroup with setmaxnreg.dec, or raise .maxnreg"
                ),
            )


def _action(program: Program, group: Group) -> act.Action | None:
    if group.state != "waiting" or group.instruction >= len(program.actions):
        return None
    return program.actions[group.instruction]


def _counts(word: int) -> tuple[int, int, int]:
    """Pending arrivals, arrivals per phase and pending bytes of an mbarrier."""
    return word & MOST, word >> 20 & MOST, (word >> 40 & 0x1FFFFF) - (1 << 21 if word >> 60 & 1 else 0)


def _unlikely(group: Group) -> int:
    """Sort key of mbarrier waits, the most telling first.

    A wrong byte count blocks a phase by itself; too few arrivals are a wrong count or a role that went wrong; no arrival
    at all may be the consequence of another role's wait.
    """
    pending, expected, tx = _counts(group.word)
    return 0 if tx and not pending else 1 if tx else 2 if pending < expected else 3


def _about_mbarrier(program: Program, plan: Plan, group: Group, groups: list[Group]) -> str:
    name = _symbol(program, group.address)
    pending, expected, tx = _counts(group.word)
    exited = plan.warps - len({g.warp for g in groups if g.cta == group.cta})
    gone = f"; {exited} warps have exited" if exited else ""
    if tx and not pending:
        if tx > 0:
            return (
                f"all threads arrived at {name}, but {tx} bytes are pending: does expect_tx name more bytes than "
                "its copies transfer, or was a copy not issued?"
            )
        return f"copies transferred {-tx} bytes more to {name} than expect_tx names"
    if pending == expected and not tx:
        round_ = f"; if more than {expected} arrive per phase, phases complete early" if expected > 1 else ""
        return (
            f"no thread arrived at {name} in this phase{gone}; the first wait for a slot that starts empty must "
            f"use the other parity (1){round_}"
        )
    if pending == expected:
        return f"bytes were transferred to {name} or are expected, but no thread arrived{gone}"
    return (
        f"{name} was initialized with {expected} arrivals; {expected - pending} arrived{gone}. Does the count match "
        "the number of threads that arrive?"
    )


def _symbol(program: Program, address: int) -> str:
    """Name an mbarrier by the shared variable that contains it: `the mbarrier full+8 (0x408)`."""
    offset = address & 0xFFFFFF
    variables = {v.address: v for v in program.shared_variables if v.address}
    below = max((a for a in variables if a <= offset), default=None)
    name = ""
    if below is not None and (offset - below < variables[below].size or not variables[below].size):
        name = f" {variables[below].name}{f'+{offset - below}' if offset > below else ''}"
    return f"the mbarrier{name} (0x{offset:x}{f' of rank {address >> 24}' if address >> 24 else ''})"


def _waits_for(program: Program, group: Group) -> str:
    match _action(program, group):
        case act.MbarrierWait():
            return (
                f"waits for phase {group.phase} of {_symbol(program, group.address)} to complete; it is in "
                f"{mbarrier_text(group.word)}"
            )
        case act.ClusterWait():
            return "waits for the other threads of the cluster"
        case act.SetMaxRegisters(count):
            return f"waits for {count - group.registers} more registers per thread ({group.free} are free)"
        case TmemAlloc(2):
            return "waits until the other CTA of the pair allocates too and both have free columns of tensor memory"
        case TmemAlloc():
            return "waits until other warps of the CTA free columns of tensor memory"
    return "waits"


def activity(program: Program, group: Group) -> str:
    """Describe what the lanes of a group do: run, or wait for something."""
    match group.state:
        case "waiting":
            return _waits_for(program, group)
        case "barrier":
            return f"waits at barrier {group.barrier} for {group.expected} warps; {group.arrived} arrived"
        case "parked":
            return f"waits for the other lanes of its membermask (live lanes 0x{group.live:08x})"
    return "runs"


def _lines(program: Program, plan: Plan, groups: list[Group]) -> list[str]:
    """Return a line for each instruction and kind of wait, with its warps."""
    merged: dict[tuple, list[Group]] = {}
    for g in groups:
        awaited = g.barrier if g.state == "barrier" else (g.address, g.phase) if g.state == "waiting" else 0
        merged.setdefault((g.cta, g.instruction, g.state, awaited, g.lanes), []).append(g)
    several = len({g.cta for g in groups}) > 1
    lines = []
    for (cta, instruction, _, _, lanes), members in merged.items():
        node = program.instructions[instruction] if instruction < len(program.instructions) else None
        who = _warps([g.warp for g in members]) + ("" if lanes == 0xFFFFFFFF else f" lanes 0x{lanes:08x}")
        if several:
            who += f" of CTA {cta_name(plan, cta)}"
        group = members[0]
        what = activity(program, group)
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
