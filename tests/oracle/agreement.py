"""Agreement with ptxas on a folder of PTX files, for example PTX that other compilers wrote.

    python tests/oracle/agreement.py FOLDER [--half first|second] [--steps LIST] [--jobs 2] [--results FILE.jsonl]

For each file:

- verdict: `check_ptx` reports an error if and only if ptxas refuses the file;
- text: parsing and emitting returns the same bytes;
- plain, sugar: the file transpiled to Python traces to a module with the same machine code;
- view: the machine code listing and the linked view of the first entry are built.

A step that does not finish within `--limit` seconds of processor time counts as a failure, as does any exception that is
not a `PtxError`. Files with equal contents count once. `--half` splits the files by the hash of their contents, so that
defects can be fixed with one half and the result measured on the other. With `--results`, files that are already in the
results are not examined again. The exit status is 1 if any step failed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

STEPS = ("verdict", "text", "plain", "sugar", "view")
OLDEST = 75  # the first target that ptxas 13 assembles
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+(sm_|compute_)?(\d+)([af]?)", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["first", "second"], help="only the files of one half; default: all")
    parser.add_argument("--steps", type=lambda text: text.split(","), default=list(STEPS), help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time per step")
    parser.add_argument("--results", type=Path, help="file of results, one JSON object per line")
    options = parser.parse_args()
    files = select(options.folder, options.half)
    known = {}
    if options.results and options.results.exists():
        known = {row["file"]: row for row in map(json.loads, options.results.read_text().splitlines())}
    rows = [known[path.name] for path in files if path.name in known]
    todo = [path for path in files if path.name not in known]
    workers: SimpleQueue[Worker] = SimpleQueue()
    for _ in range(options.jobs):
        workers.put(Worker(options))

    def examined(path: Path) -> dict:
        worker = workers.get()
        try:
            return worker.examine(path)
        finally:
            workers.put(worker)

    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(examined, todo):
            rows.append(row)
            if options.results:
                with options.results.open("a") as out:
                    out.write(json.dumps(row) + "\n")
            for step, problem in row["problems"].items():
                print(f"{row['file']}: {step}: {problem}", flush=True)
    return report(rows)


def select(folder: Path, half: str | None) -> list[Path]:
    """Return the PTX files below `folder`, one for each content, in the order of their hashes."""
    found = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(folder.rglob("*.ptx"))}
    wanted = {None: (0, 1), "first": (0,), "second": (1,)}[half]
    return [path for digest, path in sorted(found.items()) if int(digest, 16) % 2 in wanted]


def report(rows: list[dict]) -> int:
    """Print the share of files without a problem, step by step."""
    from pyptx.toolchain.cubin import assembler

    accepted = sum(row["accepted"] for row in rows)
    print(f"{len(rows)} files, {accepted} of them accepted by {assembler()}")
    failed = Counter(step for row in rows for step in row["problems"])
    tried = Counter(step for row in rows for step in row["tried"])
    for step in STEPS:
        if tried[step]:
            good = tried[step] - failed[step]
            print(f"{step:8} {good:5} of {tried[step]:5}  {100 * good / tried[step]:.2f} %")
    good = sum(not row["problems"] for row in rows)
    print(f"all      {good:5} of {len(rows):5}  {100 * good / max(1, len(rows)):.2f} %")
    return int(bool(failed))


class Worker:
    """A process that examines one file after the other, and is replaced when a file crashes or stalls it."""

    def __init__(self, options: argparse.Namespace):
        self.command = [sys.executable, __file__, "--worker", ",".join(options.steps), str(options.limit)]
        self.process: subprocess.Popen[str] | None = None

    def examine(self, path: Path) -> dict:
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{path.resolve()}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status, self.process = self.process.wait(), None
        problem = f"the process ended with status {status}"
        return {"file": path.name, "accepted": False, "tried": ["verdict"], "problems": {"verdict": problem}}


def work(steps: list[str], limit: int) -> None:
    """Examine the files that standard input names, and print one result per line."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else writes to standard output
    for line in sys.stdin:
        print(json.dumps(examine(Path(line.rstrip("\n")), steps, limit)), file=out, flush=True)


def examine(path: Path, chosen: list[str], limit: int) -> dict:
    """Return the problems of a file by step."""
    from pyptx import check_ptx
    from pyptx.codegen import ptx_to_python
    from pyptx.codegen.execution import trace_source
    from pyptx.emitter import emit
    from pyptx.parser import parse
    from pyptx.program import Program

    data = path.read_bytes()
    text = data.decode("utf-8", "surrogateescape")
    row: dict = {"file": path.name, "accepted": False, "tried": [], "problems": {}}
    state: dict = {}

    def verdict() -> str:
        state["code"], log = machine_code(text)
        errors = [d for d in check_ptx(data) if d.severity == "error"]
        row["accepted"] = state["code"] is not None
        if row["accepted"] == (not errors):
            return ""
        mine = f"check_ptx refuses line {errors[0].line}: {errors[0].message}" if errors else "check_ptx accepts"
        return f"{mine}; ptxas {'accepts' if row['accepted'] else 'refuses: ' + log}"

    def same_text() -> str:
        module = parse(data)
        return "" if emit(module).encode("utf-8", "surrogateescape") == data else "other bytes"

    def transpiled(sugar: bool) -> str:
        again, log = machine_code(emit(trace_source(ptx_to_python(data, sugar=sugar))))
        return "" if again == state["code"] else log or "other machine code"

    def view() -> str:
        entries = list(Program(parse(data), path.name))
        if entries:
            entries[0].compile(arch=target_of(text)).view().to_json()
        return ""

    steps = {
        "verdict": verdict,
        "text": same_text,
        "plain": lambda: transpiled(False),
        "sugar": lambda: transpiled(True),
        "view": view,
    }
    for step, run in steps.items():
        if step not in chosen or (step != "verdict" and not row["accepted"]):
            continue
        row["tried"].append(step)
        with_limit(limit)
        try:
            problem = run()
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            row["problems"][step] = problem[:400]
    return row


def with_limit(seconds: int) -> None:
    """Raise TimeoutError in this process after so many more seconds of processor time, and kill it after twice that."""
    import signal

    def too_long(signum: int, frame: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 2 * seconds, resource.RLIM_INFINITY))


def target_of(text: str) -> str:
    """Return the target of the text, by its newest name, or the oldest that ptxas assembles."""
    found = _TARGET.search(text.replace("sm_101", "sm_110"))
    return f"sm_{found[2]}{found[3]}" if found and int(found[2]) >= OLDEST else f"sm_{OLDEST}"


def machine_code(text: str) -> tuple[dict[str, bytes] | None, str]:
    """Return the sections with code and data, or None and the first error of ptxas."""
    from pyptx.toolchain.elf import sections
    from pyptx.toolchain.ptxas import run_ptxas

    compared = (".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.info.")
    for option in ((), ("-c",)):
        cubin, log = run_ptxas(text, target_of(text), option)
        if cubin:
            return {s.name: s.data for s in sections(cubin) if s.kind == 1 and s.name.startswith(compared)}, ""
        if "Unresolved extern" not in log and "unresolved" not in log:
            break
    return None, next((line for line in log.splitlines() if "error" in line or "fatal" in line), log[:200])


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    if sys.argv[1:2] == ["--worker"]:
        work(sys.argv[2].split(","), int(sys.argv[3]))
    else:
        sys.exit(main())
