"""What the performance model says of a configuration, asked of a child: counting its work runs the kernel."""

from __future__ import annotations

from typing import Any

from pyptx.analysis.gpus import gpu as gpu_of
from pyptx.tune.compiling import Built
from pyptx.tune.isolation import Child
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem

__all__ = ["Model"]


class Model:
    """The performance model for a problem.

    Args:
        gpu: a name such as "H200"; None: the usual one of the kernel's target.
        limit_s: seconds that counting the work of one configuration may take.
    Raises:
        ShapeError: no GPU is called so.
    """

    def __init__(self, problem: Problem, gpu: str | None = None, *, options: tuple[str, ...] = (),
                 limit_s: float = 120.0):
        self.problem, self.options, self.limit_s = problem, options, limit_s
        self.gpu = gpu_of(gpu or problem.kernel.arch).name

    def setup(self) -> tuple | None:
        """What a child is told first: the arrays of the problem, where their values are known."""
        if self.problem.runtime.name == "cuda" or not self.problem.given:
            return None
        return "problem", list(self.problem.host_inputs())

    def predict(self, key: str, built: Built, child: Child) -> Any:
        """The Prediction of a configuration.

        Raises:
            ChildError: its work could not be counted: it faults, waits for ever, or cannot be simulated.
        """
        job = Job.of(key, built.launch, target=built.compiled.target, options=self.options)
        return child.ask("model", job, self.gpu, limit_s=self.limit_s)
