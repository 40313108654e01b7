"""Faults and deadlocks of runs, as findings."""

from __future__ import annotations

from collections.abc import Mapping

from pyptx.check.finding import Finding
from pyptx.check.locations import Locations
from pyptx.check.rules import partial_warp_rule, rule_of
from pyptx.errors import SimulationError
from pyptx.sim import Program

__all__ = ["fault_findings"]


def fault_findings(program: Program, errors: Mapping[str, SimulationError], locations: Locations) -> list[Finding]:
    """Return one finding for each rule and instruction that ended a run.

    Args:
        errors: the error that ended the run, by the name of its schedule.
    """
    found: dict[tuple, tuple[SimulationError, list[str]]] = {}
    for schedule, error in errors.items():
        key = error.kind, error.instructions[:1] if error.kind not in ("deadlock", "steps") else ()
        found.setdefault(key, (error, []))[1].append(schedule)
    findings = []
    for error, shown in found.values():
        rule = partial_warp_rule(program, error) or rule_of(error.kind)
        roles = {"deadlock": ("waits", "waits"), "endless": ("runs", "runs")}.get(rule, ("at fault", "with"))
        known = [i for i in error.instructions if i < locations.count]  # without the end of the kernel
        at = tuple(locations.of(i, roles[k > 0]) for k, i in enumerate(known))
        findings.append(Finding(rule, "error", error.message, error.hint, at, schedules=tuple(shown)))
    return findings
