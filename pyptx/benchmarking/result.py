"""Result of a benchmark: a row for each candidate, and how the times were obtained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.benchmarking import tables
from pyptx.errors import UnknownNameError
from pyptx.ledger import Measurement
from pyptx.tune.statistics import Median

__all__ = ["Benchmark", "BenchmarkRow"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """Times of one candidate.

    Attributes:
        name: its name.
        against: it was given in `against`.
        kind: "measured", "modeled", or None without a time.
        seconds: of one run, (value, low, high): the median with its 95 % confidence interval; for a modeled time the range
            in which 80 % of measured times are expected. None without a time, with the reason in `problem`.
        speedup: time of the baseline over its own, the median of the rounds with its 95 % interval; for modeled times
            (value, value, value).
        p_value: of the Wilcoxon signed-rank test against the baseline over the rounds; None for modeled times.
        rounds: number of timed runs; 0 for modeled times.
        correct: its outputs agree with those of the reference; None if they were not compared.
        error: the largest difference from the reference.
        problem: why it has no time, or a wrong output; None otherwise.
        note: further information, such as the modeled bottleneck.
        rates: operations and bytes per second, {"flop/s": ..., "byte/s": ...}, where the work is known.
        cubin_hash: hash of the machine code of a kernel, 32 hexadecimal digits.
        resolution: factor between modeled times up to which their order is uncertain; None for measured times.
    """

    name: str
    against: bool
    kind: str | None = None
    seconds: Median | None = None
    speedup: Median | None = None
    p_value: float | None = None
    rounds: int = 0
    correct: bool | None = None
    error: float | None = None
    problem: str | None = None
    note: str = ""
    rates: Mapping[str, float] = field(default_factory=dict)
    cubin_hash: str | None = None
    resolution: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; times in seconds."""
        return {
            "name": self.name,
            "against": self.against,
            "kind": self.kind,
            "seconds": list(self.seconds) if self.seconds else None,
            "speedup": list(self.speedup) if self.speedup else None,
            "p_value": self.p_value,
            "rounds": self.rounds,
            "correct": self.correct,
            "error": self.error,
            "problem": self.problem,
            "note": self.note,
            "rates": dict(self.rates),
            "cubin_hash": self.cubin_hash,
            "resolution": self.resolution,
        }


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Times of several candidates on one GPU, or modeled for it.

    Attributes:
        title: the first kernel with its shapes.
        rows: the candidates, kernels first, in the order given.
        baseline: name of the candidate that speedups refer to.
        kind: "measured" or "modeled".
        gpu: name of the GPU.
        driver: version of the driver; "" for modeled times.
        method: description of the measurement, one sentence.
        conditions: clock, power and temperature as (least, most), and numbers of rounds, repeated and throttled rounds.
        checked: name of the reference of the outputs, or why they were not compared.
        date: UTC, ISO 8601.
        measurements: of the kernels, as the ledger keeps them.
    """

    title: str
    rows: tuple[BenchmarkRow, ...]
    baseline: str
    kind: str
    gpu: str
    driver: str
    method: str
    conditions: Mapping[str, Any]
    checked: str
    date: str
    measurements: tuple[Measurement, ...] = field(default=(), repr=False, compare=False)

    def __getitem__(self, name: str) -> BenchmarkRow:
        """Return the row of a candidate.

        Raises:
            UnknownNameError: no candidate has this name.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownNameError(f"no candidate {name!r}; the candidates are {', '.join(row.name for row in self.rows)}")

    def text(self) -> str:
        """Return the table as text."""
        return tables.text(self)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return tables.markdown(self)

    def html(self) -> str:
        """Return the table as static HTML, which follows the theme of the notebook."""
        return tables.html(self)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; times in seconds."""
        return {
            "schema": "pyptx-benchmark",
            "version": VERSION,
            "title": self.title,
            "kind": self.kind,
            "gpu": self.gpu,
            "driver": self.driver,
            "method": self.method,
            "baseline": self.baseline,
            "checked": self.checked,
            "date": self.date,
            "conditions": {name: value for name, value in self.conditions.items()},
            "rows": [row.to_json() for row in self.rows],
        }

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            "text/html": self.html(),
            "text/markdown": self.to_markdown(),
            "text/plain": self.text(),
        }

    def __repr__(self) -> str:
        return self.text()
