"""All that waits for a GPU, in one command that can be ended and gone on with:

    PYTHONPATH=.:tests python tests/benchmarks/gpu/everything.py --out FOLDER [--budget SECONDS] [--before FOLDER]

In this order, what matters most first, each step in processes of its own that may hang or fault: what the machine has
(about.json), a kernel at all, all examples at small sizes with tails (examples.json), all examples checked and timed
beside others (benchmark.json), what a launch costs, the tests marked `gpu` (tests.json), every simulated form against
the GPU (forms.json); then a summary of all of it with the measured over the modeled times (summary.md). log.txt has
what was printed. Whatever is finished is in the folder at once; `--before` names the folder of an earlier command:
what went well there is not done again, what was wrong is. `--only` and `--skip` name steps. With --dry the CPU
simulator stands for the GPU, at small sizes.

Where NVIDIA's wheels are missing, the tools of a toolkit on the machine are used. A core of the simulator that was
compiled elsewhere must lie where it was built (pyptx/sim/core): without it the forms take minutes instead of seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from processes import Log, call, environment, others  # noqa: E402
from summary import page  # noqa: E402
from testfiles import GOOD, TestFiles  # noqa: E402

ROOT = HERE.parents[2]
PACKAGES = (
    "numpy",
    "torch",
    "triton",
    "jax",
    "jaxlib",
    "jax-cuda13-plugin",
    "cuda-bindings",
    "pytest",
    "ml_dtypes",
    "nvidia-cuda-nvcc",
    "nvidia-cuda-nvdisasm",
    "nvidia-nvjitlink",
    "ziglang",
    "platformdirs",
)
STEPS = ("about", "smoke", "examples", "benchmark", "overhead", "tests", "forms", "summary")
LIMITS = {"about": 90, "smoke": 150, "examples": 240, "benchmark": 900, "overhead": 120, "tests": 500, "forms": 300}
CANDIDATE_S = {"examples": 45, "benchmark": 90}  # seconds of a candidate
FORMS_S, PROCESSES = 60, 25  # seconds of a module of forms; processes at most
NOT_LOADED = "the machine code for"  # of the error of a driver that does not take it

SMOKE = """
import torch
from examples.vector_add import vector_add
from examples.softmax import softmax
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = (torch.randn(100_003, device=device) for _ in range(2))
assert torch.equal(vector_add(x, y), x + y)
z = torch.randn(300, 1001, device=device)
torch.testing.assert_close(softmax(z), torch.softmax(z, 1))
print("two kernels are right on", device, torch.cuda.get_device_name() if device == "cuda" else "")
"""


class Everything:
    """The steps and what they have found so far."""

    def __init__(self, out: Path, budget: float, dry: bool):
        self.out, self.dry, self.until = out, dry, time.monotonic() + budget
        self.log = Log(out / "log.txt")
        self.env = environment(str(Path(tempfile.gettempdir()) / "pyptx-gpu-cache"))
        self.state: dict[str, Any] = self.read("state.json") or {"done": {}}
        self.env |= {name: path for name, path in self.state.get("tools", {}).items() if Path(path).is_file()}

    # files ----------------------------------------------------------------------------------------------------------

    def read(self, name: str) -> Any:
        path = self.out / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def write(self, name: str, what: Any) -> None:
        fresh = self.out / f"{name}.new"
        fresh.write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")
        os.replace(fresh, self.out / name)

    @property
    def left(self) -> float:
        """Seconds of the budget, but for the summary's."""
        return self.until - time.monotonic() - 5

    def python(self, *arguments: str, limit: float, quiet: float = float("inf")) -> tuple[int | None, str]:
        return call([sys.executable, *arguments], min(limit, self.left), self.log, self.env, ROOT, quiet)

    def run(self, names: Sequence[str]) -> int:
        """The steps that did not go well yet; the number of those that found something wrong."""
        for name in names:
            if self.state["done"].get(name) and name != "summary":
                continue
            if name != "summary" and self.left < 15:
                self.log(f"{name}: no time is left")
                continue
            self.log(f"\n== {name}, {self.left:.0f} s left")
            begun = time.monotonic()
            try:
                whole, right = getattr(self, name)()
            except Exception as fault:  # of a step's own: told, and the others go on
                self.log(f"{name}: {type(fault).__name__}: {fault}")
                whole, right = False, False
            self.state[name] = {"right": right, "whole": whole, "seconds": round(time.monotonic() - begun, 1)}
            self.state["done"][name] = whole and right
            self.write("state.json", self.state)
            (self.out / "summary.md").write_text(self.page(), encoding="utf-8")
        return sum(not self.state.get(name, {}).get("right", False) for name in names)

    # steps: each gives whether it is finished, and whether all was right --------------------------------------------

    def about(self) -> tuple[bool, bool]:
        """What the machine has."""
        versions = {}
        for name in PACKAGES:
            try:
                versions[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                versions[name] = None
        found = {
            "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "python": sys.version,
            "packages": versions,
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "tools": {k: v for k, v in self.env.items() if k.startswith("PYPTX_")},
        }
        for name, command in (
            ("nvidia-smi", ["nvidia-smi"]),
            ("clocks", ["nvidia-smi", "-q", "-d", "CLOCK,POWER"]),
            ("ptxas", [self.env.get("PYPTX_PTXAS", "ptxas"), "--version"]),
        ):
            if shutil.which(command[0]):
                found[name] = call(command, 30, self.log, self.env)[1]
        _, text = self.python("-m", "pyptx", "doctor", "--json", limit=LIMITS["about"])
        try:
            found["doctor"] = json.loads(text[text.index("{") : text.rindex("}") + 1])
            works = {one["name"]: one["works"] for one in found["doctor"]["works"]}
        except ValueError:
            found["doctor"], works = text[-4000:], {}
        self.write("about.json", found)
        for name, fine in works.items():
            self.log(f"{'works' if fine else '-':6} {name}")
        return True, self.dry or bool(works.get("kernels on a GPU"))

    def smoke(self) -> tuple[bool, bool]:
        """Two kernels on arrays of torch; where the driver does not load what ptxas made, with another ptxas."""
        status, text = self.python("-c", SMOKE, limit=LIMITS["smoke"])
        for ptxas in others("ptxas", self.env) if NOT_LOADED in text else ():
            self.log(f"once more with {ptxas}")
            self.env["PYPTX_PTXAS"] = ptxas
            status, text = self.python("-c", SMOKE, limit=LIMITS["smoke"])
            if status == 0:
                self.state["tools"] = {"PYPTX_PTXAS": ptxas}
                break
        return status is not None, status == 0

    def examples(self) -> tuple[bool, bool]:
        """All examples at small sizes, with tails in every dimension."""
        return self._cases("examples", ["--dry", "--only", "vector add"] if self.dry else ["--small"])

    def benchmark(self) -> tuple[bool, bool]:
        """All examples, checked and then timed."""
        return self._cases("benchmark", ["--dry", "--only", "sum"] if self.dry else [])

    def _cases(self, name: str, options: Sequence[str]) -> tuple[bool, bool]:
        results, limit = self.out / f"{name}.json", min(LIMITS[name], self.left)
        status, _ = self.python(
            "tests/benchmarks/gpu/run.py",
            "--out",
            str(results),
            "--resume",
            str(results),
            "--limit",
            str(CANDIDATE_S[name]),
            "--budget",
            f"{max(5.0, limit - 15):.0f}",
            *options,
            limit=limit,
        )
        return status in (0, 1), status == 0

    def overhead(self) -> tuple[bool, bool]:
        """Microseconds of a launch."""
        status, text = self.python("tests/benchmarks/gpu/launch_overhead.py", limit=LIMITS["overhead"])
        self.state["launches"] = text.splitlines()
        return status is not None, status == 0

    def tests(self) -> tuple[bool, bool]:
        """The tests marked `gpu`, a file in a process; one that hangs or dies is told, and the others go on."""
        known = {row["test"]: row for row in self.read("tests.json") or ()}
        files = sorted(
            {
                path
                for path in (ROOT / "tests").rglob("test_*.py")
                if "mark.gpu" in path.read_text() and path.name not in ("test_forms.py", "test_everything.py")
            }
        )
        until, whole = time.monotonic() + LIMITS["tests"], True
        runs = TestFiles(
            self.python, lambda: min(self.left, until - time.monotonic()), "gpu and not gpu" if self.dry else "gpu"
        )
        for path in files:
            name = path.relative_to(ROOT).as_posix()
            before = [row for row in known.values() if row["file"] == name]
            again = [row["test"] for row in before if row["outcome"] not in GOOD]
            if before and not again:
                continue
            if runs.left() < 20:
                whole = False
                break
            if any("::(" in test for test in again):  # no test of its own, so all of the file is run
                known, again = {test: row for test, row in known.items() if row["file"] != name}, []
            for row in runs.rows(name, again):
                known[row["test"]] = row
            self.write("tests.json", list(known.values()))
        wrong = [row for row in known.values() if row["outcome"] not in GOOD]
        for row in wrong:
            self.log(f"{row['outcome']}: {row['test']}: {row['why'][:300]}")
        return whole, not wrong

    def forms(self) -> tuple[bool, bool]:
        """Every simulated form against the GPU; a module that hangs or faults is run again form by form."""
        only = ["--only", "popc.type"] if self.dry else []
        until = time.monotonic() + LIMITS["forms"]
        backend, status = "sim" if self.dry else "cuda", None
        options = ["--out", str(self.out), "--target", self._target(), "--backend", backend, *only]
        for _ in range(PROCESSES):
            if (seconds := min(until - time.monotonic(), self.left)) < 15:
                break
            status, _ = self.python(
                "tests/device/forms.py", *options, "--seconds", f"{seconds - 10:.0f}", limit=seconds, quiet=FORMS_S
            )
            if status in (0, 1, 2):
                break
        return status in (0, 1), status == 0

    def _target(self) -> str:
        script = "import torch; print('%d%d' % torch.cuda.get_device_capability())"
        text = "" if self.dry else self.python("-c", script, limit=60)[1].strip().rpartition("\n")[2]
        return f"sm_{text}{'a' if int(text) >= 90 else ''}" if text.isdigit() else "sm_90a"

    def summary(self) -> tuple[bool, bool]:
        """What came out, in a page."""
        self.log(self.page())
        return True, True

    def page(self) -> str:
        return page(
            STEPS,
            self.state,
            self.read("forms.json"),
            self.read("tests.json"),
            self.read("examples.json"),
            self.read("benchmark.json"),
            json.loads((HERE / "modeled.json").read_text(encoding="utf-8")),
            self.state.get("launches"),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where results go")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="results of an earlier command, gone on with")
    parser.add_argument("--budget", type=float, default=540, help="seconds of all")
    parser.add_argument("--only", nargs="*", choices=STEPS, default=STEPS, help="these steps")
    parser.add_argument("--skip", nargs="*", choices=STEPS, default=(), help="not these steps")
    parser.add_argument("--dry", action="store_true", help="the simulator stands for the GPU, at small sizes")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.before and given.before.is_dir():
        for path in given.before.iterdir():
            if path.is_file() and path.suffix != ".new" and not (given.out / path.name).exists():
                shutil.copyfile(path, given.out / path.name)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the process of a step is ended, too
    steps = [name for name in STEPS if name in given.only and name not in given.skip]
    return int(bool(Everything(given.out.resolve(), given.budget, given.dry).run(steps)))


if __name__ == "__main__":
    raise SystemExit(main())
