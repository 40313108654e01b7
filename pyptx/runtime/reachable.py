"""The option `reachable`: arrays that a launch reaches only through addresses in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.runtime.arrays import Runtime
from pyptx.runtime.foreign_arrays import import_foreign

__all__ = ["checked", "staged"]


def checked(runtime: Runtime, options: Mapping[str, Any], name: str) -> list[Any]:
    """Return the arrays of the option `reachable` after checking that the backend can address them.

    Args:
        name: of the entry, for messages.
    Raises:
        LaunchError: it is not a list of arrays, or one does not fit the others.
    """
    given = options.get("reachable")
    if given is None:
        return []
    if not isinstance(given, (list, tuple)):
        raise ArgumentTypeError(f"{name}: reachable= is a {type(given).__name__}", hint="pass a list of arrays")
    found = import_foreign(given)
    for k, array in enumerate(found):
        runtime.check(array, f"{name}: reachable[{k}]")
    return found


@contextmanager
def staged(
    runtime: Runtime, args: Sequence[Any], options: Mapping[str, Any], name: str
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Give arguments and options as the backend takes them, and copy results back on exit; see `Backend.staged`."""
    arrays = checked(runtime, options, name)
    others = {key: value for key, value in options.items() if key != "reachable"}
    if runtime.name == "cuda" and any(runtime.arrays.device(array) == "cpu" for array in arrays):
        raise ArgumentValueError(
            f"{name}: arrays of reachable= are in host memory; a GPU reaches only arrays in its own memory",
            hint="copy them to the GPU before taking their addresses, or pass backend='sim'",
        )
    with runtime.backend.staged([*args, *arrays]) as values:
        yield values[: len(args)], {**others, "reachable": values[len(args) :]} if arrays else others
