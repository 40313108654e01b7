"""Launches of a kernel for a batch of calls, as vmap makes them: in one grid if the kernel allows it, else in a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchResult, Runtime, options
from pyptx.runtime.arrays import batch_size

if TYPE_CHECKING:
    from pyptx.jit.kernel import JitKernel

__all__ = ["BatchLauncher"]

_ALIGNMENT = 128  # bytes, more than any access requires


class BatchLauncher:
    """Launches one kernel for batches. In a batch, some inputs and all outputs have a leading batch dimension."""

    def __init__(self, kernel: JitKernel):
        self._kernel, self._declaration, self._binder = kernel, kernel.declaration, kernel.binder

    def run(
        self,
        runtime: Runtime,
        inputs: Sequence[Any],
        batched: Sequence[bool],
        params: Mapping[str, Any],
        out: Sequence[Any] | None = None,
    ) -> LaunchResult:
        """Launch for all elements of a batch.

        Args:
            batched: for each input, True if it has a batch dimension; at least one has.
            out: arrays for the outputs; None: they are allocated.
        Raises:
            LaunchError: an array does not fit.
        """
        env = self._binder.unified(
            self._binder.sizes_of(runtime.arrays, inputs, batched), self._binder.split(params)[0]
        )
        size = batch_size(inputs, batched)
        if out is None:
            out = [
                runtime.arrays.empty((size, *shape), spec.dtype.name, inputs, spec.zeroed)
                for shape, spec in zip(self._binder.shapes(env), self._declaration.out_specs, strict=True)
            ]
        _, template, raw = self._binder.split(params)
        grid = self._binder.grid(env, template)
        if 0 in grid or (out and not any(prod(output.shape) for output in out)):
            self._kernel.last_specialization = None
            return LaunchResult(runtime.name, 0.0, outputs=tuple(out))
        found = self.specialize(env, params, batched, size)
        if isinstance(found, str):
            return self._loop(runtime, inputs, batched, params, out, env)
        self._kernel.last_specialization = found
        args = [*inputs, *out, *self._binder.raw_values(raw, env, template)]
        with runtime.backend.staged(args) as staged:
            return found.launch(
                runtime,
                (grid[0], grid[1], grid[2] * size),
                self._binder.block(env, template),
                staged,
                cluster=self._binder.cluster(env, template),
                smem_bytes=self._declaration.smem_bytes,
                outputs=out,
                settings=options(),
            )

    def specialize(
        self, env: Mapping[str, int], params: Mapping[str, Any], batched: Sequence[bool], size: int
    ) -> Specialization | str:
        """Return the specialization that runs a batch in one grid, or why there is none, as a clause.

        Args:
            env: sizes of the arrays of an element.
        """
        from pyptx import grid_batch  # late: few kernels are launched for batches

        template = self._binder.split(params)[1]
        depth = self._binder.grid(env, template)[2]
        if not self._declaration.out_specs:
            return "it has no outputs"
        if size < 2:
            return "the batch has a single element" if size else "the batch is empty"
        if size * depth > grid_batch.MAX_GRID_Z:
            return f"the grid would have {size * depth:,} CTAs in z; the maximum is {grid_batch.MAX_GRID_Z:,}"
        if self._binder.cluster(env, template)[2] != 1:
            return "its clusters extend in z"
        specialization, strides = self._kernel.specialize(**{**params, **env}), self._strides(env)
        shared = [name for name, one in zip(self._declaration.tensors, batched, strict=False) if not one]
        return specialization.batched({**strides, **dict.fromkeys(shared, 0)}, depth)

    def _strides(self, env: Mapping[str, int]) -> dict[str, int]:
        """Return the bytes of an element of each array."""
        return {
            name: prod(spec.resolve_shape(env)) * (spec.dtype.bits // 8 or 1)
            for name, spec in zip(self._declaration.tensors, self._declaration.specs, strict=False)
        }

    def _loop(
        self,
        runtime: Runtime,
        inputs: Sequence[Any],
        batched: Sequence[bool],
        params: Mapping[str, Any],
        out: Sequence[Any],
        env: Mapping[str, int],
    ) -> LaunchResult:
        """Launch for one element after the other; elements are copied unless they are aligned as arrays of their own."""
        aligned = [
            size % max(_ALIGNMENT, spec.align or 1) == 0
            for size, spec in zip(self._strides(env).values(), self._declaration.specs, strict=True)
        ]
        for k in range(batch_size(inputs, batched)):
            element = [x[k] if one else x for x, one in zip(inputs, batched, strict=True)]
            for i, spec in enumerate(self._declaration.in_specs):
                if batched[i] and not aligned[i]:
                    copy = runtime.arrays.empty(element[i].shape, spec.dtype.name, inputs)
                    copy[...] = element[i]
                    element[i] = copy
            if all(aligned[len(inputs) :]):
                self._kernel.run(runtime, element, [output[k] for output in out], params)
            else:
                result = self._kernel.run(runtime, element, None, params)
                for output, value in zip(out, result.outputs, strict=True):
                    output[k] = value
        return LaunchResult(runtime.name, None, outputs=tuple(out))
