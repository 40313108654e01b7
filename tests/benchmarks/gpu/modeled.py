"""The modeled times of the same cases:  python tests/benchmarks/gpu/modeled.py [--only WORD]

Needs no GPU. Every example of every case, at the case's sizes, on an H200, or on a B200 or an RTX 5090 where it is
written for Blackwell: modeled seconds, the rate they come to, its percent of the published roof, and what binds in
words (`pyptx.analysis.model.estimate`). Written to modeled.json, from which report.py fills the column "modeled" of
docs/figures/performance.md. None of it is a measurement.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import numpy as np  # noqa: E402
from cases import Arrays, Case, all_cases  # noqa: E402

from pyptx.analysis.gpus import Gpu, gpu  # noqa: E402
from pyptx.analysis.model.estimate import estimate  # noqa: E402
from pyptx.analysis.model.prediction import Prediction  # noqa: E402
from pyptx.analysis.work.call import numpy_dtype_of  # noqa: E402
from pyptx.kernel import Kernel  # noqa: E402

DATA = HERE / "modeled.json"
Call = tuple[Kernel, tuple[Any, ...], dict[str, Any]]


class Empty(Arrays):
    """Arrays of zeros that take no memory: the model does not look at what arrays of numbers hold."""

    def __init__(self, torch: Any):
        super().__init__(torch, torch.device("cpu"), dry=True)

    def normal(self, *shape: int, dtype: str = "bfloat16") -> Any:
        return self.torch.zeros((), dtype=getattr(self.torch, dtype)).expand(shape)

    def settled(self, found: Any, expected: Any) -> Any:
        return expected

    def scaled(self, M: int, N: int, K: int) -> list[Any]:
        blocks = -(-K // 128)
        return [
            self.normal(M, K, dtype="float8_e4m3fn"),
            self.normal(N, K, dtype="float8_e4m3fn"),
            self.normal(blocks, M, dtype="float32"),
            self.normal(-(-N // 128), blocks, dtype="float32"),
        ]

    def packed(self, M: int, N: int, K: int) -> tuple[list[Any], float]:
        shapes = (M, K // 2), (N, K // 2), (M, K // 16), (N, K // 16)
        return [self.normal(*shape, dtype="uint8") for shape in shapes], 1.0


@contextmanager
def recorded(arrays: Empty) -> Iterator[list[Call]]:
    """Calls of kernels made inside are listed and not made; they give arrays of zeros."""
    calls: list[Call] = []

    def call(kernel: Kernel, *given: Any, out: Any = None, **params: Any) -> Any:
        calls.append((kernel, given, params))
        sizes = dict(params)
        for tile, array in zip(kernel.in_specs, given, strict=True):
            sizes |= tile.extract_env(array.shape)
        names = {
            "f32": "float32",
            "bf16": "bfloat16",
            "f16": "float16",
            "u32": "int32",
            "s32": "int32",
            "e4m3": "float8_e4m3fn",
        }
        results = tuple(
            arrays.normal(*tile.resolve_shape(sizes), dtype=names[tile.dtype.name]) for tile in kernel.out_specs
        )
        return results if len(results) > 1 else results[0]

    with patch.object(Kernel, "__call__", call):
        yield calls


def host(array: Any) -> np.ndarray:
    """A tensor for the model: with its numbers where it has any of its own."""
    if any(array.stride()) and array.numel() > 1:
        return array.numpy()
    return np.zeros(tuple(array.shape), numpy_dtype_of(str(array.dtype).rpartition(".")[2]))


def device_of(kernel: Kernel) -> Gpu:
    return gpu({"sm_10": "B200", "sm_12": "RTX 5090"}.get(kernel.arch[:5], "H200"))


def measure(case: Case, arrays: Empty, dry: bool = False) -> Iterator[dict[str, Any]]:
    """A row for each example of a case."""
    sizes = case.dry if dry else case.sizes
    with recorded(arrays) as calls:
        problem = case.make(arrays, **sizes, **(case.options if dry else {}))
        made = {}
        for name in problem.kernels:
            del calls[:]
            problem.candidates[name]()
            made[name] = list(calls)
    for name, kernel in problem.kernels.items():
        on = device_of(kernel)
        parts: list[tuple[Kernel, Prediction]] = [
            (called, estimate(called, *map(host, given), device=on, **params)) for called, given, params in made[name]
        ]
        seconds = sum(part.seconds for _, part in parts)
        row = {"case": case.name, "sizes": dict(sizes), "candidate": name, "gpu": on.name, "launches": len(parts)}
        share = problem.work / seconds / roof(on, *problem.roof)
        if share > 1:  # no time, but a fault of the model's
            yield row | {"why": f"the model finds {seconds * 1e6:.1f} us, less than the roof allows"}
            continue
        yield row | {
            "seconds": seconds,
            "unit": "TB/s" if problem.roof[0] == "dram" else "TFLOP/s",
            "rate": problem.work / seconds / 1e12,
            "roof": share,
            "bound": next(part.summary for called, part in parts if called is kernel),
        }


def roof(on: Gpu, pipe: str, kind: str) -> float:
    """Published bytes or operations a second."""
    if pipe == "dram":
        return on.dram_bytes_per_s
    pipes = ("core",) if pipe == "core" else ("mma", "wgmma", "tcgen05")
    return max(on.flops_per_s(pipe, kind) for pipe in pipes)


def line(row: dict[str, Any]) -> str:
    if "why" in row:
        return f"not modeled: {row['why']}"
    return (
        f"modeled {row['seconds'] * 1e6:.1f} us on {row['gpu']}, {row['rate']:.2f} {row['unit']}, "
        f"{row['roof']:.0%} of the roof: {row['bound']}"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds this; the others stay")
    given = parser.parse_args(arguments)
    import torch

    arrays = Empty(torch)
    before = json.loads(DATA.read_text(encoding="utf-8"))["results"] if DATA.is_file() else []
    rows = []
    for case in all_cases():
        if given.only.lower() in case.name.lower():
            for row in measure(case, arrays):
                rows.append(row)
                print(f"{case.label}: {row['candidate']}: {line(row)}", flush=True)
        else:
            rows += [row for row in before if (row["case"], row["sizes"]) == (case.name, dict(case.sizes))]
    found = {"about": {"kind": "modeled", "date": datetime.date.today().isoformat()}, "results": rows}
    DATA.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"written: {DATA}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
