"""Launches on GPUs as XLA's handler needs them: a kernel bound to shapes, on one GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from pyptx.jax_support.shim import BUFFER, MAP_POINTER, MAP_VALUE, VALUE, Record, Slot
from pyptx.runtime import LaunchPlan, LaunchResult, Runtime
from pyptx.runtime.arrays import StandIn, arrays_of
from pyptx.runtime.cuda import Cuda
from pyptx.runtime.cuda.launching import pack
from pyptx.runtime.cuda.maps import BYTES, Placed
from pyptx.runtime.cuda.program import Program
from pyptx.tensor_map import TensorMap

__all__ = ["Call", "Records"]


class Call(NamedTuple):
    """A kernel with parameter values, and shapes and types of its inputs and outputs."""

    kernel: Any
    params: Mapping[str, Any]
    inputs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    outputs: tuple[tuple[tuple[int, ...], np.dtype], ...]


class _Recorder:
    """A backend that writes down what it is to launch."""

    name = "cuda"

    def __init__(self, cuda: Cuda, device: int):
        self._cuda, self._device = cuda, cuda.driver.device(device)
        self.record: Record | None = None
        self.maps: list[tuple[TensorMap, bool]] = []            # and whether it goes by value

    def load(self, module: Any, entry: str, assemble: Callable[[str], Any]) -> Program:
        return self._cuda.load(module, entry, assemble)

    @contextmanager
    def staged(self, args: Sequence[Any]) -> Iterator[list[Any]]:
        yield list(args)

    def launch(self, program: Program, plan: LaunchPlan, args: Sequence[Any],
               options: Mapping[str, Any]) -> LaunchResult:
        with self._cuda.driver.on(self._device):
            loaded = program.on(self._device)
            loaded.admit(plan)
        block = bytearray(program.slots[-1].offset + program.slots[-1].size if program.slots else 0)
        pack(block, program.slots, args, program.entry, lambda m: bytes(BYTES), lambda data: 0, {})
        slots = (Slot * len(args))()
        for k, (slot, arg) in enumerate(zip(program.slots, args, strict=True)):
            kind, index = VALUE, 0
            if isinstance(arg, TensorMap):
                kind, index = MAP_VALUE if slot.array else MAP_POINTER, len(self.maps)
                self.maps.append((arg, bool(slot.array)))
            elif isinstance(arg, StandIn):
                kind, index = BUFFER, arg.index
            slots[k] = Slot(kind, index, slot.offset, slot.size)
        values, name = bytes(block), program.entry.encode()
        arrays = max(arg.index + 1 for arg in args if isinstance(arg, StandIn))
        record = Record(int(loaded.kernel), plan.grid, plan.block, plan.cluster, plan.smem_bytes, len(args), arrays,
                        len(self.maps), len(block), slots, values, name)
        record.owned = slots, values, name                      # what it points to
        self.record = record
        return LaunchResult(self.name, None)


class Records:
    """Makes records and encodes tensor maps for the handler.

    Args:
        cuda: the backend.
        call_of: from a handle to the call.
    """

    def __init__(self, cuda: Cuda, call_of: Callable[[int], Call]):
        self._cuda, self._call_of = cuda, call_of
        self._maps: dict[tuple[int, int], list[tuple[TensorMap, bool]]] = {}

    def prepare(self, handle: int, device: int) -> Record:
        """The record of a launch on a GPU."""
        call, recorder = self._call_of(handle), _Recorder(self._cuda, device)
        zeros = [array for array, spec in zip(call.outputs, call.kernel.out_specs, strict=True) if spec.zeroed]
        buffers = [StandIn(k, shape, np.dtype(dtype))           # zeros lie where the outputs do
                   for k, (shape, dtype) in enumerate((*call.inputs, *zeros, *call.outputs))]
        inputs, outputs = buffers[:len(call.inputs)], buffers[-len(call.outputs):]
        call.kernel.run(Runtime(recorder, arrays_of(buffers[0])), inputs, outputs, call.params)
        self._maps[handle, device] = recorder.maps
        return recorder.record

    def encode(self, handle: int, device: int, buffers: Sequence[int]) -> list[bytes]:
        """The maps of a launch for buffers at these addresses: the bytes, or the address of their copy on the GPU."""
        driver, found = self._cuda.driver, []
        gpu = driver.device(device)
        with driver.on(gpu):
            for m, by_value in self._maps[handle, device]:
                encoded = self._cuda.encoder.encode(Placed(m, m.resolve(buffers[m.source.index])))
                if not by_value:
                    encoded = self._cuda.blobs(gpu).address(encoded, pinned=True).to_bytes(8, "little")
                found.append(encoded)
        return found
