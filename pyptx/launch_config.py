"""Launch configurations: grid, block, cluster, dynamic shared memory, stream and backend options."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import islice
from math import prod
from typing import Any

from pyptx._frozen import frozen
from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.ir.nodes import Function

__all__ = [
    "Dim3",
    "Extent",
    "LaunchConfig",
    "byte_count",
    "check_geometry",
    "check_plain",
    "choice",
    "describe",
    "dim3",
    "integer",
    "split_launch",
]

Dim3 = tuple[int, int, int]
Extent = int | Sequence[int]

MAX_THREADS, MAX_BLOCK_Z = 1024, 64
MAX_GRID = (2**31 - 1, 65535, 65535)


@frozen
class LaunchConfig:
    """Launch configuration of a kernel; `launch`, `check`, `debug`, `roofline`, `estimate`, `view` and `compile` take one.

    Passed as the first argument, it is followed by all arguments of the entry in parameter order.

    Attributes:
        grid: CTAs, one to three sizes.
        block: threads of a CTA; None: the kernel's own.
        cluster: CTAs of a cluster; None: the kernel's own.
        smem_bytes: dynamic shared memory of a CTA in bytes, where it exceeds what the kernel itself requests.
        stream: CUDA stream; None: the current stream of the arrays' package.
        backend: "sim" or "cuda"; None: the backend of the arrays.
        options: backend options such as `{"threads": 8, "seed": 1}`.
        reachable: arrays that the kernel reaches only through addresses in memory, see `pyptx.pointer`.
    Raises:
        LaunchError: a size is not one to three positive ints (a grid may be empty), or `smem_bytes` is negative.
    Examples:
        >>> LaunchConfig((8, 8), 128).grid
        (8, 8, 1)
    """

    grid: Extent
    block: Extent | None = None
    cluster: Extent | None = None
    smem_bytes: int = 0
    stream: Any = None
    backend: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reachable: Sequence[Any] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("grid", "block", "cluster"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, dim3(value, name))
        if self.grid is None:
            raise ArgumentValueError("grid=None; expected one to three ints")
        object.__setattr__(self, "smem_bytes", byte_count(self.smem_bytes, "LaunchConfig"))

    @property
    def settings(self) -> dict[str, Any]:
        """The backend options, `stream` and `reachable` included when they are set."""
        given = {"stream": self.stream, "reachable": list(self.reachable) or None}
        return {**self.options, **{name: value for name, value in given.items() if value is not None}}


def split_launch(
    args: Sequence[Any],
    *,
    grid: Extent | None = None,
    block: Extent | None = None,
    cluster: Extent | None = None,
    smem_bytes: int = 0,
    stream: Any = None,
    backend: str | None = None,
) -> tuple[LaunchConfig | None, tuple[Any, ...]]:
    """Split positional arguments into a launch configuration and the arguments of the kernel.

    The configuration is a leading `LaunchConfig`, a leading grid and block, or `grid=` and `block=`. Without any of
    these the arguments are the input arrays of a call, or none, and the configuration is None.

    Raises:
        LaunchError: a `LaunchConfig` and launch keywords are both given, or `block=` without a grid.
    """
    rest = tuple(args)
    given = {"grid": grid, "block": block, "cluster": cluster, "stream": stream, "backend": backend}
    given = {name: value for name, value in given.items() if value is not None}
    if not isinstance(smem_bytes, int) or smem_bytes:
        given["smem_bytes"] = smem_bytes
    if rest and isinstance(rest[0], LaunchConfig):
        if given:
            raise ArgumentValueError(
                f"{', '.join(given)} and a LaunchConfig are both given; set it in the LaunchConfig"
            )
        return rest[0], rest[1:]
    if grid is None and rest and not _is_array(rest[0]):
        given["grid"], rest = rest[0], rest[1:]
        if block is None and rest and not _is_array(rest[0]):
            given["block"], rest = rest[0], rest[1:]
    if given.get("grid") is not None:
        return LaunchConfig(**given), rest
    if unused := [name for name in ("block", "cluster", "smem_bytes") if name in given]:
        raise ArgumentValueError(
            f"{unused[0]}= is given without a grid; pass grid=, or a LaunchConfig as the first argument"
        )
    return None, rest


def _is_array(value: Any) -> bool:
    """Return whether a positional argument is an array, or an object that describes one, rather than a launch size."""
    if hasattr(value, "__index__"):
        return getattr(value, "shape", ()) != ()
    return not isinstance(value, int | float | str | tuple | list | None)


def dim3(value: int | Sequence[int] | None, what: str) -> Dim3:
    """Return three launch dimensions for an int or one to three of them; missing ones are 1.

    Args:
        what: the name of the sizes, for messages. A "grid" may be empty.
    Raises:
        LaunchError: not one to three positive ints.
    """
    if value is None:
        return (1, 1, 1)
    items: Any = value
    sizes = [_index(value)]
    if sizes[0] is None:
        try:
            sizes = [_index(item) for item in islice(items, 4)]
        except TypeError:
            sizes = []
    if not 1 <= len(sizes) <= 3 or None in sizes:
        raise ArgumentValueError(f"{what}={describe(value)}; expected one to three ints")
    x, y, z = *(size for size in sizes if size is not None), *(1,) * (3 - len(sizes))
    least = 0 if what == "grid" else 1
    if min(x, y, z) < least:
        raise ArgumentValueError(f"{what}={value!r}; every dimension must be at least {least}")
    return x, y, z


def byte_count(smem_bytes: int, entry: str) -> int:
    """Return the dynamic shared memory of a launch in bytes.

    Raises:
        LaunchError: not an int, or negative; names the entry.
    """
    found = None if isinstance(smem_bytes, bool) else _index(smem_bytes)
    if found is None or found < 0:
        raise ArgumentValueError(f"{entry}: smem_bytes={describe(smem_bytes)}; expected a number of bytes, 0 or more")
    return found


def integer(value: Any, what: str, least: int | None = None) -> int:
    """Return a launch setting that is an int.

    Args:
        what: name of the setting, for messages.
        least: its smallest value; None is no limit.
    Raises:
        ArgumentValueError: it is not an int, or smaller.
    """
    found = _index(value)
    if found is None or (least is not None and found < least):
        expected = "an int" if least is None else f"{least} or more"
        raise ArgumentValueError(f"{what}={describe(value)}; expected {expected}")
    return found


def choice(value: Any, what: str, choices: Sequence[str]) -> str:
    """Return a launch setting that is one of `choices`.

    Raises:
        ArgumentValueError: it is not.
    """
    if not isinstance(value, str) or value not in choices:
        raise ArgumentValueError(f"{what}={describe(value)}; expected {', '.join(map(repr, choices))}")
    return value


def describe(value: Any) -> str:
    """Return a setting for a message: an array by its shape."""
    shape = getattr(value, "shape", ())
    return f"<array of shape {tuple(shape)}>" if shape else repr(value)


def _index(value: Any) -> int | None:
    """Return an int for an object that is one, such as a NumPy scalar; None for any other, including arrays."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def check_plain(dtype: Any, what: str) -> None:
    """Refuse a NumPy dtype whose elements hold Python references: a kernel that writes them corrupts the process.

    Args:
        dtype: a dtype of any package, or None.
        what: the array, for messages.
    Raises:
        ArgumentTypeError: the dtype is or contains an object or a variable-width string.
    """
    if getattr(dtype, "hasobject", False):
        raise ArgumentTypeError(
            f"{what} has dtype {dtype}, whose elements are Python references", hint="pass an array of numbers"
        )


