"""Whether a configuration computes what it should: once, in a child process, against a reference."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.errors import PtxError
from pyptx.runtime.arrays import arrays_of
from pyptx.tune import fingerprint
from pyptx.tune.comparing import Tolerance
from pyptx.tune.isolation import Child, ChildError, Fault
from pyptx.tune.job import Job
from pyptx.tune.problem import Launch, Problem
from pyptx.tune.trial import Trial

__all__ = ["CHECK_MOST", "Checker", "SimulatedCheck"]

CHECK_MOST = 1 << 22                                    # elements of all arrays that are simulated unless told to
_UNABLE = ("simulator",)                                # the simulator cannot run it: that says nothing of the kernel

Reference = Callable[..., Any] | Sequence[Any] | np.ndarray | None


class Checker:
    """What results are compared with.

    Args:
        problem: the arrays of the check.
        reference: a function of the inputs that gives the outputs, or the outputs; None: only faults are found.
    """

    def __init__(self, problem: Problem, reference: Reference, tolerance: Tolerance):
        self.problem, self.reference, self.tolerance = problem, reference, tolerance
        self._wanted: list[np.ndarray] | None = None

    @property
    def name(self) -> str:
        """A hash of what decides whether a result counts as right."""
        if callable(self.reference):
            known = fingerprint.of_function(self.reference)
        else:
            known = None if self.reference is None else [_digest(a) for a in _arrays(self.reference)]
        return fingerprint.digest([known, self.problem.shapes, self.tolerance.rtol, self.tolerance.atol])

    @cached_property
    def host(self) -> Problem:
        """The problem with its arrays in NumPy."""
        return self.problem.host()

    def wanted(self) -> list[np.ndarray] | None:
        """The outputs wanted, computed once. What the reference raises is the caller's."""
        if self.reference is None:
            return None
        if self._wanted is None:
            given = self.reference
            self._wanted = _arrays(given(*self.problem.inputs) if callable(given) else given)
            count = len(self.problem.kernel.out_specs)
            if len(self._wanted) != count:
                raise ValueError(f"the reference gives {len(self._wanted)} arrays, {self.problem.kernel.name} writes "
                                 f"{count}")
        return self._wanted

    def setup(self) -> tuple:
        """What a child is told first."""
        return "arrays", list(self.host.inputs), self.wanted(), self.tolerance


class SimulatedCheck:
    """Runs configurations on the simulator, in a child.

    Args:
        limit_s: seconds a run may take.
        settings: of the simulator.
    """

    def __init__(self, checker: Checker, *, limit_s: float, settings: Mapping[str, Any] | None = None):
        self.checker, self.limit_s, self.settings = checker, limit_s, dict(settings or {})

    def __call__(self, trial: Trial, child: Child) -> bool:
        """Check a trial, and say in it what was found; whether it may go on."""
        problem = self.checker.host
        try:
            launch = problem.launch(trial.config)
            launch.variant.require_valid()
        except Exception as refused:                    # sizes of the check, not of the problem, do not suit it
            trial.reason = f"not checked: at the sizes of the check it is refused: {refused}"
            return True
        try:
            found = child.ask("simulate", Job.of(trial.key, launch), self.settings, limit_s=self.limit_s)
        except Fault as fault:
            if fault.fault in _UNABLE:
                trial.reason = f"not checked: {fault}"
                return True
            return _failed(trial, fault.fault, _at_python(str(fault), fault.more.get("instructions", ()), launch))
        except ChildError as error:
            if error.fault in ("stopped", "lost"):      # that says nothing of the trial
                raise
            trial.measurement = {"limit_s": self.limit_s}
            return _failed(trial, error.fault, f"on the simulator: {error}")
        trial.check_seconds, trial.error = found["seconds"], found["error"]
        if found["reason"] is not None:
            trial.state, trial.reason, trial.fault = "wrong", found["reason"], "wrong"
            return False
        trial.checked = self.checker.reference is not None
        return True


def _failed(trial: Trial, fault: str, reason: str) -> bool:
    trial.state, trial.fault, trial.reason = "failed", fault, reason
    return False


def _at_python(message: str, instructions: Sequence[int], launch: Launch) -> str:
    """The message with the Python line of the instruction at fault in front."""
    try:
        program = sim.load(launch.variant.module, launch.variant.entry.name)
        place = program.instructions[instructions[0]].place
    except (PtxError, IndexError):
        place = None
    return f"{place.file.rpartition('/')[2]}:{place.line}: {message}" if place else message


def _arrays(value: Any) -> list[np.ndarray]:
    """The arrays of a result in NumPy, 16-bit floats of torch as f32."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    return [_numpy(item) for item in values]


def _numpy(value: Any) -> np.ndarray:
    if hasattr(value, "detach"):                        # torch: NumPy has no bfloat16 of its own
        value = value.detach().cpu()
        return (value.float() if value.is_floating_point() and value.element_size() < 4 else value).numpy()
    arrays = arrays_of(value)
    return np.asarray(value if arrays is None else arrays.host(value))


def _digest(array: np.ndarray) -> str:
    return fingerprint.digest([array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()])


