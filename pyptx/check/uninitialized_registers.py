"""Uninitialized registers that affect the result, found by experiment.

Compilers emit many registers that may be read before they are written, on paths that are never taken or with values that
are never used. So the kernel runs again with other initial bits in these registers. If the results change, each register
is tested alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from pyptx.check.differences import first_difference
from pyptx.check.finding import Finding
from pyptx.check.locations import Locations
from pyptx.check.runner import Outcome, Runner, Schedule
from pyptx.sim import Program
from pyptx.sim.actions.dataflow import sources, targets

__all__ = ["PATTERNS", "step_limit", "uninitialized_register_findings"]

PATTERNS = (0xFFFF_FFFF, 0x7E7E_7E7E)  # NaN, -1 and true everywhere; large, and true in some lanes
MOST_REGISTERS = 32  # that are tested alone
MOST_PLACES = 3


def step_limit(base: Outcome) -> int:
    """Return a limit of warp instructions for a run with other initial bits than those of a completed run."""
    assert base.counters is not None
    return 8 * base.counters.warp_instructions + 100_000


@dataclass(frozen=True, slots=True)
class _Effect:
    """The effect of other initial bits: a description, the array and element that shows it, and the bits."""

    text: str
    tensor: str | None
    index: tuple[int, ...] | None
    pattern: int


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs that are compared with a base run, in which registers start as zero."""

    runner: Runner
    schedule: Schedule
    base: Outcome

    def effect(
        self, registers: Iterable[int], threads: range | None = None, patterns: Iterable[int] = PATTERNS
    ) -> _Effect | None:
        """Return the effect of other initial bits in the registers of all threads or some; None if there is none."""
        base = self.base
        limit = None if base.counters is None else step_limit(base)
        for pattern in patterns:
            outcome = self.runner.run(
                self.schedule,
                initial_registers=dict.fromkeys(registers, pattern),
                initial_register_threads=threads,
                max_steps=limit,
            )
            if outcome.error is not None:
                if base.error is None or base.error.kind != outcome.error.kind:
                    return _Effect(
                        f"the run ends in an error: {outcome.error.message.splitlines()[0]}", None, None, pattern
                    )
            elif base.error is not None:
                return _Effect("the run ends without the error it has with zeros", None, None, pattern)
            else:
                for name, array in base.arrays.items():
                    if (found := first_difference(array, outcome.arrays[name])) is not None:
                        tensor = name.removesuffix("_tma_desc")
                        where = f"{tensor}[{', '.join(map(str, found.index))}]"
                        return _Effect(
                            f"{where} is {found.values[1]} instead of {found.values[0]}",
                            tensor,
                            found.index,
                            pattern,
                        )
        return None

    def thread(self, register: int, pattern: int, count: int) -> int | None:
        """Return the first thread whose register affects the result; None if only several threads together do."""
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


def uninitialized_register_findings(
    runner: Runner, schedule: Schedule, base: Outcome, locations: Locations, tried: Sequence[int] = ()
) -> list[Finding]:
    """Return one finding for each uninitialized register that affects the outcome of a run.

    Args:
        base: the outcome in that schedule when registers start as zero.
        tried: patterns of bits that are known to have no effect.
    """
    runs, registers = _Runs(runner, schedule, base), sorted(runner.program.undefined)
    patterns = [pattern for pattern in PATTERNS if pattern not in tried]
    if not registers or (together := runs.effect(registers, patterns=patterns)) is None:
        return []
    alone = ((register, runs.effect([register])) for register in registers[:MOST_REGISTERS])
    found = [(register, effect) for register, effect in alone if effect is not None]
    return [_finding(runs, register, effect, locations) for register, effect in found or [(registers[0], together)]]


def _finding(runs: _Runs, register: int, effect: _Effect, locations: Locations) -> Finding:
    program, counters, plan = runs.runner.program, runs.base.counters, runs.runner.plan
    name = program.symbols.registers[register].name
    reads = [i for i in _early_reads(program, register) if counters is None or counters.issues[i]]
    writes = [i for i, action in enumerate(program.actions) if any(r.index == register for r in targets(action))]
    at = [locations.of(i, "reads it") for i in reads[:MOST_PLACES]]
    at += [locations.of(i, "writes it, but not on every path before that") for i in writes if i not in reads][
        :MOST_PLACES
    ]
    threads = prod(plan.block)
    thread = runs.thread(register, effect.pattern, prod(plan.grid) * threads)
    who = (
        ""
        if thread is None
        else (f", first by warp {thread % threads // 32}, lane {thread % threads % 32} of CTA {thread // threads}")
    )
    never = "and never written" if not writes else "before it is written"
    return Finding(
        "uninitialized-register",
        "error",
        f"{name} is read {never}{who}. With initial bits other than zero, {effect.text}.",
        f"write {name} on every path to the read, such as by mov at the start; a predicated instruction writes only "
        "where its predicate is true",
        tuple(at),
        effect.tensor,
        effect.index,
        (str(runs.schedule),),
    )


def _early_reads(program: Program, register: int) -> Iterator[int]:
    """Return instructions that read a register and are reachable without a write of it in all lanes."""
    flow = program.flow
    block_at = {start: block for block, start in enumerate(flow.starts[:-1])}
    waiting, seen = [0, *(block_at[body.start] for body in program.symbols.bodies.values())], set()
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
