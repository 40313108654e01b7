"""Addresses of arrays, for tables of pointers in memory."""

from __future__ import annotations

from typing import Any

from pyptx._loc import user_place
from pyptx.errors import ArgumentTypeError
from pyptx.runtime.arrays import arrays_of, memory_of
from pyptx.runtime.foreign_arrays import import_foreign
from pyptx.sim.memory.pointers import POINTERS
from pyptx.tensor_map import TensorMap
from pyptx.texture import Surface, Texture

__all__ = ["address_of", "pointer"]


def pointer(array: Any) -> int:
    """Return the address of an array's first element, for a table of pointers that a kernel reads from memory.

    For an array on a GPU it is the device address. For an array in host memory it is an address of the simulator, which
    stays the same while the array exists and is not resized. It is valid in launches that are given the array: as an
    argument, or with `reachable=`. The address of a view lies within that of the array it is a view of.

    Args:
        array: a contiguous array of NumPy, torch or JAX, or one with `__dlpack__` or `__cuda_array_interface__`.
    Returns:
        The address in bytes, below 2^63; 0 for an empty array.
    Raises:
        LaunchError: it is not an array, not contiguous, its elements are Python references, or it is being traced.
    Examples:
        >>> program = pyptx.load('''
        ... .version 8.5
        ... .target sm_90a
        ... .address_size 64
        ... .visible .entry first(.param .u64 table, .param .u64 out) {
        ...     .reg .b64 %rd<5>;
        ...     .reg .b32 %r<3>;
        ...     ld.param.u64 %rd0, [table];
        ...     ld.param.u64 %rd1, [out];
        ...     mov.u32 %r0, %tid.x;
        ...     mad.wide.u32 %rd2, %r0, 8, %rd0;
        ...     ld.global.u64 %rd3, [%rd2];
        ...     ld.global.u32 %r1, [%rd3];
        ...     mad.wide.u32 %rd4, %r0, 4, %rd1;
        ...     st.global.u32 [%rd4], %r1;
        ...     ret;
        ... }''')
        >>> a, b = np.array([1, 2], np.uint32), np.array([7], np.uint32)
        >>> table, out = np.array([pyptx.pointer(a), pyptx.pointer(b)], np.uint64), np.zeros(2, np.uint32)
        >>> result = program["first"].launch(1, 2, table, out, reachable=[a, b])
        >>> out
        array([1, 7], dtype=uint32)
    """
    given: Any = array
    array = import_foreign(given)
    arrays = None if isinstance(given, (TensorMap, Texture, Surface)) else arrays_of(array)
    if arrays is None:
        raise ArgumentTypeError(
            f"pyptx.pointer takes an array of NumPy, torch or JAX, or one with __dlpack__ or __cuda_array_interface__, "
            f"not a {type(given).__name__}"
        )
    arrays.check(array, "the array of pyptx.pointer")
    owner = arrays.owner(array)
    start, size = memory_of(arrays, array)
    if not size:
        return 0
    text = f"an array of shape {tuple(array.shape)} and dtype {arrays.dtype_name(array)}"
    if arrays.device(array) != "cpu":
        POINTERS.keep(start, size, text, user_place())
        return start
    if given is array:
        return POINTERS.allocate(owner, arrays.extent, start, size, text, user_place())
    try:
        return POINTERS.allocate(given, lambda _: (start, size), start, size, text, user_place())
    except TypeError:
        raise ArgumentTypeError(
            f"{text} of {type(given).__module__}.{type(given).__name__} cannot be weakly referenced",
            hint="keep a NumPy view of it, numpy.from_dlpack(x), and take its address",
        ) from None


def address_of(array: Any) -> int | None:
    """Return the address that `pointer` has given to an array or to what it is a view of; None if it has none."""
    arrays = arrays_of(array) if POINTERS else None
    return None if arrays is None else POINTERS.address_of(*memory_of(arrays, array))
