"""Outputs of candidates, compared with those of a reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.benchmarking.candidates import Candidate
from pyptx.errors import OperandError, PtxError, ShapeError
from pyptx.runtime.arrays import arrays_of, is_on_gpu
from pyptx.runtime.numpy_arrays import named_dtype
from pyptx.tune.correctness import MAX_SIMULATED_ELEMENTS, Tolerance, compare

__all__ = ["Comparison", "compare_outputs", "outputs_of"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of one candidate: `problem` is None if its outputs agree with the reference's, `error` the difference.

    `ran` is False when the candidate raised an exception.
    """

    problem: str | None
    error: float | None = None
    ran: bool = True


def compare_outputs(
    candidates: Sequence[Candidate],
    args: Sequence[Any],
    reference: Any,
    check: bool | None,
    tolerance: Tolerance,
) -> tuple[dict[str, Comparison], str]:
    """Run each candidate once and compare what it returns with the reference.

    Args:
        candidates: the candidates.
        args: their arguments.
        reference: function of the arguments, or arrays; None: the first candidate of `against`.
        check: compare; None: on a GPU, and on the simulator up to 4 Mi elements.
        tolerance: permitted difference.
    Returns:
        The comparisons by name of the candidate, and what the outputs were compared with.
    """
    arrays = [arg for arg in args if arrays_of(arg) is not None]
    elements = sum(int(np.prod(array.shape, dtype=np.int64)) for array in arrays)
    if check is None and elements > MAX_SIMULATED_ELEMENTS and not any(map(is_on_gpu, arrays)):
        return {}, f"not compared: {elements} elements take long on the simulator (check=True compares them)"
    if check is False:
        return {}, "not compared (check=False)"
    judge = next((one for one in candidates if one.against), None)
    if reference is None and judge is None:
        return {}, "not compared: there is neither against= nor reference="
    if reference is None and judge is not None:
        name, wanted = judge.name, outputs_of(judge.call())
    else:
        name = getattr(reference, "__name__", "the given arrays")
        wanted = outputs_of(reference(*args) if callable(reference) else reference)
        judge = None
    found = {}
    for one in candidates:
        found[one.name] = Comparison(None, 0.0) if one is judge else _compared(one.call, wanted, tolerance)
    return found, f"compared with {name}"


def _compared(call: Callable[[], Any], wanted: Sequence[np.ndarray], tolerance: Tolerance) -> Comparison:
    try:
        outputs = outputs_of(call())
        if len(outputs) != len(wanted):
            raise ShapeError(f"it returns {len(outputs)} arrays, the reference {len(wanted)}")
        verdict = compare(outputs, wanted, tolerance)
    except PtxError as error:
        return Comparison(str(error).split("\n")[0], ran=False)
    except Exception as error:  # of a callable of the user, such as an unsupported type
        return Comparison(f"{type(error).__name__}: {error}".split("\n")[0], ran=False)
    return Comparison(verdict.reason and f"wrong: {verdict.reason}", verdict.error)


def outputs_of(result: Any) -> list[np.ndarray]:
    """Return the arrays that a call returned, in NumPy with their own types."""
    found = []
    for array in result if isinstance(result, list | tuple) else [result]:
        package = arrays_of(array)
        if package is None:
            raise OperandError(
                f"a candidate returned {type(array).__name__}, not an array",
                hint="return the output, or pass check=False",
            )
        host = np.asarray(package.host(array))
        dtype = named_dtype(package.dtype_name(array))
        found.append(host if host.dtype == dtype else host.view(dtype))
    return found
