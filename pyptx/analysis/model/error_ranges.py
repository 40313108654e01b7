"""Error ranges of modeled times, derived from published times of kernels that the model was developed on.

    range = error_range("dram")           # of estimates that DRAM limits
    seconds * range.low, seconds * range.high

Estimates fall into classes by the resource that limits them, since the model's errors differ by resource. Rungs of a
ladder are variants of one kernel and share most of their error, so a ladder counts as one observation, however many
rungs it has: quantiles weight ladders equally, and a range is widened until the claimed share of each ladder, on
average, lies inside a range derived from the other ladders only (conformal prediction for groups: Dunn, Wasserman and
Ramdas 2022, arXiv 1809.07441).

`error_ranges.json` has the classes and the cases they are derived from; `tests/benchmarks/error_ranges.py --write`
regenerates it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import combinations
from math import exp, hypot, log
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
    "left_out_shares",
    "ranges_to_json",
]

DATA = Path(__file__).with_suffix(".json")
SHARE = 0.8  # of the published times that lie within the range
LEAST_LADDERS = 5  # of a class of its own: SHARE * (n + 1) / n must be below 1
LEAST_WIDTH = 0.02  # logarithm of the distance of each end from the median, before it is widened
# Logarithm of the difference between two measurements of one kernel: published times of FlashAttention-3 on H100 (its paper,
# and pytorch/benchmark) differ by 4 to 8 %. The model was developed on its cases, so their own deviation is partly fitted;
# that of a further measurement is not.
SPREAD = 0.08
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
        ladders: number of ladders they are from.
        low, high: factors between which `SHARE` of the published times lie.
        least, most: the extreme factors, for estimates of low confidence.
        resolution: factor between the modeled times of two variants of a kernel up to which their order is uncertain:
            the errors of `SHARE` of the pairs differ by less.
    """

    cases: int
    ladders: int
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


def derive_ranges(cases: Sequence[Case]) -> dict[str, ErrorRange]:
    """Derive the error range of each class that enough ladders have cases of, and of all cases together.

    Args:
        cases: published times beside modeled ones.
    """
    classes: dict[str, list[Case]] = {ALL: list(cases)}
    for case in cases:
        classes.setdefault(bound_class(case.bound), []).append(case)
    return {name: _range_of(own) for name, own in classes.items() if name == ALL or len(_ladders(own)) >= LEAST_LADDERS}


def left_out_shares(cases: Sequence[Case]) -> dict[str, float]:
    """Return for each ladder the share of its cases inside the ranges that are derived without it."""
    shares: dict[str, float] = {}
    for ladder in _ladders(cases):
        ranges = derive_ranges([case for case in cases if case.ladder != ladder])
        own = [case for case in cases if case.ladder == ladder]
        found = [ranges.get(bound_class(case.bound), ranges[ALL]) for case in own]
        shares[ladder] = sum(one.low <= 1 / case.ratio <= one.high for case, one in zip(own, found, strict=True)) / len(
            own
        )
    return shares


def ranges_to_json(ranges: Mapping[str, ErrorRange]) -> dict[str, dict[str, float]]:
    """Return plain values with four digits."""
    return {
        name: {
            key: value if key in ("cases", "ladders") else float(f"{value:.4g}") for key, value in asdict(one).items()
        }
        for name, one in ranges.items()
    }


def _range_of(cases: Sequence[Case]) -> ErrorRange:
    low, middle, high = _quantiles(cases)
    widening = _widening(cases)
    low = exp(middle - hypot(widening * (middle - low), SPREAD))
    high = exp(middle + hypot(widening * (high - middle), SPREAD))
    factors = [1 / case.ratio for case in cases]
    return ErrorRange(
        len(cases),
        len(_ladders(cases)),
        low,
        high,
        min(low, *factors),
        max(high, *factors),
        _resolution(cases),
    )


def _resolution(cases: Sequence[Case]) -> float:
    """Return the factor by which the errors of pairs of a ladder and GPU differ at most, for `SHARE` of the pairs."""
    pairs = [
        (one.ladder, abs(log(one.ratio / other.ratio)))
        for one, other in combinations(cases, 2)
        if (one.ladder, one.gpu) == (other.ladder, other.gpu)
    ]
    if not pairs:
        return max(case.ratio for case in cases) / min(case.ratio for case in cases)
    return exp(_quantile([value for _, value in pairs], [name for name, _ in pairs], SHARE))


def _quantiles(cases: Sequence[Case]) -> tuple[float, float, float]:
    """Return the ends and the median of the logarithms of published over modeled times."""
    values, names = [-log(case.ratio) for case in cases], [case.ladder for case in cases]
    low, middle, high = (_quantile(values, names, share) for share in ((1 - SHARE) / 2, 0.5, (1 + SHARE) / 2))
    return min(low, middle - LEAST_WIDTH), middle, max(high, middle + LEAST_WIDTH)


def _widening(cases: Sequence[Case]) -> float:
    """Return the factor by which the ends move away from the median.

    Each case is compared with the range of the other ladders: its score is the factor that would include it. The result
    is the quantile of the scores that includes the claimed share of a further ladder; at least 1.
    """
    names = _ladders(cases)
    if len(names) < 2:
        return 1.0
    scores = []
    for ladder in names:
        low, middle, high = _quantiles([case for case in cases if case.ladder != ladder])
        for case in cases:
            if case.ladder == ladder:
                distance = -log(case.ratio) - middle
                scores.append(distance / (high - middle) if distance > 0 else distance / (low - middle))
    share = min(1.0, SHARE * (len(names) + 1) / len(names))
    order = [case.ladder for ladder in names for case in cases if case.ladder == ladder]
    return max(1.0, _quantile(scores, order, share))


def _ladders(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.ladder for case in cases))


def _quantile(values: Sequence[float], ladders: Sequence[str], share: float) -> float:
    """Return the least value that a share of the weight does not exceed; the values of a ladder weigh 1 together."""
    sizes, below = Counter(ladders), 0.0
    for value, ladder in sorted(zip(values, ladders, strict=True)):
        below += 1 / sizes[ladder]
        if below >= share * len(sizes) - 1e-9:
            return value
    return max(values)
