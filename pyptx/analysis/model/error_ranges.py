"""Error ranges of modeled times, derived from published times of kernels that the model was developed on.

    range = error_range("dram")           # of estimates that DRAM limits
    seconds * range.low, seconds * range.high

Estimates fall into classes by the resource that limits them, since the model's errors differ by resource.
`error_ranges.json` has the classes and the cases they are derived from; `tests/benchmarks/error_ranges.py --write`
regenerates it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from math import exp, floor, log
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "ALL",
    "CLASSES",
    "DATA",
    "SHARE",
    "Case",
    "ErrorRange",
    "bound_class",
    "derive_ranges",
    "error_range",
    "ranges_to_json",
]

DATA = Path(__file__).with_suffix(".json")
SHARE = 0.8  # of the published times that lie within the range
LEAST_CASES = 9  # of a class of its own: from 9 values on, the extremes are the 10th and 90th percentile
CLASSES: Mapping[str, tuple[str, ...]] = {  # class: terms of `Prediction.bound`
    "DRAM": ("dram",),
    "latency": ("latency",),
    "L2 and shared memory": ("l2", "shared", "tma", "tmem", "atomics"),
    "issue and pipes": ("issue", "fma", "alu", "mufu", "fp64", "tensor"),
}
ALL = "all"


class Case(NamedTuple):
    """A published time beside the modeled one.

    Attributes:
        ladder: its source; cases of one ladder and GPU are variants of one kernel.
        name: the kernel or variant.
        gpu: name of the GPU.
        bound: `Prediction.bound`.
        ratio: modeled over published time.
    """

    ladder: str
    name: str
    gpu: str
    bound: str
    ratio: float


@dataclass(frozen=True, slots=True)
class ErrorRange:
    """Errors of a class of estimates. Factors multiply a modeled time.

    Attributes:
        cases: number of published times it is derived from.
        low, high: factors between which `SHARE` of the published times lie.
        least, most: the extreme factors, for estimates of low confidence.
        resolution: factor between the modeled times of two variants of a kernel up to which their order is uncertain:
            the errors of `SHARE` of the pairs differ by less.
    """

    cases: int
    low: float
    high: float
    least: float
    most: float
    resolution: float


def bound_class(bound: str) -> str:
    """Return the class of a limiting resource; "all" for resources without a class."""
    return next((name for name, bounds in CLASSES.items() if bound in bounds), ALL)


def error_range(bound: str) -> ErrorRange:
    """Return the errors of estimates that a resource limits; those of all estimates where its class has too few cases.

    Args:
        bound: as `Prediction.bound`.
    """
    ranges = _stored_ranges()
    return ranges.get(bound_class(bound), ranges[ALL])


@cache
def _stored_ranges() -> dict[str, ErrorRange]:
    data = json.loads(DATA.read_text(encoding="utf-8"))
    return {name: ErrorRange(**row) for name, row in data["ranges"].items()}


def derive_ranges(cases: Sequence[Case], widening: float = 1.0) -> dict[str, ErrorRange]:
    """Derive the error range of each class that has enough cases, and of all cases together.

    Args:
        cases: published times beside modeled ones.
        widening: exponent of the distance of the ends from the median. Cases of one ladder have similar errors, so the
            range of a few ladders is too narrow for another one.
    """
    classes: dict[str, list[Case]] = {ALL: list(cases)}
    for case in cases:
        classes.setdefault(bound_class(case.bound), []).append(case)
    return {name: _range_of(own, widening) for name, own in classes.items() if name == ALL or len(own) >= LEAST_CASES}


def ranges_to_json(ranges: Mapping[str, ErrorRange]) -> dict[str, dict[str, float]]:
    """Return plain values with four digits."""
    return {
        name: {key: value if key == "cases" else float(f"{value:.4g}") for key, value in asdict(one).items()}
        for name, one in ranges.items()
    }


def _range_of(cases: Sequence[Case], widening: float) -> ErrorRange:
    factors = sorted(1 / case.ratio for case in cases)
    differences = sorted(
        abs(log(one.ratio / other.ratio))
        for one, other in combinations(cases, 2)
        if (one.ladder, one.gpu) == (other.ladder, other.gpu)
    )
    resolution = exp(_quantile(differences, SHARE)) if differences else max(factors) / min(factors)
    low, middle, high = (
        _quantile([log(f) for f in factors], share) for share in ((1 - SHARE) / 2, 0.5, (1 + SHARE) / 2)
    )
    low, high = (exp(middle + widening * (end - middle)) for end in (low, high))
    return ErrorRange(len(cases), low, high, min(low, factors[0]), max(high, factors[-1]), resolution)


def _quantile(values: Sequence[float], share: float) -> float:
    """Return an interpolated order statistic of sorted values: `share` of further values are expected below it."""
    place = share * (len(values) + 1) - 1
    below = min(max(0, floor(place)), len(values) - 1)
    above = min(below + 1, len(values) - 1)
    return values[below] + max(0.0, place - below) * (values[above] - values[below])
