"""Small kernels with one mistake each: found by its rule and at its lines; correct, they have no findings."""

from __future__ import annotations

import pytest
from check.pairs import CASES, KERNELS

from pyptx.check import RULES
from pyptx.check.performance import CONFLICTS, UNCOALESCED

ELSEWHERE = {  # rules that are tested in another file
    "schedule-dependent-result": "test_findings",
    "order-of-atomics": "test_findings",
    "fault": "test_report",
    "unwritten-result": "test_results",
    "dead-store": "test_results",
    "unwatched": "test_limits",
    "swizzle-mismatch": "test_findings",
    "texture": "runtime/test_textures",
    "stale-texture": "runtime/test_textures",
    "stream-order": "cuda_device/test_checked_programs",
    "host-access": "cuda_device/test_checked_programs",
    "use-after-free": "cuda_device/test_checked_programs",
    "invalid-free": "cuda_device/test_checked_programs",
    "failed-call": "cuda_device/test_checked_programs",
    "unread-error": "cuda_device/test_checked_programs",
    "unrecorded-event": "cuda_device/test_checked_programs",
    CONFLICTS: "test_performance",
    UNCOALESCED: "test_performance",
}


def wrong(report):
    """Return the findings that are not performance notes."""
    return [finding for finding in report.findings if finding.rule not in (CONFLICTS, UNCOALESCED)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_correct_kernel_has_no_findings(kernel):
    report = kernel.check(random=2)
    assert not wrong(report), report.text()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake_is_found_by_its_rule_at_its_lines(case):
    report = case.kernel.check(case.lines, random=2)
    rules = {finding.rule for finding in wrong(report)}
    assert case.rules <= rules <= case.rules | case.perhaps, report.text()
    assert rules or len(case.perhaps) == 1, "nothing is found"
    at = [place.ptx for finding in report.findings for place in finding.places]
    for word in case.words:
        assert any(ptx.split(" ", ptx[0] == "@")[-1].startswith(word) for ptx in at), (word, report.text())


def test_every_rule_has_a_case():
    assert len(CASES) >= 280
    missing = RULES.keys() - {rule for case in CASES for rule in case.rules}
    assert missing == ELSEWHERE.keys()
