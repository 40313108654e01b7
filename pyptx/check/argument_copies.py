"""Copies of the arguments of a launch, so that its runs do not change the arrays of the caller."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyptx.runtime.arrays import arrays_of, is_on_gpu
from pyptx.runtime.pointers import address_of
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.sim.memory.pointers import POINTERS
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["array_behind", "copy_arguments", "copy_launch", "host_array"]


def copy_launch(args: Sequence[Any], settings: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return copies of the arguments of a launch, and of the arrays of its option `reachable`, as `copy_arguments` does."""
    copies = copy_arguments([*args, *settings.get("reachable", ())])
    return copies[: len(args)], copies[len(args) :]


def copy_arguments(args: Sequence[Any], written: Collection[int] | None = None) -> list[Any]:
    """Return the arguments with copies of their arrays in host memory; arrays that share memory still share it.

    Copies of arrays whose address `pyptx.pointer` has fixed are at the same simulated address.

    Args:
        written: numbers of the arguments whose arrays are copied, with all that share their memory; the others become
            read-only views. None: all are copied.
    """
    made: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # by id of the owner: the owner, kept alive, and its copy
    apart = None if written is None else {_start(owner) for owner in _owners_to_copy(args, written)}

    def copied(array: np.ndarray) -> np.ndarray:
        owner = _owner(array)
        if apart is not None and array.flags.c_contiguous and _start(owner) not in apart:
            view = array.view()
            view.flags.writeable = False
            return view
        if not owner.flags.c_contiguous:
            return placed(array, array.copy())
        if id(owner) not in made:
            made[id(owner)] = owner, placed(owner, owner.copy())
        return np.ndarray(array.shape, array.dtype, made[id(owner)][1], _start(array) - _start(owner), array.strides)

    def placed(original: Any, made: np.ndarray) -> np.ndarray:
        POINTERS.place_copy(made, address_of(original))
        return made

    def fresh(arg: Any) -> Any:
        if isinstance(arg, ArrayPointer):
            return replace(arg, array=copied(arg.array))
        if isinstance(arg, TensorMap):
            if arg.source is None:
                return arg
            other = copy.copy(arg)
            object.__setattr__(other, "source", copied(_required_host(arg.source)))
            object.__setattr__(other, "address", None)
            return other
        if isinstance(arg, (Texture, Surface)):
            return arg.over([copied(_required_host(source)) for source in arg.sources])
        host = _host(arg)
        if host is None:
            return arg
        return placed(arg, host.copy()) if is_on_gpu(arg) else copied(host)

    return list(map(fresh, args))


def _owners_to_copy(args: Sequence[Any], written: Collection[int]) -> Iterator[np.ndarray]:
    """Yield the owners of the memory of some arguments, and of all textures and surfaces."""
    for number, arg in enumerate(args):
        if isinstance(arg, (Texture, Surface)):
            yield from (_owner(_required_host(source)) for source in arg.sources)
        elif number in written and (host := _host(array_behind(arg))) is not None:
            yield _owner(host)


def _owner(array: np.ndarray) -> np.ndarray:
    """Return the array that a view is part of, or the array itself."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _start(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _host(value: Any) -> np.ndarray | None:
    """Return an array of any framework as a NumPy array; None if the value is not an array."""
    if isinstance(value, np.generic):
        return None
    arrays = arrays_of(value)
    return None if arrays is None else np.asarray(arrays.host(value))


def _required_host(value: Any) -> np.ndarray:
    host = _host(value)
    assert host is not None, "tensor maps, textures, and surfaces are made of arrays"
    return host


def host_array(arg: Any) -> np.ndarray | None:
    """Return the array behind an argument if it is in host memory, else None."""
    array = array_behind(arg)
    return None if is_on_gpu(array) else _host(array)


def array_behind(arg: Any) -> Any:
    """Return the array behind an argument, or the argument itself."""
    if isinstance(arg, (TensorMap, Texture, Surface)):
        return arg.source
    return arg.array if isinstance(arg, ArrayPointer) else arg
