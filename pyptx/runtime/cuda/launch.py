"""Prepared launches: a fixed configuration and a parameter block that receives the values of each launch."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyptx.errors import ArgumentTypeError, ArgumentValueError
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda.driver import Driver
from pyptx.runtime.cuda.program import LoadedKernel
from pyptx.runtime.cuda.tensor_maps import BYTES, RelocatedMap
from pyptx.runtime.plan import LaunchPlan
from pyptx.sim.memory.arguments import ParamSlot, scalar_bytes
from pyptx.tensor_map import TensorMap

__all__ = ["PreparedLaunch", "pack", "stream_handle"]

_POINTER = struct.Struct("<Q")
_MAPS = (TensorMap, RelocatedMap)
_POINTER_TYPES = ("u64", "b64", "s64")


class PreparedLaunch:
    """Arguments of `cuLaunchKernelEx`, for one launch at a time.

    Args:
        cooperative: all CTAs are resident at once, so that they may synchronize.
        programmatic: the kernel may start before the preceding kernel in the stream completes (`griddepcontrol`).
    """

    def __init__(
        self,
        driver: Driver,
        loaded: LoadedKernel,
        plan: LaunchPlan,
        slots: Sequence[ParamSlot],
        *,
        cooperative: bool = False,
        programmatic: bool = False,
    ):
        api = driver.api
        self._launch, self._kernel, self._success = api.cuLaunchKernelEx, loaded.kernel, api.CUresult.CUDA_SUCCESS
        self.block = ctypes.create_string_buffer(slots[-1].offset + slots[-1].size if slots else 1)
        start = ctypes.addressof(self.block)
        self._pointers = (ctypes.c_void_p * max(1, len(slots)))(*(start + slot.offset for slot in slots))
        self._address = ctypes.addressof(self._pointers) if slots else 0
        self._config = config = api.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = plan.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = plan.block
        config.sharedMemBytes = plan.smem_bytes
        config.attrs = self._attributes(api, plan, cooperative, programmatic)
        config.numAttrs = len(config.attrs)
        self._stream_type, self._stream = api.CUstream, None

    @staticmethod
    def _attributes(api: Any, plan: LaunchPlan, cooperative: bool, programmatic: bool) -> list[Any]:
        names, attributes = api.CUlaunchAttributeID, []

        def add(name: str) -> Any:
            attribute = api.CUlaunchAttribute()
            attribute.id = getattr(names, "CU_LAUNCH_ATTRIBUTE_" + name)
            attributes.append(attribute)
            return attribute.value

        if plan.cluster != (1, 1, 1):
            size = add("CLUSTER_DIMENSION").clusterDim
            size.x, size.y, size.z = plan.cluster
        if cooperative:
            add("COOPERATIVE").cooperative = 1
        if programmatic:
            add("PROGRAMMATIC_STREAM_SERIALIZATION").programmaticStreamSerializationAllowed = 1
        return attributes

    def launch(self, stream: int) -> Any:
        """Launch with the values in the block; return the driver's status."""
        if stream != self._stream:
            self._config.hStream, self._stream = self._stream_type(stream), stream
        return self._launch(self._config, self._kernel, self._address, 0)[0]


def pack(
    block: Any,
    slots: Sequence[ParamSlot],
    args: Sequence[object],
    entry: str,
    map_bytes: Callable[[TensorMap | RelocatedMap], bytes],
    map_address: Callable[[bytes], int],
    aligned: Mapping[str, int],
) -> None:
    """Write arguments into a parameter block.

    Args:
        map_bytes: encodes a tensor map.
        map_address: returns the device address of an encoded map.
        aligned: required alignment in bytes of the pointers that declare one (`.ptr .align`).
    Raises:
        LaunchError: count, type, range or alignment of an argument is wrong.
    """
    if len(args) != len(slots):
        names = ", ".join(f"{s.name} .{s.type}{f'[{s.size}]' if s.array else ''}" for s in slots) or "none"
        raise ArgumentTypeError(f"{entry} takes {len(slots)} arguments ({names}); got {len(args)}")
    for slot, arg in zip(slots, args, strict=True):
        if isinstance(arg, _MAPS):
            data = map_bytes(arg)
            if slot.array and slot.size == BYTES:
                block[slot.offset : slot.offset + BYTES] = data
                continue
            _require_pointer(slot, "a tensor map is 128 bytes by value, .align 64 .b8 map[128], or a pointer, .u64")
            _POINTER.pack_into(block, slot.offset, map_address(data))
            continue
        arrays = arrays_of(arg)
        if arrays is not None:
            _require_pointer(slot, "an array needs a 64-bit integer parameter")
            address = arrays.address(arg)
            if aligned and address % aligned.get(slot.name, 1):
                raise ArgumentValueError(
                    f"{entry}: {slot.name} starts at 0x{address:x}, but the kernel's .ptr .align requires a multiple of "
                    f"{aligned[slot.name]} bytes",
                    hint="pass a copy, or a view that starts at an aligned element",
                )
            _POINTER.pack_into(block, slot.offset, address)
        else:
            block[slot.offset : slot.offset + slot.size] = scalar_bytes(f"argument {slot.name} of {entry}", slot, arg)


def _require_pointer(slot: ParamSlot, why: str) -> None:
    if slot.array or slot.type not in _POINTER_TYPES:
        shape = f"[{slot.size}]" if slot.array else ""
        raise ArgumentTypeError(f"parameter {slot.name} is .{slot.type}{shape}, not a pointer; {why}")


def stream_handle(stream: Any) -> int:
    """Return the driver's handle of a stream of torch, CuPy, cuda.core or cuda.bindings; an int is a handle.

    Raises:
        LaunchError: the value is not a stream.
    """
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):  # torch, CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if isinstance(stream, bool) or not hasattr(stream, "__int__"):
        raise ArgumentTypeError(
            f"stream is a {type(stream).__name__}; pass a stream of torch, CuPy, cuda.core or "
            "cuda.bindings, or its handle as an int"
        )
    return int(stream)
