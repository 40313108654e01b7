"""`pyptx roofline`: where a kernel lies under the roofs of a GPU; no GPU is needed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from shutil import get_terminal_size

from pyptx.analysis.gpus import GPUS, LEVELS
from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    add_launch_arguments,
    explained,
    load_kernel,
    parameters,
)

__all__ = ["add", "run"]

SUFFIXES = (".svg", ".png", ".pdf", ".csv", ".html", ".json")
EXAMPLES = """examples:
  pyptx roofline examples/softmax.py -p M=4096 N=8192 --device h200
  pyptx roofline examples/hopper/gemm.py:gemm -p M=4096 N=4096 K=4096 --out gemm.html
  pyptx roofline examples/sgemm.py --args f32[1024,512] f32[512,2048] --level l2 --out sgemm.svg
  pyptx roofline kernel.ptx:entry --grid 256 --block 128 --args f32[65536] f32[65536] 65536 --json
"""


def add(subparsers) -> None:
    summary = "show where a kernel lies under the roofs of a GPU: work, bytes, modelled time"
    command = subparsers.add_parser(
        "roofline", help=summary, formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"{summary[0].upper()}{summary[1:]}.\nWork and bytes are counted on the simulator at the real "
                    "sizes; a GPU is used for --measured-roofs alone.",
        epilog=f"{EXAMPLES}\nGPUs: {', '.join(GPUS)}; or a target such as sm_90a.")
    add_kernel_arguments(command)
    command.add_argument("--device", metavar="GPU", help="whose roofs, as h200; default: the usual GPU of the kernel's "
                                                         "target")
    command.add_argument("--measured-roofs", action="store_true",
                         help="measure the roofs of this machine's GPU and use them")
    command.add_argument("--level", choices=LEVELS, default="dram", help="whose bytes lie on the x axis; default: dram")
    add_launch_arguments(command)
    command.add_argument("-o", "--out", metavar="FILE", type=Path, action="append", default=[],
                         help=f"write the chart ({', '.join(SUFFIXES)}); .html is the live page; may be given again")
    command.add_argument("--json", action="store_true", help="print the numbers as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    for path in arguments.out:
        if path.suffix not in SUFFIXES:
            raise CommandError(f"--out {path}: expected a name that ends in {', '.join(SUFFIXES)}")
    if arguments.arch:
        raise CommandError("--arch: the GPU is named with --device, and the kernel is assembled for it")
    view = _roofline(arguments)
    for path in arguments.out:
        view.save(path)
    if arguments.json:
        print(json.dumps({name: value for name, value in view.to_json().items() if name != "views"}, indent=1))
    elif arguments.out:
        print("\n".join(f"wrote {path}" for path in arguments.out))
    else:
        print(view.text(width=min(120, get_terminal_size().columns)))
    return 0


def _roofline(arguments: argparse.Namespace):
    from pyptx.cli.inputs import launch_of  # on use: NumPy takes time to load

    kernel, params = load_kernel(arguments.kernel), parameters(arguments.parameters)
    with explained(kernel):
        values, launch = launch_of(kernel, arguments, params)
        return kernel.roofline(*values, **launch, device=_device(arguments), level=arguments.level)


def _device(arguments: argparse.Namespace):
    """The name given, or the GPU that is there with its roofs measured."""
    if not arguments.measured_roofs:
        return arguments.device
    if arguments.device:
        raise CommandError("--measured-roofs are those of this machine's GPU; leave --device out")
    from pyptx.tune.roofs import measured_roofs  # on use: it loads the driver

    return measured_roofs()
