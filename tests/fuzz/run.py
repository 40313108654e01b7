"""Fuzz pyptx: random input of one kind, for so many minutes, each round with a seed of its own.

    python tests/fuzz/run.py KIND [--minutes 10] [--seed N] [--rounds N] [--out FOLDER]

KIND is one of:

- texts: mutated PTX for parser, validator and transpiler
- cubins: mutated cubins for the loader, the listing and the view
- commands: random command lines of `pyptx`
- magics: random lines and cells for the IPython magics
- launches: random arguments and declarations for launches on the simulator

A round may end in a result or in an error that pyptx documents. Anything else is a finding: another exception, a crash, more
than 20 seconds of processor time, or more than 6 GiB of memory. Rounds run in a child process, which is started again after
a crash. Each finding is printed with its seed; `--seed N --rounds 1` repeats it. The exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

KINDS = ("texts", "cubins", "commands", "magics", "launches")
PATIENCE_S = 20  # of processor time for a round
STALLED_S = 300  # of elapsed time without a finished round
MEMORY_BYTES = 6 << 30

Round = Callable[[random.Random], str]


def fuzz(kind: str, seed: int, rounds: int, end: float, progress: Path | None = None) -> tuple[Counter[str], list[str]]:
    """Run rounds in this process until `end`, a time of `time.monotonic`.

    Returns:
        The number of rounds by their outcome, and the findings, one for each place where an exception was raised.
    """
    found: dict[str, str] = {}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="pyptx-fuzz-") as name:
        one: Round = import_module(f"fuzz.{kind}").prepare(Path(name))
        for number in range(seed, seed + rounds):
            if time.monotonic() >= end:
                break
            if progress is not None:
                progress.write_text(str(number))
            _limit_time(PATIENCE_S)
            try:
                counts[one(random.Random(number))] += 1
            except (Exception, SystemExit) as error:
                counts["failed"] += 1
                frames = traceback.extract_tb(error.__traceback__)
                where = f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
                found.setdefault(where, f"seed {number}: {where}: {str(error)[:300]}")
            finally:
                _limit_time(0)
    return counts, list(found.values())


def _limit_time(seconds: float) -> None:
    import signal

    def too_long(signum: int, frame: object) -> None:
        raise TimeoutError(f"more than {PATIENCE_S} s of processor time")

    signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def _child(kind: str, seed: int, rounds: int, seconds: float, progress: Path) -> int:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    counts, found = fuzz(kind, seed, rounds, time.monotonic() + seconds, progress)
    print("\nOUTCOMES", repr(dict(counts)))
    for line in found:
        print("\nFINDING", line)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="seed of the first round; default: the time")
    parser.add_argument("--rounds", type=int, default=1 << 40)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    first = options.seed if options.seed is not None else time.time_ns() % 10**9
    if options.child:
        return _child(options.kind, first, options.rounds, 60 * options.minutes, options.child)
    counts: Counter[str] = Counter()
    found: list[str] = []
    seed, last, end = first, first + options.rounds, time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="pyptx-fuzz-") as name:
        progress = Path(name) / "progress"
        while seed < last and (left := end - time.monotonic()) > 0:
            progress.write_text(str(seed))
            arguments = ["--seed", str(seed), "--rounds", str(last - seed), "--child", str(progress)]
            command = [sys.executable, __file__, options.kind, "--minutes", str(min(left, 100) / 60), *arguments]
            log = Path(name) / "log"
            status = _watched(command, progress, log)
            text = log.read_text(errors="replace")
            for line in text.splitlines():
                if line.startswith("OUTCOMES "):
                    counts.update(eval(line.removeprefix("OUTCOMES ")))
                elif line.startswith("FINDING "):
                    found.append(line.removeprefix("FINDING "))
                    print(found[-1], flush=True)
            reached = int(progress.read_text())
            if status:
                found.append(f"seed {reached}: the process ended with status {status}: {text.strip()[-300:]}")
                print(found[-1], flush=True)
            seed = reached + 1
    print(
        f"{options.kind}, seeds {first}..{seed - 1}: {sum(counts.values())} rounds, {dict(counts)}; {len(found)} findings"
    )
    return int(bool(found))


def _watched(command: list[str], progress: Path, log: Path) -> int:
    """Run a child and return its status; kill it when it makes no progress."""
    with log.open("wb") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        while True:
            try:
                return child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                if time.time() - progress.stat().st_mtime > STALLED_S:
                    child.kill()
                    child.wait()
                    return 124


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (1, 2)]
    sys.exit(main())
