"""`pyptx tune`: try configurations of a kernel, and print, write, and store the results."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    add_output_argument,
    help_options,
    load_kernel,
    one_line_errors,
    output_files,
    parameters,
    python_globals,
)
from pyptx.kernel import Kernel

__all__ = ["add", "run"]

NONE_USABLE, NOT_STARTED, INTERRUPTED = 1, 2, 130


def add(subparsers: Any) -> None:
    summary = "try configurations of a kernel, measured on a GPU or modeled without one"
    command = subparsers.add_parser(
        "tune",
        **help_options(
            summary,
            "pyptx tune examples/hopper/gemm.py:gemm -p M=4096 N=4096 K=4096 --space BM=128,256 BN=64,128,256 STAGES=2,3,4 \\\n"
            "      --check M=256 N=256 K=256 --reference reference --out results.csv",
            "pyptx tune examples/ampere/gemm.py -p M=2048 N=2048 K=2048 --space BM=64,128 BN=64,128 --restrict 'BM <= BN'",
            "pyptx tune kernels.py:softmax --args f32[4096,8192] --space THREADS=128,256,512 --measure --budget 10min",
            more="Results are stored: the same command resumes an interrupted study. Exit status: 0 a configuration was "
            "found, 1 no configuration is usable, 2 the study could not start, 130 interrupted.",
        ),
    )
    add_kernel_arguments(command)
    command.add_argument(
        "--space",
        metavar="NAME=VALUES",
        nargs="+",
        action="extend",
        default=[],
        help="values of template parameters: BM=64,128 BN=64,128,256; default: SPACE in the kernel's file, "
        'such as SPACE = {"BM": (64, 128)}',
    )
    command.add_argument(
        "--restrict",
        metavar="RULE",
        action="append",
        default=[],
        help='a constraint on configurations, as Python: "BM * BN <= 32768"; sizes can be used too',
    )
    command.add_argument(
        "--args",
        metavar="VALUE",
        nargs="+",
        default=[],
        help="input arrays: f32[64,96] (random) or FILE.npy; default: random arrays of the given sizes",
    )
    command.add_argument(
        "--check",
        metavar="NAME=SIZE",
        nargs="+",
        action="extend",
        default=[],
        help="sizes at which results are checked on the simulator: M=256 N=256",
    )
    command.add_argument(
        "--reference",
        metavar="NAME",
        help="a function in the kernel's file that computes the expected results from the input arrays",
    )
    command.add_argument("--strategy", default="auto", help="auto, grid, model, tpe, or random; default: auto")
    command.add_argument("--budget", help="number of configurations, such as 50, or time, such as 90s or 10min")
    command.add_argument(
        "--device",
        metavar="GPU",
        help="GPU of the performance model, such as h200; default: the usual GPU of the kernel's target",
    )
    command.add_argument("--measure", action="store_true", help="measure on this machine's GPU")
    command.add_argument("--spills", action="store_true", help="accept configurations that spill registers")
    command.add_argument(
        "--limit", metavar="SECONDS", type=float, default=60.0, help="time limit of one run; default: 60"
    )
    command.add_argument(
        "--workers", metavar="N", type=int, help="number of worker processes; default: the number of CPUs"
    )
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="where the study runs: another machine, ssh://user@host, or a Dask scheduler, tcp://host:8786",
    )
    command.add_argument("--seed", metavar="N", type=int, default=0, help="seed of random inputs and orders")
    command.add_argument("--again", action="store_true", help="ignore stored results of earlier runs")
    add_output_argument(command, "write all results: .csv, or .json (Kernel Tuner's T4)")
    command.add_argument("--json", action="store_true", help="print the results as JSON (T4)")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    files = output_files(arguments, (".csv", ".json"))
    from pyptx.errors import PtxError
    from pyptx.runtime import use

    try:
        with use("cuda") if arguments.measure else nullcontext():
            study = _study(arguments)
            interrupted = _work(study, arguments)
    except (PtxError, ValueError, TypeError, ImportError) as error:
        print(f"pyptx: {error}", file=sys.stderr)
        return NOT_STARTED
    for path in files:
        (study.to_csv if path.suffix == ".csv" else study.to_json)(path)
    print(study.to_json() if arguments.json else study)
    if interrupted:
        print("pyptx: interrupted; run the same command to resume", file=sys.stderr)
        return INTERRUPTED
    return 0 if study.best is not None else NONE_USABLE


def _work(study: Any, arguments: argparse.Namespace) -> bool:
    """Run the study with a progress bar on standard error; return whether it was interrupted."""
    from pyptx.cli.terminal import meter

    with meter(f"tuning {study.kernel.name}") as show:

        def tell(event: Any) -> None:
            if event.kind != "trial" or event.trial.done:
                best, (done, total, left) = study.best, study.progress
                show(done, total, left, f"best {best.label}: {_time(best)}" if best else "")

        show(*study.progress, "")
        study.subscribe(tell)
        try:
            study.run()
        except KeyboardInterrupt:
            return True
    return False


def _time(trial: Any) -> str:
    from pyptx.tune.trial import format_time

    return f"{format_time(trial.seconds)} {trial.kind}"


def _study(arguments: argparse.Namespace) -> Any:
    from pyptx.cli.inputs import inputs_of  # late: NumPy takes time to load
    from pyptx.tune import Space, Study, restrict

    kernel = load_kernel(arguments.kernel)
    if not isinstance(kernel, Kernel):
        raise CommandError(f"{arguments.kernel} is not a kernel in Python, which alone has parameters to tune")
    if arguments.arch:
        raise CommandError("--arch is not supported: a kernel is tuned for its own target; --device names the GPU")
    given = parameters(arguments.parameters)
    sizes = {name: value for name, value in given.items() if name in kernel.symbolic_dims}
    params = {name: value for name, value in given.items() if name not in sizes}
    values = _values(arguments.space) or _values_of_file(kernel)
    space = Space(*(restrict(_rule(text), f"not {text}") for text in arguments.restrict), **values)
    with one_line_errors(kernel):
        args = inputs_of(kernel, arguments.args, sizes, arguments.seed) if arguments.args else sizes
        return Study(
            kernel,
            space,
            args,
            params=params,
            reference=_reference(kernel, arguments.reference),
            check_args=parameters(arguments.check) or None,
            budget=arguments.budget,
            strategy=arguments.strategy,
            gpu=arguments.device,
            spills=arguments.spills,
            limit_s=arguments.limit,
            workers=arguments.workers,
            cluster=arguments.cluster,
            resume=not arguments.again,
            seed=arguments.seed,
        )


def _values_of_file(kernel: Kernel) -> dict[str, list[Any]]:
    """Return the values in SPACE of the kernel's file for parameters of this kernel.

    Raises:
        CommandError: there are none.
    """
    found = python_globals(kernel).get("SPACE", {})
    values = {name: list(tried) for name, tried in found.items() if name in kernel.template_params}
    if not values:
        raise CommandError(
            f"{kernel.name}: --space is missing, and its file has no SPACE with values of its parameters "
            f"({', '.join(kernel.template_params) or 'none'})"
        )
    return values


def _values(given: Sequence[str]) -> dict[str, list[Any]]:
    """Parse `["BM=64,128"]` as {"BM": [64, 128]}."""
    found: dict[str, list[Any]] = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier() or not text:
            raise CommandError(f"--space {item}: expected NAME=VALUES, as in --space BM=64,128")
        if name in found:
            raise CommandError(f"--space {name} is given twice")
        found[name] = [parameters([f"x={part}"])["x"] for part in text.split(",")]
    return found


def _rule(text: str) -> Callable[..., Any]:
    """Return a Python expression as a function of the names in it."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise CommandError(f"--restrict {text!r}: {error.msg}; expected Python such as 'BM * BN <= 32768'") from None
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called)
    return eval(f"lambda {', '.join(names)}: {text}")


def _reference(kernel: Kernel, name: str | None) -> Callable[..., Any] | None:
    if name is None:
        return None
    space = python_globals(kernel)
    if not callable(space.get(name)):
        known = sorted(key for key, value in space.items() if callable(value) and "reference" in key)
        raise CommandError(
            f"--reference {name}: the file of {kernel.name} has no such function"
            + (f"; it has {', '.join(known)}" if known else "")
        )
    return space[name]
