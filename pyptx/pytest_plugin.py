"""Pytest plugin: checks of kernels in tests, and Triton tests on the simulator.

def test_it_waits_for_its_copies(pyptx_check):
    pyptx_check(gemm, a, b)                                 # as gemm.check(a, b)
    pyptx_check(program["gemm"], grid, block, a, b, c)      # an entry of loaded PTX

pytest --pyptx-triton=sm_90a                                # Triton kernels run on the simulator, under the sanitizer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyptx.triton import simulate

__all__ = ["pyptx_check", "pyptx_triton"]

_MARKER = (
    "pyptx_triton(target, check=True, ignore=None, **options): run the Triton kernels of a test on pyptx's simulator; "
    "arguments as for pyptx.triton.simulate"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pyptx")
    group.addoption(
        "--pyptx-triton",
        metavar="TARGET",
        help="run the Triton kernels of all tests on the simulator, compiled for TARGET such as sm_90a, and fail tests "
        "whose launches have races or other findings",
    )
    parser.addini(
        "pyptx_triton_ignore",
        'rules whose findings do not fail a test, with the reason: "missing-mbarrier-fence: one CTA"; '
        '"compiler-idioms" stands for pyptx.triton.COMPILER_IDIOMS',
        type="linelist",
        default=[],
    )
    parser.addini("pyptx_triton_random", "number of random schedules of a check; default: 1", default="1")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if target := config.getoption("--pyptx-triton"):
        from pyptx.triton import activate

        activate(target)  # modules of tests ask Triton for the device


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.getoption("--pyptx-triton"):
        from pyptx.triton import deactivate

        deactivate()


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


@pytest.fixture(autouse=True)
def pyptx_triton(request: pytest.FixtureRequest) -> Iterator[simulate | None]:
    """The session in which the Triton kernels of a test run, with `reports`; None without marker and option."""
    marker = request.node.get_closest_marker("pyptx_triton")
    target = request.config.getoption("--pyptx-triton")
    if marker is None and not target:
        yield None
        return
    from pyptx.triton import simulate

    given = {
        "check": True,
        "random": int(request.config.getini("pyptx_triton_random")),
        "ignore": _ignored(request.config),
    }
    given |= marker.kwargs if marker is not None else {}
    with simulate(*(marker.args if marker is not None and marker.args else filter(None, [target])), **given) as session:
        yield session


def _ignored(config: pytest.Config) -> dict[str, str]:
    """Return the ignored rules of the configuration with their reasons."""
    from pyptx.triton import COMPILER_IDIOMS

    found: dict[str, str] = {}
    for line in config.getini("pyptx_triton_ignore"):
        rule, _, reason = (part.strip() for part in line.partition(":"))
        found.update(COMPILER_IDIOMS if rule == "compiler-idioms" else {rule: reason})
    return found
