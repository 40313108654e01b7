"""Launch cache: calls with a known signature skip argument checks and binding.

The key is everything the checks depend on: types, shapes and devices of the arrays, the parameters that affect the PTX,
the captures of the function, and the backend. Addresses, streams and the values of raw parameters are launch data.
Threads share the cache: entries are immutable, and a miss does all the work, under the kernel's lock where needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyptx.jit.captures import hashable
from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchPlan, Runtime, chosen
from pyptx.runtime.arrays import Elements, Placeholder, arrays_of_type

if TYPE_CHECKING:
    from pyptx.jit.kernel import JitKernel

__all__ = ["LaunchCache", "CachedLaunch"]

_CAPACITY = 4096  # entries; a full cache is cleared


class LaunchCache:
    """The launch cache of one kernel."""

    def __init__(self, kernel: JitKernel):
        self._kernel, self._launch_data, self._captures = kernel, kernel.binder.launch_data, kernel.captures
        self._count = len(kernel.in_specs)
        self.entries: dict[Hashable, CachedLaunch] = {}

    def key(self, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Hashable | None:
        """Return the key of a call; None where it cannot be cached."""
        backend, options = chosen()
        if options or len(inputs) != self._count or not inputs or "reachable" in params:
            return None
        known = inputs[0].__class__
        arrays = arrays_of_type(known)
        if arrays is None:
            return None
        kind_of = arrays.kind
        key: list[Hashable] = [backend, self._captures.key(), self._kernel.binder.revision]
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

    def keep(
        self,
        key: Hashable,
        specialization: Specialization,
        runtime: Runtime,
        plan: LaunchPlan,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        params: Mapping[str, Any],
    ) -> None:
        """Cache a launch, if its backend can repeat it with other addresses and values."""
        if specialization.tma_tensors and runtime.name == "sim":
            return  # the simulator creates tensor maps for each call
        kernel, binding, arrays = self._kernel, self._kernel.binder, (*inputs, *outputs)
        sizes, template, raw = binding.split(params)
        env = binding.sizes_with(runtime.arrays, {**binding.sizes_of(runtime.arrays, inputs), **sizes}, outputs)
        values = binding.raw_values(raw, env, template)
        specs = (*kernel.in_specs, *kernel.out_specs)
        placeholders = [
            Placeholder(k, tuple(array.shape), Elements(spec.dtype.bits // 8 or 1))
            for k, (array, spec) in enumerate(zip(arrays, specs, strict=True))
        ]
        maps = kernel.launcher.maps(specialization, placeholders) if specialization.tma_tensors else []
        launch = runtime.backend.bind(
            specialization.program(runtime),
            plan,
            runtime,
            placeholders,
            values,
            maps,
            apart=0 if kernel.in_place else len(outputs),
        )
        if launch is None:
            return
        if len(self.entries) >= _CAPACITY:
            self.entries.clear()
        results = [
            (tuple(array.shape), spec.dtype.name, spec.zeroed)
            for array, spec in zip(outputs, kernel.out_specs, strict=True)
        ]
        named = [(place, name) for place, name in enumerate(binding.raw) if name in raw]
        self.entries[key] = CachedLaunch(kernel, specialization, runtime.arrays, launch, results, values, named)

    def __len__(self) -> int:
        return len(self.entries)


class CachedLaunch:
    """A cached launch: running it allocates the outputs and fills in addresses and values."""

    __slots__ = ("_arrays", "_fixed", "_kernel", "_launch", "_named", "_results", "_specialization")

    def __init__(
        self,
        kernel: JitKernel,
        specialization: Specialization,
        arrays: Any,
        launch: Callable[..., Any],
        results: Sequence[tuple[Any, ...]],
        fixed: list[Any],
        named: Sequence[tuple[int, str]],
    ):
        self._kernel, self._specialization, self._arrays, self._launch = kernel, specialization, arrays, launch
        self._results, self._fixed, self._named = results, fixed, named

    def run(self, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> list[Any] | None:
        """Launch and return the outputs; None when the call must be bound in full, and nothing was launched."""
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
        self._kernel.last_specialization = specialization = self._specialization
        if done is True:
            specialization.ran_on_gpu()
        else:
            specialization.ran(done, outputs)
        return outputs
