"""Pytest plugin: the fixture `pyptx_check` fails a test when a kernel has findings.

def test_it_waits_for_its_copies(pyptx_check):
    pyptx_check(gemm, a, b)                                 # as gemm.check(a, b)
    pyptx_check(program["gemm"], grid, block, a, b, c)      # an entry of loaded PTX
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

__all__ = ["pyptx_check"]


@pytest.fixture
def pyptx_check() -> Callable[..., Any]:
    """Return a function that checks a kernel or an entry, fails with the report of findings, else returns the report."""

    def check(kernel: Any, *args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        report = kernel.check(*args, **options)
        if not report.ok:
            pytest.fail(report.text(), pytrace=False)
        return report

    return check
