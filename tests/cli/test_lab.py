"""`pyptx lab`, end to end: JupyterLab starts on a copy of the notebooks."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support.processes import variables

TOKEN = "testing"
START_LIMIT_S = 120


class Server(NamedTuple):
    url: str
    folder: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("lab")
    folder = home / "mine"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "pyptx",
        "lab",
        str(folder),
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        f"--IdentityProvider.token={TOKEN}",
        "--allow-root",
    ]
    log = home / "log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=variables({"HOME": str(home)}))
    try:
        started = Server(f"http://127.0.0.1:{port}", folder)
        until = time.monotonic() + START_LIMIT_S
        while not answers(started):
            assert process.poll() is None and time.monotonic() < until, log.read_text()
            time.sleep(0.3)
        yield started
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # a server terminated while a kernel starts may never exit
            process.kill()
            process.wait(10)


def get(server: Server, path: str) -> object:
    request = urllib.request.Request(server.url + path, headers={"Authorization": f"token {TOKEN}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def answers(server: Server) -> bool:
    try:
        return bool(get(server, "/api"))
    except (urllib.error.URLError, ConnectionError):
        return False


@pytest.mark.slow
def test_serves_the_copied_notebooks(server: Server):
    names = {item["name"] for item in get(server, "/api/contents")["content"]}
    assert "01-first-kernel.ipynb" in names
    assert names == {path.name for path in server.folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.browser
def test_shows_the_first_notebook_in_jupyterlab(server: Server, chromium):
    chromium.get(f"{server.url}/lab/tree/01-first-kernel.ipynb?token={TOKEN}&reset")
    until = time.monotonic() + 90
    while "A first kernel" not in (text := notebook_text(chromium)):
        assert time.monotonic() < until, f"the notebook did not appear; the page shows {text!r}"
        time.sleep(0.5)


def notebook_text(chromium) -> str:
    return chromium.execute_script("return document.querySelector('.jp-Notebook')?.innerText ?? ''")
