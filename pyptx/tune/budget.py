"""How much a sweep may cost: a number of configurations, or a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

__all__ = ["Budget", "budget_of"]

_UNITS = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits; None: no limit."""

    trials: int | None = None
    seconds: float | None = None


def budget_of(value: Budget | int | str | timedelta | None) -> Budget:
    """A budget of a number of trials, a text such as "90s", "10min" or "2h", or a timedelta.

    Raises:
        ValueError: it is none of these, or not positive.
    """
    if value is None or isinstance(value, Budget):
        return value or Budget()
    if isinstance(value, timedelta):
        found = Budget(seconds=value.total_seconds())
    elif isinstance(value, int) and not isinstance(value, bool):
        found = Budget(trials=value)
    elif isinstance(value, str) and (text := re.fullmatch(r"\s*([\d.]+)\s*(s|min|m|h)\s*", value)):
        found = Budget(seconds=float(text[1]) * _UNITS[text[2]])
    elif isinstance(value, str) and value.strip().isdigit():
        found = Budget(trials=int(value))
    else:
        raise ValueError(f"budget {value!r}; expected a number of configurations, or a time such as '90s' or '10min'")
    if (found.trials or found.seconds or 0) <= 0:
        raise ValueError(f"budget {value!r} is no budget")
    return found
