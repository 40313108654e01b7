"""The figures that the project states: each with its label, the command that gives it, and where else it stands.

`figures.py` runs the commands and writes docs/figures/index.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FIGURES", "LABELS", "ROOT", "STATEMENTS", "Figure", "Values"]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LABELS = ("measured", "simulated", "modeled", "published by others")
Values = Mapping[str, str]


@dataclass(frozen=True)
class Figure:
    """A statement with numbers.

    Attributes:
        key: its name on the command line and in the results.
        label: one of `LABELS`.
        claim: the sentence, with {fields} for the numbers.
        command: the command that gives them, run in the root of the checkout. Figures may share a command.
        pattern: its numbers in the output of the command, as named groups; empty: `stored` reads them.
        stored: function that reads them from the files that the command writes.
        digits: significant digits that decimal numbers of the output are rounded to; 0: as they are.
        statuses: exit statuses of the command with complete output; 1 where it means "there are differences".
        limit: seconds after which the command is ended.
    """

    key: str
    label: str
    claim: str
    command: str
    pattern: str = ""
    stored: Callable[[], Values] | None = None
    digits: int = 0
    statuses: tuple[int, ...] = (0,)
    limit: int = 600


def detection_rate() -> Values:
    found = json.loads((ROOT / "tests/check/detection_rate.json").read_text(encoding="utf-8"))
    total = found["total"]
    return {
        "found": str(total["found"]),
        "mutants": str(total["mutants"]),
        "equivalent": str(total["equivalent"]),
        "share": f"{total['share_less_equivalent']:.1%}",
        "mistakes": str(found["mistakes"]),
    }


def coverage() -> Values:
    page = (ROOT / "docs/reference/simulator.md").read_text(encoding="utf-8")
    found = re.search(r"\| sm_90a \| (\d+) \| (\d+) \| (\d+) \|", page)
    assert found
    return {"forms": found[1], "all": found[2], "some": found[3]}


def instruction_set() -> Values:
    from pyptx import isa

    return {"opcodes": str(len(isa.OPS)), "forms": str(sum(len(op.forms) for op in isa.OPS.values()))}


def published() -> Values:
    return {"kernels": str(len(json.loads((HERE / "published.json").read_text(encoding="utf-8"))["points"]))}


def modeled_rate(case: str, candidate: str, **sizes: Any) -> Callable[[], Values]:
    name = candidate.removeprefix("pyptx, ")

    def read() -> Values:
        rows = json.loads((HERE / "gpu/modeled.json").read_text(encoding="utf-8"))["results"]
        (row,) = (
            row
            for row in rows
            if row["case"] == case and row["candidate"] == candidate and sizes.items() <= row["sizes"].items()
        )
        return {
            "rate": f"{row['rate']:.0f} {row['unit']}",
            "roof": f"{row['roof']:.0%}",
            "gpu": row["gpu"],
            "example": name,
        }

    return read


SQUARE = {"M": 8192, "N": 8192, "K": 8192}
HEAD_128 = {"S": 16384, "D": 128, "causal": False}
MODELED = "python tests/benchmarks/gpu/modeled.py"
PRODUCT = "Matrix product in bf16, 8192 x 8192 x 8192, example for {example}, {gpu}: {rate}, {roof} of the dense peak"
ATTENTION = "Attention in bf16, 16384 keys, head of 128, example for {example}, {gpu}: {rate}, {roof} of the dense peak"
MATRIX = "matrix product bf16"
FIGURES = (
    Figure(
        "first",
        "measured",
        "The first command of the README takes {install} s to install ({megabytes} MB, {tools} MB of it NVIDIA's tools) and {demo} s "
        "to run",
        "python tests/benchmarks/installation.py 1",
        r"\[lab\]'\s+(?P<install>\d+) s\s+(?P<megabytes>\d+) MB\s+(?P<tools>\d+) MB of NVIDIA's\npyptx demo\s+(?P<demo>\d+) s",
        limit=1200,
    ),
    Figure(
        "second",
        "measured",
        "The second command installs {megabytes} MB in {install} s",
        "python tests/benchmarks/installation.py 2 --install-only",
        r"\[test\]'\s+(?P<install>\d+) s\s+(?P<megabytes>\d+) MB",
        limit=2400,
    ),
    Figure(
        "import",
        "measured",
        "`from pyptx import kernel, reg, smem, ptx` takes {ms} ms of CPU time; an import of NumPy takes {numpy} ms",
        "python tests/benchmarks/import_time.py",
        r"reg, smem, ptx\s+\+?(?P<ms>[\d.]+) ms\nimport numpy\s+\+?(?P<numpy>[\d.]+) ms",
    ),
    Figure(
        "simulator",
        "measured",
        "The simulator executes {slow} to {fast} million warp instructions per second on one core (RMS norm, SGEMM)",
        "python tests/benchmarks/sim_speed.py",
        r"core\s+sim\s+[\d.]+ ms \(\s*(?P<slow>\d+)(?s:.*)core\s+sim\s+[\d.]+ ms \(\s*(?P<fast>\d+)",
    ),
    Figure(
        "vmap",
        "measured",
        "A batch of 64 under `torch.vmap` takes {torch} ms in one launch and {torch_loop} ms in a loop; under a jitted "
        "`jax.vmap` {jax} ms and {jax_loop} ms",
        "python tests/benchmarks/vmap_speed.py",
        r"torch.vmap, one launch\s+(?P<torch>[\d.]+)(?s:.*?)loop\s+(?P<torch_loop>[\d.]+)(?s:.*?)"
        r"one launch\s+(?P<jax>[\d.]+)(?s:.*?)loop\s+(?P<jax_loop>[\d.]+)",
        digits=2,
    ),
    Figure(
        "call",
        "measured",
        "A call with a known signature takes {us} us of Python before the driver, `cuda.bindings` alone {bindings} us",
        "python tests/benchmarks/call_overhead.py",
        r"two pointers and two numbers\s+(?P<bindings>[\d.]+) us(?s:.*?)pyptx call, out=\s+(?P<us>[\d.]+) us",
    ),
    Figure(
        "triton",
        "measured",
        "Launches of Triton kernels take {low} to {high} ms on the simulator, {ratio} times less than in Triton's interpreter "
        "(median of {kernels} kernels)",
        "python tests/benchmarks/triton_kernels.py",
        r"simulator (?P<low>[\d.]+) to (?P<high>[\d.]+) ms, median ratio (?P<ratio>\d+) of (?P<kernels>\d+) kernels",
        limit=1800,
    ),
    Figure(
        "detection",
        "simulated",
        "`check` finds {found} of {mutants} mutants; {equivalent} are equivalent to their kernel, of the others {share} are "
        "found. All of {mistakes} mistakes in small kernels are found by the right rule",
        "PYTHONPATH=.:tests python tests/check/detection_rate.py",
        stored=detection_rate,
        limit=3600,
    ),
    Figure(
        "litmus",
        "simulated",
        "The verdicts on {programs} enumerated programs are those of an independent checker of the memory model",
        "python tests/check/litmus/compare.py",
        r"all (?P<programs>[\d,]+) verdicts agree",
        limit=4 * 3600,
    ),
    Figure(
        "coverage",
        "simulated",
        "Of {forms} forms of sm_90a, {all} are simulated with all choices and {some} with some",
        "python -m pytest -q -n0 tests/sim/test_forms.py --bless",
        stored=coverage,
    ),
    Figure(
        "isa",
        "simulated",
        "The instruction table has {opcodes} opcodes in {forms} forms",
        "python -m pyptx.isa.generate",
        stored=instruction_set,
    ),
    Figure(
        "agreement",
        "simulated",
        "`check_ptx` and ptxas {version} agree on {agreed} of {files} PTX files of several compilers; {accepted} are accepted",
        "python tests/oracle/agreement.py tests/corpus --steps verdict",
        r"(?P<files>\d+) files, (?P<accepted>\d+) of them accepted by ptxas (?P<version>[\d.]+)\nverdict\s+(?P<agreed>\d+)",
        statuses=(0, 1),
        limit=1200,
    ),
    *(
        Figure(
            f"product-{name}",
            "modeled",
            PRODUCT,
            MODELED,
            stored=modeled_rate(MATRIX, f"pyptx, {name}", **SQUARE),
            limit=2 * 3600,
        )
        for name in ("Hopper", "Ampere", "Blackwell, pairs")
    ),
    *(
        Figure(
            f"attention-{name}",
            "modeled",
            ATTENTION,
            MODELED,
            stored=modeled_rate("attention bf16", f"pyptx, {name}", **HEAD_128),
            limit=2 * 3600,
        )
        for name in ("Hopper", "Ampere", "Blackwell")
    ),
    Figure(
        "held",
        "modeled",
        "Of {times} times of other authors' kernels that the model had not seen, {inside} are [within the error range](model-accuracy.md) (claimed: {claimed})",
        "python tests/benchmarks/accuracy_page.py --opened",
        r"half .*: (?P<inside>\d+) of (?P<times>\d+) published times within the ranges of the other halves; claimed (?P<claimed>\d+%)",
    ),
    Figure(
        "published",
        "published by others",
        "Rates of {kernels} kernels of other authors, each with its source, [beside the model]"
        "(performance.md#published-measurements-of-other-kernels-beside-the-model)",
        "python tests/benchmarks/published.py --write",
        stored=published,
        limit=3600,
    ),
)

# sentences of other pages, with {figure.field} for the numbers; {second.gigabytes} is second.megabytes in GB
STATEMENTS = (
    (
        "README.md",
        "installs {first.megabytes} MB, {first.tools} MB of it NVIDIA's tools, in {first.install} s, and runs for {first.demo} s; "
        "the second installs {second.gigabytes} GB in {second.install} s",
    ),
    (
        "docs/start/installation.md",
        "needs {first.megabytes} MB of disk, {first.tools} MB of it NVIDIA's tools, and took {first.install} s on two cores, "
        "`'.[test]'` {second.gigabytes} GB and {second.install} s",
    ),
    ("docs/concepts/simulator.md", "no: {simulator.slow} to {simulator.fast} million warp instructions per second"),
    ("docs/more/limits.md", "training: {simulator.slow} to {simulator.fast} million warp instructions per second"),
    ("docs/concepts/memory-model.md", "over {litmus.programs} enumerated programs"),
    (
        "docs/concepts/performance-model.md",
        "Of the {held.times} times of the half that was opened last, {held.inside} lie within their error range",
    ),
    (
        "docs/howto/frameworks.md",
        "takes {vmap.torch} ms with one launch and {vmap.torch_loop} ms in a loop, a jitted `jax.vmap` {vmap.jax} ms and "
        "{vmap.jax_loop} ms",
    ),
    (
        "docs/howto/triton.md",
        "take {triton.low} to {triton.high} ms after the first, the median of {triton.kernels} kernels {triton.ratio} times less",
    ),
)
