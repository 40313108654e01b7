"""`pyptx run`: launch a kernel once, and summarize, compare, or save its outputs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, cast

from pyptx.cli.cuda_files import cuda_options, split_cuda
from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    add_launch_arguments,
    help_options,
    load_kernel,
    one_line_errors,
    parameters,
)
from pyptx.kernel import Kernel
from pyptx.runtime import selected_address

__all__ = ["add", "run"]

FAILED = 1


def add(subparsers: Any) -> None:
    summary = "launch a kernel once, on the simulator or a GPU, and summarize its outputs"
    command = subparsers.add_parser(
        "run",
        **help_options(
            summary,
            "pyptx run examples/softmax.py:softmax -p M=64 N=1000",
            "pyptx run kernel.py:gemm --args a.npy b.npy --expect c.npy --rtol 1e-3",
            "pyptx run kernels.cu:scale<float> --grid 2 --block 32 --args f32[64] 2.5 64 --save out.npz",
            "pyptx run kernel.ptx:entry --grid 64 --block 32 --args x.npy f32[64] 1000 --save out.npz",
            more="Exit status: 0; 1 if --expect does not match or the kernel cannot be run.",
        ),
    )
    add_kernel_arguments(command)
    add_launch_arguments(command)
    command.add_argument(
        "--backend",
        metavar="BACKEND",
        default=selected_address() or "sim",
        help="sim, cuda, or another machine, ssh://user@host; default: the machine of PYPTX_BACKEND, else sim, the simulator",
    )
    command.add_argument(
        "--schedule",
        choices=("eager", "late", "random"),
        help="schedule of asynchronous operations and warps, on the simulator",
    )
    command.add_argument("--expect", metavar="FILE.npy", type=Path, help="expected value of the first output")
    command.add_argument("--rtol", type=float, default=1e-5, help="relative tolerance; default: %(default)s")
    command.add_argument("--atol", type=float, default=1e-6, help="absolute tolerance; default: %(default)s")
    command.add_argument("--save", metavar="FILE.npz", type=Path, help="write the outputs by name")
    command.add_argument("--json", action="store_true", help="print counters and a summary of the outputs as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    import numpy as np

    from pyptx.cli.inputs import array_file, launch_of  # late: NumPy takes time to load
    from pyptx.runtime import use

    kernel, params = load_kernel(arguments.kernel, cuda=cuda_options(arguments)), parameters(arguments.parameters)
    if arguments.arch and not split_cuda(arguments.kernel):
        raise CommandError("--arch is not supported: a kernel is run for its own target")
    settings: dict[str, Any] = {"seed": arguments.seed} if arguments.backend == "sim" else {}
    if arguments.schedule:
        if arguments.backend == "cuda":
            raise CommandError("--schedule applies to the simulator only")
        settings["schedule"] = arguments.schedule
    wanted = array_file(arguments.expect, "--expect") if arguments.expect else None
    with one_line_errors(kernel), use(arguments.backend, **settings):
        values, launch = launch_of(kernel, arguments, params)
        if isinstance(kernel, Kernel):
            given = kernel(*values, **launch)
            specialization, result = kernel.last_specialization, kernel.last_run
            assert specialization is not None and result is not None, "the call above sets both"
            names = [parameter.name for parameter in specialization.entry.params[len(kernel.in_specs) :]]
            outputs = dict(zip(names, given if isinstance(given, tuple) else (given,), strict=False))
        else:
            result = kernel.launch(*values, **launch)
            outputs = {
                name: value
                for name, value in zip(kernel.argument_names, values[2:], strict=True)
                if isinstance(value, np.ndarray)
            }
        outputs.update({f"reachable[{k}]": array for k, array in enumerate(launch.get("reachable", ()))})
    if arguments.save:
        np.savez(arguments.save, **cast("dict[str, Any]", outputs))
    problem = _difference(next(iter(outputs.values()), None), wanted, arguments) if wanted is not None else ""
    facts = {
        "kernel": kernel.name,
        "backend": result.backend,
        "host": result.host,
        "gpu": result.conditions.get("gpu"),
        "seconds": result.seconds,
        "outputs": {name: _facts(array) for name, array in outputs.items()},
        "counters": _totals(result.counters),
        "problem": problem or None,
    }
    print(json.dumps(facts, indent=1) if arguments.json else _text(facts))
    return FAILED if problem else 0


def _difference(output: Any, wanted: Any, arguments: argparse.Namespace) -> str:
    import numpy as np

    if output is None or output.shape != wanted.shape:
        return (
            f"--expect {arguments.expect} is {list(wanted.shape)}, the output "
            f"{'is missing' if output is None else list(output.shape)}"
        )
    near = np.isclose(
        output.astype(np.float64), wanted.astype(np.float64), arguments.rtol, arguments.atol, equal_nan=True
    )
    if near.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~near)[0])
    return (
        f"{int((~near).sum())} of {near.size} elements differ from {arguments.expect}; the first is "
        f"[{', '.join(map(str, at))}]: {output[at]} instead of {wanted[at]}"
    )


def _facts(array: Any) -> dict[str, Any]:
    numbers = array.astype("float64")
    return (
        {
            "dtype": str(array.dtype),
            "shape": list(array.shape),
            "mean": float(numbers.mean()),
            "min": float(numbers.min()),
            "max": float(numbers.max()),
        }
        if array.size
        else {"dtype": str(array.dtype), "shape": list(array.shape)}
    )


def _totals(counters: Any) -> dict[str, int] | None:
    """Return the nonzero counters, summed over the instructions; None for a GPU."""
    if counters is None:
        return None
    from dataclasses import fields

    return {field.name: total for field in fields(counters) if (total := int(getattr(counters, field.name).sum()))}


def _text(facts: dict[str, Any]) -> str:
    time = "" if facts["seconds"] is None else f" in {1e3 * facts['seconds']:.3g} ms"
    where = {"sim": "the simulator", "cuda": "the GPU"}[facts["backend"]]
    if facts["host"]:
        where += f" of {facts['host']}" + (f", {facts['gpu']}" if facts["backend"] == "cuda" else "")
    lines = [f"{facts['kernel']} ran on {where}{time}"]
    for name, output in facts["outputs"].items():
        about = "".join(f"  {what} {output[what]:.6g}" for what in ("mean", "min", "max") if what in output)
        lines.append(f"  {name}  {output['dtype']}[{', '.join(map(str, output['shape']))}]{about}")
    if facts["counters"]:
        lines.append("  " + ", ".join(f"{name.replace('_', ' ')} {total}" for name, total in facts["counters"].items()))
    if facts["problem"]:
        lines.append(facts["problem"])
    return "\n".join(lines)
