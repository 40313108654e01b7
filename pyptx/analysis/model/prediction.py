"""What the performance model says of a launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyptx.analysis.occupancy import Occupancy

__all__ = ["Prediction"]


@dataclass(frozen=True)
class Prediction:
    """Modelled time of a launch, never a measurement.

    Attributes:
        seconds: of the launch, infinite where it cannot run: `words` say why.
        terms: what each server would need alone, in seconds: "issue", "fma", "alu", "mufu", "shared", "tensor", "tma",
            "l2", "dram", "pipeline" (an SM with all of its waiting) and "launch". They overlap; `seconds` is no sum.
        bound: the name of the term that binds.
        words: the same as a phrase: "tensor pipe 71 %, waits for TMA, 4 stages".
        occupancy: blocks and warps of an SM.
        waves: blocks over the blocks that fit on the GPU at a time.
        gpu: its name.
        flops, bytes, ctas: the work it is of, as in `pyptx.analysis.work.count.Work`.
        kind: "modelled".
    """

    seconds: float
    terms: Mapping[str, float]
    bound: str
    words: str
    occupancy: Occupancy
    waves: float
    gpu: str
    flops: Mapping[str, int] = field(default_factory=dict)
    bytes: Mapping[str, int] = field(default_factory=dict)
    ctas: int = 0
    kind: str = field(default="modelled", init=False)

    def share(self, term: str) -> float:
        """How busy a server is, 0..1."""
        return self.terms.get(term, 0.0) / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values; seconds are None where it cannot run."""
        return {"kind": self.kind, "gpu": self.gpu, "seconds": self.seconds if self.seconds < float("inf") else None,
                "terms": dict(self.terms), "bound": self.bound, "words": self.words, "waves": self.waves,
                "flops": dict(self.flops), "bytes": dict(self.bytes), "ctas": self.ctas,
                "occupancy": {"blocks": self.occupancy.blocks, "warps": self.occupancy.warps,
                              "fraction": self.occupancy.fraction, "why": self.occupancy.why}}

    def __str__(self) -> str:
        if self.seconds == float("inf"):
            return f"cannot run on {self.gpu}: {self.words}"
        return f"{_time(self.seconds)} modelled on {self.gpu}: {self.words}"


def _time(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
