"""The page of figures is that of the stored results."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

PATH = Path(__file__).parents[1] / "benchmarks" / "figures.py"


def test_the_page_is_that_of_the_results():
    spec = importlib.util.spec_from_file_location("figures", PATH)
    figures = sys.modules["figures"] = importlib.util.module_from_spec(spec)  # for its dataclass
    spec.loader.exec_module(figures)
    text = figures.page(json.loads(figures.RESULTS.read_text(encoding="utf-8")))
    assert figures.PAGE.read_text(encoding="utf-8") == text, "python tests/benchmarks/figures.py --page"
