"""The checker: run a kernel in several schedules, compare the results, and collect the findings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.check.causes import find_cause
from pyptx.check.differences import Difference, first_difference
from pyptx.check.explanations import explain_cause
from pyptx.check.faults import fault_findings
from pyptx.check.finding import SEVERITIES, Finding
from pyptx.check.ignored import checked_rules, mark_ignored
from pyptx.check.locations import Locations, ptx_lines
from pyptx.check.performance import performance_notes
from pyptx.check.pointer_provenance import only_float_sums, uses_atomic_results
from pyptx.check.report import Report
from pyptx.check.rules import NOTES
from pyptx.check.runner import Outcome, Runner, Schedule
from pyptx.check.sanitizer_findings import sanitizer_findings
from pyptx.check.schedules import is_endless, run_schedules
from pyptx.check.tmem_loads import loads_used_early, unwaited_loads
from pyptx.check.uninitialized_registers import uninitialized_register_findings
from pyptx.errors import ArgumentValueError
from pyptx.jit.specialization import Specialization
from pyptx.launch_config import integer
from pyptx.runtime import LaunchPlan, runtime_for
from pyptx.sim.core.library import problem
from pyptx.sim.plan import SCHEDULES

__all__ = ["check"]

SETTINGS = (
    "engine",
    "max_steps",
    "reachable",
    "sanitize",
    "schedule",
    "seed",
    "tensor_cores",
    "threads",
)  # of the simulator
MAX_STEPS = 1 << 30  # warp-instructions, unless the caller sets max_steps
ROUNDING = 2.0**-7  # largest relative difference that the order of a sum explains


def check(
    specialization: Specialization,
    plan: LaunchPlan,
    args: Sequence[Any],
    *,
    schedules: Sequence[str] = ("eager", "late"),
    random: int = 4,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    results: Sequence[str] = (),
    ignore: Mapping[str, str] | None = None,
) -> Report:
    """Run a kernel in each schedule on fresh copies of its arrays, and compare all arrays bit for bit.

    Schedules that are proven to be equal to the first run are not run.

    Args:
        args: the arguments in parameter order, as for a launch; the arrays are not changed.
        schedules: any of "eager", "late", "random"; the first run that completes is the reference for the others.
        random: number of random schedules that follow, with seeds from `seed` on.
        results: parameters whose arrays are uninitialized before the launch.
        ignore: rules whose findings do not count, with the reason: they become notes.
        settings: settings of the simulator, such as `max_steps=` (default 2^30) or `tensor_cores=`. `threads=` are the
            schedules that run at a time (default: one per core; one for large arrays and for a kernel that prints).
    Raises:
        CompileError: an instruction is invalid.
        LaunchError: an argument or a schedule is invalid. Faults of the kernel are findings, never raised.
    """
    started, reasons = time.perf_counter(), checked_rules(ignore)
    if unknown := [name for name in settings or () if name not in SETTINGS]:
        raise ArgumentValueError(
            f"{unknown[0]!r} is neither a parameter of {specialization.entry.name} nor a setting of the simulator; "
            f"settings: {', '.join(SETTINGS)}"
        )
    wanted = _schedules(schedules, random, seed)
    specialization.require_valid()
    program = specialization.program(runtime_for((), "sim"))
    settings = {k: v for k, v in (settings or {}).items() if k not in ("schedule", "seed", "sanitize")}
    names = [param.name for param in specialization.entry.params]
    if len(names) != len(args):
        sim.launch(program, plan.grid, plan.block, list(args), cluster=plan.cluster)  # raises
    if settings.get("max_steps") is None:
        settings["max_steps"] = MAX_STEPS
    settings["max_steps"] = integer(settings["max_steps"], "max_steps", 0)
    threads = settings.pop("threads", None)
    threads = None if threads is None else integer(threads, "threads", 1)
    runner = Runner(program, plan, args, names, settings, tuple(results))
    watched = settings.get("engine", "auto") != "reference" and problem() is None
    if not watched and settings.get("engine", "auto") != "reference":
        warnings.warn(
            f"check of {specialization.entry.name}: without the simulator's C core accesses are not watched, and races are "
            f"found only if results differ: {problem()}",
            RuntimeWarning,
            stacklevel=4,
        )
    runs = run_schedules(runner, wanted, watched, threads)
    outcomes = runs.outcomes
    locations = Locations(program, lambda: ptx_lines(specialization))
    access_findings = sanitizer_findings(
        program,
        {str(s): outcome.access_findings for s, outcome in outcomes.items()},
        locations,
        lambda other: runner.run(wanted[0], program=other, sanitize=True).access_findings,
    )
    explained = next((k for k, finding in enumerate(access_findings) if finding.rule not in NOTES), None)
    if explained is not None:
        first = access_findings[explained]
        access_findings[explained] = replace(first, message=first.message + _visible_effect(runner, outcomes))
    findings = [
        *fault_findings(program, {str(s): o.error for s, o in outcomes.items() if o.error is not None}, locations),
        *access_findings,
        *_differences(runner, outcomes, locations, explained is not None),
        *_tmem_loads(program, locations),
    ]
    if watched and not is_endless(outcomes[wanted[0]]):
        findings += uninitialized_register_findings(
            runner, wanted[0], outcomes[wanted[0]], locations, runs.tried_patterns
        )
    if (counters := next((o.counters for o in outcomes.values() if o.counters is not None), None)) is not None:
        findings += performance_notes(runner, counters, locations)
    findings = mark_ignored(findings, reasons)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Report(
        specialization.entry.name,
        tuple(findings),
        tuple(map(str, wanted)),
        dict(specialization.params),
        time.perf_counter() - started,
    )


def _schedules(kinds: Sequence[str], random: int, seed: int) -> list[Schedule]:
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    for kind in kinds:
        if not isinstance(kind, str) or kind not in SCHEDULES:
            raise ArgumentValueError(f"unknown schedule {kind!r}; expected {', '.join(map(repr, SCHEDULES))}")
    seed = integer(seed, "seed")
    wanted = [Schedule(kind, seed if kind == "random" else 0) for kind in kinds]
    wanted += [Schedule("random", seed + k) for k in range(integer(random, "random", 0))]
    if not wanted:
        raise ArgumentValueError("schedules= is empty and random= is 0: there is nothing to run")
    return list(dict.fromkeys(wanted))


def _tmem_loads(program: sim.Program, locations: Locations) -> Iterator[Finding]:
    unwaited = dict(unwaited_loads(program))
    for load, signal in unwaited.items():
        yield Finding(
            "tensor-memory-load",
            "warning",
            "tcgen05.ld may still be reading tensor memory when its thread signals other threads: there is no "
            "tcgen05.wait::ld in between.",
            "tcgen05.wait::ld after the loads, before barriers and dealloc",
            (locations.of(load, "reads tensor memory"), locations.of(signal, "signals other threads")),
        )
    for load, use in loads_used_early(program):
        if load not in unwaited:
            yield Finding(
                "tensor-memory-load",
                "warning",
                "The registers of tcgen05.ld are used before tcgen05.wait::ld: they may not be written yet.",
                "tcgen05.wait::ld after the loads, before their registers are used",
                (locations.of(load, "reads tensor memory"), locations.of(use, "uses its registers")),
            )


# differences between schedules ----------------------------------------------------------------------------------------


def _differences(
    runner: Runner, outcomes: Mapping[Schedule, Outcome], locations: Locations, explained: bool
) -> list[Finding]:
    """Return one finding for each array that differs from that of the first run that completed.

    Args:
        explained: the sanitizer already found the cause.
    """
    completed = {schedule: outcome for schedule, outcome in outcomes.items() if outcome.error is None}
    if len(completed) < 2:
        return []
    first, base = next(iter(completed.items()))
    findings: list[Finding] = []
    for name in _distinct_arrays(base.arrays):
        differing = {
            schedule: found
            for schedule, outcome in completed.items()
            if outcome.arrays is not base.arrays
            and (found := first_difference(base.arrays[name], outcome.arrays[name])) is not None
        }
        if differing:
            findings += _difference_finding(runner, base, first, name, differing, locations, explained)
    return findings


def _distinct_arrays(arrays: Mapping[str, np.ndarray]) -> list[str]:
    """Return one parameter for each array; an array and its tensor map are two parameters that share memory."""
    seen, names = set(), []
    for name, array in arrays.items():
        key = array.__array_interface__["data"][0], array.shape, array.dtype
        if key not in seen and array.size:
            seen.add(key)
            names.append(name)
    return names


def _difference_finding(
    runner: Runner,
    base: Outcome,
    first: Schedule,
    name: str,
    differing: Mapping[Schedule, Difference],
    locations: Locations,
    explained: bool,
) -> list[Finding]:
    schedule = next((s for s in differing if s.kind != "random"), next(iter(differing)))
    found = differing[schedule]
    tensor = runner.shown_name(name)
    message = _difference_text(tensor, found, first, schedule)
    schedules = tuple(map(str, differing))
    if found.spread <= ROUNDING and only_float_sums(runner.program, name):
        return [
            Finding(
                "order-of-atomics",
                "note",
                f"{message} Only floating-point atomics write {tensor}, and the difference is within the rounding of "
                "another order.",
                "sum in a fixed order where results must repeat bit for bit",
                (),
                tensor,
                found.index,
                schedules,
            )
        ]
    if explained:
        return []

    def differs(outcome: Outcome) -> bool:
        return outcome.error is not None or first_difference(base.arrays[name], outcome.arrays[name]) is not None

    cause = find_cause(runner, base, schedule, differs)
    uses_atomics = cause.order and uses_atomic_results(runner.program)
    text, fix = explain_cause(cause, runner.program.instructions, uses_atomics=uses_atomics)
    at = [locations.of(line[0], "may complete at any time") for line in cause.late]
    at += [locations.of(i, "waits for too few groups") for i in cause.weak]
    return [
        Finding(
            "schedule-dependent-result",
            "warning" if uses_atomics else "error",
            f"{message} {text}",
            fix,
            tuple(at),
            tensor,
            found.index,
            schedules,
        )
    ]


def _difference_text(tensor: str, found: Difference, first: Schedule, schedule: Schedule) -> str:
    return (
        f"{tensor}[{', '.join(map(str, found.index))}] is {_value_text(found.values[0])} in the {first} schedule and "
        f"{_value_text(found.values[1])} in the {schedule} schedule; {found.count} of {found.size} elements differ."
    )


def _visible_effect(runner: Runner, outcomes: Mapping[Schedule, Outcome]) -> str:
    """Return a sentence about the first array that differs between schedules, or ""."""
    completed = {schedule: outcome for schedule, outcome in outcomes.items() if outcome.error is None}
    first = next(iter(completed), None)
    if first is None:
        return ""
    for name in _distinct_arrays(completed[first].arrays):
        for schedule, outcome in completed.items():
            found = first_difference(completed[first].arrays[name], outcome.arrays[name])
            if found is not None:
                text = _difference_text(runner.shown_name(name), found, first, schedule)
                return f" The results show it: {text}"
    return ""


def _value_text(value: Any) -> str:
    if isinstance(value, np.floating):
        return f"{value:.9g}" if not np.isnan(value) else "nan"
    return str(value)
