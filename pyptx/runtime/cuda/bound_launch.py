"""A validated launch that is repeated with other addresses, scalars and stream."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from pyptx.runtime.arrays import Arrays, Placeholder
from pyptx.runtime.cuda.driver import Driver
from pyptx.runtime.cuda.launch import PreparedLaunch
from pyptx.runtime.cuda.program import LoadedKernel
from pyptx.runtime.cuda.tensor_maps import BYTES, DescriptorPool, Encoder, RelocatedMap
from pyptx.runtime.plan import LaunchPlan
from pyptx.sim.memory.arguments import ParamSlot, scalar_bytes
from pyptx.tensor_map import TensorMap

__all__ = ["BoundLaunch"]

_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}
_INTS = {
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "s8": "b",
    "s16": "h",
    "s32": "i",
    "s64": "q",
    "b8": "B",
    "b16": "H",
    "b32": "I",
    "b64": "Q",
}
_KEPT_ENCODINGS = 4096


class BoundLaunch:
    """Launches one plan on one GPU with arrays of one package and fixed shapes.

    Call it with the arrays, the values of the other parameters, and whether the caller passed the outputs. It returns
    False without launching if a pointer or a value does not satisfy what was validated; the call must then be bound
    again. Thread-safe.

    Args:
        slots: parameters of the entry: arrays, values, tensor maps.
        values: values at the time of validation; later ones have the same types.
        maps: tensor maps over placeholders of the arrays.
        aligned: (index of an array, required alignment of its address in bytes).
        apart: number of trailing arrays, the outputs, that must not overlap the others.
        failure: converts a driver status into an exception.
    """

    def __init__(
        self,
        driver: Driver,
        loaded: LoadedKernel,
        plan: LaunchPlan,
        slots: Sequence[ParamSlot],
        arrays: Arrays,
        placeholders: Sequence[Placeholder],
        values: Sequence[Any],
        maps: Sequence[TensorMap],
        *,
        aligned: Sequence[tuple[int, int]],
        apart: int,
        encoder: Encoder,
        descriptors: DescriptorPool,
        failure: Callable[[Any], Exception],
    ):
        count = len(placeholders)
        self._driver, self._device, self._failure = driver, loaded.device, failure
        self._context, self._current = int(loaded.device.context), driver.api.cuCtxGetCurrent
        self._address, self._stream, self._success = arrays.address, arrays.stream, driver.api.CUresult.CUDA_SUCCESS
        self._aligned = tuple(aligned)
        self._apart = [
            (k, j, placeholders[k].nbytes, placeholders[j].nbytes)
            for k in range(count - apart, count)
            for j in range(k)
        ]
        numbers = slots[count : count + len(values)]
        codes = [_code(slot, value) for slot, value in zip(numbers, values, strict=True)]
        self._bytes = [(k, slot) for k, (slot, code) in enumerate(zip(numbers, codes, strict=True)) if code is None]
        self._write = _struct(
            slots,
            ["Q"] * count
            + [code or f"{slot.size}s" for code, slot in zip(codes, numbers, strict=True)]
            + [f"{BYTES}s" if slot.array else "Q" for slot in slots[count + len(values) :]],
        ).pack_into
        self._by_value = [bool(slot.array) for slot in slots[count + len(values) :]]
        self._maps, self._encoder, self._descriptors = [(m, m.source.index, {}) for m in maps], encoder, descriptors
        self._make = lambda: PreparedLaunch(driver, loaded, plan, slots)
        self._idle: list[PreparedLaunch] = []

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
                with self._descriptors.lock:  # held until the launch that reads the maps has been issued
                    self._write(prepared.block, 0, *addresses, *values, *self._placed(addresses, stream))
                    status = self._issue(prepared, stream)
            else:
                self._write(prepared.block, 0, *addresses, *values)
                status = self._issue(prepared, stream)
        except (struct.error, OverflowError):  # a number that struct cannot pack
            return False
        finally:
            self._idle.append(prepared)
        if status is not self._success and status != self._success:
            raise self._failure(status)
        return True

    def _issue(self, prepared: PreparedLaunch, stream: int) -> Any:
        if int(self._current()[1]) == self._context:
            return prepared.launch(stream)
        with self._driver.on(self._device):
            return prepared.launch(stream)

    def _placed(self, addresses: Sequence[int], stream: int) -> list[int | bytes]:
        """Return the maps for arrays at these addresses, by value or their device addresses; the caller holds the pool's lock."""
        found: list[int | bytes] = []
        pinned = self._driver.capturing(stream)
        for (m, k, known), by_value in zip(self._maps, self._by_value, strict=True):
            encoded = known.get(addresses[k])
            if encoded is None:
                with self._driver.on(self._device):
                    encoded = self._encoder.encode(RelocatedMap(m, m.resolve(addresses[k])))
                if len(known) >= _KEPT_ENCODINGS:
                    known.clear()
                known[addresses[k]] = encoded
            if by_value:
                found.append(encoded)
                continue
            found.append(self._descriptors.find(encoded, pinned=pinned) or self._upload(encoded, pinned))
        return found

    def _upload(self, encoded: bytes, pinned: bool) -> int:
        with self._driver.on(self._device):
            return self._descriptors.address(encoded, pinned=pinned)


def _code(slot: ParamSlot, value: Any) -> str | None:
    """Return the `struct` format of a value of exactly this type; None if `scalar_bytes` must convert it."""
    known = {float: _FLOATS, int: _INTS}.get(value.__class__, {})
    return None if slot.array else known.get(slot.type)


def _struct(slots: Sequence[ParamSlot], codes: Sequence[str]) -> struct.Struct:
    text, end = "<", 0
    for slot, code in zip(slots, codes, strict=True):
        text += f"{slot.offset - end}x{code}"
        end = slot.offset + slot.size
    return struct.Struct(text)
