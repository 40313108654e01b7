"""Kernels on JAX arrays: eager, under jit, with a custom_vjp; on the CPU, where they run on the simulator."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from runtime.kernels import double_bf16, past_the_end, product, scale

from pyptx.errors import LaunchError
from pyptx.jax_support import ensure_ffi_registered

X = jnp.arange(100, dtype=jnp.float32)


def test_an_eager_call_gives_an_array():
    y = scale(X, factor=3.0)
    assert isinstance(y, jax.Array) and (y == 3 * X).all()


def test_under_jit():
    compiled = jax.jit(lambda x: scale(x * 2, factor=3.0) + 1)
    for size in (100, 37):
        x = jnp.arange(size, dtype=jnp.float32)
        assert (compiled(x) == 6 * x + 1).all()


def test_several_outputs():
    a, b = (jnp.asarray(np.random.default_rng(k).normal(size=(3, 100)), jnp.float32) for k in range(2))
    both, total = jax.jit(product)(a, b)
    assert (both == a * b).all() and (total == a + b).all()


def test_bfloat16():
    x = jnp.linspace(-3, 3, 64).astype(jnp.bfloat16)
    y = double_bf16(x)
    assert y.dtype == jnp.bfloat16 and (y == 2 * x).all()


def test_subnormals_are_kept_though_xla_flushes_them_in_its_threads():
    x = jnp.full(64, 1e-40, jnp.float32)
    assert np.array_equal(np.asarray(scale(x, factor=2.0)), np.asarray(x) * np.float32(2))


def test_lowered_for_a_gpu_that_is_not_here():
    traced = jax.jit(lambda x: scale(x, factor=2.0)).trace(X)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "pyptx_launch" in text and "cubin_handle" in text


def test_equal_parameters_have_one_handle():
    def handle(factor):
        text = jax.jit(lambda x: scale(x, factor=factor)).trace(X).lower().as_text()
        return text.split("cubin_handle = ")[1].split(" ")[0]
    assert handle(2.0) == handle(2.0) != handle(2.5)


def test_gradients_through_custom_vjp():
    @jax.custom_vjp
    def tripled(x):
        return scale(x, factor=3.0)
    tripled.defvjp(lambda x: (tripled(x), None), lambda _, gradient: (scale(gradient, factor=3.0),))
    gradient = jax.grad(lambda x: (tripled(x) * X).sum())
    assert (gradient(X) == 3 * X).all() and (jax.jit(gradient)(X) == 3 * X).all()


def test_gradients_without_a_rule_and_vmap_are_refused():
    with pytest.raises(ValueError, match="custom_vjp|custom_jvp"):
        jax.grad(lambda x: scale(x, factor=3.0).sum())(X)
    with pytest.raises(NotImplementedError, match="vmap"):
        jax.vmap(lambda x: scale(x, factor=3.0))(jnp.ones((3, 4)))


def test_a_fault_of_the_kernel_fails_the_computation():
    with pytest.raises(Exception, match="outside every buffer"):
        jax.block_until_ready(past_the_end(X))


@pytest.mark.parametrize("array, problem", [
    (jnp.zeros(4, jnp.int32), "x has dtype int32"), (jnp.zeros((2, 2)), "x: array of shape .* has rank 2"),
    (jax.random.key(0), "no elements a kernel can address")])
def test_bad_arrays_are_named(array, problem):
    with pytest.raises(LaunchError, match=problem):
        scale(array, factor=1.0)


def test_out_is_refused():
    with pytest.raises(LaunchError, match="JAX arrays cannot be written to"):
        scale(X, factor=1.0, out=X)


def test_registering_twice_is_fine():
    assert ensure_ffi_registered() is ensure_ffi_registered()
