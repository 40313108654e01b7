"""The sanitizer over kernels of compilers: nothing is wrong with them, and it leaves their results as they are."""

from __future__ import annotations

import numpy as np
import pytest
from sim.compiled.case import cases, close
from sim.test_compiled_kernels import CORPUS, KERNELS

from pyptx import parser, sim

# CUB's merge loads the key behind the last one of a run before it knows that there is none, and does not use it.
READ_TOO_FAR = {("nvcc/blocks.sm_90.ptx", "warp_merge_sort"): {"uninitialised"}}
FEW = [row for k, row in enumerate(KERNELS) if k % 6 == 0]


def _seen(file: str, entry: str, name: str, schedule: str) -> set[str]:
    case = cases()[name]()
    program = sim.load(parser.parse((CORPUS / "ptx" / file).read_text()), entry)
    scratch = [np.zeros(1 << 16, np.uint8) for _ in range(len(program.names.params) - len(case.args))]
    wanted = [(got, np.array(want), tolerance) for got, want, tolerance in case.expected]
    result = sim.launch(program, case.grid, case.block, (*case.args, *scratch), cluster=case.cluster,
                        smem_bytes=case.smem_bytes, schedule=schedule, engine="core", sanitize=True)
    assert not [problem for got, want, tolerance in wanted if (problem := close(got, want, tolerance))]
    return {found.rule for found in result.seen} - {"fence-after"}              # compilers leave that fence out


@pytest.mark.parametrize("file, entry, name", FEW, ids=lambda value: value)
def test_nothing_is_seen_in_kernels_of_compilers(file, entry, name):
    assert _seen(file, entry, name, "eager") == READ_TOO_FAR.get((file, entry), set())


@pytest.mark.slow
def test_nothing_is_seen_in_any_kernel_of_compilers_in_any_schedule():
    assert not {(file, entry) for file, entry, name in KERNELS for schedule in ("eager", "late")
                if _seen(file, entry, name, schedule) != READ_TOO_FAR.get((file, entry), set())}
