"""The report of the model against measured times."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("ml_dtypes")


@pytest.fixture(scope="module")
def lines(script):
    import ladder_lines

    return ladder_lines


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parents[1] / "benchmarks" / "model_report.py"
    spec = importlib.util.spec_from_file_location("model_report", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_ranks_and_not_values_count(lines):
    assert lines.spearman([1, 2, 3, 4], [10, 20, 300, 4000]) == pytest.approx(1)
    assert lines.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert lines.spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9487, abs=1e-4)


def test_the_best_of_those_the_model_puts_first(script):
    assert script.best_of_first([3, 1, 2], [5.0, 8.0, 6.0], 1) == 8 / 5
    assert script.best_of_first([3, 1, 2], [5.0, 8.0, 6.0], 2) == 6 / 5
    assert script.best_of_first([3, 1, 2], [5.0, 8.0, 6.0], 3) == 1


def test_without_data_it_says_so(script, tmp_path, capsys):
    assert script.report_sweeps(tmp_path / "measured") == 0
    assert "not yet measured" in capsys.readouterr().out


def test_a_data_set_is_reported(script, tmp_path, capsys):
    (tmp_path / "gemm.csv").write_text(
        "BM,BN,STAGES,state,seconds,kind\n128,64,4,done,3e-5,measured\n"
        "128,256,4,done,2e-5,measured\n128,128,4,done,9e-5,modeled\n"
        "100,64,4,done,4e-5,measured\n"
    )
    (tmp_path / "gemm.json").write_text(
        json.dumps(
            {
                "kernel": "hopper/gemm.py:gemm",
                "gpu": "H200",
                "inputs": [[[1024, 512], "bfloat16"], [[512, 1024], "bfloat16"]],
            }
        )
    )
    script.report_sweeps(tmp_path)
    out = capsys.readouterr().out
    assert "set gemm" in out and "rows 2" in out and "refused 1" in out and "spearman" in out


def test_a_ladder_is_reported_by_rank_mean_and_range(lines):
    rungs = [SimpleNamespace(seconds=seconds) for seconds in (1.0, 2.0, 4.0)]
    ladder = SimpleNamespace(name="steps", held=True, rungs=rungs)
    found = [SimpleNamespace(seconds=modeled, interval=(0.9 * modeled, 1.1 * modeled)) for modeled in (2.0, 2.0, 8.0)]
    line = lines.ladder_line(ladder, found)
    assert (
        line
        == "steps: held, rungs 3, spearman 0.87, 2 of 3 pairs in order, ratio 1.59 (1.00 to 2.00), within the error range 1"
    )
    text = lines.left_out({"a": [1.0, 4.0], "b": [1.0], "c": [0.5]})
    assert text == "all 3 ladders: ratio 1.00; without 'a' 0.71, without 'c' 1.41"


def test_pairs_that_measurements_do_not_tell_apart_have_no_order(lines):
    assert lines.concordant([1, 2, 3], [1.0, 1.02, 2.0]) == (2, 2)
    assert lines.concordant([1, 1, 0.5], [1.0, 1.5, 2.0]) == (0, 3)


def test_a_half_is_reported_with_its_goals(lines):
    rungs = [SimpleNamespace(seconds=seconds) for seconds in (1.0, 2.0, 4.0, 5.0, 6.0, 7.0)]
    ladder = SimpleNamespace(name="steps", held=True, rungs=rungs)
    found = [SimpleNamespace(seconds=rung.seconds, interval=(1.0, 7.0)) for rung in rungs]
    found[0].seconds = 1.61
    _, inside, means, ratios, ranks, pairs = lines.half_lines([ladder], [found])
    assert "6 of 6 published times" in inside and "1 of 1 ladders within" in means and "1 of 6 ratios" in ratios
    assert "on 1 of 1 ladders of 6" in ranks and "15 of 15 pairs" in pairs


def test_held_ladders_have_kernels_of_their_own(script):
    held = [ladder for ladder in script.ladders() if ladder.held]
    assert {rung.file for one in held for rung in one.rungs if hasattr(rung, "file")}.isdisjoint(
        {rung.file for one in script.ladders() if not one.held for rung in one.rungs if hasattr(rung, "file")}
    )


def test_every_kernel_of_the_ladders_exists(script):
    found = script.ladders()
    assert len({rung.gpu for ladder in found for rung in ladder.rungs}) >= 20
    import rungs

    assert len({ladder.name for ladder in found}) == len(found) >= 50
    single = [part for one in found for rung in one.rungs for part in getattr(rung, "parts", [rung])]
    written = [rung for rung in single if isinstance(rung, rungs.Rung)]
    for file in {rung.file for rung in written}:
        entries = {rung.entry for rung in written if rung.file == file}
        target = {
            "blackwell.ptx": "sm_100a",
            "residual_norm_wide.ptx": "sm_100",
            "residual_norm.ptx": "sm_90",
            "sealed_wgmma.ptx": "sm_90a",
            "unopened_tiles.ptx": "sm_120",
            "hidden_forward.ptx": "sm_90",
            "hidden_prefill.ptx": "sm_90",
            "hidden_decode.ptx": "sm_90",
            "hidden_ladder.ptx": "sm_120",
        }.get(file, "sm_80")
        assert entries == set(rungs.program(file, target).entries), file


def test_held_ladders_are_opened_on_request_only(script, monkeypatch):
    named = {"steps, A": False, "steps, B": True}
    monkeypatch.setattr(script, "ladders", lambda: [script.Ladder(name, "", (), held) for name, held in named.items()])
    assert [one.name for one in script.chosen(["steps"], held=True)] == ["steps, B"]
    assert [one.name for one in script.chosen(["steps"], held=False)] == ["steps, A"]
    with pytest.raises(SystemExit, match="--held opens"):
        script.chosen(["steps, B"], held=False)
    with pytest.raises(SystemExit, match="known: steps, B"):
        script.chosen(["no such ladder"], held=True)


def test_named_ladders_are_reported_by_rung(script, capsys):
    script.report_ladders(["sums in steps, RTX"])
    line, *by_rung = capsys.readouterr().out.splitlines()
    assert line.startswith("sums in steps, RTX 3060 Ti: development, rungs 7, spearman ")
    assert "divergent" in by_rung[0] and "confidence" in by_rung[0] and len(by_rung) == 13
    ratios = [float(one.partition("ratio ")[2].partition(",")[0]) for one in by_rung[:7]]
    assert all(0.7 < ratio < 1.4 for ratio in ratios)


@pytest.mark.slow
def test_steps_of_a_matrix_product_rank_as_published(script, lines):
    """Eight kernels by nvcc on a GPU of 16 load/store units for an SM; each within 0.7 to 1.4 of its published time."""
    ladder = script.ladders()[0]
    modeled = [rung.predicted().seconds for rung in ladder.rungs]
    measured = [rung.seconds for rung in ladder.rungs]
    assert lines.spearman(modeled, measured) > 0.95
    assert all(0.7 < m / t < 1.4 for m, t in zip(modeled, measured, strict=True))
