"""Fixtures: JupyterLab with the extension in a folder of its own, and Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.browser import leave_page
from support.processes import variables

import pyptx

TOKEN = "testing"
NAME = "pyptx-lab"
START_LIMIT_S = 120
LIMIT_S = 60
SCREENSHOTS = "PYPTX_SCREENSHOTS"  # folder that pictures of the browser tests are kept in


def installed() -> Path:
    """Where the wheel puts the built extension."""
    return Path(sysconfig.get_path("data"), "share", "jupyter", "labextensions", NAME)


@pytest.fixture(scope="session")
def jupyter_paths(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> dict[str, str]:
    """Environment in which Jupyter finds the extension: that of the wheel; from a checkout, the committed build."""
    home = tmp_path_factory.mktemp("jupyter")
    paths = {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }
    if Path(pyptx.__file__).is_relative_to(checkout):
        paths["JUPYTER_PREFER_ENV_PATH"] = "0"  # the build of the checkout before one installed in the environment
        target = home / "data" / "labextensions" / NAME
        shutil.copytree(checkout / "pyptx" / "labextension", target)
        shutil.copy(checkout / "lab_extension" / "install.json", target)
        config = home / "config" / "jupyter_server_config.d"
        config.mkdir(parents=True)
        shutil.copy(checkout / "lab_extension" / "server.json", config / "pyptx.json")
    quiet = home / "config" / "labconfig" / "default_setting_overrides.json"
    quiet.parent.mkdir(parents=True)
    news = {"fetchNews": "false", "checkForUpdates": False}
    quiet.write_text(json.dumps({"@jupyterlab/apputils-extension:notification": news}))
    return paths


class Lab:
    """A running server and the browser that looks at it."""

    def __init__(self, url: str, folder: Path, chrome, log: Path):
        self.url, self.folder, self.chrome, self.log = url, folder, chrome, log

    def write(self, name: str, *sources: str) -> None:
        import nbformat  # seconds

        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
        nbformat.write(notebook, self.folder / name)

    def open_without_kernel(self, name: str) -> Any:
        """Open a copy of a saved notebook whose language has no kernel here; the notebook as it was saved."""
        import nbformat

        notebook = nbformat.read(self.folder / name, 4)
        absent = "a language with no kernel here"
        notebook.metadata = {
            "kernelspec": {"name": absent, "display_name": absent, "language": absent},
            "language_info": {"name": absent},
        }
        nbformat.write(notebook, self.folder / f"kept-{name}")
        self.open(f"kept-{name}")
        self.one(".jp-Dialog button.jp-mod-reject").click()
        return notebook

    def request(self, path: str) -> Any:
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"token {TOKEN}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def put(self, path: str, body: dict) -> None:
        self._send("PUT", path, json.dumps(body).encode())

    def shut_down_kernels(self) -> None:
        for kernel in self.request("/api/kernels"):
            self._send("DELETE", f"/api/kernels/{kernel['id']}")

    def _send(self, method: str, path: str, body: bytes | None = None) -> None:
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self.url + path, body, method=method, headers=headers)
        urllib.request.urlopen(request, timeout=60).close()

    def open(self, path: str, *, page: str = "lab/tree") -> Lab:
        """Reload a page without other documents; unsaved changes are lost."""
        self.js("addEventListener('beforeunload', event => event.stopImmediatePropagation(), true)")
        self.chrome.get(f"{self.url}/{page}/{path}?token={TOKEN}&reset")
        if page.startswith("lab"):
            self.wait("return Boolean(window.jupyterapp) && !document.querySelector('#jupyterlab-splash')")
        return self

    def js(self, script: str, *arguments: Any) -> Any:
        return self.chrome.execute_script(script, *arguments)

    def wait(self, script: str, *arguments: Any, limit_s: float = LIMIT_S) -> Any:
        """Wait until a script returns a true value, and return it."""
        until = time.monotonic() + limit_s
        while not (value := self.js(script, *arguments)):
            if time.monotonic() > until:
                self.shot("failed")
                state = self.js(
                    "return {url: location.href, focus: document.hasFocus(), active: document.activeElement?.className}"
                )
                pytest.fail(
                    f"never true: {script}\npage: {state}\nconsole: {self.complaints}\n{self.log.read_text()[-4000:]}"
                )
            time.sleep(0.2)
        return value

    def command(self, name: str, arguments: dict | None = None) -> None:
        """Carry out a command of JupyterLab and wait until it is done."""
        done = self.chrome.execute_async_script(
            "const done = arguments[2]; jupyterapp.commands.execute(arguments[0], arguments[1] ?? {})"
            ".then(() => done(''), error => done(String(error)))",
            name,
            arguments,
        )
        assert done == "", done

    def run_all(self) -> None:
        self.wait(
            "return document.querySelector('.jp-Notebook') && "
            "document.querySelector('.jp-NotebookPanel-toolbar, .jp-Toolbar')"
        )
        self.wait_for_kernel()
        self.command("notebook:run-all-cells")

    def wait_for_kernel(self) -> None:
        """Wait until the kernel of the notebook in front is idle."""
        self.wait("return window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")

    def all(self, selector: str) -> list:
        return self.chrome.find_elements("css selector", selector)

    def one(self, selector: str):
        self.wait("return document.querySelector(arguments[0])", selector)
        return self.chrome.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def hover(self, element) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.chrome).move_to_element(element).perform()

    def keys(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.chrome).send_keys(*keys).perform()

    def theme(self, name: str) -> None:
        self.command("apputils:change-theme", {"theme": name})
        self.wait("return document.body.dataset.jpThemeName === arguments[0]", name)

    def shot(self, name: str) -> None:
        """Keep a picture of the window, where somebody asked for pictures."""
        if folder := os.environ.get(SCREENSHOTS):
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.chrome.save_screenshot(str(Path(folder, f"{name}.png")))

    @property
    def complaints(self) -> list[str]:
        """Errors of the extension in the console."""
        return [
            entry["message"]
            for entry in self.chrome.get_log("browser")
            if entry["level"] == "SEVERE" and "pyptx" in entry["message"].lower()
        ]


@pytest.fixture(scope="session")
def start(jupyter_paths: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Lab]]:
    """Start a Jupyter application in a folder of its own."""
    running = []

    def begin(chrome, module: str, *options: str) -> Lab:
        folder = tmp_path_factory.mktemp("notebooks")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            module,
            "--no-browser",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--allow-root",
            f"--IdentityProvider.token={TOKEN}",
            f"--ServerApp.root_dir={folder}",
            *options,
        ]
        log = folder.parent / f"{folder.name}.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=variables(jupyter_paths)
            )
        running.append(process)
        lab, until = Lab(f"http://127.0.0.1:{port}", folder, chrome, log), time.monotonic() + START_LIMIT_S
        while True:
            try:
                lab.request("/api")
                return lab
            except OSError:
                assert process.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.3)

    yield begin
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


@pytest.fixture(scope="session")
def jupyterlab(start: Callable[..., Lab], chromium) -> Lab:
    chromium.set_script_timeout(LIMIT_S)
    return start(chromium, "jupyterlab", "--LabApp.expose_app_in_browser=True")


@pytest.fixture(scope="module")
def lab(jupyterlab: Lab, chromium) -> Iterator[Lab]:
    """Return the JupyterLab of the session; at the end of a file its kernels are shut down."""
    yield jupyterlab
    leave_page(chromium)
    jupyterlab.shut_down_kernels()
