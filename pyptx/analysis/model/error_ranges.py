"""Error ranges of modeled times.

    errors = error_range("dram")           # of estimates that DRAM limits
    seconds * errors.low, seconds * errors.high

The ranges follow from ladders of published times as the model was when it first saw them: their errors are those of
kernels on which no change of the model had been decided. `tests/benchmarks/error_ranges.py --write` derives them from
`tests/benchmarks/unseen_errors.json` and writes `error_ranges.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["ALL", "CLASSES", "DATA", "SHARE", "ErrorRange", "bound_class", "error_range"]

DATA = Path(__file__).with_suffix(".json")
SHARE = 0.8  # of the measured times that are expected within a range
CLASSES: Mapping[str, tuple[str, ...]] = {  # class: terms of `Prediction.bound`
    "DRAM": ("dram",),
    "latency": ("latency",),
    "L2 and shared memory": ("l2", "shared", "tma", "tmem", "atomics"),
    "issue and pipes": ("issue", "fma", "alu", "mufu", "fp64", "tensor"),
}
ALL = "all"


@dataclass(frozen=True, slots=True)
class ErrorRange:
    """Errors of a class of estimates. Factors multiply a modeled time.

    Attributes:
        ladders: number of ladders of the class; those of other classes take part in its range with less weight.
        low, high: factors between which `SHARE` of the measured times are expected.
        least, most: the wider ones for estimates of low confidence.
        resolution: factor between the modeled times of two variants of a kernel up to which their order is uncertain.
    """

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
    """Return the errors of estimates that a resource limits.

    Args:
        bound: as `Prediction.bound`.
    """
    ranges = _stored_ranges()
    return ranges.get(bound_class(bound), ranges[ALL])


@cache
def _stored_ranges() -> dict[str, ErrorRange]:
    data = json.loads(DATA.read_text(encoding="utf-8"))
    return {name: ErrorRange(**row) for name, row in data["ranges"].items()}
