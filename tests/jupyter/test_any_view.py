"""Views as anywidgets, as marimo and VS Code display them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
import urllib.request

import numpy as np
import pytest
from check import racy
from support.browser import leave_page
from support.processes import variables

from pyptx import Tile, compare, kernel, ptx
from pyptx.types import f32
from pyptx.views._packed import unpack

MARIMO = """
import marimo

app = marimo.App()


@app.cell
def _():
    import numpy as np
    from pyptx import Tile, kernel, ptx
    from pyptx.types import f32

    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 128, block=128)
    def scale(x, y):
        i = ptx.global_id()
        y[i] = x[i] * 2.0
    return np, scale


@app.cell
def _(scale):
    scale.view(N=1024)
    return


@app.cell
def _(np, scale):
    scale.debug(np.arange(1024, dtype=np.float32))
    return


if __name__ == "__main__":
    app.run()
"""
INSIDE = """
const found = [], walk = root => root.querySelectorAll('*').forEach(e => {
  if (e.matches(arguments[0])) found.push(e);
  if (e.shadowRoot) walk(e.shadowRoot);
});
walk(document);
return found[0] ?? null;
"""


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
def scale(x, y):
    i = ptx.global_id()
    y[i] = x[i] * 2.0


def test_marimo_displays_a_view_as_a_widget_with_its_data():
    for view, kind in ((scale.view(N=64), "linked"), (compare(scale, targets=("sm_80", "sm_90a"), N=64), "comparison")):
        widget = view._display_()
        assert unpack(widget.data)["kind"] == kind and widget.view() is view
        assert "module_widget.render" in widget._esm and ".pyptx-linked" in widget._css
        assert repr(widget) == repr(view)


def test_sessions_and_reports_are_the_widgets_of_notebooks():
    x = np.arange(racy.N, dtype=np.float32)
    with racy.barrier_missing.debug(x) as session:
        assert session._display_().document["step"] == 0
    assert racy.barrier_missing.check(x)._display_().data["kind"] == "report"


@pytest.mark.browser
def test_marimo_shows_views_and_steps_the_debugger(chromium, tmp_path):
    if shutil.which("marimo") is None:
        pytest.skip("marimo is not installed (pip install marimo)")
    file, log = tmp_path / "scale.py", tmp_path / "marimo.log"
    file.write_text(MARIMO)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["marimo", "-q", "run", str(file), "--headless", "--no-token", f"--port={port}"]
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=output, stderr=subprocess.STDOUT, env=variables({}))
    try:
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.3)
        chromium.get(f"http://127.0.0.1:{port}")

        def inside(selector: str):
            until = time.monotonic() + 60
            while (found := chromium.execute_script(INSIDE, selector)) is None:
                assert time.monotonic() < until, selector
                time.sleep(0.2)
            return found

        row = inside(".pyptx-python .pyptx-row[data-row='3']")
        chromium.execute_script("arguments[0].click()", row)
        assert "SASS" in inside(".pyptx-status").text
        chromium.execute_script("arguments[0].click()", inside("[data-act=step]"))
        inside(".pyptx-count")
        until = time.monotonic() + 30
        while inside(".pyptx-count").text != "step 1":
            assert time.monotonic() < until
            time.sleep(0.2)
    finally:
        process.terminate()
        process.wait(20)
        leave_page(chromium)
