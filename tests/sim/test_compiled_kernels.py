"""Kernels of compilers, from elementwise to attention and tensor-map products: the simulator gives what NumPy gives,
whether asynchronous operations land at once or as late as they may.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from sim.compiled import (  # noqa: F401  (they register cases)
    cuda_images,
    cuda_library,
    cuda_matrices,
    cuda_rows,
    cuda_steps,
    triton_kernels,
    triton_steps,
)
from sim.compiled.case import cases, close

from pyptx import ir, parser, sim

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
MANIFEST = json.loads((CORPUS / "manifest.json").read_text())


def _kernels():
    """(file, entry, case) of every file of the corpus that has one."""
    for file, row in MANIFEST.items():
        source = row["source"].removeprefix("cuda/")
        for entry in row["entries"]:
            name = f"triton:{Path(file).name.split('.')[0]}" if file.startswith("triton/") else f"{source}:{entry}"
            if name in cases():
                yield file, entry, name


KERNELS = sorted(_kernels())


def _parameters():
    for file, entry, name in KERNELS:
        yield pytest.param(file, entry, name, id=f"{file.removesuffix('.ptx')}:{entry}")


@functools.lru_cache(1)  # the entries of a file follow each other
def _module(file: str) -> ir.Module:
    return parser.parse((CORPUS / "ptx" / file).read_text())


def _run(program: sim.Program, name: str, schedule: str) -> list[str]:
    case = cases()[name]()
    wanted = [(got, np.array(want), tolerance) for got, want, tolerance in case.expected]
    scratch = [np.zeros(1 << 16, np.uint8) for _ in range(len(program.symbols.params) - len(case.args))]
    sim.launch(
        program,
        case.grid,
        case.block,
        (*case.args, *scratch),
        cluster=case.cluster,
        smem_bytes=case.smem_bytes,
        schedule=schedule,
        engine="core",
    )
    return [problem for got, want, tolerance in wanted if (problem := close(got, want, tolerance))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file, entry, name", list(_parameters()))
def test_compiled_kernel(file, entry, name):
    program = sim.load(_module(file), entry)
    for schedule in ("eager", "late"):
        assert not _run(program, name, schedule), schedule


def test_there_are_enough_of_them():
    assert len({name for _, _, name in KERNELS}) >= 60
    assert not cases().keys() - {name for _, _, name in KERNELS}
