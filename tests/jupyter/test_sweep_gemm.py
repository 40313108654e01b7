"""A sweep of the Hopper matrix product in a notebook without a GPU: stopped and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyptx.jupyter.view_widget import LIVE_MIME, WIDGET_MIME

LIMIT_S = 300

FIRST = """import sys, time
sys.path.insert(0, {folder!r})
import pyptx
from gemm import gemm, reference
from pyptx.tune import Space, restrict

space = Space(restrict(lambda BM, BN: BM * BN <= 128 * 256, "{{BM}} x {{BN}} sums do not fit the registers"),
              BM=[128, 256], BN=[128, 256], BK=[64, 128], STAGES=[2, 3, 4, 5, 6, 7])
def begin():
    return pyptx.sweep(gemm, space, dict(M=4096, N=4096, K=4096), reference=reference,
                       check_args=dict(M=256, N=256, K=256), workers=2)
began = time.monotonic()
tiles = begin()
tiles"""
STOP = """while sum(trial.usable for trial in tiles.study.trials) < 5:
    time.sleep(0.1)
tiles.stop()
done = [(trial.key, trial.seconds) for trial in tiles.study.trials if trial.usable]
print(tiles.study.state, len(done) < 20)"""
RESUME = """again = begin()
kept = {trial.key: trial.seconds for trial in again.study.trials if trial.restored}
print(all(kept[key] == seconds for key, seconds in done))"""
WAIT = "again.wait(90)"  # a cell has two minutes
END = """again.wait(90)
print(len(again.study.trials), sum(trial.state == "refused" for trial in again.study.trials))
print(all(trial.kind == "modeled" and trial.checked for trial in again.study.trials if trial.usable))
print(again.best.config["BM"] * again.best.config["BN"] >= 128 * 128, again.use() == again.choice == again.best.config)
print(round(time.monotonic() - began, 1))"""


@pytest.mark.slow
def test_a_sweep_of_the_hopper_product_stops_and_resumes_without_loss(
    execute, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))
    notebook = execute(FIRST.format(folder=str(checkout / "examples" / "hopper")), STOP, RESUME, WAIT, WAIT, END)
    shown = next(output for output in notebook.cells[0].outputs if output.output_type == "display_data")
    assert {LIVE_MIME, WIDGET_MIME, "text/html", "text/plain"} <= shown.data.keys()
    assert "stopped" in shown.data["text/plain"], "what is saved follows the sweep"
    notebook.metadata.pop("widgets", None)
    from nbconvert import HTMLExporter

    assert "<b>gemm</b>" in HTMLExporter().from_notebook_node(notebook)[0], "without the widget's state"
    printed = [
        "".join(output.text for output in cell.outputs if output.get("name") == "stdout").split("\n")
        for cell in notebook.cells
    ]
    assert printed[1][0] == "stopped True"
    counts, checked, chosen, seconds = printed[5][:4]
    assert (printed[2][0], checked, chosen) == ("True", "True", "True True")
    points, refused = map(int, counts.split())
    assert points == 48 and refused >= 16
    assert float(seconds) < LIMIT_S
