"""Whether a kernel's outputs are the reference's: one tolerance for each type, NaN where none should be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Tolerance", "Verdict", "compare", "tolerance_of"]

_RELATIVE: Mapping[str, float] = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-3, "bfloat16": 1.6e-2}
_SMALL_FLOATS = 0.13                                    # fp8: three bits of mantissa, rounded twice


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far results may be off: `rtol` of the value, and `atol`; None: by the type of the output."""

    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Attributes:
        reason: what is wrong, None when nothing is.
        error: the largest difference.
    """

    reason: str | None
    error: float


def tolerance_of(dtype: np.dtype) -> float:
    """Of results of a type, relative to the value and to the largest value of the array."""
    if dtype.kind in "iub":
        return 0.0
    return _RELATIVE.get(dtype.name, _SMALL_FLOATS)


def compare(outputs: Sequence[np.ndarray], wanted: Sequence[np.ndarray], tolerance: Tolerance) -> Verdict:
    """Hold outputs against what a reference gives.

    A difference is allowed up to rtol * |wanted| + atol; by default rtol is the type's, and atol is rtol times the
    largest value wanted, so that sums that cancel out pass.
    """
    worst = 0.0
    for number, (got, value) in enumerate(zip(outputs, wanted, strict=True)):
        name = f"output {number}: " if len(outputs) > 1 else ""
        if got.shape != value.shape:
            return Verdict(f"{name}the reference has shape {value.shape}, the kernel's output {got.shape}", np.inf)
        if not got.size:
            continue
        relative = tolerance_of(got.dtype) if tolerance.rtol is None else tolerance.rtol
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        a, b = got.astype(wide), value.astype(wide)
        finite = np.isfinite(b)
        largest = float(np.abs(b[finite]).max(initial=0))
        absolute = relative * largest if tolerance.atol is None else tolerance.atol
        with np.errstate(invalid="ignore"):
            off = np.abs(a - b)
            bad = np.where(finite, ~(off <= relative * np.abs(b) + absolute),
                           ~((a == b) | (np.isnan(a) & np.isnan(b))))
        worst = max(worst, float(np.nanmax(np.where(finite & np.isfinite(a), off, 0.0))))
        if bad.any():
            return Verdict(name + _words(a, b, bad), float(np.nanmax(off[bad], initial=0)) or np.inf)
    return Verdict(None, worst)


def _words(got: np.ndarray, wanted: np.ndarray, bad: np.ndarray) -> str:
    first = np.unravel_index(int(np.argmax(bad)), bad.shape)
    nan = int(np.isnan(got[bad]).sum())
    place = ", ".join(map(str, first))
    more = f"; {nan} are NaN" if nan else ""
    return (f"{int(bad.sum())} of {bad.size} values are wrong{more}; the first is [{place}]: {got[first]:g}, "
            f"expected {wanted[first]:g}")
