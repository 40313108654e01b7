"""A trial: one configuration and its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.assembly import Assembly
from pyptx.errors import UnsupportedError
from pyptx.toolchain import Resources

__all__ = ["FINAL", "STATES", "TIMED", "Trial", "config_key", "config_label", "plain_value", "format_time"]

STATES = ("queued", "compiling", "compiled", "refused", "modeled", "measured", "wrong", "failed", "duplicate")
TIMED = ("modeled", "measured")
FINAL = frozenset(STATES[3:])


@dataclass(eq=False)
class Trial:
    """A configuration and its result.

    Attributes:
        config: the parameters' values.
        state: "queued", "compiling", "compiled" (being checked, or waiting for the GPU), "refused" (by a restriction,
            the kernel's Python, ptxas, or limits of the GPU), "modeled", "measured", "wrong" (incorrect outputs),
            "failed" (it hung, faulted or crashed its process), or "duplicate" (same machine code and launch as another
            configuration).
        reason: explanation of "refused", "wrong", "failed" and "duplicate".
        fault: kind of failure, a keyword for tables: "hang", "fault", "killed", "error", "spills", ...
        seconds: duration of the kernel; `kind` is its origin: "modeled" or "measured".
        interval: 95 % confidence interval of a measured time; error range of a modeled one.
        prediction: `pyptx.analysis.model.prediction.Prediction`, also for measured trials; after a resume a mapping
            with its fields.
        resources: registers, spills and static shared memory of the entry.
        shared_bytes: static and dynamic shared memory of a block.
        occupancy: resident warps relative to the maximum of an SM, 0..1.
        cubin_hash: hash of the machine code, 32 hexadecimal digits; `identity`: hash of it and its launch.
        checked: outputs were compared with the reference; `error` is the largest difference.
        duplicate_of: number of the trial a duplicate repeats.
        number: index in `Study.trials`.
        restored: the result comes from the store.
    """

    config: dict[str, Any]
    state: str = "queued"
    reason: str | None = None
    fault: str | None = None
    seconds: float | None = None
    interval: tuple[float, float] | None = None
    kind: str | None = None
    prediction: Any = None
    resources: Resources | None = None
    shared_bytes: int | None = None
    occupancy: float | None = None
    cubin_hash: str | None = None
    checked: bool = False
    error: float | None = None
    compile_seconds: float | None = None
    check_seconds: float | None = None
    measurement: Mapping[str, Any] = field(default_factory=dict)
    restored: bool = False
    number: int = 0
    duplicate_of: int | None = None
    identity: str | None = None
    _compile: Callable[[Mapping[str, Any]], Assembly] | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """The configuration as text, equal in all processes."""
        return config_key(self.config)

    @property
    def label(self) -> str:
        """The configuration for readers: "BM=64 BN=128"."""
        return config_label(self.config)

    @property
    def done(self) -> bool:
        """True in a final state."""
        return self.state in FINAL

    @property
    def usable(self) -> bool:
        """True when it has a time and can be the best."""
        return self.state in TIMED and self.seconds is not None

    def predicted(self, name: str) -> Any:
        """Return a field of the prediction, or None; restored trials hold predictions as mappings."""
        prediction = self.prediction
        return prediction.get(name) if isinstance(prediction, Mapping) else getattr(prediction, name, None)

    def compiled(self) -> Assembly:
        """Return its machine code, from the cache or assembled again.

        Raises:
            CompileError, ValueError: the configuration is refused.
        """
        if self._compile is None:
            raise UnsupportedError(f"{self.label} does not belong to a study")
        return self._compile(self.config)

    def __repr__(self) -> str:
        time = f" {format_time(self.seconds)} {self.kind}" if self.seconds is not None else ""
        return f"<Trial {self.label}: {self.state}{time}{f' ({self.reason})' if self.reason else ''}>"


def config_key(config: Mapping[str, Any]) -> str:
    """Return a configuration as JSON, with sorted names."""
    return json.dumps({name: plain_value(value) for name, value in sorted(config.items())}, separators=(",", ":"))


def config_label(config: Mapping[str, Any]) -> str:
    """Return a configuration for readers: "BM=64 BN=128"."""
    return " ".join(f"{name}={value}" for name, value in config.items())


def plain_value(value: Any) -> Any:
    """Return a parameter's value as a JSON value; the repr of other objects."""
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def format_time(seconds: float) -> str:
    """Return a duration with a unit and four digits: "12.3 us"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
