"""The C core under AddressSanitizer and UndefinedBehaviorSanitizer: a part of what `python tests/sim/sanitized.py` runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim import random_runs, sanitized

TESTS = (
    "memory",
    "atomics",
    "exact_integers",
    "async_copies",
    "tensor_copies",
    "clusters",
    "warp",
    "calls",
    "sanitizer",
)


@pytest.mark.slow
def test_the_core_is_clean_under_sanitizers(tmp_path: Path):
    if not sanitized.runtime_libraries():
        pytest.skip("libasan and libubsan of GCC are not installed")
    library = sanitized.build_sanitized(tmp_path, "-O0")
    for arguments in (("programs", "0", "700"), ("tests", *(f"tests/sim/test_{name}.py" for name in TESTS))):
        status, reports = sanitized.run(library, *arguments)
        assert not reports, reports[:4000]
        assert status == 0, arguments


def test_random_programs_end_with_an_error_of_pyptx_or_complete():
    """Programs with random addresses, membermasks and operands never raise anything else or crash."""
    ends = {random_runs.run(seed) for seed in range(120)}
    assert {"done", "bounds", "alignment"} <= ends
