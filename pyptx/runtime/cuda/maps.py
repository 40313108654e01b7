"""Tensor maps as a GPU reads them: encoded by the driver, passed by value or in memory that is never rewritten."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from threading import RLock
from typing import Any

from pyptx._value import value
from pyptx.runtime.cuda.driver import Device, Driver
from pyptx.tensor_map import TensorMap

__all__ = ["BYTES", "Blobs", "Encoder", "Placed"]

BYTES = 128
_APART, _SLAB = 512, 256                    # bytes from map to map, as of separate allocations; maps of a slab
_KEPT_ENCODINGS, _KEPT_BLOBS = 4096, 1 << 14


@value
class Placed:
    """A tensor map whose array was copied to a GPU, and the address of the copy."""

    map: TensorMap
    address: int


class Encoder:
    """Encodes tensor maps; remembers the newest."""

    def __init__(self, driver: Driver):
        self._driver, self._kept = driver, OrderedDict[tuple, bytes]()
        self._lock = RLock()

    def encode(self, value: TensorMap | Placed) -> bytes:
        """The 128 bytes of a map.

        Raises:
            ShapeError: the address is not known or not aligned.
            DeviceError: the driver refuses what our rules accepted.
        """
        m, address = (value.map, value.address) if isinstance(value, Placed) else (value, value.resolve())
        key = (address, m.element.name, m.shape, m.strides, m.box, m.element_strides, m.swizzle, m.interleave,
               m.oob_fill, m.l2_promotion, m.im2col)
        with self._lock:
            if key not in self._kept:
                function, arguments = m.driver_call(self._driver.api, address)
                encoded = self._driver.call(function.__name__, *arguments, doing=f"encoding {m}")
                self._kept[key] = ctypes.string_at(encoded.getPtr(), BYTES)
                if len(self._kept) > _KEPT_ENCODINGS:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


class Blobs:
    """Encoded maps in the memory of one GPU, each at an address of its own that keeps its value.

    A map's memory is written once, on a stream of its own and to the end, before its address is given out; so a launch
    on any stream, in any thread and in any graph may read it. It is used again for another map only when nothing can
    read it any more: after the GPU came to rest, and never where a graph or XLA remembers the address. Nor before as
    many other maps were used as are kept: kernels do not fence maps that the host wrote, so what the GPU's own cache of
    maps holds of an address must be gone. Hold `lock` from `address` until the launch that reads it was issued.

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
        """Where the map lies on the GPU, whose context is current.

        Args:
            pinned: somebody keeps the address for later launches (a graph that is recorded, XLA).
        """
        with self.lock:
            if encoded not in self._addresses:
                self._addresses[encoded] = self._upload(encoded, may_wait=not pinned)
            if pinned:
                self._pinned.add(encoded)
            return self._addresses[encoded]

    def find(self, encoded: bytes, *, pinned: bool) -> int | None:
        """As `address`, of a map that lies there already; `lock` is held."""
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
