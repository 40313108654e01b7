"""How near the performance model comes to what others measured:  python tests/benchmarks/published.py

Needs no GPU. published.json holds matrix products that others measured and published, each with the example of ours
that is built most like it, the parameters that make it so, and what still differs. For each: the published rate, what
the model finds for our example on that GPU, and the quotient of the two. Nothing of the model was fitted to these
points but the clock that tensor cores sustain (`pyptx.analysis.model.constants`), which caps all of one GPU alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

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
    sizes: tuple[int, int, int]
    params: dict[str, Any]
    differs: str

    def modelled(self) -> Prediction:
        kernel = load_kernel(str(EXAMPLES / self.ours))
        return estimate(kernel, *arrays(self.ours, *self.sizes), device=self.gpu, **self.params)

    def rate(self, found: Prediction) -> float:
        """TFLOP/s."""
        return 2 * float(np.prod(self.sizes, dtype=np.float64)) / found.seconds / 1e12


def arrays(ours: str, M: int, N: int, K: int) -> list[np.ndarray]:
    """Zeros: the model does not look at what arrays of numbers hold."""
    if "fp8" in ours:
        blocks, small = -(-K // 128), ml_dtypes.float8_e4m3fn
        return [np.zeros((M, K), small), np.zeros((N, K), small), np.zeros((blocks, M), np.float32),
                np.zeros((-(-N // 128), blocks), np.float32)]
    return [np.zeros((M, K), ml_dtypes.bfloat16), np.zeros((K, N), ml_dtypes.bfloat16)]


def points() -> list[Point]:
    """All of published.json."""
    rows = json.loads(DATA.read_text(encoding="utf-8"))["points"]
    return [Point(**row | {"sizes": tuple(row["sizes"])}) for row in rows]


def lines() -> Iterator[str]:
    yield "| published | GPU | M, N, K | measured | modelled, ours | quotient | modelled to bind |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for point in points():
        found = point.modelled()
        rate = point.rate(found)
        sizes = ", ".join(map(str, point.sizes))
        yield (f"| {point.source}: {point.name} | {point.gpu} | {sizes} | {point.tflops:.0f} | {rate:.0f} "
               f"| {rate / point.tflops:.2f} | {found.words} |")


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
