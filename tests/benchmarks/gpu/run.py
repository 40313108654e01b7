"""All kernels of the examples beside what others offer:  python tests/benchmarks/gpu/run.py [--only WORD] [--dry]

On a GPU each case is checked first - a candidate whose result is off is not timed - then its candidates race (see
timing.py), and a table is printed: seconds, TFLOP/s or TB/s, ratio to the reference, percent of the roof. The roof of
memory is a copy measured in the same run, that of the tensor cores the published peak. All of it goes to
`results/GPU-DATE.json` with GPU, clocks, driver and versions; `report.py` makes docs/performance.md of those.
With --dry everything up to the launch happens at small sizes on the simulator: right or wrong, but no times.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from cases import Arrays, Case, Problem, all_cases  # noqa: E402
from timing import Clock, Events, race  # noqa: E402

from pyptx.analysis.gpus import gpu as gpu_of  # noqa: E402
from pyptx.errors import ShapeError  # noqa: E402

RESULTS = HERE / "results"
TENSOR = "mma", "wgmma", "tcgen05"


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
    wanted = problem.wanted()
    rows, right = {}, {}
    for name, work in problem.candidates.items():
        row = rows[name] = {"case": case.name, "sizes": dict(case.dry if arrays.dry else case.sizes), "candidate": name,
                            "notes": problem.notes}
        if capability is not None and not runs_here(problem, name, capability):
            row["skipped"] = f"needs {problem.kernels[name].arch}"
            continue
        row["error"] = off_by(work(), wanted, problem.least)
        row["right"] = row["error"] <= problem.close or "one scale" in name
        if row["right"]:
            right[name] = work
    del wanted
    reference = next((name for name in right if not name.startswith("pyptx")), None)
    if clock is None or reference is None:
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
    if not row["right"]:
        return f"{text}: WRONG, off by {row['error']:.1e}"
    if "seconds" not in row:
        return f"{text}: right, off by {row['error']:.1e}"
    seconds, low, high = row["seconds"]
    roof = f", {row['roof']:.1%} of the roof" if row["roof"] else ""
    return (f"{text}: {row['rate']:.2f} {row['unit']}{roof}, {row['ratio'][0]:.3f} x {row['to']}, "
            f"{seconds * 1e6:.1f} us ({low * 1e6:.1f} .. {high * 1e6:.1f}), off by {row['error']:.1e}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds this")
    parser.add_argument("--dry", action="store_true", help="small sizes on the simulator, nothing is timed")
    parser.add_argument("--rounds", type=int, default=50, help="at most, of each race")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results")
    given = parser.parse_args(arguments)
    import torch
    if not given.dry and not torch.cuda.is_available():
        print("no GPU: nothing is measured; --dry runs everything up to that on the simulator")
        return 0
    device = torch.device("cpu" if given.dry else "cuda")
    arrays = Arrays(torch, device, given.dry)
    clock, capability, roofs, found = None, None, {}, {}
    if not given.dry:
        clock, capability = Events(torch, device), torch.cuda.get_device_capability(device)
        found = about(torch, device)
        roofs = found["roofs"] = roofs_of(found["gpu"], arrays, clock, given.rounds)
        print(f"{found['gpu']}: a copy reaches {roofs['dram'] / 1e12:.2f} TB/s", flush=True)
    rows = []
    for case in all_cases():
        if given.only.lower() in case.name.lower():
            for row in measure(case, arrays, clock, roofs, given.rounds, capability):
                rows.append(row)
                print(line(row), flush=True)
    if not given.dry:
        given.out.mkdir(parents=True, exist_ok=True)
        path = given.out / f"{found['gpu'].replace(' ', '-')}-{found['date'][:10]}.json"
        path.write_text(json.dumps({"about": found, "results": rows}, indent=1) + "\n", encoding="utf-8")
        print(f"written: {path}")
    return int(any(not row.get("right", True) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
