"""Estimates with skipped iterations beside those of all iterations:  python tests/benchmarks/shortening.py [NAME ...]

Needs no GPU. Compares all examples, the kernels of the CUDA corpus and matrix products by nvcc at their published size;
with names, those that contain one of them. tests/analysis/test_shortening.py tests examples and smaller products. A ratio
beyond 2 % is marked; the exit status is then 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.cuda_kernels import CASES, program_of  # noqa: E402
from support.shortened_estimates import (  # noqa: E402
    EXAMPLES,
    PRODUCTS,
    call_of_example,
    call_of_product,
    estimates,
)

from pyptx.analysis.gpus import Gpu  # noqa: E402
from pyptx.analysis.work.call import Call, bind_call  # noqa: E402

PUBLISHED = 4096  # rows and columns


def calls(wanted: list[str]) -> Iterator[tuple[str, Call, str | Gpu]]:
    """The calls with their names and GPUs."""

    def is_wanted(name: str) -> bool:
        return not wanted or any(word in name for word in wanted)

    for name, (_, _, gpu) in EXAMPLES.items():
        if is_wanted(name):
            yield name, call_of_example(name), gpu
    for case in CASES:
        if is_wanted(case.id):
            program, launch = program_of(case.sources, case.include), case.launch(np.random.default_rng(7))
            for variable, values in launch.variables.items():
                program[variable] = values
            call = bind_call(program[case.kernel], *launch.args, **launch.sizes)
            yield f"corpus: {case.id}", call, call.compiled().target
    for entry in PRODUCTS:
        if is_wanted(f"sgemm {entry}"):
            yield f"nvcc: sgemm {entry}", *call_of_product(entry, PUBLISHED)


def main(wanted: list[str]) -> int:
    beyond = 0
    for name, call, gpu in calls(wanted):
        short, whole = estimates(call, gpu)
        is_off = abs(short / whole - 1) > 0.02
        beyond += is_off
        print(
            f"{name:45} {1e6 * short:10.1f} us {1e6 * whole:10.1f} us {short / whole:8.4f}{' beyond 2 %' * is_off}",
            flush=True,
        )
    return int(beyond > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
