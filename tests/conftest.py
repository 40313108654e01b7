"""What every test may use. `pytest` runs against the installed package, `python -m pytest` against the checkout."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write golden files as they come out now; then read the diff")


def pytest_report_header() -> str:
    import pyptx  # not at the top, so that a broken package fails the tests and not the start

    return f"pyptx: {Path(pyptx.__file__).parent}"


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """Ctrl-C comes through to the tests that send it: what a shell starts in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty cache folder for the run and the processes it starts: nothing is read from or left in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("PYPTX_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The store that results of tuning are kept in during the test, empty at first."""
    from pyptx.store import Store

    store = Store(tmp_path / "results.sqlite")
    monkeypatch.setattr("pyptx.tune.results.default_store", lambda: store)
    return store


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with a file under tests/golden: `golden("softmax_sm90.ptx", text)`."""
    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--bless"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden file {name}; write it with: pytest --bless, then read it"
        before = path.read_text(encoding="utf-8")
        assert text == before, f"{name} changed; if you meant it: pytest --bless, then read the diff"
    return check


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout these tests lie in: examples, notebooks, README.md."""
    return TESTS.parent


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """A selenium driver of a headless Chromium; only in tests marked `browser`."""
    from support.browser import browser

    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver
