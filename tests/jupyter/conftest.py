"""An IPython shell in this process with pyptx loaded, a notebook run by itself, a browser with a page of a view."""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable, Iterator

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.support.ui import WebDriverWait
from support.processes import PACKAGE_PARENT
from traitlets.config import Config


class Ran:
    """What running one cell gave."""

    def __init__(self, result, captured):
        self.result, self.stdout = result.result, captured.stdout + captured.stderr
        self.error = result.error_before_exec or result.error_in_exec
        self.outputs: list[RichOutput] = captured.outputs

    @property
    def shown(self) -> str:
        """The error as the notebook shows it."""
        return "\n".join(self.error._render_traceback_())


@pytest.fixture
def own_history(tmp_path, monkeypatch) -> None:
    """A history for the test, empty at first."""
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(colors="nocolor", config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "pyptx")
    yield shell
    shell.run_line_magic("unload_ext", "pyptx")
    InteractiveShell.clear_instance()
    atexit.unregister(shell.atexit_operations)          # a garbage collection for each shell when the tests end


@pytest.fixture
def run(shell) -> Callable[[str], Ran]:
    """Run a cell as a user does, and keep what it showed."""
    def run_cell(source: str) -> Ran:
        with capture_output() as captured:
            result = shell.run_cell(source, store_history=True)
        return Ran(result, captured)
    return run_cell


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Run cells in a fresh kernel of this Python; the executed notebook."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE_PARENT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")

    def run(*sources: str, allow_errors: bool = False):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
        elsewhere = {"metadata": {"path": str(tmp_path)}}       # the tree of the checkout must not be what it imports
        NotebookClient(notebook, km=manager, timeout=120, allow_errors=allow_errors, resources=elsewhere).execute()
        return notebook
    return run


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium; without one the test is skipped, or fails where PYPTX_REQUIRE_BROWSER asks for it."""
    program, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not program or not driver:
        missing = "chromium" if not program else "chromedriver"
        if os.environ.get("PYPTX_REQUIRE_BROWSER"):
            pytest.fail(f"{missing} is not installed")
        pytest.skip(f"{missing} is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in ("headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chrome
    chrome.quit()


class Page:
    """A standalone page of a view in the browser."""

    def __init__(self, chrome, path):
        self.chrome, self.path = chrome, path

    def open(self, view, *, dark: bool = False, width: int = 1600, height: int = 900) -> Page:
        self.path.write_text(view.page(), encoding="utf-8")
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        self.chrome.get(self.path.as_uri())
        WebDriverWait(self.chrome, 20).until(lambda _: not self.all("[aria-busy=true]"))    # short lists fill when idle
        return self

    def js(self, script: str, *arguments):
        return self.chrome.execute_script(script, *arguments)

    def all(self, selector: str) -> list:
        return self.chrome.find_elements("css selector", selector)

    def one(self, selector: str):
        return self.chrome.find_element("css selector", selector)

    def row(self, pane: str, row: int):
        """The code of one row; rows count from 0."""
        return self.one(f".pyptx-{pane} .pyptx-row[data-row='{row}'] .pyptx-code")

    def marked(self, pane: str, kind: str = "exact") -> list[int]:
        return [int(row.get_attribute("data-row")) for row in self.all(f".pyptx-{pane} .pyptx-row.pyptx-{kind}")]

    @property
    def links(self) -> dict[str, list[int]]:
        """Rows shown as linked exactly, of each pane."""
        return {pane: self.marked(pane) for pane in ("python", "ptx", "sass")}

    @property
    def status(self) -> str:
        return self.one(".pyptx-status").text

    def keys(self, *keys: str, holding: str | None = None) -> None:
        chain = ActionChains(self.chrome)
        if holding:
            chain.key_down(holding).send_keys(*keys).key_up(holding).perform()
        else:
            chain.send_keys(*keys).perform()

    def hover(self, element) -> None:
        ActionChains(self.chrome).move_to_element_with_offset(element, 0, 0).perform()

    def scrolled(self, pane: str) -> float:
        return self.js(f"return document.querySelector('.pyptx-{pane} .pyptx-list').scrollTop")

    @property
    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.chrome.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def page(chromium, tmp_path) -> Iterator[Page]:
    opened = Page(chromium, tmp_path / "page.html")
    yield opened
    assert opened.complaints == []
