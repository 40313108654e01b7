"""CUDA C++ kernels in the styles people use give NumPy's results in every schedule, and have no findings."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from support.cuda_kernels import CASES, Case, Launch, program_of

QUICK = {"saxpy", "functor_as_record", "relocatable_functions_and_variables"}
PARAMETERS = [pytest.param(c, id=c.id, marks=[] if c.id in QUICK else [pytest.mark.slow]) for c in CASES]


def prepared(case: Case) -> tuple[object, Launch]:
    program, launch = program_of(case.sources, case.include), case.launch(np.random.default_rng(7))
    entry = program[case.kernel]
    for name, values in launch.variables.items():
        program[name] = values
    return entry, launch


@pytest.mark.parametrize("case", PARAMETERS)
def test_results_are_those_of_numpy_in_every_schedule(case: Case):
    for settings in ({"schedule": "eager"}, {"schedule": "late"}, {"schedule": "random", "seed": 3}):
        entry, launch = prepared(case)
        entry.launch(*launch.args, **launch.sizes, backend="sim", **settings)
        for array, expected, tolerance in launch.expected:
            if tolerance:
                np.testing.assert_allclose(array.astype(np.float64), expected.astype(np.float64), tolerance, tolerance)
            else:
                np.testing.assert_array_equal(array, expected)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_they_have_no_findings_and_a_view(case: Case):
    entry, launch = prepared(case)
    before = [copy.copy(array) for array, *_ in launch.expected]
    report = entry.check(*launch.args, **launch.sizes, random=2)
    assert report.ok, report.text()
    for (array, *_), unchanged in zip(launch.expected, before, strict=True):
        np.testing.assert_array_equal(array, unchanged)
    for shown in (entry, program_of(case.sources, case.include).isolated(case.kernel)):
        assert entry.signature.base in shown.view(block=launch.block).text()
