"""`pyptx ledger`: the measured times of kernels."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyptx.cli.kernels import CommandError, add_output_argument, help_options, output_files

__all__ = ["add", "run"]

SUFFIXES = (".csv", ".json", ".svg", ".html")
SLOWER = 1


def add(subparsers: Any) -> None:
    summary = "list, compare, plot and export the measured times of kernels, and name regressions"
    command = subparsers.add_parser(
        "ledger",
        **help_options(
            summary,
            "pyptx ledger gemm --gpu h100 --last 20",
            "pyptx ledger --regressions",
            "pyptx ledger --compare 12 31",
            "pyptx ledger gemm -o gemm.svg -o gemm.csv",
            "pyptx ledger --add other-machine.json",
            "pyptx ledger --accept 31",
            more="pyptx.benchmark, tuning, rooflines and pyptx profile record what they measure. Exit status: 0; 1 if "
            "--regressions finds one that is not fixed. PYPTX_LEDGER names another file.",
        ),
    )
    command.add_argument("kernel", metavar="NAME", nargs="?", help="times of this kernel only")
    command.add_argument("--gpu", metavar="GPU", help="times of GPUs whose name contains this")
    command.add_argument("--kind", choices=("measured", "modeled"), help="measured or modeled times only")
    command.add_argument("--source", metavar="NAME", help="recorded by benchmark, pytest, tune, roofline or profile")
    command.add_argument("--since", metavar="YYYY-MM-DD", help="times from this day on (UTC)")
    command.add_argument("--last", metavar="N", type=int, help="the newest N times")
    action = command.add_mutually_exclusive_group()
    action.add_argument("--regressions", action="store_true", help="name what got slower, and what brought it")
    action.add_argument("--compare", metavar=("A", "B"), nargs=2, type=int, help="compare two times by their numbers")
    action.add_argument("--accept", metavar="N", type=int, help="compare later times with number N and those after it")
    action.add_argument("--delete", metavar="N", nargs="+", type=int, help="delete times by their numbers")
    action.add_argument("--add", metavar="FILE.json", type=Path, help="add the times of an export of another ledger")
    command.add_argument(
        "--tolerance", metavar="PERCENT", type=float, default=2.0, help="difference beyond intervals; default: 2"
    )
    add_output_argument(command, f"write the listed times ({', '.join(SUFFIXES)})")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from pyptx.ledger import default_ledger  # late: NumPy takes time to load

    files, ledger = output_files(arguments, SUFFIXES), default_ledger()
    if arguments.last is not None and arguments.last < 1:
        raise CommandError(f"--last {arguments.last}: expected 1 or more")
    if arguments.add:
        if not arguments.add.is_file():
            raise CommandError(f"no file {arguments.add}")
        count = ledger.add_json(arguments.add.read_text(encoding="utf-8", errors="replace"), str(arguments.add))
        print(f"added {count} times to {ledger.path}")
        return 0
    if arguments.accept is not None:
        print(f"accepted {ledger.accept(arguments.accept).title}")
        return 0
    if arguments.delete:
        print(f"deleted {ledger.delete(arguments.delete)} times")
        return 0
    if arguments.compare:
        return _compare(*map(ledger.measurement, arguments.compare), as_json=arguments.json)
    found = ledger.measurements(
        arguments.kernel,
        kind=arguments.kind,
        gpu=arguments.gpu,
        source=arguments.source,
        since=_day(arguments.since),
        last=arguments.last,
    )
    for path in files:
        path.write_text(_exported(found, path.suffix), encoding="utf-8")
        print(f"wrote {path}")
    if arguments.regressions:
        slower = found.regressions(arguments.tolerance / 100)
        if arguments.json:
            print(json.dumps([one.to_json() for one in slower], indent=1))
        else:
            print("\n".join(one.text() for one in slower) or "nothing got slower")
        return SLOWER if any(not one.fixed for one in slower) else 0
    if arguments.json:
        print(json.dumps(found.to_json(), indent=1))
    elif not files:
        print(found.text())
    return 0


def _compare(before: Any, after: Any, *, as_json: bool) -> int:
    from pyptx.ledger.regressions import cause_of
    from pyptx.ledger.table import text

    if before.kind != after.kind:
        raise CommandError(
            f"number {before.number} is {before.kind}, number {after.number} {after.kind}: not comparable"
        )
    differing = [
        name
        for name, a, b in zip(
            ("kernel", "problem", "parameters", "GPU", "kind", "method"), before.series, after.series, strict=True
        )
        if a != b
    ]
    factor, cause = after.seconds / before.seconds, cause_of(before, after)
    overlap = before.low <= after.high and after.low <= before.high
    if as_json:
        facts = {"before": before.to_json(), "after": after.to_json(), "factor": factor, "overlap": overlap}
        print(json.dumps({**facts, "differing": differing, "cause": cause}, indent=1))
        return 0
    print(text([before, after]))
    print(f"{factor - 1:+.1%}" + ("; the intervals overlap" if overlap else ""))
    print(f"They differ in {', '.join(differing)}." if differing else cause)
    return 0


def _exported(found: Any, suffix: str) -> str:
    if suffix == ".csv":
        return found.to_csv()
    if suffix == ".json":
        return json.dumps(found.to_json(), indent=1)
    if suffix == ".svg":
        return found.svg()
    return (
        f"<!doctype html><html><meta charset=utf-8><title>Ledger</title><body>{found.svg()}{found.html()}</body></html>"
    )


def _day(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise CommandError(f"--since {text}: expected a day such as 2026-01-31") from None
