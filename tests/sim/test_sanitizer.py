"""The sanitizer on compiled kernels: no findings, unchanged results."""

from __future__ import annotations

import numpy as np
import pytest
from sim.compiled.case import cases, close
from sim.test_compiled_kernels import CORPUS, KERNELS

from pyptx import parser, sim

# True findings. CUB's merge loads the key behind the last one of a run before it knows that there is none, and does not
# use it. Two blocks add to one sum with cuda::thread_scope_block, which orders the threads of one block only.
FINDINGS = {
    ("nvcc/blocks.sm_90.ptx", "warp_merge_sort"): {"uninitialized"},
    ("nvcc/library.sm_80.ptx", "atomics_of_the_library"): {"race"},
    ("nvcc/library.sm_90.ptx", "atomics_of_the_library"): {"race"},
}
FEW = [row for k, row in enumerate(KERNELS) if k % 6 == 0]


def _seen(file: str, entry: str, name: str, schedule: str) -> set[str]:
    case = cases()[name]()
    program = sim.load(parser.parse((CORPUS / "ptx" / file).read_text()), entry)
    scratch = [np.zeros(1 << 16, np.uint8) for _ in range(len(program.symbols.params) - len(case.args))]
    wanted = [(got, np.array(want), tolerance) for got, want, tolerance in case.expected]
    result = sim.launch(
        program,
        case.grid,
        case.block,
        (*case.args, *scratch),
        cluster=case.cluster,
        smem_bytes=case.smem_bytes,
        schedule=schedule,
        engine="core",
        sanitize=True,
    )
    assert not [problem for got, want, tolerance in wanted if (problem := close(got, want, tolerance))]
    return {found.rule for found in result.findings} - {"fence-after"}  # compilers leave that fence out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file, entry, name", FEW, ids=lambda value: value)
def test_only_true_findings_in_kernels_of_compilers(file, entry, name):
    assert _seen(file, entry, name, "eager") == FINDINGS.get((file, entry), set())


@pytest.mark.slow
def test_only_true_findings_in_any_kernel_of_compilers_in_any_schedule():
    assert not {
        (file, entry)
        for file, entry, name in KERNELS
        for schedule in ("eager", "late")
        if _seen(file, entry, name, schedule) != FINDINGS.get((file, entry), set())
    }
