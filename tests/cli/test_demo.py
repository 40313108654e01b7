"""`pyptx demo`, end to end: the notebook, the table, and the pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.browser import leave_page
from support.processes import python

from pyptx.cli import demo
from pyptx.cli.kernels import CommandError
from pyptx.views._packed import unpack


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    done = python("-m", "pyptx", "demo", "-o", "out", cwd=folder, timeout_s=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder / "out", done.stdout


@pytest.mark.slow
def test_demo_prints_the_cost_of_both_kernels(shown):
    _, text = shown
    assert re.search(r"rms_norm \S\s+sgemm ", text), text
    for name in demo.ROWS:
        (line,) = (line for line in text.splitlines() if name in line)
        assert len(re.findall(r"\d[\d.e%+-]*", line.replace(name, ""))) == 2, line


@pytest.mark.slow
def test_demo_shows_its_progress(shown):
    _, text = shown
    assert "[1/" in text
    assert "RMS norm" in text


@pytest.mark.slow
def test_writes_a_standalone_page_for_each_kernel(shown):
    folder, text = shown
    for name in ("rms_norm", "sgemm"):
        page = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert f"def {name}(" in page
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        assert any("EXIT" in line for line in unpack(json.loads(data))["sass"]["text"])
        assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
        assert str(Path("out", f"{name}.html")) in text


@pytest.mark.browser
@pytest.mark.parametrize("name", ["rms_norm", "sgemm"])
def test_the_page_shows_the_three_panes_without_an_error(shown, chromium, name: str):
    folder, _ = shown
    leave_page(chromium)
    chromium.get((folder / f"{name}.html").as_uri())
    text = chromium.execute_script("return document.body.innerText")
    assert f"def {name}(" in text
    assert f".visible .entry {name}(" in text
    assert "LDC" in text
    assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.slow
def test_keeps_the_executed_notebook(shown):
    folder, _ = shown
    notebook = json.loads((folder / demo.NOTEBOOK).read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code)
    views = [
        unpack(output["data"][demo.VIEW])
        for cell in code
        for output in cell["outputs"]
        if demo.VIEW in output.get("data", {})
    ]
    assert {view["title"] for view in views} == {"add", "rms_norm", "sgemm"}
    assert any(view["ptx"]["counters"] for view in views)
    assert not any("json.dumps(results)" in "".join(cell["source"]) for cell in code)


@pytest.mark.slow
def test_a_failing_cell_is_reported_and_the_notebook_saved(tmp_path: Path):
    import nbformat

    source = tmp_path / "broken.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, source)
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(CommandError, match=r"a cell failed; the notebook is saved as .*broken(.|\n)*ZeroDivisionError"):
        demo.execute(source, folder)
    kept = json.loads((folder / "broken.ipynb").read_text())
    assert kept["cells"][0]["outputs"][0]["ename"] == "ZeroDivisionError"


def test_a_missing_package_is_named(capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from pyptx import cli

    monkeypatch.setattr("pyptx.cli.demo.find_spec", lambda name: None)
    assert cli.main(["demo", "-o", str(tmp_path / "out")]) == 1
    err = capsys.readouterr().err
    assert "not installed: nbclient, ipykernel" in err
    assert "pip install '.[lab]'" in err
