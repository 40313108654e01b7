"""Correctness of configurations: outputs compared with a reference, on the simulator in a child process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.errors import PtxError, ShapeError
from pyptx.runtime import fingerprint
from pyptx.runtime.arrays import arrays_of
from pyptx.tune.dask_cluster import AnyChild
from pyptx.tune.isolation import ChildError, TrialFault
from pyptx.tune.job import Job
from pyptx.tune.problem import ConfigLaunch, Problem
from pyptx.tune.trial import Trial

__all__ = [
    "MAX_SIMULATED_ELEMENTS",
    "Checker",
    "SimulatedCheck",
    "Tolerance",
    "Verdict",
    "compare",
    "default_tolerance",
]

MAX_SIMULATED_ELEMENTS = 1 << 22  # elements of all arrays up to which a check is simulated by default
_UNABLE = ("simulator",)  # the simulator cannot run the kernel, which may still be correct

_RELATIVE: Mapping[str, float] = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-3, "bfloat16": 1.6e-2}
_SMALL_FLOATS = 0.13  # fp8: three bits of mantissa, rounded twice

Reference = Callable[..., Any] | Sequence[Any] | np.ndarray | None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Permitted difference: `rtol` of the value plus `atol`; None: default for the type of the output."""

    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a comparison.

    Attributes:
        reason: description of the first difference; None when the outputs agree.
        error: the largest difference.
    """

    reason: str | None
    error: float


def default_tolerance(dtype: np.dtype) -> float:
    """Return the relative tolerance of a type, applied to each value and to the largest value of the array."""
    if dtype.kind in "iub":
        return 0.0
    return _RELATIVE.get(dtype.name, _SMALL_FLOATS)


def compare(outputs: Sequence[np.ndarray], wanted: Sequence[np.ndarray], tolerance: Tolerance) -> Verdict:
    """Compare outputs with those of a reference.

    A difference up to rtol * |expected| + atol is permitted. By default rtol is the type's, and atol is rtol times the
    largest expected value, so that sums with cancellation pass.
    """
    worst = 0.0
    for number, (got, value) in enumerate(zip(outputs, wanted, strict=True)):
        name = f"output {number}: " if len(outputs) > 1 else ""
        if got.shape != value.shape:
            return Verdict(f"{name}the reference has shape {value.shape}, the kernel's output {got.shape}", np.inf)
        if not got.size:
            continue
        relative = default_tolerance(got.dtype) if tolerance.rtol is None else tolerance.rtol
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        a, b = got.astype(wide), value.astype(wide)
        finite = np.isfinite(b)
        largest = float(np.abs(b[finite]).max(initial=0))
        absolute = relative * largest if tolerance.atol is None else tolerance.atol
        with np.errstate(invalid="ignore"):
            off = np.abs(a - b)
            bad = np.where(finite, ~(off <= relative * np.abs(b) + absolute), ~((a == b) | (np.isnan(a) & np.isnan(b))))
        worst = max(worst, float(np.nanmax(np.where(finite & np.isfinite(a), off, 0.0))))
        if bad.any():
            return Verdict(name + _describe(a, b, bad), float(np.nanmax(off[bad], initial=0)) or np.inf)
    return Verdict(None, worst)


class Checker:
    """A reference for the outputs of configurations.

    Args:
        problem: the arrays of the check.
        reference: a function of the inputs that returns the outputs, or the outputs; None: only faults are detected.
        tolerance: permitted difference.
    """

    problem: Problem
    reference: Reference
    tolerance: Tolerance

    def __init__(self, problem: Problem, reference: Reference, tolerance: Tolerance):
        self.problem, self.reference, self.tolerance = problem, reference, tolerance
        self._wanted: list[np.ndarray] | None = None

    @property
    def name(self) -> str:
        """A hash of everything that decides if a result is correct."""
        if callable(self.reference):
            known = fingerprint.function_fingerprint(self.reference)
        else:
            known = None if self.reference is None else [_digest(a) for a in _arrays(self.reference)]
        return fingerprint.digest([known, self.problem.shapes, self.tolerance.rtol, self.tolerance.atol])

    @cached_property
    def host(self) -> Problem:
        """The problem with its arrays in NumPy, on the host."""
        return self.problem.host()

    def wanted(self) -> list[np.ndarray] | None:
        """Return the expected outputs, computed once; exceptions of the reference propagate."""
        if self.reference is None:
            return None
        if self._wanted is None:
            given = self.reference
            self._wanted = _arrays(given(*self.problem.inputs) if callable(given) else given)
            count = len(self.problem.kernel.out_specs)
            if len(self._wanted) != count:
                raise ShapeError(
                    f"the reference returns {len(self._wanted)} arrays; {self.problem.kernel.name} writes {count}"
                )
        return self._wanted

    def setup(self) -> tuple[Any, ...]:
        """Return the request that sends arrays and expected outputs to a child."""
        return "arrays", list(self.host.inputs), self.wanted(), self.tolerance


class SimulatedCheck:
    """Runs configurations on the simulator in a child process.

    Args:
        checker: the reference.
        limit_s: time limit of a run in seconds.
        settings: keyword arguments of the simulator's launch.
    """

    checker: Checker
    limit_s: float
    settings: dict[str, Any]

    def __init__(self, checker: Checker, *, limit_s: float, settings: Mapping[str, Any] | None = None):
        self.checker, self.limit_s, self.settings = checker, limit_s, dict(settings or {})

    def __call__(self, trial: Trial, child: AnyChild) -> bool:
        """Check a trial and record the result in it; return False when it failed."""
        problem = self.checker.host
        try:
            launch = problem.launch(trial.config)
            launch.specialization.require_valid()
        except Exception as refused:  # the sizes of the check do not suit the configuration
            trial.reason = f"not checked: the configuration is refused at the sizes of the check: {refused}"
            return True
        try:
            found = child.ask("simulate", Job.of(trial.key, launch), self.settings, limit_s=self.limit_s)
        except TrialFault as fault:
            if fault.fault in _UNABLE:
                trial.reason = f"not checked: {fault}"
                return True
            return _failed(trial, fault.fault, _at_python(str(fault), fault.more.get("instructions", ()), launch))
        except ChildError as error:
            if error.fault in ("stopped", "lost"):  # not the fault of the trial
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


def _at_python(message: str, instructions: Sequence[int], launch: ConfigLaunch) -> str:
    """Return the message preceded by the Python line of the faulting instruction."""
    try:
        program = sim.load(launch.specialization.module, launch.specialization.entry.name)
        place = program.instructions[instructions[0]].place
    except (PtxError, IndexError):
        place = None
    return f"{place.file.rpartition('/')[2]}:{place.line}: {message}" if place else message


def _arrays(value: Any) -> list[np.ndarray]:
    """Return the arrays of a result in NumPy; 16-bit floats of torch as f32."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    return [_numpy(item) for item in values]


def _numpy(value: Any) -> np.ndarray:
    if hasattr(value, "detach"):  # torch: NumPy has no bfloat16 of its own
        value = value.detach().cpu()
        return (value.float() if value.is_floating_point() and value.element_size() < 4 else value).numpy()
    arrays = arrays_of(value)
    return np.asarray(value if arrays is None else arrays.host(value))


def _digest(array: np.ndarray) -> str:
    return fingerprint.digest([array.shape, array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()])


def _describe(got: np.ndarray, wanted: np.ndarray, bad: np.ndarray) -> str:
    first = np.unravel_index(int(np.argmax(bad)), bad.shape)
    nan = int(np.isnan(got[bad]).sum())
    place = ", ".join(map(str, first))
    more = f"; {nan} are NaN" if nan else ""
    return (
        f"{int(bad.sum())} of {bad.size} values are wrong{more}; the first is [{place}]: {got[first]:g}, "
        f"expected {wanted[first]:g}"
    )
