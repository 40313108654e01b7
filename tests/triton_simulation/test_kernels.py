"""Kernels in many styles, compared with torch in eager, late, and random schedules, and checked."""

import pytest
import torch
import triton
from support.triton_kernels.cases import CASES, Case, compare

import pyptx.triton

SCHEDULES = (
    {"schedule": "eager"},
    {"schedule": "late"},
    {"schedule": "random", "seed": 1},
    {"schedule": "random", "seed": 2},
)
VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
COMPILED = [case for case in CASES if case.since <= VERSION]


def run(case: Case, **options) -> list[tuple[torch.Tensor, torch.Tensor]]:
    with pyptx.triton.simulate(case.target, **options):
        return [(got.clone(), expected) for got, expected in case.run()]


def compared_in_all_schedules(case: Case) -> None:
    results = [run(case, **schedule) for schedule in SCHEDULES]
    for found in results:
        compare(case, found)
    if case.repeats:
        assert all(torch.equal(a, b) for found in results[1:] for (a, _), (b, _) in zip(results[0], found, strict=True))


@pytest.mark.parametrize("case", [case for case in COMPILED if case.plain], ids=lambda case: case.name)
def test_a_kernel_agrees_with_torch_in_all_schedules(case: Case):
    compared_in_all_schedules(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in COMPILED if not case.plain], ids=lambda case: case.name)
def test_a_large_kernel_agrees_with_torch_in_all_schedules(case: Case):
    compared_in_all_schedules(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.name)
def test_a_check_finds_nothing_but_idioms_of_the_compiler(case: Case):
    with pyptx.triton.simulate(case.target, check=True, random=1, ignore=pyptx.triton.COMPILER_IDIOMS) as session:
        compare(case, list(case.run()))
    assert session.reports and all(report.ok for report in session.reports)
    found = {one.rule for report in session.reports for one in report.findings if one.ignored}
    assert found <= set(case.findings)


def test_there_are_kernels_in_the_styles_that_people_use():
    assert len(CASES) >= 25
    for style in ("layer_norm_backward", "tma", "persistent", "grouped", "fp8", "scaled", "attention_backward", "scan", "sort",
                  "histogram", "specialized", "gluon"):  # fmt: skip
        assert any(style in case.name for case in CASES), style
