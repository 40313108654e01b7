"""Measured times on another machine: kernels race on its GPU; other callables run on this machine only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyptx.benchmarking.candidates import Candidate
from pyptx.benchmarking.measured import race, summary
from pyptx.benchmarking.result import BenchmarkRow
from pyptx.jit import JitKernel
from pyptx.tune.clusters import OtherMachine
from pyptx.tune.correctness import Tolerance
from pyptx.tune.gpu_runner import GpuTimer
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem
from pyptx.tune.race import RaceSettings

__all__ = ["far_rows"]

_LIMIT_S = 120.0  # for the runs of a kernel in a round


def far_rows(
    machine: OtherMachine,
    values: Sequence[Any],
    candidates: Sequence[Candidate],
    params: Mapping[str, Any],
    baseline: str,
    settings: RaceSettings,
) -> tuple[dict[str, BenchmarkRow], dict[str, Any], str]:
    """Race kernels on the GPU of another machine, on copies of the arguments.

    Returns:
        The rows by name, the operating conditions, and the name of the baseline: the first kernel if the given one is
        not a kernel.
    """
    kernels = {one.name: one.kernel for one in candidates if isinstance(one.kernel, JitKernel) and one.kernel.in_specs}
    problems = {name: Problem(kernel, list(values), params).host() for name, kernel in kernels.items()}
    jobs = {name: Job.of(name, problem.launch({})) for name, problem in problems.items()}
    timed = [one for one in candidates if one.name in jobs]
    rows: dict[str, BenchmarkRow] = {}
    conditions: dict[str, Any] = {"rounds": 0}
    if timed:
        baseline = baseline if baseline in jobs else timed[0].name
        inputs = list(next(iter(problems.values())).host_inputs())
        with machine.children(1, measuring=True) as (child, *_):
            ordinal = getattr(child, "ordinal", 0)
            child.prepare(("arrays", inputs, None, Tolerance()), ("gpu", ordinal, {}))
            rows, log = race(GpuTimer(child, jobs, _LIMIT_S), timed, baseline, settings)
        conditions = summary(log)
    for one in candidates:
        if one.name not in rows:
            what = "entries of PTX are" if one.kernel is not None else "functions are"
            problem = f"not timed on {machine.name}: {what} run on this machine only"
            rows[one.name] = BenchmarkRow(one.name, one.against, problem=problem)
    return rows, conditions, baseline
