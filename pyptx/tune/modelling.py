"""Which GPU times are modelled for, and by which version of the model; asking a child for a modelled time."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyptx.analysis
from pyptx.analysis.gpus import gpu as gpu_of
from pyptx.tune.compiling import Built
from pyptx.tune.isolation import Child
from pyptx.tune.job import Job
from pyptx.tune.problem import Problem

__all__ = ["Model", "model_version"]


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

    def about(self) -> Mapping[str, str]:
        """What a modelled time depends on."""
        return {"gpu": self.gpu, "model": model_version()}

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
        job = Job.of(key, built.launch, target=built.compiled.target)
        return child.ask("model", job, self.options, self.gpu, limit_s=self.limit_s)


@cache
def model_version() -> str:
    """Eight hexadecimal digits of the model's sources: times of another version are not its own."""
    summed = hashlib.sha256()
    for path in sorted(Path(pyptx.analysis.__file__).parent.glob("*.py")):
        summed.update(path.read_bytes())
    return summed.hexdigest()[:8]
