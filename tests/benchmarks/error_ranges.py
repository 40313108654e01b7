"""Error ranges of the performance model:  python tests/benchmarks/error_ranges.py [--write] [--record NAME]

Derives them from `unseen_errors.json`: published times beside modeled ones, as the model was when their half of the held-out
ladders was opened. No change of the model had been decided on these ladders, so a further ladder is expected to have errors
like theirs (split conformal prediction). They are recorded facts, which a later change of the model leaves as they are. The
development ladders take no part: development reduces their errors.

Rungs of a ladder share most of their error, so a ladder counts as one observation, however many rungs it has (conformal
prediction for groups: Dunn, Wasserman and Ramdas 2022, arXiv 1809.07441). A class of estimates that one resource limits has
few ladders of its own; all ladders together take part in its range with the weight of `COMMON` ladders.

Prints the ranges, and how many times of a half, or of a source, lie within ranges that are derived without it. With --write the
ranges go to `pyptx/analysis/model/error_ranges.json`. --record NAME models the held-out ladders that have no recorded errors and
appends them as a half of that name: once, when they are opened.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import date
from itertools import combinations
from math import exp, log
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]

from pyptx.analysis.model import MODEL_VERSION  # noqa: E402
from pyptx.analysis.model.error_ranges import ALL, CLASSES, DATA, SHARE, ErrorRange, bound_class  # noqa: E402

ERRORS = HERE / "unseen_errors.json"
ABOUT = (
    "Published times of kernels beside modeled ones, by the model (commit and version) with which a half of the held-out ladders "
    "was opened. Halves: ladders with the source of their times. Errors: ladder, kernel, GPU, Prediction.bound, "
    "Prediction.confidence, modeled over published time. Written once for a half by error_ranges.py --record, and not changed."
)
LOW_SHARE = 0.9  # of all times; the range of an estimate of low confidence is at least that wide
# Ladders. Of 5, 10, 20 and 40, and of one range for all classes, the narrowest ranges that hold the claimed share of the times
# when their half, their source or their ladder takes no part.
COMMON = 20


class UnseenError(NamedTuple):
    """A published time beside that of a model which was developed without it.

    Attributes:
        half: the half of the held-out ladders, opened at one time.
        source: of the published time.
        ladder: its ladder; times of one ladder and GPU are of variants of one kernel.
        name: the kernel or variant.
        gpu: name of the GPU.
        bound: `Prediction.bound`.
        confidence: `Prediction.confidence`.
        ratio: modeled over published time.
    """

    half: str
    source: str
    ladder: str
    name: str
    gpu: str
    bound: str
    confidence: str
    ratio: float

    @property
    def factor(self) -> float:
        """Published over modeled time, as a logarithm."""
        return -log(self.ratio)


def recorded_errors() -> tuple[dict[str, Any], list[UnseenError]]:
    """Return the halves by name, and the errors of all of them."""
    data = json.loads(ERRORS.read_text(encoding="utf-8"))
    place = {name: (half, source) for half, row in data["halves"].items() for name, source in row["ladders"].items()}
    return data["halves"], [UnseenError(*place[row[0]], *row) for row in data["errors"]]


def derive_ranges(errors: Sequence[UnseenError]) -> dict[str, ErrorRange]:
    """Derive the error range of all estimates, and of those of each class.

    Args:
        errors: of ladders that the model had not seen.
    """
    least, most = _ends(errors, (), LOW_SHARE)
    ranges = {}
    for name in (ALL, *CLASSES):
        own = [error for error in errors if name in (ALL, bound_class(error.bound))]
        common = () if name == ALL else errors
        low, high = _ends(own, common, SHARE)
        resolution = exp(_quantile(_differences(own), _differences(common), SHARE))
        count = len({error.ladder for error in own})
        ranges[name] = ErrorRange(count, low, high, min(low, least), max(high, most), resolution)
    return ranges


def inside_left_out(errors: Sequence[UnseenError], key: str) -> dict[str, list[bool]]:
    """Return whether each time is within the ranges that are derived without its group.

    Args:
        errors: of all groups.
        key: "half", "source" or "ladder": what a group has in common.
    """
    inside = {}
    for name, own in _groups(errors, attrgetter(key)).items():
        ranges = derive_ranges([error for error in errors if getattr(error, key) != name])
        found = [ranges[bound_class(error.bound)] for error in own]
        inside[name] = [one.low <= 1 / error.ratio <= one.high for error, one in zip(own, found, strict=True)]
    return inside


def _ends(own: Sequence[UnseenError], common: Sequence[UnseenError], share: float) -> tuple[float, float]:
    """Return the factors between which a share of the measured times is expected, as much below as above."""
    low, high = (
        _quantile(
            *([(error.ladder, sign * error.factor) for error in errors] for errors in (own, common)), (1 + share) / 2
        )
        for sign in (-1, 1)
    )
    return exp(-low), exp(high)


def _differences(errors: Sequence[UnseenError]) -> list[tuple[str, float]]:
    """Return by how much the errors of two variants of a kernel differ, for all pairs of a ladder and GPU."""
    variants = _groups(errors, lambda error: (error.ladder, error.gpu))
    return [
        (one.ladder, abs(one.factor - other.factor)) for own in variants.values() for one, other in combinations(own, 2)
    ]


def _groups(errors: Sequence[UnseenError], key: Callable[[UnseenError], Any]) -> dict[Any, list[UnseenError]]:
    groups: dict[Any, list[UnseenError]] = defaultdict(list)
    for error in errors:
        groups[key(error)].append(error)
    return groups


def _quantile(own: Sequence[tuple[str, float]], common: Sequence[tuple[str, float]], share: float) -> float:
    """Return the value that a share of a further ladder does not exceed; the greatest one where the ladders are too few.

    Args:
        own, common: (ladder, value); the values of a ladder share its weight.
        share: of the ladders and the further one.
    """
    weighted = sorted([*_weighted(own, len({ladder for ladder, _ in own})), *_weighted(common, COMMON)])
    limit, below = share * (1 + sum(weight for _, weight in weighted)), 0.0
    for value, weight in weighted:
        below += weight
        if below >= limit - 1e-9:
            return value
    return weighted[-1][0]


def _weighted(values: Sequence[tuple[str, float]], ladders: int) -> Iterator[tuple[float, float]]:
    """Yield values with their weights, as those of a number of ladders."""
    sizes = Counter(ladder for ladder, _ in values)
    for ladder, value in values:
        yield value, ladders / len(sizes) / sizes[ladder]


def record(name: str) -> None:
    """Append the errors of the held-out ladders that have none yet, as a half of the given name."""
    from foreign import ladders
    from rung_pool import modeled

    halves, errors = recorded_errors()
    known = {error.ladder for error in errors}
    opened = [ladder for ladder in ladders() if ladder.held and ladder.name not in known]
    if not opened or name in halves:
        raise SystemExit("all held-out ladders are recorded" if not opened else f"there is a half {name!r}")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout
    found = {ladder.name: times for ladder, times in modeled(opened)}
    for ladder in opened:
        about = {"opened": str(date.today()), "commit": commit.strip(), "model_version": MODEL_VERSION, "ladders": {}}
        halves.setdefault(name, about)
        source = re.split(r",| \(", ladder.source)[0]
        halves[name]["ladders"][ladder.name] = source
        errors += [
            UnseenError(
                name, source, ladder.name, rung.name, rung.gpu, own.bound, own.confidence, own.seconds / rung.seconds
            )
            for rung, own in zip(ladder.rungs, found[ladder.name], strict=True)
        ]
    write_errors(halves, errors)


def write_errors(halves: dict[str, Any], errors: Sequence[UnseenError]) -> None:
    """Write `unseen_errors.json`, an error on each line."""
    head = json.dumps({"about": ABOUT, "halves": halves}, indent=1)
    rows = ",\n  ".join(json.dumps([*error[2:-1], round(error.ratio, 4)]) for error in errors)
    ERRORS.write_text(f'{head[:-2]},\n "errors": [\n  {rows}\n ]\n}}\n', encoding="utf-8")


def ranges_to_json(ranges: dict[str, ErrorRange]) -> dict[str, dict[str, float]]:
    """Return plain values with three digits."""
    return {
        name: {key: value if key == "ladders" else float(f"{value:.3g}") for key, value in asdict(one).items()}
        for name, one in ranges.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {DATA.name}")
    parser.add_argument(
        "--record", metavar="NAME", help="append the errors of the held-out ladders, as they are opened"
    )
    given = parser.parse_args(arguments)
    if given.record:
        record(given.record)
    _, errors = recorded_errors()
    ranges = ranges_to_json(derive_ranges(errors))
    for name, row in ranges.items():
        print(f"{name}: " + ", ".join(f"{key} {value:g}" for key, value in row.items()))
    for key in ("half", "source", "ladder"):
        groups = inside_left_out(errors, key)
        text = "; ".join(f"{name} {sum(inside)} of {len(inside)}" for name, inside in groups.items())
        total = sum(map(sum, groups.values()))
        print(
            f"within ranges derived without its {key}: {total} of {len(errors)}, {total / len(errors):.0%}"
            + f" ({text})" * (key == "half")
        )
    if given.write:
        data = {"source": "tests/benchmarks/error_ranges.py, from unseen_errors.json", "share": SHARE, "ranges": ranges}
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
