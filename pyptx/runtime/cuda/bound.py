"""A launch that was checked before: only addresses, numbers and the stream are written into it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from pyptx.runtime.arrays import Arrays, StandIn
from pyptx.runtime.cuda.driver import Driver
from pyptx.runtime.cuda.launching import Prepared
from pyptx.runtime.cuda.maps import Blobs, Encoder, Placed
from pyptx.runtime.cuda.program import Loaded
from pyptx.runtime.plan import LaunchPlan
from pyptx.sim.memory.args import ParamSlot, scalar_bytes
from pyptx.tensor_map import TensorMap

__all__ = ["BoundLaunch"]

_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}
_INTS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "s8": "b", "s16": "h", "s32": "i", "s64": "q", "b8": "B",
         "b16": "H", "b32": "I", "b64": "Q"}
_KEPT_ENCODINGS = 4096


class BoundLaunch:
    """Launches of one plan on one GPU with arrays of one package, of the same shapes each time.

    Called with the arrays, the values of the other parameters and whether the outputs were given; whether it launched.
    It does not where a pointer or a value is not what was checked: then the call is to be looked at again. Threads may
    share it.

    Args:
        slots: of the entry's parameters: arrays, values, tensor maps.
        values: as they were; later ones are of the same types.
        maps: of stand-ins for the arrays.
        aligned: place of an array -> bytes of which its address is a multiple.
        apart: how many of the last arrays, outputs, may not overlap the others.
        failure: from the driver's status to the error.
    """

    def __init__(self, driver: Driver, loaded: Loaded, plan: LaunchPlan, slots: Sequence[ParamSlot], arrays: Arrays,
                 stand_ins: Sequence[StandIn], values: Sequence[Any], maps: Sequence[TensorMap], *,
                 aligned: Sequence[tuple[int, int]], apart: int, encoder: Encoder, blobs: Blobs,
                 failure: Callable[[Any], Exception]):
        count = len(stand_ins)
        self._driver, self._device, self._failure = driver, loaded.device, failure
        self._context, self._current = int(loaded.device.context), driver.api.cuCtxGetCurrent
        self._address, self._stream, self._success = arrays.address, arrays.stream, driver.api.CUresult.CUDA_SUCCESS
        self._aligned = tuple(aligned)
        self._apart = [(k, j, stand_ins[k].nbytes, stand_ins[j].nbytes)
                       for k in range(count - apart, count) for j in range(k)]
        numbers = slots[count:count + len(values)]
        codes = [_code(slot, value) for slot, value in zip(numbers, values, strict=True)]
        self._bytes = [(k, slot) for k, (slot, code) in enumerate(zip(numbers, codes, strict=True)) if code is None]
        self._write = _struct(slots, ["Q"] * count + [code or f"{slot.size}s" for code, slot in
                                                       zip(codes, numbers, strict=True)] + ["Q"] * len(maps)).pack_into
        self._maps, self._encoder, self._blobs = [(m, m.source.index, {}) for m in maps], encoder, blobs
        self._make = lambda: Prepared(driver, loaded, plan, slots)
        self._idle: list[Prepared] = []

    def __call__(self, arrays: Sequence[Any], values: Sequence[Any], given: bool) -> bool:
        address = self._address
        addresses = [address(array) for array in arrays]
        for k, multiple in self._aligned:
            if addresses[k] % multiple:
                return False
        if given:
            for k, j, n, m in self._apart:
                if addresses[k] < addresses[j] + m and addresses[j] < addresses[k] + n:
                    return False
        if self._bytes:
            values = list(values)
            for k, slot in self._bytes:
                values[k] = scalar_bytes(slot.name, slot, values[k])
        stream = self._stream(arrays[0])
        try:
            prepared = self._idle.pop()
        except IndexError:
            prepared = self._make()
        try:
            if self._maps:
                with self._blobs.lock:                          # until the launch that reads them was issued
                    self._write(prepared.block, 0, *addresses, *values, *self._placed(addresses, stream))
                    status = self._issue(prepared, stream)
            else:
                self._write(prepared.block, 0, *addresses, *values)
                status = self._issue(prepared, stream)
        except (struct.error, OverflowError):                   # a number that the fast way does not know
            return False
        finally:
            self._idle.append(prepared)
        if status is not self._success and status != self._success:
            raise self._failure(status)
        return True

    def _issue(self, prepared: Prepared, stream: int) -> Any:
        if int(self._current()[1]) == self._context:
            return prepared.launch(stream)
        with self._driver.on(self._device):
            return prepared.launch(stream)

    def _placed(self, addresses: Sequence[int], stream: int) -> list[int]:
        """Where the maps of the arrays at these addresses lie on the GPU; `lock` of the maps is held."""
        found, pinned = [], self._driver.capturing(stream)
        for m, k, known in self._maps:
            encoded = known.get(addresses[k])
            if encoded is None:
                with self._driver.on(self._device):
                    encoded = self._encoder.encode(Placed(m, m.resolve(addresses[k])))
                if len(known) >= _KEPT_ENCODINGS:
                    known.clear()
                known[addresses[k]] = encoded
            found.append(self._blobs.find(encoded, pinned=pinned) or self._upload(encoded, pinned))
        return found

    def _upload(self, encoded: bytes, pinned: bool) -> int:
        with self._driver.on(self._device):
            return self._blobs.address(encoded, pinned=pinned)


def _code(slot: ParamSlot, value: Any) -> str | None:
    """How `struct` writes a value of this very type; None where `scalar_bytes` is to decide."""
    known = {float: _FLOATS, int: _INTS}.get(value.__class__, {})
    return None if slot.array else known.get(slot.type)


def _struct(slots: Sequence[ParamSlot], codes: Sequence[str]) -> struct.Struct:
    text, end = "<", 0
    for slot, code in zip(slots, codes, strict=True):
        text += f"{slot.offset - end}x{code}"
        end = slot.offset + slot.size
    return struct.Struct(text)
