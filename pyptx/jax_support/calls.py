"""FFI calls of kernels, and calls for a batch, which jax.vmap makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import jax
import jax.export
import numpy as np
from jax.core import Tracer

from pyptx.errors import ArgumentValueError, BackendError
from pyptx.jax_support.registry import (
    TARGET,
    call_of,
    description_of,
    ensure_ffi_registered,
    handle_of,
    shim_load_error,
    symbolic_handle_of,
)
from pyptx.runtime.arrays import Arrays, arrays_of_type, batch_size
from pyptx.runtime.identity import resolve
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.specs import unify_envs

__all__ = ["issue"]


def issue(
    arrays: Arrays, kernel: str, params: Mapping[str, Any], inputs: Sequence[Any], batched: tuple[bool, ...] = ()
) -> Sequence[Any]:
    """Issue the FFI call that launches a kernel; return the outputs.

    Args:
        arrays: the operations on JAX arrays.
        kernel: identity of the kernel.
        batched: for a call for a batch, the inputs that have a leading batch dimension, as all outputs do.
    Raises:
        LaunchError: shapes or dtypes do not match the Tiles.
    """
    found = resolve(kernel)
    env = unify_envs([found.binder.sizes_of(arrays, inputs, batched), found.binder.split(params)[0]])
    batch = (batch_size(inputs, batched),) if batched else ()
    symbolic = any(map(jax.export.is_symbolic_dim, (*env.values(), *batch)))
    if not symbolic:
        found.binder.check_values(params, env)
    results = [
        jax.ShapeDtypeStruct((*batch, *shape), _result_dtype(found.name, spec.dtype.name))
        for shape, spec in zip(found.binder.shapes(env), found.out_specs, strict=True)
    ]
    if results and not symbolic and not any(result.size for result in results):
        return [jax.numpy.zeros(result.shape, result.dtype) for result in results]
    if not ensure_ffi_registered() and any(arrays.device(x) != "cpu" for x in inputs):
        raise BackendError(f"{found.name}: launches on JAX arrays on a GPU are not available: {shim_load_error()}")
    given = [(x.shape, np.dtype(x.dtype)) for x in inputs]
    made = [(r.shape, np.dtype(r.dtype)) for r in results]
    if symbolic:
        handle = symbolic_handle_of(kernel, params, batched)
        text = description_of(kernel, params, None, (), batched)
    else:
        handle = handle_of(kernel, params, given, made, env, batched)
        text = description_of(kernel, params, given, made, batched)
    zeroed = tuple(k for k, spec in enumerate(found.out_specs) if spec.zeroed)
    call = _call(handle, text, len(inputs), tuple((r.shape, r.dtype) for r in results), zeroed)
    return (call[1] if any(isinstance(x, Tracer) for x in inputs) else call[0])(*inputs)


@cache
def _call(
    handle: int, text: str, inputs: int, results: tuple[tuple[tuple[int, ...], Any], ...], zeroed: tuple[int, ...]
) -> tuple[Callable[..., Sequence[Any]], Callable[..., Sequence[Any]]]:
    """Return the FFI call of a handle, jitted for eager calls so that they are compiled once, and plain for tracers.

    Zero-initialized results, whose indices are `zeroed`, are passed as arguments after the inputs and aliased by XLA.
    """
    shapes = [jax.ShapeDtypeStruct(*result) for result in results]
    launch = jax.ffi.ffi_call(
        TARGET,
        shapes,
        has_side_effect=False,
        input_output_aliases={inputs + k: result for k, result in enumerate(zeroed)},
    )

    @jax.custom_batching.custom_vmap
    def call(*inputs: Any) -> Sequence[Any]:
        return launch(
            *inputs, *(jax.numpy.zeros(*results[k]) for k in zeroed), cubin_handle=np.int64(handle), kernel=text
        )

    @call.def_vmap
    def _(size: int, are_batched: Sequence[bool], *inputs: Any) -> tuple[Sequence[Any], list[bool]]:
        outputs = _batch(handle, text, call, size, are_batched, inputs)
        return outputs, [True] * len(outputs)

    return jax.jit(call), call


def _batch(
    handle: int, text: str, call: Callable[..., Any], size: int, outer: Sequence[bool], inputs: Sequence[Any]
) -> Sequence[Any]:
    """Return the outputs of a call under vmap: of one launch for the whole batch if the kernel allows it, else of a loop.

    A call for a batch becomes one for all elements of both batches.

    Args:
        outer: inputs that have the batch of `size` elements as their first dimension.
    """
    known = call_of(handle, text)
    inner, counts, batched = known.batched, (), tuple(outer)
    merged = list(inputs)
    if inner:
        count = next(x.shape[int(ours)] for x, ours, one in zip(inputs, outer, inner, strict=True) if one)
        merged = [_merged(*each, size, count) for each in zip(inputs, outer, inner, strict=True)]
        counts, batched = (count,), tuple(ours or one for ours, one in zip(outer, inner, strict=True))
    if _shares_a_grid(known, merged, batched):
        arrays = arrays_of_type(jax.Array)
        assert arrays is not None, "JAX is an array package"
        outputs = issue(arrays, known.kernel.recorded_identity(), known.params, merged, batched)
        return [output.reshape(size, *counts, *output.shape[1:]) for output in outputs]

    def element(parts: Sequence[Any]) -> Sequence[Any]:
        own = iter(parts)
        return call(*(next(own) if ours else x for x, ours in zip(inputs, outer, strict=True)))

    return list(jax.lax.map(element, [x for x, ours in zip(inputs, outer, strict=True) if ours]))


def _merged(x: Any, outer: bool, inner: bool, size: int, count: int) -> Any:
    """Return an array with one leading dimension for both batches; repeated for the elements of a batch it lacks."""
    if not outer and not inner:
        return x
    shape = x.shape[outer + inner :]
    x = x.reshape(size if outer else 1, count if inner else 1, *shape)
    return jax.numpy.broadcast_to(x, (size, count, *shape)).reshape(size * count, *shape)


def _shares_a_grid(known: Any, inputs: Sequence[Any], batched: tuple[bool, ...]) -> bool:
    """Return True if the kernel launches once for a batch. With symbolic shapes, this is decided when the call runs."""
    shapes = [x.shape[1:] if one else x.shape for x, one in zip(inputs, batched, strict=True)]
    kernel = known.kernel
    env = unify_envs(
        [
            *(spec.extract_env(shape) for spec, shape in zip(kernel.in_specs, shapes, strict=True)),
            kernel.binder.split(known.params)[0],
        ]
    )
    size = batch_size(inputs, batched)
    if any(map(jax.export.is_symbolic_dim, (*env.values(), size))):
        return True
    return not isinstance(kernel.batch_launcher.specialize(env, known.params, batched, size), str)


def _result_dtype(kernel: str, name: str) -> np.dtype:
    dtype = numpy_dtype(name)
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ArgumentValueError(
            f"{kernel} returns {dtype}, which JAX does not support by default",
            hint="jax.config.update('jax_enable_x64', True)",
        )
    return dtype
