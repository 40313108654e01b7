"""jax.vmap of kernels: a batch is one launch where the kernel allows it, else a launch for each element."""

from __future__ import annotations

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from runtime.kernels import product, scale
from runtime.test_tensor_maps import copy
from support.launches import recorded_grids

from pyptx.errors import LaunchError
from pyptx.jax_support import registry

ROWS = jnp.arange(40, dtype=jnp.float32).reshape(5, 8)
CHECKS = [jax.export.DisabledSafetyCheck.custom_call("pyptx_launch")]


def doubled(x):
    return scale(x, factor=2.0)


def exported(function, *shape):
    return jax.export.export(jax.jit(function), disabled_checks=CHECKS)(jax.ShapeDtypeStruct(shape, jnp.float32))


def grids_of(function, *arrays):
    """Return the result and the grids that were launched for it."""
    with recorded_grids() as grids:
        return jax.block_until_ready(function(*arrays)), grids


@pytest.mark.transform(
    "JAX", "`jax.vmap`, also of `jax.jit`", "supported: one launch, [where the kernel allows it](#batches)"
)
def test_a_batch_is_one_launch():
    batched = jax.vmap(doubled)
    for function in (batched, jax.jit(batched), jax.vmap(jax.jit(doubled))):
        y, grids = grids_of(function, ROWS)
        assert (y == 2 * ROWS).all() and grids == [(1, 1, 5)]
    y, grids = grids_of(jax.vmap(doubled, in_axes=1, out_axes=1), ROWS.T)
    assert (y == 2 * ROWS.T).all() and grids == [(1, 1, 5)]
    assert "pyptx_launch" in jax.jit(batched).trace(ROWS).lower(lowering_platforms=("cuda",)).as_text()


def test_nested_batches_and_shared_inputs_are_one_launch():
    a, b = (jnp.asarray(np.random.default_rng(k).normal(size=(k, 3, 8)), jnp.float32) for k in (2, 4))
    (both, total), grids = grids_of(jax.vmap(product, in_axes=(0, None)), a, b[0])
    assert (both == a * b[0]).all() and (total == a + b[0]).all() and grids == [(3, 1, 2)]
    (both, _), grids = grids_of(jax.vmap(jax.vmap(product, in_axes=(None, 0)), in_axes=(0, None)), a, b)
    assert (both == a[:, None] * b).all() and grids == [(3, 1, 8)]


def test_a_kernel_with_an_obstacle_is_launched_for_each_element():
    x = jnp.arange(3 * 8 * 32, dtype=jnp.float32).reshape(3, 8, 32)
    y, grids = grids_of(jax.vmap(copy), x)  # by tensor maps
    assert (y == x).all() and len(grids) == 3


@pytest.mark.parametrize("shape", [(0, 2, 8), (1, 1, 8), (3, 2, 0)])
def test_empty_and_single_batches(shape):
    x = jnp.ones(shape)
    y, grids = grids_of(jax.vmap(jax.vmap(doubled)), x)
    assert y.shape == shape and (y == 2 * x).all() and len(grids) == (x.size > 0)


@pytest.mark.transform("JAX", "`jax.vmap` of `jax.grad`", "supported with `jax.custom_vjp`")
def test_gradients_of_batches():
    @jax.custom_vjp
    def tripled(x):
        return scale(x, factor=3.0)

    tripled.defvjp(lambda x: (tripled(x), None), lambda _, gradient: (scale(gradient, factor=3.0),))
    each = jax.vmap(jax.grad(lambda x: (tripled(x) * x).sum()))
    total = jax.grad(lambda x: (jax.vmap(tripled)(x) * x).sum())
    for function in (each, total):
        y, grids = grids_of(function, ROWS)
        assert (y == 6 * ROWS).all() and grids == [(1, 1, 5)] * 2
    with pytest.raises(ValueError, match="custom_vjp|custom_jvp"):
        jax.grad(lambda x: jax.vmap(doubled)(x).sum())(ROWS)


@pytest.mark.slow
@pytest.mark.transform(
    "JAX", "`jax.export` of `jax.vmap`", "supported; with symbolic shapes, one launch or a loop is decided when it runs"
)
def test_exported_batches(monkeypatch):
    computation = exported(jax.vmap(doubled), 5, 8)
    monkeypatch.setattr(registry, "_calls", {})  # as in another process
    monkeypatch.setattr(registry, "_digests", {})
    y, grids = grids_of(computation.call, ROWS)
    assert (y == 2 * ROWS).all() and grids == [(1, 1, 5)]
    batch, n = jax.export.symbolic_shape("batch, n")
    computation = exported(jax.vmap(jax.vmap(doubled)), 2, batch, n)
    for size in (5, 1):
        x = jnp.stack([ROWS[:size], -ROWS[:size]])
        y, grids = grids_of(computation.call, x)
        assert (y == 2 * x).all() and grids == [(1, 1, 2 * size)]


def test_wrong_elements_are_named():
    with pytest.raises(LaunchError, match="scale: x: array of shape .* has rank 2"):
        jax.vmap(doubled)(jnp.ones((2, 3, 4)))
