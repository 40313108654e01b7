"""Run a kernel in several schedules and say what they show."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.check.causes import cause
from pyptx.check.compare import Difference, difference
from pyptx.check.finding import SEVERITIES, Finding
from pyptx.check.loads import unwaited, used_early
from pyptx.check.observed import observed
from pyptx.check.performance import notes
from pyptx.check.places import Places
from pyptx.check.report import Report
from pyptx.check.rules import lanes_apart, rule_of
from pyptx.check.trial import Outcome, Schedule, Trial
from pyptx.check.unset import unset
from pyptx.check.words import explained
from pyptx.check.writers import only_float_sums, takes_tickets
from pyptx.errors import LaunchError
from pyptx.kernel.variant import Variant
from pyptx.runtime import LaunchPlan, runtime_for
from pyptx.sim.core.library import problem
from pyptx.sim.plan import SCHEDULES

__all__ = ["check"]

SETTINGS = ("engine", "max_steps", "sanitize", "schedule", "seed", "tensor_cores", "threads")     # of the simulator
ENDLESS = 1 << 30                               # warp-instructions: no check that is meant is that long
SHORTER = 1 << 26                               # of the schedules that follow an endless one
ROUNDING = 2.0 ** -7                            # differences of sums that their order can explain, of the largest


def check(variant: Variant, plan: LaunchPlan, args: Sequence[Any], *, schedules: Sequence[str] = ("eager", "late"),
          random: int = 4, seed: int = 0, settings: Mapping[str, Any] | None = None, results: Sequence[str] = ()
          ) -> Report:
    """Run a kernel in each schedule on fresh copies of its arrays; compare all arrays bit for bit.

    Args:
        args: in parameter order, as for a launch; the arrays are not changed.
        schedules: of "eager", "late", "random"; the first run that ends is what the others are compared with.
        random: how many random schedules follow, with seeds from `seed` on.
        results: parameters whose arrays hold nothing before the kernel has written it.
        settings: of the simulator, such as `max_steps=` (2^30 unless told) or `tensor_cores=`.
    Raises:
        CompileError: the table refuses something.
        LaunchError: an argument or a schedule is wrong. What the kernel does wrong is never raised.
    """
    started = time.perf_counter()
    if unknown := [name for name in settings or () if name not in SETTINGS]:
        raise LaunchError(f"{variant.entry.name} has no parameter {unknown[0]!r}, and the simulator no such setting; "
                          f"it has {', '.join(SETTINGS)}")
    wanted = _schedules(schedules, random, seed)
    variant.require_valid()
    program = variant.program(runtime_for((), "sim"))
    settings = {k: v for k, v in (settings or {}).items() if k not in ("schedule", "seed", "sanitize")}
    names = [param.name for param in variant.entry.params]
    if len(names) != len(args):
        sim.launch(program, plan.grid, plan.block, list(args), cluster=plan.cluster)        # says what is wrong
    trial = Trial(program, plan, args, names, settings, tuple(results))
    settings.setdefault("max_steps", ENDLESS)
    watched = settings.get("engine", "auto") != "reference" and problem() is None
    outcomes: dict[Schedule, Outcome] = {}
    for schedule in wanted:
        endless = any(map(_is_endless, outcomes.values()))
        outcomes[schedule] = trial.run(schedule, sanitize=watched,
                                       max_steps=min(settings["max_steps"], SHORTER) if endless else None)
    places = Places(variant, program)
    first = outcomes[wanted[0]]
    saw = observed(program, {str(s): outcome.seen for s, outcome in outcomes.items()}, places,
                   lambda other: trial.run(wanted[0], program=other, sanitize=True).seen)
    if saw:
        saw[0] = replace(saw[0], message=saw[0].message + _consequence(outcomes))
    findings = [*_faults(program, outcomes, places), *saw, *_differences(trial, outcomes, places, bool(saw)),
                *_loads(program, places)]
    if watched and not _is_endless(first):
        findings += unset(trial, wanted[0], first, places)
    if (counted := next((o.counters for o in outcomes.values() if o.counters is not None), None)) is not None:
        findings += notes(trial, counted, places)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Report(variant.entry.name, tuple(findings), tuple(map(str, wanted)), dict(variant.params),
                  time.perf_counter() - started)


def _is_endless(outcome: Outcome) -> bool:
    return outcome.error is not None and outcome.error.kind == "steps"


def _schedules(kinds: Sequence[str], random: int, seed: int) -> list[Schedule]:
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in kinds:
        if kind not in SCHEDULES:
            raise LaunchError(f"schedule {kind!r}; expected {', '.join(map(repr, SCHEDULES))}")
    wanted = [Schedule(kind, seed if kind == "random" else 0) for kind in kinds]
    wanted += [Schedule("random", seed + k) for k in range(random)]
    if not wanted:
        raise LaunchError("schedules= is empty and random= is 0: there is nothing to run")
    return list(dict.fromkeys(wanted))


def _faults(program: sim.Program, outcomes: Mapping[Schedule, Outcome], places: Places) -> list[Finding]:
    """What ended runs: one finding for each rule and instruction."""
    found: dict[tuple, tuple[Any, list[str]]] = {}
    for schedule, outcome in outcomes.items():
        if outcome.error is not None:
            error = outcome.error
            key = error.kind, error.instructions[:1] if error.kind not in ("deadlock", "steps") else ()
            found.setdefault(key, (error, []))[1].append(str(schedule))
    findings = []
    for error, shown in found.values():
        rule = lanes_apart(program, error) or rule_of(error.kind)
        roles = {"deadlock": ("waits", "waits"), "endless": ("runs", "runs")}.get(rule, ("at fault", "with"))
        known = [i for i in error.instructions if i < places.count]         # not the end of the kernel
        at = tuple(places.of(i, roles[k > 0]) for k, i in enumerate(known))
        findings.append(Finding(rule, "error", error.message, error.hint, at, schedules=tuple(shown)))
    return findings


def _loads(program: sim.Program, places: Places) -> Iterator[Finding]:
    late = dict(unwaited(program))
    for load, signal in late.items():
        at = places.of(load, "reads tensor memory"), places.of(signal, "lets others go on")
        yield Finding("tensor-memory-load", "warning",
                      "tcgen05.ld may still read tensor memory when its thread lets others go on: no tcgen05.wait::ld "
                      "comes in between.", "tcgen05.wait::ld behind the loads, before barriers and dealloc", at)
    for load, use in ((load, use) for load, use in used_early(program) if load not in late):
        at = places.of(load, "reads tensor memory"), places.of(use, "uses its registers")
        yield Finding("tensor-memory-load", "warning",
                      "The registers of tcgen05.ld are used before tcgen05.wait::ld: they may not be written yet.",
                      "tcgen05.wait::ld behind the loads, before their registers are used", at)


def _differences(trial: Trial, outcomes: Mapping[Schedule, Outcome], places: Places, known: bool) -> list[Finding]:
    """Arrays that differ from those of the first run that ended: one finding each; `known`: the sanitizer saw why."""
    ended = {schedule: outcome for schedule, outcome in outcomes.items() if outcome.error is None}
    if len(ended) < 2:
        return []
    first, base = next(iter(ended.items()))
    findings: list[Finding] = []
    for name in _each_memory(base.arrays):
        shown = {schedule: found for schedule, outcome in ended.items()
                 if (found := difference(base.arrays[name], outcome.arrays[name])) is not None}
        if shown:
            findings += _explained(trial, base, first, name, shown, places, known)
    return findings


def _each_memory(arrays: Mapping[str, np.ndarray]) -> list[str]:
    """Parameters, each memory once: an array and its tensor map are two parameters of one."""
    seen, names = set(), []
    for name, array in arrays.items():
        key = array.__array_interface__["data"][0], array.shape, array.dtype
        if key not in seen and array.size:
            seen.add(key)
            names.append(name)
    return names


def _explained(trial: Trial, base: Outcome, first: Schedule, name: str, shown: Mapping[Schedule, Difference],
               places: Places, known: bool) -> list[Finding]:
    schedule = next((s for s in shown if s.kind != "random"), next(iter(shown)))
    found = shown[schedule]
    tensor = name.removesuffix("_tma_desc")
    where = f"{tensor}[{', '.join(map(str, found.index))}]"
    message = _told(where, found, first, schedule)
    names = tuple(map(str, shown))
    if found.spread <= ROUNDING and only_float_sums(trial.program, name):
        return [Finding("order-of-atomics", "note", f"{message} Only floating-point atomics write {tensor}, and the "
                       "difference is within what rounding in another order explains.",
                       "sum in a fixed order where results must repeat bit for bit", (), tensor, found.index, names)]
    if known:
        return []

    def differs(outcome: Outcome) -> bool:
        return outcome.error is not None or difference(base.arrays[name], outcome.arrays[name]) is not None
    why = cause(trial, base, schedule, differs)
    tickets = why.order and takes_tickets(trial.program)
    text, fix = explained(why, trial.program.instructions, tickets=tickets)
    at = [places.of(line[0], "may land at any time here") for line in why.late]
    at += [places.of(i, "waits for too little") for i in why.weak]
    return [Finding("schedule-dependent-result", "warning" if tickets else "error", f"{message} {text}", fix, tuple(at),
                    tensor, found.index, names)]


def _told(where: str, found: Difference, first: Schedule, schedule: Schedule) -> str:
    return (f"{where} is {_shown(found.values[0])} in the {first} schedule and {_shown(found.values[1])} in the "
            f"{schedule} one; {found.count} of {found.size} elements differ.")


def _consequence(outcomes: Mapping[Schedule, Outcome]) -> str:
    """The first array whose results show that something is wrong."""
    ended = {schedule: outcome for schedule, outcome in outcomes.items() if outcome.error is None}
    first = next(iter(ended), None)
    for name in _each_memory(ended[first].arrays) if first is not None else ():
        for schedule, outcome in ended.items():
            found = difference(ended[first].arrays[name], outcome.arrays[name])
            if found is not None:
                where = f"{name.removesuffix('_tma_desc')}[{', '.join(map(str, found.index))}]"
                return f" Results show it: {_told(where, found, first, schedule)}"
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, np.floating):
        return f"{value:.9g}" if not np.isnan(value) else "nan"
    return str(value)
