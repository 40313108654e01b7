"""Error ranges of the performance model:  python tests/benchmarks/error_ranges.py [--write]

Derives them from the development half of the published ladders (`foreign.py`) and from the published matrix products
and attention (`published.py`), on which the model was developed too. The held-out ladders take no part;
`model_report.py --held` says how many of their times lie within the ranges. The ranges are widened until as many cases as
claimed lie inside when the ladder of the case is left out. With --write the ranges and their cases go to
`pyptx/analysis/model/error_ranges.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

from foreign import ladders  # noqa: E402
from published import points  # noqa: E402

from pyptx.analysis.model import MODEL_VERSION  # noqa: E402
from pyptx.analysis.model.error_ranges import (  # noqa: E402
    ALL,
    DATA,
    SHARE,
    Case,
    bound_class,
    derive_ranges,
    ranges_to_json,
)


def development_cases() -> Iterator[Case]:
    """Yield the cases on which the model was developed."""
    for ladder in ladders():
        for rung in () if ladder.held else ladder.rungs:
            found = rung.predicted()
            yield Case(ladder.name, rung.name, rung.gpu, found.bound, round(found.seconds / rung.seconds, 4))
    for point in points():
        found = point.predicted()
        name = f"{point.name} ({' x '.join(map(str, point.sizes))})"
        yield Case(point.source, name, point.gpu, found.bound, round(point.tflops / point.rate(found), 4))


def inside(case: Case, cases: Sequence[Case], widening: float) -> bool:
    """Return True if a published time lies within the range that other cases lead to."""
    ranges = derive_ranges(cases, widening)
    one = ranges.get(bound_class(case.bound), ranges[ALL])
    return one.low <= 1 / case.ratio <= one.high


def share_left_out(cases: Sequence[Case], widening: float) -> float:
    """Return the share of cases inside the range that is derived without their ladder."""
    others = {name: [case for case in cases if case.ladder != name] for name in {case.ladder for case in cases}}
    return sum(inside(case, others[case.ladder], widening) for case in cases) / len(cases)


def least_widening(cases: Sequence[Case]) -> float:
    """Return the least widening, in steps of 0.05, with which the claimed share of the left-out cases lies inside."""
    steps = (1 + 0.05 * step for step in range(100))
    return next(round(widening, 2) for widening in steps if share_left_out(cases, widening) >= SHARE)


def main(arguments: Sequence[str]) -> None:
    cases = list(development_cases())
    widening = least_widening(cases)
    ranges = ranges_to_json(derive_ranges(cases, widening))
    for name, row in ranges.items():
        print(f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in row.items()))
    print(
        f"widened by {widening:g}; inside without the ladder of the case: {share_left_out(cases, widening):.0%} "
        f"of {len(cases)}, and {share_left_out(cases, 1.0):.0%} if not widened"
    )
    if "--write" in arguments:
        data = {
            "source": "tests/benchmarks/error_ranges.py: kernels of other authors with published times, development half",
            "model_version": MODEL_VERSION,
            "share": SHARE,
            "widening": widening,
            "ranges": ranges,
            "cases": [list(case) for case in cases],
        }
        text = json.dumps(data, indent=1)
        DATA.write_text(_flat_cases(text, cases) + "\n", encoding="utf-8")


def _flat_cases(text: str, cases: Sequence[Case]) -> str:
    """Write each case on a line of its own."""
    head = text[: text.rindex('"cases"')]
    return head + '"cases": [\n  ' + ",\n  ".join(json.dumps(list(case)) for case in cases) + "\n ]\n}"


if __name__ == "__main__":
    main(sys.argv[1:])
