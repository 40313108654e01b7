"""Run simulator tests and random programs on a C core built with AddressSanitizer and UndefinedBehaviorSanitizer.

    python tests/sim/sanitized.py                       # all tests of tests/sim and 50,000 random programs
    python tests/sim/sanitized.py --programs 500        # fewer programs
    python tests/sim/sanitized.py tests/sim/test_memory.py -x           # these tests, with options of pytest

The core is compiled with `ziglang`, as always, and linked with the sanitizer run-time libraries of GCC (libasan and
libubsan), which are preloaded into Python. The script prints all reports and ends with status 1 if there are any.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from pyptx.sim.core import build_core as build  # noqa: E402

__all__ = ["build_sanitized", "environment", "runtime_libraries"]

TARGET = "linux-x86_64-v2"
FLAGS = [
    "-std=gnu11",
    "-g",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-omit-frame-pointer",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-Wno-psabi",
    "-fsanitize=undefined",
    "-fno-sanitize=function",  # handlers are called through one type
    "-Xclang",
    "-fsanitize=address",  # passed to the compiler itself, since zig has no run-time library for it
]

_REPORT = re.compile(r": runtime error: |AddressSanitizer")

RUNNER = """
import sys
from pathlib import Path
from pyptx.sim.core import library
library.LIBRARIES = Path(sys.argv[1])
assert library.problem() is None, library.problem()
sys.path.insert(0, sys.argv[2])
if sys.argv[3] == "tests":
    import pytest
    capture = "--capture=sys"  # the reports are written to file descriptor 2
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", capture, *sys.argv[4:]]))
from sim import random_runs
random_runs.main(int(sys.argv[4]), int(sys.argv[5]))
"""


def runtime_libraries() -> list[str]:
    """Paths of GCC's libasan and libubsan; empty if they are not installed."""
    paths = []
    for name in ("libasan.so", "libubsan.so"):
        try:
            found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return []
        path = Path(found.stdout.strip())
        if not path.is_absolute():
            return []
        paths.append(str(path.resolve()))
    return paths


def build_sanitized(out_dir: Path, optimization: str = "-O1") -> Path:
    """Compile the core with both sanitizers into `out_dir` and return the library.

    Args:
        optimization: `-O0` compiles in a quarter of the CPU time, which pays for runs of less than minutes.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    (out_dir / "abi.h").write_text(build.abi_header(), encoding="utf-8")
    triple, cpu, _ = build.TARGETS[TARGET]

    def compile_file(source: Path) -> str:
        output = out_dir / (source.relative_to(build.SOURCES).as_posix().replace("/", "-") + ".o")
        command = [sys.executable, "-m", "ziglang", "cc", "-target", triple, f"-mcpu={cpu}", optimization, *FLAGS]
        command += build.X86_FLAGS
        command += [f'-DCORE_IDENTITY="{build.identity()}"', f"-I{out_dir}", f"-I{build.SOURCES}"]
        subprocess.run([*command, "-c", str(source), "-o", str(output)], check=True)
        return str(output)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_file, build.sources()))
    library = out_dir / build.library_name(TARGET)
    subprocess.run(["gcc", "-shared", *objects, "-lasan", "-lubsan", "-lm", "-o", str(library)], check=True)
    return library


def environment(reports: Path) -> dict[str, str]:
    """The environment of a process that loads the sanitized core; reports are written to files in `reports`."""
    log = f"log_path={reports / 'report'}"
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONMALLOC": "malloc",
        "LD_PRELOAD": " ".join(runtime_libraries()),
        "ASAN_OPTIONS": f"{log}:detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"{log}:print_stacktrace=1",
    }


def run(library: Path, *arguments: str) -> tuple[int, str]:
    """Run tests ("tests", options of pytest) or random programs ("programs", first seed, count).

    Returns:
        The exit status and the reports of the sanitizers.
    """
    command = [sys.executable, "-c", RUNNER, str(library.parent), str(ROOT / "tests"), *arguments]
    with tempfile.TemporaryDirectory(prefix="pyptx-reports-") as folder:
        process = subprocess.Popen(
            command, env=environment(Path(folder)), cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace"
        )
        assert process.stderr is not None
        printed = []  # libubsan ignores log_path next to libasan
        for line in process.stderr:
            if _REPORT.search(line):
                printed.append(line)
            else:
                sys.stderr.write(f"{line.strip()}\r" if line.strip().isdigit() else line)
        status = process.wait()
        files = (path.read_text(errors="replace") for path in sorted(Path(folder).iterdir()))
        return status, "".join([*files, *printed])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=int, default=50_000, help="number of random programs (default: 50,000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first random program")
    options, tests = parser.parse_known_args()
    if not runtime_libraries():
        print("libasan and libubsan of GCC are not installed", file=sys.stderr)
        return 2
    failed = False
    with tempfile.TemporaryDirectory(prefix="pyptx-sanitized-") as folder:
        library = build_sanitized(Path(folder))
        runs = [("tests", *(tests or ["tests/sim", "-m", "not gpu and not browser"]))]
        if not tests:
            runs.append(("programs", str(options.seed), str(options.programs)))
        for arguments in runs:
            status, reports = run(library, *arguments)
            print(reports, end="")
            failed = failed or bool(status or reports)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
