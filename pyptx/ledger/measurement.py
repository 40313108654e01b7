"""A measurement: a time with everything it depends on."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from pyptx.errors import InputError

__all__ = ["Measurement", "Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The version of a kernel's source.

    Attributes:
        commit: hash of the git commit of its folder; "" outside of a repository.
        dirty: files of the repository differ from the commit.
        version: reference of a recorded version, "gemm@5"; "" if none is recorded.
        file: file of the kernel, relative to its repository.
    """

    commit: str = ""
    dirty: bool = False
    version: str = ""
    file: str = ""

    def __str__(self) -> str:
        commit = f"commit {self.commit[:10]}{' with changes' if self.dirty else ''}" if self.commit else ""
        return ", ".join(filter(None, (self.version, commit))) or "unknown version"


@dataclass(frozen=True, slots=True)
class Measurement:
    """A time of a kernel.

    Attributes:
        kernel: name.
        problem: shapes and types of its arguments, "float32[1024x1024]".
        params: template parameters.
        kind: "measured" or "modeled".
        method: "events", "graph", "ncu", or "model 4": times of different methods are not compared.
        source: what recorded it: "benchmark", "pytest", "tune", "roofline", "profile".
        gpu, driver: names; the driver is "" for modeled times.
        seconds, low, high: of one run, with the 95 % interval of a measured time; for a modeled time the times that the
            model does not distinguish from it.
        runs: number of runs; 0 for modeled times.
        cubin: hash of the machine code, 32 hexadecimal digits; "" if unknown.
        origin: version of the source.
        conditions: clock, power and temperature, as of a benchmark.
        accepted: later times are compared with this one and those after it only.
        at: time of the measurement, seconds since 1970.
        number: number in the ledger; 0 before it is recorded.
    """

    kernel: str
    problem: str
    kind: str
    method: str
    source: str
    gpu: str
    seconds: float
    low: float
    high: float
    params: Mapping[str, Any] = field(default_factory=dict)
    driver: str = ""
    runs: int = 0
    cubin: str = ""
    origin: Origin = Origin()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    accepted: bool = False
    at: float = 0.0
    number: int = 0

    @property
    def series(self) -> tuple[str, ...]:
        """Key of comparable times: kernel, problem, parameters, GPU, kind and method."""
        params = json.dumps(dict(self.params), sort_keys=True, default=repr)
        return (self.kernel, self.problem, params, self.gpu, self.kind, self.method)

    @property
    def title(self) -> str:
        """Kernel, problem and parameters as text."""
        params = " ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.kernel}({self.problem})" + (f" {params}" if params else "")

    @property
    def date(self) -> str:
        """Date and time in UTC."""
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%d %H:%M}"

    def slower_than(self, other: Measurement, tolerance: float = 0.0) -> bool:
        """Return True if its interval is above that of another one, by more than a relative tolerance."""
        return self.low > other.high * (1 + tolerance)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; times in seconds."""
        return {
            **asdict(self),
            "params": {name: _plain(value) for name, value in self.params.items()},
            "date": self.date,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Measurement:
        """Rebuild a measurement from `to_json`.

        Raises:
            InputError, ValueError, TypeError, KeyError: the data is not that of a measurement.
        """
        values = {one.name: data[one.name] for one in fields(cls) if one.name in data}
        values["origin"] = Origin(**{name: data["origin"][name] for name in ("commit", "dirty", "version", "file")})
        found = cls(**values)
        numbers = (found.seconds, found.low, found.high, found.at)
        if not all(isinstance(one, int | float) and math.isfinite(one) for one in numbers):
            raise InputError("a time is not a number")
        if not (isinstance(found.params, Mapping) and isinstance(found.conditions, Mapping)):
            raise InputError("parameters or conditions are not a mapping")
        return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
