"""Calls of a kernel that were made before: what was checked and worked out then is not looked at again.

A call is found by everything its checks depended on: types, shapes and devices of the arrays, the parameters that
decide about the kernel's text, what its function reads from outside, the backend. Addresses, streams and the values of
raw parameters are launch data. Threads share the table: entries never change, and a call that misses does the whole
work, with the kernel's lock around what must be done once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from pyptx._outside import hashable
from pyptx.kernel.variant import Variant
from pyptx.runtime import LaunchPlan, Runtime, chosen
from pyptx.runtime.arrays import Elements, StandIn, arrays_of_type

__all__ = ["Calls", "Repeat"]

_KEPT = 4096                            # calls; beyond, all are forgotten


class Calls:
    """Of one kernel.

    Args:
        kernel: a pyptx.kernel.Kernel.
    """

    def __init__(self, kernel: Any):
        self._kernel, self._launch_data, self._outside = kernel, kernel.binding.launch_data, kernel.outside
        self._count = len(kernel.in_specs)
        self.found: dict[Hashable, Repeat] = {}

    def key(self, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Hashable | None:
        """What decides how a call is launched; None where it is decided anew each time."""
        backend, options = chosen()
        if options or len(inputs) != self._count or not inputs:
            return None
        known = inputs[0].__class__
        arrays = arrays_of_type(known)
        if arrays is None:
            return None
        kind_of = arrays.kind
        key: list[Hashable] = [backend, self._outside.key()]
        if out is not None:
            inputs = (*inputs, *out) if isinstance(out, (tuple, list)) else (*inputs, out)
            key.append(len(inputs))
        for array in inputs:
            if array.__class__ is not known and arrays_of_type(array.__class__) is not arrays:
                return None
            kind = kind_of(array)
            if kind is None:
                return None
            key.append(kind)
        for name, value in params.items():
            key.append(name)
            key.append(value.__class__ if name in self._launch_data else hashable(value))
        return tuple(key)

    def keep(self, key: Hashable, variant: Variant, runtime: Runtime, plan: LaunchPlan, inputs: Sequence[Any],
             outputs: Sequence[Any], params: Mapping[str, Any]) -> None:
        """Remember how a call was launched, where its backend can do it again without looking."""
        if variant.tma_tensors and runtime.name == "sim":
            return                                              # makes the maps of each call
        kernel, binding, arrays = self._kernel, self._kernel.binding, (*inputs, *outputs)
        sizes, template, raw = binding.split(params)
        env = binding.sizes_with(runtime.arrays, {**binding.sizes_of(runtime.arrays, inputs), **sizes}, outputs)
        values = binding.raw_values(raw, env, template)
        specs = (*kernel.in_specs, *kernel.out_specs)
        stand_ins = [StandIn(k, tuple(array.shape), Elements(spec.dtype.bits // 8 or 1))
                     for k, (array, spec) in enumerate(zip(arrays, specs, strict=True))]
        maps = kernel.maps(variant, stand_ins) if variant.tma_tensors else []
        launch = runtime.backend.bind(variant.program(runtime), plan, runtime, stand_ins, values, maps,
                                      apart=0 if kernel.in_place else len(outputs))
        if launch is None:
            return
        if len(self.found) >= _KEPT:
            self.found.clear()
        results = [(tuple(array.shape), spec.dtype.name, spec.zeroed)
                   for array, spec in zip(outputs, kernel.out_specs, strict=True)]
        named = [(place, name) for place, name in enumerate(binding.raw) if name in raw]
        self.found[key] = Repeat(kernel, variant, runtime.arrays, launch, results, values, named)

    def __len__(self) -> int:
        return len(self.found)


class Repeat:
    """How calls of one kind are launched: outputs are made, addresses and values written, nothing else."""

    __slots__ = ("_arrays", "_fixed", "_kernel", "_launch", "_named", "_results", "_variant")

    def __init__(self, kernel: Any, variant: Variant, arrays: Any, launch: Callable, results: Sequence[tuple],
                 fixed: list[Any], named: Sequence[tuple[int, str]]):
        self._kernel, self._variant, self._arrays, self._launch = kernel, variant, arrays, launch
        self._results, self._fixed, self._named = results, fixed, named

    def run(self, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> list[Any] | None:
        """Launch; the outputs, or None when this call must be looked at after all. Then nothing was launched."""
        values = self._fixed
        if self._named:
            values = values.copy()
            for place, name in self._named:
                values[place] = params[name]
        if out is None:
            empty = self._arrays.empty
            outputs = [empty(shape, name, inputs, zeroed) for shape, name, zeroed in self._results]
        else:
            outputs = list(out) if isinstance(out, tuple | list) else [out]
        done = self._launch((*inputs, *outputs), values, out is not None)
        if not done:
            return None
        self._kernel.last_variant = variant = self._variant
        if done is True:
            variant.ran_on_gpu()
        else:
            variant.ran(done, outputs)
        return outputs
