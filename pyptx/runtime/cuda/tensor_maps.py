"""Encoded tensor maps on a GPU, passed by value or by address in memory that is never overwritten while in use."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from threading import RLock
from typing import Any

from pyptx._frozen import frozen
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.tensor_map import TensorMap

__all__ = ["BYTES", "DescriptorPool", "Encoder", "RelocatedMap"]

BYTES = 128
_APART, _SLAB = 512, 256  # bytes between maps, as for separate allocations; maps in a slab
_KEPT_ENCODINGS, _KEPT_BLOBS = 4096, 1 << 14


@frozen
class RelocatedMap:
    """A tensor map with the address of the copy of its array on a GPU."""

    map: TensorMap
    address: int


class Encoder:
    """Encodes tensor maps, with an LRU cache."""

    def __init__(self, driver: Driver):
        self._driver, self._kept = driver, OrderedDict[tuple, bytes]()
        self._lock = RLock()

    def encode(self, value: TensorMap | RelocatedMap) -> bytes:
        """Return the 128 bytes of a map.

        Raises:
            ShapeError: the address is unknown or misaligned.
            DeviceError: the driver refuses a map that pyptx accepted.
        """
        m, address = (value.map, value.address) if isinstance(value, RelocatedMap) else (value, value.resolve())
        key = (
            address,
            m.element.name,
            m.shape,
            m.strides,
            m.box,
            m.element_strides,
            m.swizzle,
            m.interleave,
            m.oob_fill,
            m.l2_promotion,
            m.im2col,
        )
        with self._lock:
            if key not in self._kept:
                function, arguments = m.driver_call(self._driver.api, address)
                encoded = self._driver.call(function.__name__, *arguments, doing=f"encoding {m}")
                self._kept[key] = ctypes.string_at(encoded.getPtr(), BYTES)
                if len(self._kept) > _KEPT_ENCODINGS:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


class DescriptorPool:
    """Pool of encoded tensor maps in the memory of one GPU; an address keeps its value while it is in use.

    A map is written once, on a private stream that is synchronized before its address is returned, so a launch on any
    stream, thread or graph may read it. Its memory is reused only after the GPU is idle, never if a graph or XLA holds
    the address, and only after a full generation of other maps: kernels do not fence maps written by the host, so the
    GPU's descriptor cache must have evicted the address. Hold `lock` from `address` until the launch has been issued.

    Source: CUDA Programming Guide, "Asynchronous data copies using the Tensor Memory Accelerator".
    """

    def __init__(self, driver: Driver, device: Device):
        self._driver, self._device = driver, device
        self._addresses: dict[bytes, int] = {}
        self._pinned: set[bytes] = set()
        self._free: list[int] = []
        self._resting: list[int] = []
        self._stream: Any = None
        self.lock = RLock()

    def address(self, encoded: bytes, *, pinned: bool) -> int:
        """Return the device address of a map; the GPU's context must be current.

        Args:
            pinned: the address is kept for later launches, by a captured graph or XLA.
        """
        with self.lock:
            if encoded not in self._addresses:
                self._addresses[encoded] = self._upload(encoded, may_wait=not pinned)
            if pinned:
                self._pinned.add(encoded)
            return self._addresses[encoded]

    def find(self, encoded: bytes, *, pinned: bool) -> int | None:
        """Return the address of a map that is in the pool, else None; the caller holds `lock`."""
        if pinned:
            self._pinned.add(encoded)
        return self._addresses.get(encoded)

    def _upload(self, encoded: bytes, *, may_wait: bool) -> int:
        call, api = self._driver.call, self._driver.api
        if may_wait and not self._free and len(self._addresses) - len(self._pinned) >= _KEPT_BLOBS:
            call("cuCtxSynchronize")
            old = [blob for blob in self._addresses if blob not in self._pinned]
            self._free, self._resting = self._resting, [self._addresses.pop(blob) for blob in reversed(old)]
        with self._driver.unrelated():
            if not self._free:
                slab = int(call("cuMemAlloc", _SLAB * _APART, doing="allocating memory for tensor maps"))
                self._free.extend(slab + _APART * k for k in reversed(range(_SLAB)))
            if self._stream is None:
                self._stream = call("cuStreamCreate", api.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
            address = self._free.pop()
            call("cuMemcpyHtoDAsync", address, encoded, BYTES, self._stream, doing="copying a tensor map")
            call("cuStreamSynchronize", self._stream, doing="copying a tensor map")
        return address
