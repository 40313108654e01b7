"""Pytest plugin: checks of kernels in tests, Triton tests on the simulator, and all findings as SARIF.

def test_it_waits_for_its_copies(pyptx_check):
    pyptx_check(gemm, a, b)                                 # as gemm.check(a, b)
    pyptx_check(program["gemm"], grid, block, a, b, c)      # an entry of CUDA C++ or of loaded PTX

@pytest.mark.pyptx_sanitize                                 # each launch of such an entry in the test is checked first
def test_gemm(): ...

pytest --pyptx-sarif=found.sarif                            # the findings of all checks, for code review
pytest --pyptx-triton=sm_90a                                # Triton kernels run on the simulator, under the sanitizer

def test_gemm_is_fast(pyptx_benchmark):
    pyptx_benchmark(gemm, (a, b))                           # as pyptx.benchmark(gemm, (a, b))

pytest --pyptx-ledger                                       # it fails when gemm got slower than earlier runs of it
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyptx.check import Report
    from pyptx.triton import simulate

__all__ = ["pyptx_benchmark", "pyptx_check", "pyptx_sanitize", "pyptx_triton"]

_RESULTS = pytest.StashKey[list[dict[str, Any]]]()  # SARIF logs of the checks in this process
_LAUNCH = ("grid", "block", "cluster", "smem_bytes", "reachable", "max_steps", "tensor_cores")

_SANITIZE = (
    "pyptx_sanitize(**options): check each launch of an entry of CUDA C++ or loaded PTX before it runs, and fail on "
    "findings; options as for Entry.check, such as random=1"
)
_MARKER = (
    "pyptx_triton(target, check=True, ignore=None, **options): run the Triton kernels of a test on pyptx's simulator; "
    "arguments as for pyptx.triton.simulate"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pyptx")
    group.addoption(
        "--pyptx-sarif",
        metavar="FILE",
        type=Path,
        help="write the findings of all checks in this run as SARIF 2.1.0",
    )
    group.addoption(
        "--pyptx-triton",
        metavar="TARGET",
        help="run the Triton kernels of all tests on the simulator, compiled for TARGET such as sm_90a, and fail tests "
        "whose launches have races or other findings",
    )
    group.addoption(
        "--pyptx-ledger",
        action="store_true",
        help="keep the times of pyptx_benchmark in the ledger, and fail tests whose kernels got slower than their interval "
        "allows; without a GPU, modeled times are compared with modeled ones",
    )
    group.addoption(
        "--pyptx-ledger-file",
        metavar="FILE",
        type=Path,
        help="the ledger of --pyptx-ledger; default: PYPTX_LEDGER, else the user's",
    )
    group.addoption(
        "--pyptx-ledger-accept",
        action="store_true",
        help="with --pyptx-ledger: later times are compared with those of this run; none fails",
    )
    parser.addini(
        "pyptx_ledger_tolerance",
        "difference of times beyond their intervals that passes, in percent; default: 2",
        default="2",
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
    config.addinivalue_line("markers", _SANITIZE)
    config.stash[_RESULTS] = []
    if target := config.getoption("--pyptx-triton"):
        from pyptx.triton import activate

        activate(target, torch_cuda=True, autotune="first")  # modules of tests ask Triton or torch for the device


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.getoption("--pyptx-triton"):
        from pyptx.triton import deactivate

        deactivate()


def _record(config: pytest.Config, reports: Iterable[Report]) -> None:
    """Keep the findings of reports for --pyptx-sarif, with file names relative to the folder of the run."""
    config.stash[_RESULTS] += [report.to_sarif() for report in reports]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the findings; a worker of pytest-xdist hands them to its controller."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["pyptx_sarif"] = json.dumps(config.stash[_RESULTS])  # pyright: ignore
    elif path := config.getoption("--pyptx-sarif"):
        from pyptx.check import joined_sarif

        path.write_text(json.dumps(joined_sarif(config.stash[_RESULTS]), indent=1), encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take the findings of a worker of pytest-xdist."""
    node.config.stash[_RESULTS] += json.loads(getattr(node, "workeroutput", {}).get("pyptx_sarif", "[]"))


@pytest.fixture
def pyptx_check(pytestconfig: pytest.Config) -> Callable[..., Any]:
    """Return a function that checks a kernel or an entry, fails with the report of findings, else returns the report."""

    def check(kernel: Any, *args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        report = kernel.check(*args, **options)
        _record(pytestconfig, [report])
        if not report.ok:
            pytest.fail(report.text(), pytrace=False)
        return report

    return check


@pytest.fixture
def pyptx_benchmark(pytestconfig: pytest.Config) -> Callable[..., Any]:
    """Return a function that runs `pyptx.benchmark`; with --pyptx-ledger, it fails if a kernel got slower."""

    def run(kernels: Any, args: Any = (), **options: Any) -> Any:
        __tracebackhide__ = True
        from pyptx.benchmarking import benchmark

        result = benchmark(kernels, args, **{"record": False, **options})
        if pytestconfig.getoption("--pyptx-ledger"):
            slower = _slower(pytestconfig, result)
            if slower:
                pytest.fail("\n".join(slower), pytrace=False)
        return result

    return run


def _slower(config: pytest.Config, result: Any) -> list[str]:
    """Record the times of a benchmark; return what got slower than the fastest earlier time."""
    from dataclasses import replace

    from pyptx.ledger import Ledger, Regression, default_ledger

    file, accept = config.getoption("--pyptx-ledger-file"), config.getoption("--pyptx-ledger-accept")
    ledger = Ledger(file) if file else default_ledger()
    tolerance = float(config.getini("pyptx_ledger_tolerance")) / 100
    found = []
    for one in result.measurements:
        new = replace(one, source="pytest", accepted=accept)
        best = ledger.baseline(new)
        earlier = [other for other in ledger.measurements(new.kernel) if other.series == new.series]
        new = ledger.record(new)
        if best is not None and not accept and new.slower_than(best, tolerance):
            good = [other for other in earlier if not other.slower_than(best, tolerance)]
            found.append(Regression(best, good[-1], new, new, fixed=False).text())
    return found


@pytest.fixture(autouse=True)
def pyptx_sanitize(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check the launches of entries in a test with the marker."""
    marker = request.node.get_closest_marker("pyptx_sanitize")
    if marker is None:
        yield
        return
    from pyptx.workbench.program import observed_launches

    def check(entry: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> None:
        __tracebackhide__ = True
        launch = {name: value for name, value in settings.items() if name in _LAUNCH and value is not None}
        report = entry.check(*args, **launch, **{"random": 1, **marker.kwargs})
        _record(request.config, [report])
        if not report.ok:
            pytest.fail(report.text(), pytrace=False)

    with observed_launches(check):
        yield


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
        "autotune": "first",
        "random": int(request.config.getini("pyptx_triton_random")),
        "ignore": _ignored(request.config),
    }
    given |= marker.kwargs if marker is not None else {}
    with simulate(*(marker.args if marker is not None and marker.args else filter(None, [target])), **given) as session:
        yield session
        _record(request.config, session.reports)


def _ignored(config: pytest.Config) -> dict[str, str]:
    """Return the ignored rules of the configuration with their reasons."""
    from pyptx.triton import COMPILER_IDIOMS

    found: dict[str, str] = {}
    for line in config.getini("pyptx_triton_ignore"):
        rule, _, reason = (part.strip() for part in line.partition(":"))
        found.update(COMPILER_IDIOMS if rule == "compiler-idioms" else {rule: reason})
    return found
