"""`pyptx doctor`: what this machine has of what pyptx uses."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyptx
from pyptx import toolchain
from pyptx.cache import get_global_cache
from pyptx.cli.cache import size

__all__ = ["add", "run"]

NEEDED = ("ptxas", "nvdisasm")                          # without them there is no machine code


def add(subparsers) -> None:
    summary = "say which tools, which simulator core and which GPU were found"
    command = subparsers.add_parser(
        "doctor", help=summary, description=summary.capitalize() + ". Exit status 1 when something is "
        "missing that kernels need to be assembled or to run fast.")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    problems: list[str] = []
    for name, found in (("pyptx", f"{pyptx.__version__} in {Path(pyptx.__file__).parent}"),
                        ("Python", f"{platform.python_version()} in {sys.prefix}"),
                        ("system", " ".join([platform.system(), platform.machine(), *platform.libc_ver()]).rstrip()),
                        *tools(problems), ("simulator", simulator(problems)), *gpus(), ("cache", cache())):
        print(f"{name:10} {found}")
    for problem in problems:
        print(f"pyptx: {problem}", file=sys.stderr)
    return 1 if problems else 0


def tools(problems: list[str]) -> Iterator[tuple[str, str]]:
    """Name and finding for each of NVIDIA's tools."""
    for found in toolchain.survey():
        name = found.tool.name
        if found.problem is None:
            yield name, f"{found.version} from {found.origin} ({found.tool.purpose})"
            continue
        yield name, f"not usable ({found.tool.purpose})"
        if name in NEEDED:
            problems.append(found.problem)


def simulator(problems: list[str]) -> str:
    """Which engine runs NumPy arrays."""
    from pyptx.sim.core import library  # late: it needs NumPy

    reason = library.problem()
    if reason is None:
        return f"compiled core ({Path(library.core()._name).name})"
    problems.append(f"kernels run on the simulator's slow Python engine: {reason}")
    return "slow Python engine"


def gpus() -> Iterator[tuple[str, str]]:
    """The driver and the GPUs, and the frameworks that can use them."""
    from pyptx.runtime.cuda.survey import survey  # late: it needs NumPy

    found = list(survey())
    yield from found
    for name, needs in (("torch", "torch tensors on GPUs, torch.compile"), ("jax", "JAX arrays, jax.jit")):
        try:
            yield name, f"{version(name)} ({needs})"
        except PackageNotFoundError:
            yield name, f"not installed ({needs}: pip install '.[{name}]' in a checkout of pyptx)"


def cache() -> str:
    """The cache folder and what it holds."""
    kept = get_global_cache()
    return f"{kept.cache_dir}, {size(kept.disk_bytes())}"
