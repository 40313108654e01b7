"""One configuration and what became of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.compiled import Compiled
from pyptx.toolchain import Resources

__all__ = ["FINAL", "STATES", "TIMED", "Trial", "key_of", "label_of", "plain", "time_text"]

STATES = ("queued", "compiling", "compiled", "refused", "modelled", "measured", "wrong", "failed", "duplicate")
TIMED = ("modelled", "measured")
FINAL = frozenset(STATES[3:])


@dataclass(eq=False)
class Trial:
    """Attributes:
        config: the parameters' values.
        state: "queued", "compiling", "compiled" (it is checked now, or waits for its turn on the GPU), "refused" (by a
            restriction, the kernel's own Python, ptxas, the chip's limits), "modelled", "measured", "wrong" (its
            results are), "failed" (it hung, faulted or took its process with it), "duplicate" (another configuration
            is the same machine code, launched alike).
        reason: why it was refused, is wrong, failed, or what it duplicates.
        fault: of a failed trial: "hang", "fault", "killed", "error", "spilled" ... a word for tables.
        seconds: duration of the kernel; `kind` says where it is from: "modelled" or "measured".
        interval: of a measured time, its 95 % confidence interval; of a modelled one, what the model says of its error.
        prediction: what the model said (`pyptx.analysis.model.prediction.Prediction`), also where it was
            measured; after a resume a mapping of its terms.
        resources: registers, spills, static shared memory of the entry.
        shared_bytes: of a block, static and dynamic.
        occupancy: warps on an SM over warps there is room for, 0..1.
        cubin_hash: of the machine code, 32 hexadecimal digits; `identity`: of it and its launch.
        checked: whether its results were compared with the reference's; `error` is the largest difference found.
        twin: number of the trial that a duplicate is the same as.
        number: its place in `Study.trials`.
        restored: taken from the store, of an earlier run.
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
    twin: int | None = None
    identity: str | None = None
    _compile: Callable[[Mapping[str, Any]], Compiled] | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """The configuration as text, the same in every process."""
        return key_of(self.config)

    @property
    def label(self) -> str:
        """The configuration for readers: "BM=64 BN=128"."""
        return label_of(self.config)

    @property
    def done(self) -> bool:
        """Whether nothing more happens to it."""
        return self.state in FINAL

    @property
    def usable(self) -> bool:
        """Whether it has a time, so that it may be the best."""
        return self.state in TIMED and self.seconds is not None

    def compiled(self) -> Compiled:
        """Its machine code, for the linked view, the comparison, the roofline; from the cache or assembled anew.

        Raises:
            CompileError, ValueError: what refused the configuration refuses it again.
        """
        if self._compile is None:
            raise RuntimeError(f"{self.label} belongs to no study")
        return self._compile(self.config)

    def __repr__(self) -> str:
        time = f" {time_text(self.seconds)} {self.kind}" if self.seconds is not None else ""
        return f"<Trial {self.label}: {self.state}{time}{f' ({self.reason})' if self.reason else ''}>"


def key_of(config: Mapping[str, Any]) -> str:
    return json.dumps({name: plain(value) for name, value in sorted(config.items())}, separators=(",", ":"))


def label_of(config: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in config.items())


def plain(value: Any) -> Any:
    """A parameter's value as JSON has it; of what it has not, the repr."""
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def time_text(seconds: float) -> str:
    """A duration with a unit and three or four digits: "12.3 us"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"
