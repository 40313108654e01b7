"""The page on the accuracy of modeled times agrees with the recorded errors and the version of the model."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from pyptx.analysis.model import MODEL_VERSION

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("accuracy_page", BENCHMARKS / "accuracy_page.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "accuracy_page", module)
    spec.loader.exec_module(module)
    return module


def test_the_part_on_opened_ladders_is_that_of_the_recorded_errors(script):
    opened, _, _ = script.PAGE.read_text(encoding="utf-8").partition(script.DEVELOPMENT)
    assert opened.rstrip() == script.opened_part().rstrip(), "python tests/benchmarks/accuracy_page.py --opened"


def test_the_part_on_development_ladders_names_its_model_and_has_all_of_them(script):
    *_, development = script.PAGE.read_text(encoding="utf-8").partition(script.DEVELOPMENT)
    (version,) = re.findall(r"^Model (\d+): ", development, re.MULTILINE)
    assert int(version) == MODEL_VERSION
    names = re.findall(r"^\| (.+?) \| \d", development, re.MULTILINE)
    assert sorted(names) == sorted(ladder.name for ladder in script.ladders() if not ladder.held)


def test_a_ladder_is_a_row_with_rank_mean_range_and_hits(script):
    times = [(2.0, 1.0), (2.0, 2.0), (8.0, 4.0)]
    ratios = [one / other for one, other in times]
    assert script.row("steps", times, ratios, 1) == "| steps | 3 | 0.87 | 2 of 3 | 1.59 | 1.00 to 2.00 | 1 |"
    assert script.row("steps", None, ratios, 1) == "| steps | 3 | – | – | 1.59 | 1.00 to 2.00 | 1 |"


def test_equal_modeled_times_stay_equal_after_they_are_stored(script):
    rows = [
        script.UnseenError("half", "source", "steps", str(k), "T4", "dram", "normal", ratio)
        for k, ratio in enumerate((0.7071, 0.5858))
    ]
    published = {("steps", "0", "T4"): 1.4142, ("steps", "1", "T4"): 1.7071}
    (one, _), (other, _) = script._times(rows, published)
    assert one == other
