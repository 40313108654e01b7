"""Measured times on another machine: kernels race on its GPU with functions that are defined there again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyptx.benchmarking.candidates import Candidate
from pyptx.benchmarking.function_calls import sendable
from pyptx.benchmarking.function_source import described
from pyptx.benchmarking.measured import IN_GRAPHS, race, summary
from pyptx.benchmarking.result import BenchmarkRow
from pyptx.errors import BackendError
from pyptx.jit import JitKernel
from pyptx.tune.clusters import OtherMachine
from pyptx.tune.correctness import Tolerance
from pyptx.tune.dask_cluster import AnyChild
from pyptx.tune.gpu_runner import GpuTimer
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem
from pyptx.tune.race import RaceSettings

__all__ = ["far_rows", "with_far_functions"]

_LIMIT_S = 120.0  # for the runs of a candidate in a round


def with_far_functions(
    machine: OtherMachine, candidates: Sequence[Candidate], values: Sequence[Any]
) -> tuple[Candidate, ...]:
    """Return the candidates, functions among them with calls that run on another machine and return their outputs.

    Raises:
        OptionError: a function cannot be sent.
    """

    def call(name: str, tree: tuple[Any, ...]) -> Callable[[], Any]:
        def outputs() -> Any:
            answer = machine.ask("function_outputs", {name: tree}, sendable(values), name)
            if "problem" in answer:
                raise BackendError(f"{name} on {machine.name}: {answer['problem']}")
            return answer["outputs"]

        return outputs

    return tuple(
        one if one.kernel is not None else replace(one, call=call(one.name, described(one.function, one.name)))
        for one in candidates
    )


class _Timer:
    """The Timer of a race between jobs and functions in a process on another machine."""

    def __init__(self, child: AnyChild, jobs: Mapping[str, Job]):
        self._child, self._jobs = child, jobs
        self._gpu = GpuTimer(child, jobs, _LIMIT_S)

    def sample(self, name: str, count: int) -> Sequence[float]:
        if name in self._jobs:
            return self._gpu.sample(name, count)
        return self._child.ask("function_times", name, count, limit_s=_LIMIT_S)

    def conditions(self) -> Mapping[str, Any]:
        return self._gpu.conditions()

    def note(self, name: str) -> str:
        """Return how a candidate that was timed is timed."""
        if name in self._jobs:
            return IN_GRAPHS if self._gpu.mode(name) == "graph" else ""
        return self._child.ask("function_note", name, limit_s=_LIMIT_S)


def far_rows(
    machine: OtherMachine,
    values: Sequence[Any],
    candidates: Sequence[Candidate],
    params: Mapping[str, Any],
    baseline: str,
    settings: RaceSettings,
) -> tuple[dict[str, BenchmarkRow], dict[str, Any], str]:
    """Race candidates on the GPU of another machine, on copies of the arguments.

    Returns:
        The rows by name, the operating conditions, and the name of the baseline: the first candidate that can run there if
        the given one cannot.
    """
    kernels = {one.name: one.kernel for one in candidates if isinstance(one.kernel, JitKernel) and one.kernel.in_specs}
    problems = {name: Problem(kernel, list(values), params).host() for name, kernel in kernels.items()}
    jobs = {name: Job.of(name, problem.launch({})) for name, problem in problems.items()}
    functions = {one.name: described(one.function, one.name) for one in candidates if one.kernel is None}
    timed = [one for one in candidates if one.name in jobs or one.name in functions]
    rows: dict[str, BenchmarkRow] = {}
    conditions: dict[str, Any] = {"rounds": 0}
    if timed:
        baseline = baseline if any(one.name == baseline for one in timed) else timed[0].name
        inputs = list(next(iter(problems.values())).host_inputs()) if problems else []
        with machine.children(1, measuring=True) as (child, *_):
            setup = [("arrays", inputs, None, Tolerance()), ("gpu", getattr(child, "ordinal", 0), {})]
            setup += [("functions", functions, sendable(values))] if functions else []
            child.prepare(*setup)
            timer = _Timer(child, jobs)
            rows, log = race(timer, timed, baseline, settings, note=timer.note)
        conditions = summary(log)
    for one in candidates:
        if one.name not in rows:
            problem = f"not timed on {machine.name}: entries of PTX run on this machine only"
            rows[one.name] = BenchmarkRow(one.name, one.against, problem=problem)
    return rows, conditions, baseline
