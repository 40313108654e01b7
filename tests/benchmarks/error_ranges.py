"""Error ranges of the performance model:  python tests/benchmarks/error_ranges.py [--write] [--stored]

Derives them from the development ladders (`foreign.py`) and from the published matrix products and attention
(`published.py`), on which the model was developed too. The held-out ladders take no part;
`model_report.py --held` says how many of their times lie within the ranges. The printed shares are of ladders whose cases
take no part in the range. With --write the ranges and their cases go to `pyptx/analysis/model/error_ranges.json`;
--stored takes the stored cases, without modeling them again.
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
from rung_pool import modeled  # noqa: E402

from pyptx.analysis.model import MODEL_VERSION  # noqa: E402
from pyptx.analysis.model.error_ranges import (  # noqa: E402
    DATA,
    SHARE,
    Case,
    derive_ranges,
    left_out_shares,
    ranges_to_json,
)


def development_cases() -> Iterator[Case]:
    """Yield the cases on which the model was developed."""
    developed = [ladder for ladder in ladders() if not ladder.held]
    found = {ladder.name: times for ladder, times in modeled(developed)}
    for ladder in developed:
        for rung, own in zip(ladder.rungs, found[ladder.name], strict=True):
            yield Case(ladder.name, rung.name, rung.gpu, own.bound, round(own.seconds / rung.seconds, 4))
    for point in points():
        prediction = point.predicted()
        name = f"{point.name} ({' x '.join(map(str, point.sizes))})"
        yield Case(point.source, name, point.gpu, prediction.bound, round(point.tflops / point.rate(prediction), 4))


def stored_cases() -> list[Case]:
    """Return the cases of `error_ranges.json`."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    if data["model_version"] != MODEL_VERSION:
        raise SystemExit(
            f"{DATA.name} has cases of model {data['model_version']}, not of {MODEL_VERSION}: omit --stored"
        )
    return [Case(*row) for row in data["cases"]]


def main(arguments: Sequence[str]) -> None:
    cases = stored_cases() if "--stored" in arguments else list(development_cases())
    ranges, shares = ranges_to_json(derive_ranges(cases)), left_out_shares(cases)
    for name, row in ranges.items():
        print(f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in row.items()))
    for name, share in shares.items():
        print(f"  {share:.0%} of {sum(case.ladder == name for case in cases)} inside without {name!r}")
    print(f"{sum(shares.values()) / len(shares):.0%} of a ladder that is left out, on average; claimed {SHARE:.0%}")
    if "--write" in arguments:
        data = {
            "source": "tests/benchmarks/error_ranges.py: kernels of other authors with published times, development ladders",
            "model_version": MODEL_VERSION,
            "share": SHARE,
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
