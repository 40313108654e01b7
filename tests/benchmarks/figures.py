"""docs/figures/index.md: every number that the project states, each with its label and the command that gives it.

    python tests/benchmarks/figures.py               # run all commands (half an hour on two cores), write the page
    python tests/benchmarks/figures.py import vmap   # run these, keep the others
    python tests/benchmarks/figures.py --page        # run nothing: the page from the stored results
    python tests/benchmarks/figures.py --check       # exit status 1 if a page differs from the stored results

Results are in figures.json with date and machine, written after each command: an interrupted run keeps what it has. A command
that fails or exceeds its time limit keeps the earlier numbers; the exit status is then 1. The numbers are also written to the
sentences of other pages that state them (`STATEMENTS` in figure_table.py).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from figure_page import PAGE, page, stated  # noqa: E402
from figure_table import FIGURES, ROOT, Figure, Values  # noqa: E402

RESULTS = Path(__file__).with_suffix(".json")
EVERY = 30  # seconds between lines of progress
AFTER = {  # commands that follow others, since they read what those write
    ("python tests/benchmarks/gpu/modeled.py", "python tests/benchmarks/published.py --write"): (
        "python tests/benchmarks/gpu/report.py"
    )
}


class CommandFailed(Exception):
    """A command failed, exceeded its time limit, or printed something else than its figure expects."""


def run(command: str, limit: float, statuses: Container[int] = (0,)) -> str:
    """Run a command line in the checkout, and return its standard output; its errors go to the terminal.

    Raises:
        CommandFailed: its exit status is none of `statuses`, or it exceeded `limit` seconds.
    """
    words = shlex.split(command)
    settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    arguments = [sys.executable, *words[len(settings) + 1 :]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    started = time.monotonic()
    with subprocess.Popen(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while True:
            left = limit - (time.monotonic() - started)
            try:
                output, _ = process.communicate(timeout=max(0.1, min(EVERY, left)))
                break
            except subprocess.TimeoutExpired:
                seconds = time.monotonic() - started
                if seconds >= limit:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
                    raise CommandFailed(f"not finished within its limit of {limit:.0f} s") from None
                print(f"    {seconds:.0f} s of at most {limit:.0f} s", file=sys.stderr, flush=True)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
    if process.returncode not in statuses:
        raise CommandFailed(f"exit status {process.returncode}\n{output}")
    return output


def read(figure: Figure, output: str) -> Values:
    """Return the numbers of a figure from the output of its command, or from the files that it wrote."""
    if figure.stored:
        return figure.stored()
    found = re.search(figure.pattern, output)
    if found is None:
        raise CommandFailed(f"the output does not match {figure.pattern!r}\n{output}")
    if not figure.digits:
        return found.groupdict()
    return {name: f"{float(value):.{figure.digits}g}" for name, value in found.groupdict().items()}


def machine() -> str:
    """Return a description of this machine, and whether other programs run on it."""
    busy = ", while other programs ran" if os.getloadavg()[0] > 0.5 else ""
    cores = os.cpu_count()
    return f"a machine with {cores} {platform.machine()} cores, Python {platform.python_version()}{busy}"


def measure(figures: Iterable[Figure], results: dict[str, Any]) -> list[str]:
    """Run the commands of figures and store their numbers; return a line for each command that failed."""
    commands: dict[str, list[Figure]] = {}
    for figure in figures:
        commands.setdefault(figure.command, []).append(figure)
    failed = []
    if any(figure.label == "measured" for figure in figures):
        results["machine"] = machine()
    for number, (command, own) in enumerate(commands.items(), 1):
        print(f"[{number}/{len(commands)}] {command}", file=sys.stderr, flush=True)
        try:
            output = run(command, own[0].limit, own[0].statuses)
            for figure in own:
                values = read(figure, output)
                results[figure.key] = {"values": values, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
                print(f"{figure.key}: {figure.claim.format(**values)}", flush=True)
        except CommandFailed as error:
            failed.append(f"{', '.join(figure.key for figure in own)}: {command}: {error}")
            print(f"    failed: {error}", file=sys.stderr, flush=True)
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for first, then in AFTER.items():
        if set(first) & set(commands):
            try:
                run(then, 600)
            except CommandFailed as error:
                failed.append(f"{then}: {error}")
    return failed


def pages(results: Mapping[str, Any]) -> dict[Path, str]:
    """Return the page of figures and the pages that state figures, with the numbers of the results."""
    return {PAGE: page(results), **{ROOT / path: text for path, text in stated(results).items()}}


def main() -> int:
    keys = [figure.key for figure in FIGURES]
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], epilog=f"figures: {', '.join(keys)}"
    )
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="default: all")
    parser.add_argument("--page", action="store_true", help="run nothing; write the pages from the stored results")
    parser.add_argument("--check", action="store_true", help="run and write nothing; report pages that differ")
    arguments = parser.parse_args()
    if unknown := set(arguments.figures) - set(keys):
        parser.error(f"no figure {', '.join(sorted(unknown))}; there are {', '.join(keys)}")
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    failed = []
    if not (arguments.page or arguments.check):
        chosen = [figure for figure in FIGURES if not arguments.figures or figure.key in arguments.figures]
        failed = measure(chosen, results)
    try:
        wanted = pages(results)
    except ValueError as error:
        failed.append(str(error))
        wanted = {}
    for path, text in wanted.items():
        if path.read_text(encoding="utf-8") != text:
            if arguments.check:
                failed.append(f"{path.relative_to(ROOT)} is not up to date: run figures.py --page")
            else:
                path.write_text(text, encoding="utf-8")
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
