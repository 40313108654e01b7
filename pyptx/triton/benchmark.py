"""Times for Triton's autotuner: those of the performance model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyptx.triton.session import active_session

__all__ = ["modeled_benchmark"]


def modeled_benchmark(
    kernel_call: Callable[[], Any], *_: Any, quantiles: Sequence[float] | None = None, **__: Any
) -> Any:
    """Return the modeled time of the launches of a call in milliseconds; nothing is executed.

    Args:
        kernel_call: makes one launch or more. Each is counted on a sample of its clusters, on copies of its arrays.
        quantiles: if given, the result is a list with the time once for each.
    """
    milliseconds = 1e3 * active_session().modeled_seconds(kernel_call)
    return milliseconds if quantiles is None else [milliseconds] * len(quantiles)
