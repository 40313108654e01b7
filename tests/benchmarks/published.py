"""How near the performance model comes to what others measured:  python tests/benchmarks/published.py [--write]

Needs no GPU. published.json holds matrix products and attention that others measured and published, each with the
example of ours that is built most like it, the parameters that make it so, and what still differs. For each: the
published rate, what the model finds for our example on that GPU, and the quotient of the two. Of the model's numbers
only the energy of tensor cores (`pyptx.analysis.gpu_table.ENERGIES`) and the least that L2 of the B200 gives
(`pyptx.analysis.model.constants`) come from such runs; of its rules three were settled with these points in view: busy
servers cost nothing beside their waiting; what copies bring fills shared memory little by little; and the steps of a
wgmma take turns with other instructions in reading registers.
With --write the modeled rates go to published.json, for the table in docs/figures/performance.md (gpu/report.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from pyptx.analysis.gpus import gpu
from pyptx.analysis.model.estimate import estimate
from pyptx.analysis.model.prediction import Prediction
from pyptx.cli.kernels import load_kernel

DATA = Path(__file__).with_suffix(".json")
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Point:
    """One published measurement; see published.json."""

    source: str
    name: str
    gpu: str
    tflops: float
    ours: str
    sizes: tuple[int, ...]  # M, N, K; of attention B, H, S, D
    params: dict[str, Any]
    differs: str
    modeled: float = 0.0  # TFLOP/s, when it was last written
    burst: bool = False  # timed with pauses between launches: the clock before power limits it
    clock_ghz: float = 0.0  # highest clock, where the authors fixed it; 0: that of the GPU

    def predicted(self) -> Prediction:
        kernel, on = load_kernel(str(EXAMPLES / self.ours)), gpu(self.gpu)
        if self.clock_ghz:
            on = replace(on, max_clock_hz=self.clock_ghz * 1e9)
        return estimate(kernel, *arrays(self.ours, self.sizes), device=on, **self.params)

    def rate(self, found: Prediction) -> float:
        """TFLOP/s; causal attention has half of the operations."""
        work = 2.0 * prod(self.sizes)
        if len(self.sizes) == 4:
            work *= self.sizes[2] * (1 if self.params.get("CAUSAL") else 2)
        return work / (found.burst_seconds if self.burst else found.seconds) / 1e12


def arrays(ours: str, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """Zeros, since the model does not look at what arrays of numbers hold; each array has an address of its own."""
    if len(sizes) == 4:
        return [np.zeros(sizes, ml_dtypes.bfloat16) for _ in range(3)]
    M, N, K = sizes
    if "fp8" in ours:
        blocks, small = -(-K // 128), ml_dtypes.float8_e4m3fn
        return [
            np.zeros((M, K), small),
            np.zeros((N, K), small),
            np.zeros((blocks, M), np.float32),
            np.zeros((-(-N // 128), blocks), np.float32),
        ]
    return [np.zeros((M, K), ml_dtypes.bfloat16), np.zeros((K, N), ml_dtypes.bfloat16)]


def points() -> list[Point]:
    """All of published.json."""
    rows = json.loads(DATA.read_text(encoding="utf-8"))["points"]
    return [Point(**row | {"sizes": tuple(row["sizes"])}) for row in rows]


def lines(rates: Iterable[float]) -> Iterator[str]:
    """The points with their modeled rates as a table."""
    yield "| published | GPU | M, N, K or B, H, S, D | TFLOP/s measured | ours modeled | quotient | what differs |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for point, rate in zip(points(), rates, strict=True):
        sizes = ", ".join(map(str, point.sizes))
        yield (
            f"| {point.source}: {point.name} | {point.gpu} | {sizes} | {point.tflops:.0f} | {rate:.0f} "
            f"| {rate / point.tflops:.2f} | {point.differs} |"
        )


def written() -> Iterator[str]:
    """The table as it was last written, and what the sources are."""
    yield from lines([point.modeled for point in points()])
    yield ""
    for name, source in json.loads(DATA.read_text(encoding="utf-8"))["sources"].items():
        yield f"- {name}: {source}"


def main(arguments: list[str]) -> None:
    rates = [round(point.rate(point.predicted()), 1) for point in points()]
    print("\n".join(lines(rates)))
    if "--write" in arguments:
        data = json.loads(DATA.read_text(encoding="utf-8"))
        for row, rate in zip(data["points"], rates, strict=True):
            row["modeled"] = rate
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
