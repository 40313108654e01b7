"""All kernels of the examples beside what others offer:  python tests/benchmarks/gpu/run.py [--only WORD] [--dry]

On a GPU each case is checked first - a candidate whose result is off is not timed - then its candidates race (see
timing.py), and a table is printed: seconds, TFLOP/s or TB/s, ratio to the reference, percent of the roof. The roof of
memory is a copy measured in the same run, that of the tensor cores the published peak. All of it goes to
`results/GPU-DATE.json` with GPU, clocks, driver and versions; `report.py` makes docs/performance.md of those.
With --dry everything up to the launch happens at small sizes on the simulator: right or wrong, but no times.

Cases run in a process beside this one (see workers.py): one that hangs or faults costs its case, and is told. Results
are written after every case, those that matter most first; with --resume FILE the cases that FILE has are left out and
its rows kept, so that a run can go on in another one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from cases import Arrays, Case, Problem, all_cases  # noqa: E402
from timing import Clock, Events, race  # noqa: E402
from workers import Lost, Worker, answered  # noqa: E402

from pyptx.analysis.gpus import gpu as gpu_of  # noqa: E402
from pyptx.errors import ShapeError  # noqa: E402

RESULTS = HERE / "results"
TENSOR = "mma", "wgmma", "tcgen05"
# Words of cases, the most wanted first; the others follow.
FIRST = ("matrix product bf16", "attention bf16", "softmax", "layer norm", "matrix product fp8", "RMS norm",
         "cross entropy", "vector add", "sum")


def about(torch: Any, device: Any) -> dict[str, Any]:
    """The GPU, its state, and the versions that matter."""
    from pyptx.tune.nvml import Conditions
    properties = torch.cuda.get_device_properties(device)
    uuid = bytes.fromhex(str(properties.uuid).removeprefix("GPU-").replace("-", ""))
    return {"gpu": properties.name, "sms": properties.multi_processor_count, "l2_bytes": properties.L2_cache_size,
            "driver": driver_version(), "torch": torch.__version__, "cuda": torch.version.cuda,
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "before": Conditions(uuid).now()}


def driver_version() -> str | None:
    from cuda.bindings import driver
    status, version = driver.cuDriverGetVersion()
    return f"{version // 1000}.{version % 1000 // 10}" if not int(status) else None


def runs_here(problem: Problem, name: str, capability: tuple[int, int]) -> bool:
    """Whether a candidate runs on a GPU: an example for sm_90a on no other than 9.0, one for sm_80 from 8.0 on."""
    if name not in problem.kernels:
        return True
    arch = problem.kernels[name].arch.removeprefix("sm_")
    number = int(arch.rstrip("af")[:-1]), int(arch.rstrip("af")[-1])
    return capability == number if arch[-1] == "a" else capability >= number


def off_by(result: Any, wanted: Any, least: float) -> float:
    """The largest difference as a share of the largest number, or of `least`; infinity where something is no number."""
    difference = (result.double() - wanted.double()).abs().max().item()
    return difference / max(wanted.double().abs().max().item(), least) if difference == difference else float("inf")


def measure(case: Case, arrays: Arrays, clock: Clock | None, roofs: dict[str, float], rounds: int,
            capability: tuple[int, int] | None) -> list[dict[str, Any]]:
    """One row for each candidate; without a clock only whether it is right."""
    problem = case.make(arrays, **(case.dry if arrays.dry else case.sizes), **(case.options if arrays.dry else {}))
    rows, right = {}, {}
    here = [name for name in problem.kernels if capability is None or runs_here(problem, name, capability)]
    if problem.kernels and not here:
        return [{"case": case.name, "sizes": dict(case.sizes), "candidate": name, "notes": problem.notes,
                 "skipped": f"needs {kernel.arch}"} for name, kernel in problem.kernels.items()]
    wanted = problem.wanted()
    for name, work in problem.candidates.items():
        row = rows[name] = {"case": case.name, "sizes": dict(case.dry if arrays.dry else case.sizes), "candidate": name,
                            "notes": problem.notes}
        if capability is not None and not runs_here(problem, name, capability):
            row["skipped"] = f"needs {problem.kernels[name].arch}"
            continue
        try:
            row["error"] = off_by(work(), wanted, problem.least)
        except Exception as fault:                      # of a candidate, ours or another's: told with its row
            row["failed"] = f"{type(fault).__name__}: {fault}"[:1000]
            if arrays.lost():
                break
            continue
        row["right"] = row["error"] <= problem.close or "one scale" in name
        if row["right"]:
            right[name] = work
    del wanted
    reference = next((name for name in right if not name.startswith("pyptx")), None)
    if clock is None or reference is None or arrays.lost():
        return list(rows.values())
    per_s = roofs.get(problem.roof[0] if problem.roof[0] == "dram" else problem.roof[1])
    unit = "TB/s" if problem.roof[0] == "dram" else "TFLOP/s"
    for name, timed in race(right, reference, clock, rounds).items():
        rows[name] |= {"seconds": list(timed.seconds), "unit": unit, "rate": problem.work / timed.seconds.value / 1e12,
                       "ratio": list(timed.ratio), "to": reference, "rounds": timed.rounds,
                       "roof": problem.work / timed.seconds.value / per_s if per_s else None}
    return list(rows.values())


def roofs_of(name: str, arrays: Arrays, clock: Clock, rounds: int) -> dict[str, float]:
    """Bytes a second of a copy measured now, and operations a second of the published peaks."""
    source = arrays.normal(1 << 30, dtype="bfloat16")
    target = arrays.torch.empty_like(source)
    timed = race({"copy": lambda: target.copy_(source)}, "copy", clock, rounds)["copy"]
    roofs = {"dram": 2 * source.nbytes / timed.seconds.value}
    try:
        known = gpu_of(name)
    except ShapeError:
        return roofs
    for kind, pipes in (("bf16", TENSOR), ("e4m3", TENSOR), ("f32", ("core",))):
        peak = max(known.flops_per_s(pipe, kind) for pipe in pipes)
        if peak:
            roofs[kind] = peak
    return roofs


def line(row: dict[str, Any]) -> str:
    sizes = ", ".join(f"{name} {value}" for name, value in row["sizes"].items())
    text = f"{row['case']} ({sizes}): {row['candidate']}"
    if "skipped" in row:
        return f"{text}: not run, {row['skipped']}"
    if "failed" in row:
        return f"{text}: FAILED, {row['failed']}"
    if not row["right"]:
        return f"{text}: WRONG, off by {row['error']:.1e}"
    if "seconds" not in row:
        return f"{text}: right, off by {row['error']:.1e}"
    seconds, low, high = row["seconds"]
    roof = f", {row['roof']:.1%} of the roof" if row["roof"] else ""
    return (f"{text}: {row['rate']:.2f} {row['unit']}{roof}, {row['ratio'][0]:.3f} x {row['to']}, "
            f"{seconds * 1e6:.1f} us ({low * 1e6:.1f} .. {high * 1e6:.1f}), off by {row['error']:.1e}")


def in_order(cases: list[Case]) -> list[tuple[int, Case]]:
    """Cases with their numbers, those that matter most first."""
    def place(case: Case) -> int:
        return next((k for k, word in enumerate(FIRST) if case.name.startswith(word)), len(FIRST))
    return sorted(enumerate(cases), key=lambda one: (place(one[1]), one[0]))


def work(dry: bool, rounds: int) -> int:
    """What the process beside does: tells the GPU, then measures the cases whose numbers it is sent."""
    import torch
    device = torch.device("cpu" if dry else "cuda")
    arrays, clock, capability, roofs, found = Arrays(torch, device, dry), None, None, {}, {}
    if not dry:
        clock, capability = Events(torch, device), torch.cuda.get_device_capability(device)
        found = about(torch, device)
        roofs = found["roofs"] = roofs_of(found["gpu"], arrays, clock, rounds)
    answered(found)
    cases = list(all_cases())
    for number in map(int, sys.stdin):
        rows = measure(cases[number], arrays, clock, roofs, rounds, capability)
        ends = arrays.lost()                            # a fault ends the context; the next process has a new one
        answered({"rows": rows, "ends": ends})
        if ends:
            return 3
        arrays.forget()
    return 0


def run(cases: list[tuple[int, Case]], command: list[str], save: Any, *, limit: float, until: float,
        start_limit: float = 300.0) -> tuple[dict[str, Any], list[dict[str, Any]], bool]:
    """Send cases to a worker, and start another one when it is lost.

    Args:
        command: of the worker.
        save: called with what it says of the GPU and all rows, after every case.
        limit: seconds of a case; until: of time.monotonic(), when no further case is begun.
    Returns:
        what the worker says of the GPU, rows, and whether there was time for all.
    """
    sender, rows = Sender(command, start_limit), []
    try:
        for number, case in cases:
            if time.monotonic() + 5 > until:
                return sender.found, rows, False
            try:
                new = sender.rows_of(number, limit, until)
            except Lost as lost:
                if time.monotonic() + 5 > until and "no answer" in f"{lost}":
                    return sender.found, rows, False    # it had no time: it is no fault of the case
                new = [{"case": case.name, "sizes": dict(case.sizes), "candidate": "all", "failed": f"{lost}"[-1000:]}]
            rows += new
            for row in new:
                print(line(row), flush=True)
            save(sender.found, rows)
        return sender.found, rows, True
    finally:
        sender.close()


class Sender:
    """Sends cases to a worker, which it starts when there is none; `found` is what it said of the GPU."""

    def __init__(self, command: list[str], start_limit: float):
        self.command, self.start_limit = command, start_limit
        self.worker: Worker | None = None
        self.found: dict[str, Any] = {}

    def rows_of(self, number: int, limit: float, until: float) -> list[dict[str, Any]]:
        """The rows of a case.

        Raises:
            Lost: there was no answer, or no worker any more; the next call starts another one.
        """
        try:
            if self.worker is None:
                self.worker = Worker(self.command)
                self.found = self.worker.answer(min(self.start_limit, until - time.monotonic())) or self.found
            self.worker.send(number)
            answer = self.worker.answer(min(limit, max(10.0, until - time.monotonic())))
        except Lost:
            self.worker = None
            raise
        if answer["ends"]:
            self.close()
        return answer["rows"]

    def close(self) -> None:
        """End the worker, if there is one."""
        if self.worker is not None:
            self.worker.close()
            self.worker = None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds this")
    parser.add_argument("--dry", action="store_true", help="small sizes on the simulator, nothing is timed")
    parser.add_argument("--rounds", type=int, default=50, help="at most, of each race")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results, or their file (.json)")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="results of an earlier run, which is gone on with")
    parser.add_argument("--limit", type=float, default=120, help="seconds of a case")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no case is begun")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        return work(given.dry, given.rounds)
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # so that the worker is ended, too
    import torch
    if not given.dry and not torch.cuda.is_available():
        print("no GPU: nothing is measured; --dry runs everything up to that on the simulator")
        return 0
    before = json.loads(given.resume.read_text(encoding="utf-8")) if given.resume and given.resume.is_file() else None
    kept = [row for row in before["results"] if "failed" not in row] if before else []
    known = {key_of(row) for row in kept}
    cases = [(number, case) for number, case in in_order(list(all_cases()))
             if given.only.lower() in case.name.lower() and (case.name, *case.sizes.items()) not in known]

    def save(found: Mapping[str, Any], rows: list[dict[str, Any]]) -> None:
        if given.dry or not found:
            return
        path = given.out
        if path.suffix != ".json":
            path = path / f"{found['gpu'].replace(' ', '-')}-{found['date'][:10]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps({"about": found, "results": kept + rows}, indent=1) + "\n", encoding="utf-8")
        os.replace(fresh, path)
    command = [sys.executable, __file__, "--worker", f"--rounds={given.rounds}", *["--dry"] * given.dry]
    _, rows, whole = run(cases, command, save, limit=given.limit, until=begun + given.budget)
    print(f"{len(cases)} cases, {sum('seconds' in row for row in rows)} times" + ("" if whole else "; time is over"))
    if not whole:
        return 2
    return int(any(not row.get("right", "skipped" in row) for row in rows))


def key_of(row: Mapping[str, Any]) -> tuple:
    """Of a row: name and sizes of its case."""
    return row["case"], *row["sizes"].items()


if __name__ == "__main__":
    raise SystemExit(main())
