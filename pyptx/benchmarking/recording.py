"""Times of a benchmark as measurements of the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyptx.analysis.model import MODEL_VERSION
from pyptx.analysis.work.call import bind_call
from pyptx.benchmarking.candidates import Candidate
from pyptx.benchmarking.result import Benchmark
from pyptx.ledger import Measurement
from pyptx.ledger.origins import measurement_of

__all__ = ["measurements_of"]


def measurements_of(
    result: Benchmark,
    candidates: Sequence[Candidate],
    values: Sequence[Any],
    params: Mapping[str, Any],
    source: str = "benchmark",
) -> list[Measurement]:
    """Return a measurement for each kernel that has a time and no wrong output.

    Args:
        result: the benchmark.
        candidates: its candidates.
        values, params: arguments of their calls.
        source: what records them.
    """
    found = []
    for one in candidates:
        row = result[one.name]
        if one.kernel is None or row.seconds is None or row.correct is False:
            continue
        value, low, high = row.seconds
        if row.kind == "modeled":
            low, high = value / (row.resolution or 1.0), value * (row.resolution or 1.0)
        call = bind_call(one.kernel, *values, **params)
        made = measurement_of(
            one.kernel,
            call,
            kind=row.kind or "modeled",
            method="events" if row.kind == "measured" else f"model {MODEL_VERSION}",
            source=source,
            gpu=result.gpu,
            seconds=value,
            low=low,
            high=high,
            driver=result.driver,
            runs=row.rounds,
            cubin=row.cubin_hash or "",
            conditions=dict(result.conditions),
        )
        found.append(replace(made, kernel=one.name))
    return found
