"""Kernel arguments on the command line: `f32[64,96]`, `x.npy`, `1024`, `pointers[f32[64],x.npy]`; random arrays for the
Tiles of a kernel.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pyptx.cli.kernels import CommandError
from pyptx.errors import LaunchError
from pyptx.kernel import Kernel
from pyptx.program import Entry
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.runtime.pointers import pointer
from pyptx.workbench.cuda_program import CudaEntry

__all__ = ["dimensions", "inputs_of", "launch_of", "value_of"]


def launch_of(
    kernel: Kernel | Entry, arguments: argparse.Namespace, params: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments for `launch` or `check` of a kernel or an entry, from the options of `add_launch_arguments`.

    Raises:
        CommandError: an option does not apply, or an argument is invalid.
    """
    launch = {
        name: dimensions(text, f"--{name}")
        for name in ("grid", "block", "cluster")
        if (text := getattr(arguments, name)) is not None
    }
    if isinstance(kernel, Kernel):
        if launch or arguments.smem:
            raise CommandError(
                "--grid, --block, --cluster, and --smem are for .cu and .ptx files; a kernel has its own"
            )
        reachable: list[Any] = []
        values = inputs_of(kernel, arguments.args, params, arguments.seed, reachable)
        return values, {**params, **({"reachable": reachable} if reachable else {})}
    if "grid" not in launch or "block" not in launch or params:
        kind = "CUDA C++" if isinstance(kernel, CudaEntry) else "PTX text"
        raise CommandError(f"{arguments.kernel} is {kind}: pass --grid, --block and --args, and no -p")
    rng = np.random.default_rng(arguments.seed)
    reachable = []
    values = [launch.pop("grid"), launch.pop("block"), *(value_of(text, rng, reachable) for text in arguments.args)]
    return values, {"smem_bytes": arguments.smem, **launch, **({"reachable": reachable} if reachable else {})}


def inputs_of(
    kernel: Kernel,
    given: Sequence[str],
    sizes: Mapping[str, Any],
    seed: int = 0,
    reachable: list[Any] | None = None,
) -> list[Any]:
    """Return the input arrays of a kernel: the given ones in order, then random ones for its other Tiles.

    Args:
        reachable: as for `value_of`.
    Raises:
        CommandError: a size is unknown, or there are too many arguments.
    """
    rng = np.random.default_rng(seed)
    specs = kernel.in_specs
    if len(given) > len(specs):
        raise CommandError(f"--args has {len(given)} values; {kernel.name} takes {len(specs)} input arrays")
    arrays = [value_of(text, rng, reachable) for text in given]
    env = {name: value for name, value in sizes.items() if name in kernel.symbolic_dims}
    for spec, array in zip(specs, arrays, strict=False):
        if isinstance(array, np.ndarray) and array.ndim == spec.rank:
            env = {**spec.extract_env(array.shape), **env}
    for spec in specs[len(arrays) :]:
        if unknown := [name for name in spec.symbolic_dims if name not in env]:
            raise CommandError(
                f"{kernel.name}: the size {', '.join(unknown)} of {spec} is unknown; pass it, as in "
                f"-p {' '.join(f'{name}=128' for name in unknown)}"
            )
        arrays.append(_random(spec.resolve_shape(env), spec.dtype.name, rng))
    return arrays


def value_of(text: str, rng: np.random.Generator, reachable: list[Any] | None = None) -> Any:
    """Parse an argument: a number, an array from a .npy file, `TYPE[SIZES]` for random elements, or `pointers[...]`.

    Args:
        reachable: list that receives the arrays of a table of pointers; None: tables are not accepted.
    Raises:
        CommandError: it is none of these.
    """
    if reachable is not None and (found := re.fullmatch(r"pointers\[(.+)\]", text)):
        arrays = [value_of(part, rng) for part in re.split(r",(?![^\[]*\])", found[1])]
        if any(not isinstance(array, np.ndarray) for array in arrays):
            raise CommandError(f"--args {text}: expected arrays, as in pointers[f32[64,96],x.npy]")
        reachable += arrays
        return np.array([pointer(array) for array in arrays], np.uint64)
    if found := re.fullmatch(r"(\w+)\[([\d,x ]+)\]", text):
        try:
            return _random(tuple(map(int, re.findall(r"\d+", found[2]))), found[1], rng)
        except KeyError:
            raise CommandError(f"--args {text}: unknown type {found[1]}; expected f32, bf16, u32 ...") from None
    if text.endswith(".npy"):
        return array_file(text, "--args")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    if not isinstance(value, int | float):
        raise CommandError(f"--args {text}: expected a number, FILE.npy, or TYPE[SIZES] such as f32[64,96]")
    return value


def array_file(path: str | Path, what: str) -> np.ndarray:
    """Load the .npy file that the option `what` names.

    Raises:
        CommandError: the file does not exist, or is not an array.
    """
    if not Path(path).is_file():
        raise CommandError(f"{what} {path}: no such file")
    try:
        found = np.load(path)
    except (ValueError, EOFError):
        found = None
    if not isinstance(found, np.ndarray):
        raise CommandError(f"{what} {path}: not an array written by numpy.save")
    return found


def dimensions(text: str, what: str) -> tuple[int, ...]:
    """Parse up to three sizes, such as `8` or `8,4,1`."""
    try:
        values = tuple(map(int, text.split(",")))
    except ValueError:
        values = ()
    if not 1 <= len(values) <= 3:
        raise CommandError(f"{what} {text}: expected up to three numbers, as in {what} 8,4")
    return values


def _random(shape: tuple[int, ...], type_name: str, rng: np.random.Generator) -> np.ndarray:
    """Return standard normal numbers, or small integers."""
    try:
        kind = numpy_dtype(type_name)
    except LaunchError as missing:
        raise CommandError(missing.message) from None
    if kind.kind in "iub":
        return rng.integers(0, 2 if kind.kind == "b" else 100, shape).astype(kind)
    return rng.standard_normal(shape).astype(kind)
