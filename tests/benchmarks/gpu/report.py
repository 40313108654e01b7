"""docs/performance.md from the results of run.py and modelled.py:  python tests/benchmarks/gpu/report.py [--check]"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from cases import Case, all_cases  # noqa: E402
from published import written  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "performance.md"
MODELLED = HERE / "modelled.json"
NOT_YET = "not yet measured"
HEAD = """---
orphan: true
---
<!-- Made by tests/benchmarks/gpu/report.py; run it again instead of editing. -->
# Performance of the examples

What `python tests/benchmarks/gpu/run.py` measured: every kernel of `examples/` beside what others offer, in one run,
checked first. Medians; the interval of each median, clocks and versions are in the results. Memory-bound rates count
the bytes that must move, and their roof is a copy measured in the same run; products and attention count the operations
of the formula (causal attention half of them), and their roof is the published dense peak.
"""
MODEL = """
## What the model says

*Modelled, not measured*: what `python tests/benchmarks/gpu/modelled.py` found without a GPU, {date}. For every example
the time that `pyptx.analysis.model.estimate` predicts at the sizes of the case, on the GPU named, the rate that is and
its percent of the published roof, and what binds, in words. The model has not been compared with times of our own yet,
but with published ones, below.
"""
PUBLISHED = """
## What others measured, and the model of ours

*Published measurements of other authors' kernels*, and what the model says of the example of ours that is built most
like each, with the parameters that make it so (`python tests/benchmarks/published.py`).
"""


def newest(folder: Path) -> dict[str, Any] | None:
    """The newest results; None where nothing was measured."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    return max(found, key=lambda one: one["about"]["date"], default=None)


def page(results: Mapping[str, Any] | None, modelled: Mapping[str, Any] | None, cases: Sequence[Case]) -> str:
    """The whole page."""
    rows = by_case(results)
    lines = [HEAD]
    if results:
        about = results["about"]
        lines.append(f"{about['gpu']}, driver {about['driver']}, torch {about['torch']}, {about['date'][:10]}; a copy "
                     f"reached {about['roofs']['dram'] / 1e12:.2f} TB/s.\n")
    else:
        lines.append("Nothing was measured yet: this project has not been run on a GPU. The table says what will be.\n")
    lines += ["| case | candidate | rate | of the roof | ratio | microseconds |", f"|{' --- |' * 6}"]
    for case in cases:
        for row in rows.get(key(case), [{"candidate": "pyptx"}]):
            lines.append(f"| {' | '.join([case.label, *cells(row)])} |")
    if modelled:
        rows = by_case(modelled)
        lines += [MODEL.format(date=modelled["about"]["date"]),
                  "| case | example | GPU | modelled rate | of the roof, modelled | modelled microseconds | binds |",
                  f"|{' --- |' * 7}"]
        for case in cases:
            for row in rows.get(key(case), []):
                lines.append(f"| {' | '.join([case.label, *modelled_cells(row)])} |")
        lines += [PUBLISHED, *written()]
    return "\n".join(lines) + "\n"


def key(case: Case) -> tuple:
    return case.name, *case.sizes.items()


def by_case(results: Mapping[str, Any] | None) -> dict[tuple, list[Mapping[str, Any]]]:
    """Rows of each case, by name and sizes."""
    rows: dict[tuple, list[Mapping[str, Any]]] = {}
    for row in results["results"] if results else ():
        rows.setdefault((row["case"], *row["sizes"].items()), []).append(row)
    return rows


def modelled_cells(row: Mapping[str, Any]) -> list[str]:
    launches = f" ({row['launches']} launches)" if row["launches"] > 1 else ""
    if "why" in row:
        return [row["candidate"], row["gpu"], "not modelled", "", "", row["why"]]
    return [row["candidate"], row["gpu"], f"{row['rate']:.2f} {row['unit']}", f"{row['roof']:.0%}",
            f"{row['seconds'] * 1e6:.1f}{launches}", row["bound"]]


def cells(row: Mapping[str, Any]) -> list[str]:
    if "seconds" in row:
        return [row["candidate"], f"{row['rate']:.2f} {row['unit']}", f"{row['roof']:.1%}" if row["roof"] else "",
                f"{row['ratio'][0]:.3f} x {row['to']}", f"{row['seconds'][0] * 1e6:.1f}"]
    if "failed" in row:
        return [row["candidate"], f"failed: {row['failed'].splitlines()[0][:80]}", "", "", ""]
    if row.get("right") is False:
        return [row["candidate"], f"wrong, off by {row['error']:.1e}", "", "", ""]
    return [row["candidate"], row.get("skipped", NOT_YET), "", "", ""]


def main() -> int:
    text = page(newest(HERE / "results"), json.loads(MODELLED.read_text(encoding="utf-8")), list(all_cases()))
    if "--check" in sys.argv[1:]:
        same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        print(f"{PAGE} is {'as the results say' if same else 'out of date: run report.py'}")
        return not same
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
