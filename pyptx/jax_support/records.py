"""Launch records for XLA's handler: a kernel bound to shapes on one GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from pyptx.errors import BackendError
from pyptx.jax_support.shim import BUFFER, MAP_POINTER, MAP_VALUE, VALUE, Record, Slot
from pyptx.runtime import LaunchPlan, LaunchResult, Runtime
from pyptx.runtime.arrays import Placeholder
from pyptx.runtime.cuda import ARRAYS, CudaBackend
from pyptx.runtime.cuda.launch import pack
from pyptx.runtime.cuda.program import Program
from pyptx.runtime.cuda.tensor_maps import BYTES, RelocatedMap
from pyptx.tensor_map import TensorMap

__all__ = ["Call", "Records"]


class Call(NamedTuple):
    """A kernel with its parameter values and the shapes and dtypes of its inputs and outputs.

    The inputs of a call with symbolic shapes are None; its shapes are known when it runs. `batched` tells the inputs of a
    call for a batch that have a leading batch dimension; it is empty for other calls.
    """

    kernel: Any
    params: Mapping[str, Any]
    inputs: tuple[tuple[tuple[int, ...], np.dtype], ...] | None
    outputs: tuple[tuple[tuple[int, ...], np.dtype], ...]
    batched: tuple[bool, ...] = ()


class _Recorder:
    """A backend that records a launch instead of issuing it."""

    name = "cuda"
    options: frozenset[str] = frozenset()
    loads_machine_code = True

    def __init__(self, cuda: CudaBackend, device: int):
        self._cuda, self._device = cuda, cuda.driver.device(device)
        self.record: Record | None = None
        self.maps: list[tuple[TensorMap, bool]] = []  # (map, passed by value)

    def load(self, module: Any, entry: str, assemble: Callable[[str], Any]) -> Program:
        return self._cuda.load(module, entry, assemble)

    def variable(self, program: Program, shared: Mapping[str, Any], name: str) -> Any:
        """Return a variable of the loaded program, as on a GPU."""
        return self._cuda.variable(program, shared, name)

    @contextmanager
    def staged(self, args: Sequence[Any]) -> Iterator[list[Any]]:
        yield list(args)

    def bind(self, *_launch: Any, **_options: Any) -> None:
        """Return None: a recorded launch is not repeated."""

    def launch(
        self, program: Program, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]
    ) -> LaunchResult:
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
            elif isinstance(arg, Placeholder):
                kind, index = BUFFER, arg.index
            slots[k] = Slot(kind, index, slot.offset, slot.size)
        values, name = bytes(block), program.entry.encode()
        arrays = max(arg.index + 1 for arg in args if isinstance(arg, Placeholder))
        record = Record(
            int(loaded.kernel),
            plan.grid,
            plan.block,
            plan.cluster,
            plan.smem_bytes,
            len(args),
            arrays,
            len(self.maps),
            len(block),
            slots,
            values,
            name,
        )
        record.owned = slots, values, name  # keep the objects alive that the record points to
        self.record = record
        return LaunchResult(self.name, None)


class Records:
    """Creates launch records and encodes tensor maps for the handler.

    Args:
        cuda: the backend.
        call_of: returns the call of a handle and a description.
    """

    def __init__(self, cuda: CudaBackend, call_of: Callable[[int, str], Call]):
        self._cuda, self._call_of = cuda, call_of
        self._maps: dict[tuple[int, int], list[tuple[TensorMap, bool]]] = {}

    def prepare(self, handle: int, device: int, description: str = "") -> Record:
        """Return the record of a launch on a GPU.

        Raises:
            LaunchError: the kernel is not known here, or its call has symbolic shapes.
        """
        call, recorder = self._call_of(handle, description), _Recorder(self._cuda, device)
        if call.inputs is None:
            raise BackendError(
                f"{call.kernel.name}: computations exported with symbolic shapes run on the CPU only",
                hint="export the computation with fixed shapes for GPUs",
            )
        zeros = [array for array, spec in zip(call.outputs, call.kernel.out_specs, strict=True) if spec.zeroed]
        buffers = [
            Placeholder(k, shape, np.dtype(dtype))  # zero-initialized results alias the outputs
            for k, (shape, dtype) in enumerate((*call.inputs, *zeros, *call.outputs))
        ]
        inputs, outputs = buffers[: len(call.inputs)], buffers[-len(call.outputs) :]
        runtime = Runtime(recorder, ARRAYS)
        if call.batched:
            call.kernel.batch_launcher.run(runtime, inputs, call.batched, call.params, outputs)
        else:
            call.kernel.run(runtime, inputs, outputs, call.params)
        self._maps[handle, device] = recorder.maps
        assert recorder.record is not None, "running a kernel launches it"
        return recorder.record

    def encode(self, handle: int, device: int, buffers: Sequence[int]) -> list[bytes]:
        """Return the maps of a launch for buffers at these addresses: their bytes, or the device address of a copy."""
        driver, found = self._cuda.driver, []
        gpu = driver.device(device)
        with driver.on(gpu):
            for m, by_value in self._maps[handle, device]:
                encoded = self._cuda.encoder.encode(RelocatedMap(m, m.resolve(buffers[m.source.index])))
                if not by_value:
                    encoded = self._cuda.descriptors(gpu).address(encoded, pinned=True).to_bytes(8, "little")
                found.append(encoded)
        return found