def check_geometry(entry: Function, grid: Dim3, block: Dim3, cluster: Dim3) -> None:
    """Raise LaunchError where sizes are beyond the hardware's limits or against the entry's own directives.

    Source: CUDA C++ Programming Guide, "Compute Capabilities"; PTX ISA, "Performance-Tuning Directives".
    """
    if 0 in grid:
        raise ArgumentValueError(f"{entry.name}: grid {grid} is empty, so nothing is executed")
    threads = prod(block)
    if threads > MAX_THREADS or block[2] > MAX_BLOCK_Z:
        raise ArgumentValueError(
            f"{entry.name}: block {block} has {threads} threads; at most {MAX_THREADS}, and at most {MAX_BLOCK_Z} in z"
        )
    if any(size > most for size, most in zip(grid, MAX_GRID, strict=True)):
        raise ArgumentValueError(f"{entry.name}: grid {grid} is beyond {MAX_GRID}")
    uneven = [axis for axis, g, c in zip("xyz", grid, cluster, strict=True) if g % c]
    if uneven:
        raise ArgumentValueError(f"{entry.name}: grid {grid} is not a multiple of cluster {cluster} in {uneven[0]}")
    directives = {d.name: [int(v) for v in d.values] for d in entry.directives if d.name in ("reqntid", "maxntid")}
    if "reqntid" in directives and dim3(directives["reqntid"], "reqntid") != block:
        raise ArgumentValueError(
            f"{entry.name}: block {block}, but the kernel requires .reqntid {dim3(directives['reqntid'], 'reqntid')}"
        )
    if threads > prod(directives.get("maxntid", [threads])):
        raise ArgumentValueError(
            f"{entry.name}: block {block} has {threads} threads; the kernel allows "
            f"{prod(directives['maxntid'])} (.maxntid)"
        )
