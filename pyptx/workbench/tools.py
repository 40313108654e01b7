"""Tools that kernels and entries of loaded PTX have in common: views, checks and debugging sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pyptx.jit.launchable import ResolvedLaunch
from pyptx.jit.specialization import Specialization
from pyptx.runtime import Dim3

if TYPE_CHECKING:
    from pathlib import Path

    from pyptx.analysis.model.prediction import Prediction
    from pyptx.assembly import Assembly
    from pyptx.check import Finding, Report
    from pyptx.debug import Session
    from pyptx.profiles import MatchedProfile
    from pyptx.profiles.sources import ProfileSource
    from pyptx.views import LinkedView
    from pyptx.views.code.ir_pane import IrLines


__all__ = ["check_launch", "check_of", "counters_of", "debug_launch", "linked_view", "matched_profile"]


def counters_of(specialization: Specialization) -> Any:
    """Return the counters of the last simulated launch: of its instructions, or, with functions, columns by PTX line."""
    from pyptx.check.locations import ptx_lines

    counters = specialization.last_run.counters if specialization.last_run else None
    program = specialization.loaded("sim")
    if counters is None or program is None or len(program.symbols.bodies) == 1:
        return counters
    lines = ptx_lines(specialization)
    count = len(specialization.emitted.text.removesuffix("\n").split("\n"))
    columns = {}
    for field in fields(counters):
        column = [-1] * count
        for node, number in zip(program.instructions, getattr(counters, field.name), strict=True):
            if id(node) in lines:  # not so for the implicit return of a function
                column[lines[id(node)] - 1] = int(number)
        if field.name in ("issues", "lanes") or max(column) > 0:
            columns[field.name] = column
    return columns


def check_of(specialization: Specialization, compiled: Assembly) -> dict[str, Any] | None:
    """Return the verdict of the last check of a specialization as `pyptx.views.linked` takes it; None without a check."""
    report = specialization.last_check
    if report is None:
        return None
    from pyptx.views.code.check_rows import check_rows

    checked = specialization.module, specialization.emitted.text
    return check_rows(report.to_json(), report.headline, checked, (compiled.module, compiled.ptx))


def linked_view(
    specialization: Specialization,
    compiled: Assembly,
    *,
    block: Dim3 | None,
    dynamic_bytes: int = 0,
    roots: Sequence[Path] | None = None,
    estimate: Prediction | None = None,
    ir: IrLines | None = None,
    profile: ProfileSource | None = None,
) -> LinkedView:
    """Return the linked view of compiled code with counters of the last launch and findings of the last check at its lines.

    `profile` is a profiler report, or the name of its file, with a launch of the same machine code.

    For PTX from a compiler it shows the source lines that `.loc` refers to, of files below `roots` (default: the working
    directory).
    """
    from pyptx.views import linked
    from pyptx.views.code.source_locations import with_sources

    return linked(
        with_sources(compiled, roots),
        counters=counters_of(specialization),
        block=block,
        dynamic_shared_bytes=max(dynamic_bytes, specialization.dynamic_bytes),
        estimate=estimate,
        check=check_of(specialization, compiled),
        ir=ir,
        profile=None if profile is None else matched_profile(profile, specialization, compiled),
    )


def matched_profile(source: ProfileSource, specialization: Specialization, compiled: Assembly) -> MatchedProfile:
    """Return the launch of an entry in a profiler report, matched with the machine code.

    Args:
        source: a report, the name of a file, or several names; as for `pyptx.profiles.load_report`.
    Raises:
        UnknownNameError: the report does not have the kernel.
        ShapeError: the report is of other machine code.
        Errors of `load_report`.
    """
    from pyptx.profiles import base_name, load_report, match_profile

    report, entry = load_report(source), specialization.entry.name
    name = entry if report.launches(entry) else base_name(specialization.title)
    return match_profile(report, name, compiled.sass, entry=entry)


def check_launch(
    launch: ResolvedLaunch,
    *,
    schedules: Sequence[str],
    random: int,
    seed: int,
    ignore: Mapping[str, str] | None = None,
    trace: Callable[[], Specialization] | None = None,
) -> Report:
    """Simulate a launch in several schedules; see `Kernel.check`. The specialization keeps the report as `last_check`.

    A report with errors or warnings holds the arguments of the launch, for `Report.replay`.
    """
    from pyptx.check import check

    report = check(
        launch.specialization,
        launch.plan,
        launch.args,
        schedules=schedules,
        random=random,
        seed=seed,
        settings=launch.settings,
        results=launch.uninitialized,
        ignore=ignore,
    )
    if not report.ok:
        report = replace(report, replayer=partial(_replay, launch, trace))
    launch.specialization.last_check = report
    return report


def _replay(launch: ResolvedLaunch, trace: Callable[[], Specialization] | None, finding: Finding) -> Session:
    from pyptx.debug.replay import replay

    return replay(launch.specialization, launch.plan, launch.args, finding, settings=launch.settings, trace=trace)


def debug_launch(
    launch: ResolvedLaunch, *, schedule: str, seed: int, trace: Callable[[], Specialization] | None = None
) -> Session:
    """Start a debugging session of a launch; see `Kernel.debug`."""
    from pyptx.debug import Session

    return Session(
        launch.specialization,
        launch.plan,
        launch.args,
        schedule=schedule,
        seed=seed,
        settings=launch.settings,
        trace=trace,
    )
