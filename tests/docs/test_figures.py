"""The page of figures, and the sentences of other pages that state figures, are those of the stored results."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("figures", BENCHMARKS / "figures.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "figures", module)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_those_of_the_results(figures):
    results = json.loads(figures.RESULTS.read_text(encoding="utf-8"))
    for path, text in figures.pages(results).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: python tests/benchmarks/figures.py --page"


def test_every_figure_has_been_run(figures):
    assert {figure.key for figure in figures.FIGURES} <= json.loads(figures.RESULTS.read_text(encoding="utf-8")).keys()


def test_a_command_is_ended_at_its_limit(figures):
    with pytest.raises(figures.CommandFailed, match=r"limit of 0 s"):
        figures.run("python -c 'import time; time.sleep(60)'", 0.2)
    with pytest.raises(figures.CommandFailed, match="exit status 3"):
        figures.run("python -c 'raise SystemExit(3)'", 60)


def test_settings_before_a_command_are_its_environment(figures):
    assert figures.run("""PYTHONPATH=a:b python -c 'import os; print(os.environ["PYTHONPATH"])'""", 60) == "a:b\n"
