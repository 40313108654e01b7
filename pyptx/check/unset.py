"""Registers that are read before they are written, where it matters.

A path on which a register may be read too early is often never taken, or what is read is not used: PTX of compilers is
full of such registers, and right. So it is tried out: the kernel runs again with other bits in these registers to begin
with. Where the results stay the same, nothing that matters was read; where they do not, each register is tried alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod

from pyptx.check.compare import difference
from pyptx.check.finding import Finding
from pyptx.check.places import Places
from pyptx.check.trial import Outcome, Schedule, Trial
from pyptx.sim import Program
from pyptx.sim.actions.uses import sources, targets

__all__ = ["unset"]

PATTERNS = (0xFFFF_FFFF, 0x7E7E_7E7E)           # NaN, -1 and true everywhere; large, and true in some lanes
MOST_REGISTERS = 32                             # that are tried alone
MOST_PLACES = 3


@dataclass(frozen=True, slots=True)
class _Effect:
    """What other bits in registers change: in words, the array and the element it shows in; the bits."""

    text: str
    tensor: str | None
    index: tuple[int, ...] | None
    pattern: int


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs that are compared with one of registers that begin as zero."""

    trial: Trial
    schedule: Schedule
    base: Outcome

    def effect(self, registers: Iterable[int], threads: range | None = None, patterns: Iterable[int] = PATTERNS
               ) -> _Effect | None:
        """What other bits in the registers change, in all threads or some; None: nothing."""
        base = self.base
        limit = None if base.counters is None else 8 * int(base.counters.issues.sum()) + 100_000
        for pattern in patterns:
            outcome = self.trial.run(self.schedule, left=dict.fromkeys(registers, pattern), left_threads=threads,
                                     max_steps=limit)
            if outcome.error is not None:
                if base.error is None or base.error.kind != outcome.error.kind:
                    return _Effect(f"the run ends in an error: {outcome.error.message.splitlines()[0]}", None, None,
                                   pattern)
            elif base.error is not None:
                return _Effect("the run ends without the error it has with zeros", None, None, pattern)
            else:
                for name, array in base.arrays.items():
                    if (differs := difference(array, outcome.arrays[name])) is not None:
                        tensor = name.removesuffix("_tma_desc")
                        where = f"{tensor}[{', '.join(map(str, differs.index))}]"
                        return _Effect(f"{where} is {differs.values[1]} and not {differs.values[0]}", tensor,
                                       differs.index, pattern)
        return None

    def thread(self, register: int, pattern: int, count: int) -> int | None:
        """The first thread whose register matters; None where only several together do."""
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            if self.effect([register], range(low, middle), (pattern,)) is not None:
                high = middle
            elif self.effect([register], range(middle, high), (pattern,)) is not None:
                low = middle
            else:
                return None
        return low


def unset(trial: Trial, schedule: Schedule, base: Outcome, places: Places) -> list[Finding]:
    """One finding for each register that nobody wrote and that the outcome of a run depends on.

    Args:
        base: the outcome in that schedule, of registers that begin as zero.
    """
    runs, registers = _Runs(trial, schedule, base), sorted(trial.program.undefined)
    if not registers or (together := runs.effect(registers)) is None:
        return []
    alone = ((register, runs.effect([register])) for register in registers[:MOST_REGISTERS])
    found = [(register, effect) for register, effect in alone if effect is not None]
    return [_finding(runs, register, effect, places) for register, effect in found or [(registers[0], together)]]


def _finding(runs: _Runs, register: int, effect: _Effect, places: Places) -> Finding:
    program, counters, plan = runs.trial.program, runs.base.counters, runs.trial.plan
    name = program.names.registers[register].name
    reads = [i for i in _early_reads(program, register) if counters is None or counters.issues[i]]
    writes = [i for i, action in enumerate(program.actions) if any(r.index == register for r in targets(action))]
    at = [places.of(i, "reads it") for i in reads[:MOST_PLACES]]
    at += [places.of(i, "writes it, but not on every path before that") for i in writes if i not in reads][:MOST_PLACES]
    threads = prod(plan.block)
    thread = runs.thread(register, effect.pattern, prod(plan.grid) * threads)
    who = "" if thread is None else (f", first by warp {thread % threads // 32}, lane {thread % threads % 32} of "
                                     f"CTA {thread // threads}")
    never = "and nothing writes it" if not writes else "before it is written"
    return Finding("uninitialised-register", "error",
                   f"{name} is read {never}{who}. With other bits in it than zeros to begin with the run is another "
                   f"one: {effect.text}.",
                   f"write {name} on every path to the read, such as by mov at the start; an instruction under a guard "
                   "writes only where the guard is true", tuple(at), effect.tensor, effect.index, (str(runs.schedule),))


def _early_reads(program: Program, register: int) -> Iterator[int]:
    """Instructions that read a register, to which a path leads that does not write it in all lanes."""
    flow = program.flow
    block_at = {start: block for block, start in enumerate(flow.starts[:-1])}
    waiting, seen = [0, *(block_at[body.start] for body in program.names.bodies.values())], set()
    found = set()
    while waiting:
        block = waiting.pop()
        if block in seen or block >= len(flow.after):
            continue
        seen.add(block)
        for i in range(flow.starts[block], flow.starts[block + 1]):
            action, guard = program.actions[i], program.guards[i]
            if any(r.index == register for r in sources(action)) or (guard and guard[0].index == register):
                found.add(i)
            if guard is None and any(r.index == register for r in targets(action)):
                break
        else:
            waiting += flow.after[block]
    return iter(sorted(found))
