"""All kernels of the examples beside what others offer:  python tests/benchmarks/gpu/run.py [--only WORD] [--dry]

On a GPU each case is checked first - a candidate whose result is off is not timed - then its candidates race (see
timing.py), and a table is printed: seconds, TFLOP/s or TB/s, ratio to the reference, percent of the roof. The roof of
memory is a copy measured in the same run, that of the tensor cores the published peak. All of it goes to
`results/GPU-DATE.json` with GPU, clocks, driver and versions; `report.py` makes docs/figures/performance.md of those.
With --dry everything up to the launch happens at small sizes on the simulator, with --small on the GPU: right or wrong,
with tails in every dimension, but no times.

Cases run in a process beside this one (see sending.py): a candidate that hangs or faults costs itself, and is told.
Results are written after every case, those that matter most first; with --resume FILE the cases that went well there
are left out and its rows kept, so that a run can go on in another one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from cases import Arrays, Case, Problem, all_cases  # noqa: E402
from sending import send  # noqa: E402
from summary import load_words  # noqa: E402
from timing import Clock, Events, race  # noqa: E402
from workers import answered  # noqa: E402

from pyptx.analysis.gpus import gpu as gpu_of  # noqa: E402
from pyptx.errors import ShapeError  # noqa: E402

RESULTS = HERE / "results"
TENSOR = "mma", "wgmma", "tcgen05"
WHOLE = "all", "wanted", "times"  # of a case that was lost as a whole, in place of a candidate
# Words of cases, the most wanted first; the others follow.
FIRST = (
    "matrix product bf16",
    "attention bf16",
    "softmax",
    "layer norm",
    "matrix product fp8",
    "RMS norm",
    "cross entropy",
    "vector add",
    "sum",
)


def about(torch: Any, device: Any) -> tuple[dict[str, Any], Callable[[], dict[str, Any]]]:
    """The GPU, its state, and the versions that matter; and what tells its state later."""
    from pyptx.tune.nvml import Conditions

    properties = torch.cuda.get_device_properties(device)
    uuid = bytes.fromhex(str(properties.uuid).removeprefix("GPU-").replace("-", ""))
    return {
        "gpu": properties.name,
        "sms": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "driver": driver_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "before": (conditions := Conditions(uuid)).now(),
    }, conditions.now


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


def measure(
    case: Case,
    arrays: Arrays,
    clock: Clock | None,
    roofs: dict[str, float],
    rounds: int,
    capability: tuple[int, int] | None,
    *,
    without: Sequence[str] = (),
    at: Callable[[str], None] = lambda name: None,
) -> list[dict[str, Any]]:
    """One row for each candidate; without a clock only whether it is right.

    Args:
        without: candidates that are left out; at: called before each of them, and before "wanted" and "times".
    """
    problem = case.make(arrays, **(case.dry if arrays.dry else case.sizes), **(case.options if arrays.dry else {}))
    rows, right = {}, {}
    here = [name for name in problem.kernels if capability is None or runs_here(problem, name, capability)]
    common = {"case": case.name, "sizes": dict(case.dry if arrays.dry else case.sizes), "notes": problem.notes}
    if problem.kernels and not here:
        return [
            common | {"candidate": name, "skipped": f"needs {kernel.arch}"} for name, kernel in problem.kernels.items()
        ]
    at("wanted")
    wanted = problem.wanted()
    for name, work in problem.candidates.items():
        if name in without:
            continue
        row = rows[name] = common | {"candidate": name}
        if capability is not None and not runs_here(problem, name, capability):
            row["skipped"] = f"needs {problem.kernels[name].arch}"
            continue
        at(name)
        try:
            row["error"] = off_by(work(), wanted, problem.least)
        except Exception as fault:  # of a candidate, ours or another's: told with its row
            if arrays.lost():
                raise  # the process has no GPU any more
            row["failed"] = f"{type(fault).__name__}: {fault}"[:1000]
            continue
        row["right"] = row["error"] <= problem.close or "one scale" in name
        if row["right"]:
            right[name] = work
    del wanted
    reference = next((name for name in right if not name.startswith("pyptx")), None)
    if clock is None or reference is None:
        return list(rows.values())
    per_s = roofs.get(problem.roof[0] if problem.roof[0] == "dram" else problem.roof[1])
    unit = "TB/s" if problem.roof[0] == "dram" else "TFLOP/s"
    at("times")
    for name, timed in race(right, reference, clock, rounds).items():
        rows[name] |= {
            "seconds": list(timed.seconds),
            "unit": unit,
            "rate": problem.work / timed.seconds.value / 1e12,
            "ratio": list(timed.ratio),
            "to": reference,
            "rounds": timed.rounds,
            "roof": problem.work / timed.seconds.value / per_s if per_s else None,
            "load": clock.load(right[name], timed.seconds.value),
        }
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
    return (
        f"{text}: {row['rate']:.2f} {row['unit']}{roof}, {row['ratio'][0]:.3f} x {row['to']}, "
        f"{seconds * 1e6:.1f} us ({low * 1e6:.1f} .. {high * 1e6:.1f}), off by {row['error']:.1e}"
        + "".join(f", {word}" for word in load_words(row.get("load") or {}))
    )


def in_order(cases: list[Case]) -> list[tuple[int, Case]]:
    """Cases with their numbers, those that matter most first."""

    def place(case: Case) -> int:
        return next((k for k, word in enumerate(FIRST) if case.name.startswith(word)), len(FIRST))

    return sorted(enumerate(cases), key=lambda one: (place(one[1]), one[0]))


def work(dry: bool, small: bool, rounds: int) -> int:
    """What the process beside does: tells the GPU, then measures the cases that it is sent."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    device = torch.device("cpu" if dry else "cuda")
    arrays, clock, capability, roofs, found = Arrays(torch, device, dry or small), None, None, {}, {}
    if not dry:
        capability = torch.cuda.get_device_capability(device)
        found, state = about(torch, device)
        if not small:
            clock = Events(torch, device, state)
            roofs = found["roofs"] = roofs_of(found["gpu"], arrays, clock, rounds)
    answered(found)
    cases = list(all_cases())
    for piece in map(json.loads, sys.stdin):
        rows = measure(
            cases[piece["case"]],
            arrays,
            clock if piece["timed"] else None,
            roofs,
            rounds,
            capability,
            without=piece["without"],
            at=lambda name: answered({"at": name}),
        )
        if arrays.lost():  # a fault ended the context; the next process has a new one
            return 3
        answered({"rows": rows})
        arrays.forget()
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds this")
    parser.add_argument("--dry", action="store_true", help="small sizes on the simulator, nothing is timed")
    parser.add_argument("--small", action="store_true", help="small sizes on the GPU, nothing is timed")
    parser.add_argument("--rounds", type=int, default=50, help="at most, of each race")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results, or their file (.json)")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="results of an earlier run, which is gone on with")
    parser.add_argument("--limit", type=float, default=90, help="seconds of a candidate")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no case is begun")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker:
        return work(given.dry, given.small, given.rounds)
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the worker is ended, too
    import torch

    if not given.dry and not torch.cuda.is_available():
        print("no GPU: nothing is measured; --dry runs everything up to that on the simulator")
        return 0
    before = json.loads(given.resume.read_text(encoding="utf-8")) if given.resume and given.resume.is_file() else None
    kept: dict[tuple, list[dict[str, Any]]] = {}
    for row in before["results"] if before else ():
        kept.setdefault(key_of(row), []).append(row)
    wanted = {
        key_of({"case": case.name, "sizes": case.dry if given.dry or given.small else case.sizes}): (number, case)
        for number, case in reversed(in_order(list(all_cases())))
        if given.only.lower() in case.name.lower()
    }
    cases = [wanted[key] for key in reversed(wanted) if key not in kept or not all(map(went_well, kept[key]))]
    fresh: dict[tuple, list[dict[str, Any]]] = {}

    def told(found: Mapping[str, Any], rows: list[dict[str, Any]]) -> None:
        for row in rows:
            print(line(row), flush=True)
        fresh[key_of(rows[0])] = rows
        if given.dry or not found:
            return
        path = given.out
        if path.suffix != ".json":
            path = path / f"{found['gpu'].replace(' ', '-')}-{found['date'][:10]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        results = [row for rows in (kept | fresh).values() for row in rows]
        new.write_text(json.dumps({"about": found, "results": results}, indent=1) + "\n", encoding="utf-8")
        os.replace(new, path)

    command = [
        sys.executable,
        __file__,
        "--worker",
        f"--rounds={given.rounds}",
        *["--dry"] * given.dry,
        *["--small"] * given.small,
    ]
    whole = send(cases, command, told, limit=given.limit, until=begun + given.budget, small=given.dry or given.small)
    rows = [row for rows in fresh.values() for row in rows]
    print(f"{len(cases)} cases, {sum('seconds' in row for row in rows)} times" + ("" if whole else "; time is over"))
    if not whole:
        return 2
    return int(not all(map(went_well, rows)))


def went_well(row: Mapping[str, Any]) -> bool:
    """Whether a candidate was right, or was rightly left out, or is not ours."""
    return bool(row.get("right", "skipped" in row)) or not row["candidate"].startswith(("pyptx", *WHOLE))


def key_of(row: Mapping[str, Any]) -> tuple:
    """Of a row: name and sizes of its case."""
    return row["case"], *row["sizes"].items()


if __name__ == "__main__":
    raise SystemExit(main())
