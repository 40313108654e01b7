"""`pyptx roofline`: place a kernel on the roofline of a GPU; no GPU is needed."""

from __future__ import annotations

import argparse
import json
from shutil import get_terminal_size
from typing import Any

from pyptx.analysis.gpus import GPUS, LEVELS
from pyptx.cli.cuda_files import cuda_options, split_cuda
from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    add_launch_arguments,
    add_output_argument,
    help_options,
    load_kernel,
    one_line_errors,
    output_files,
    parameters,
)

__all__ = ["add", "run"]

SUFFIXES = (".svg", ".png", ".pdf", ".csv", ".html", ".json")


def add(subparsers: Any) -> None:
    summary = "place a kernel on the roofline of a GPU: work, bytes, modeled time"
    command = subparsers.add_parser(
        "roofline",
        **help_options(
            summary,
            "pyptx roofline examples/softmax.py -p M=4096 N=8192 --device h200",
            "pyptx roofline examples/hopper/gemm.py:gemm -p M=4096 N=4096 K=4096 --out gemm.html",
            "pyptx roofline examples/sgemm.py --args f32[1024,512] f32[512,2048] --level l2 --out sgemm.svg",
            "pyptx roofline kernel.ptx:entry --grid 256 --block 128 --args f32[65536] f32[65536] 65536 --json",
            more="Work and bytes are counted on the simulator at the actual sizes; only --measured-roofs uses a GPU. "
            f"GPUs: {', '.join(GPUS)}; or a target such as sm_90a.",
        ),
    )
    add_kernel_arguments(command)
    command.add_argument(
        "--device", metavar="GPU", help="GPU of the roofs, such as h200; default: the usual GPU of the kernel's target"
    )
    command.add_argument(
        "--measured-roofs", action="store_true", help="measure and use the roofs of this machine's GPU"
    )
    command.add_argument("--level", choices=LEVELS, default="dram", help="memory level of the x axis; default: dram")
    add_launch_arguments(command)
    add_output_argument(command, f"write the chart ({', '.join(SUFFIXES)}); .html is interactive")
    command.add_argument("--json", action="store_true", help="print the numbers as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    files = output_files(arguments, SUFFIXES)
    if arguments.arch and not split_cuda(arguments.kernel):
        raise CommandError("--arch is not supported: the kernel is assembled for the GPU that --device names")
    view = _roofline(arguments)
    for path in files:
        view.save(path)
    if arguments.json:
        print(json.dumps({name: value for name, value in view.to_json().items() if name != "views"}, indent=1))
    elif files:
        print("\n".join(f"wrote {path}" for path in files))
    else:
        print(view.text(width=min(120, get_terminal_size().columns)))
    return 0


def _roofline(arguments: argparse.Namespace):
    from pyptx.cli.inputs import launch_of  # late: NumPy takes time to load

    kernel, params = load_kernel(arguments.kernel, cuda=cuda_options(arguments)), parameters(arguments.parameters)
    with one_line_errors(kernel):
        values, launch = launch_of(kernel, arguments, params)
        return kernel.roofline(*values, **launch, device=_device(arguments), level=arguments.level)


def _device(arguments: argparse.Namespace):
    """Return the GPU of --device, or this machine's GPU with measured roofs."""
    if not arguments.measured_roofs:
        return arguments.device
    if arguments.device:
        raise CommandError("--measured-roofs applies to this machine's GPU; omit --device")
    from pyptx.tune.ceilings import measure_ceilings  # late: it loads the driver

    return measure_ceilings()
