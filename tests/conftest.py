"""Fixtures and options shared by all tests.

`pytest` tests the installed package, `python -m pytest` the checkout. A run of the whole suite uses all cores; a run of
named files or folders stays in one process. Files in which `-m` selects nothing are not imported.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"

if str(TESTS.parent) not in sys.path:
    sys.path.append(str(TESTS.parent))  # for the examples; last, so that the installed pyptx takes precedence


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="update golden files; then read the diff")


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_all_but_a_sample(items)
    if "PYTEST_XDIST_WORKER" in os.environ and with_browser(config):
        from support.scheduling import rank

        items.sort(key=lambda item: rank(item.nodeid))
    for item in items:
        if " object at 0x" in item.nodeid:  # pytest-xdist compares the ids of its workers
            raise pytest.UsageError(f"{item.nodeid}: the id contains an address; name the parameters with ids=")


def mark_all_but_a_sample(items: list[pytest.Item]) -> None:
    """Mark as `slow` all cases of a function that is `sampled(n)`, except one in n, which a hash of their names picks."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("slow"):
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in functions.values():
        (one_in,) = cases[0].get_closest_marker("sampled").args
        for item in sorted(cases, key=lambda item: crc32(item.nodeid.encode()))[-(-len(cases) // one_in) :]:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without garbage collection, and exclude what is loaded then from it: each would walk it for a second."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.unfreeze)  # modules in C report what they still hold at the end of Python


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker per core for the whole suite, none for named files: starting workers costs seconds.

    With browser tests there is one more, as these wait for Chromium and JupyterLab most of the time.
    """
    whole = config.args_source is config.ArgsSource.TESTPATHS and config.option.markexpr != "quick"
    return (os.cpu_count() or 1) + with_browser(config) if whole else 0


def with_browser(config: pytest.Config) -> bool:
    """Return True if `-m` selects browser tests."""
    return bool(re.search(r"(?<!not )\bbrowser\b", config.option.markexpr))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one worker if browser tests are selected: those of a file share a page."""
    if not with_browser(config):
        return None
    from support.scheduling import FilesScheduling

    return FilesScheduling(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Let hypothesis take its time on a busy machine; rewrite assertions in the tests only.

    Pytest rewrites those of all modules of a package that has a plugin, which takes longer than collecting the tests.
    """
    from hypothesis import settings

    settings.register_profile("pyptx", deadline=None)
    settings.load_profile("pyptx")
    hook = config.pluginmanager.rewrite_hook
    if hook is not None:  # None with --assert=plain
        hook._must_rewrite.discard("pyptx")
        hook._marked_for_rewrite_cache.clear()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip importing a file in which `-m` selects nothing, by the text of its markers: imports take most of the time."""
    if not collection_path.name.startswith("test_"):
        return None
    expression, text = config.option.markexpr, collection_path.read_text(encoding="utf-8")
    text = text.replace("mark.sampled", "mark.slow")
    if re.fullmatch(r"\w+( or \w+)*", expression):
        return not any(f"mark.{name}" in text for name in expression.split(" or ")) or None
    if re.fullmatch(r"not \w+( and not \w+)*", expression):
        whole_file = re.findall(r"^pytestmark = .*", text, re.MULTILINE)
        names = expression.removeprefix("not ").split(" and not ")
        return any(re.search(rf"mark\.{name}\b", line) for line in whole_file for name in names) or None
    return None


def pytest_report_header() -> str:
    import pyptx  # not at the top, so that a broken package fails the tests and not the start

    return f"pyptx: {Path(pyptx.__file__).parent}"


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """Deliver Ctrl-C to the tests that send it: a shell starts background processes with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Use an empty cache folder for the run, its workers and child processes, never the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        run = tmp_path_factory.getbasetemp()
        folder = (run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "cache"
        folder.mkdir(mode=0o700, exist_ok=True)
        patch.setenv("PYPTX_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def machine_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the machine code that one test of a file hands on to the next."""
    return tmp_path_factory.mktemp("machine-code")


@pytest.fixture
def own_cache(tmp_path: Path, machine_code: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use a cache folder in which nothing is recorded; code that the file's other tests assembled is in it."""
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(folder))
    _link(machine_code, folder)
    yield folder
    _link(folder, machine_code)


def _link(source: Path, target: Path) -> None:
    """Link the files of machine code, which are named by their content."""
    for path in source.iterdir():
        if path.suffix in (".ptx", ".cubin", ".json", ".sass") and not (target / path.name).exists():
            os.link(path, target / path.name)


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return an empty store that tuning results are written to during the test."""
    from pyptx.store import Store

    store = Store(tmp_path / "results.sqlite")
    monkeypatch.setattr("pyptx.tune.result_store.default_store", lambda: store)
    return store


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a function that compares text with a file under tests/golden: `golden("softmax_sm90.ptx", text)`."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--bless"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden file {name}; write it with: pytest --bless, then read it"
        before = path.read_text(encoding="utf-8")
        assert text == before, f"{name} changed; if this is intended: pytest --bless, then read the diff"

    return check


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Return the root of the checkout: the folder of examples, notebooks, README.md."""
    return TESTS.parent


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """Start headless Chromium and return its selenium driver; only for tests marked `browser`."""
    from support.browser import browser

    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver
