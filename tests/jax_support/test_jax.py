"""Kernels on JAX arrays: eager, under jit, with a custom_vjp; on the CPU, where they run on the simulator."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from runtime.kernels import counts, double_bf16, past_the_end, product, scale
from support.processes import PACKAGE_PARENT, python
from support.two_kernels import KERNELS

from pyptx.errors import LaunchError
from pyptx.jax_support import ensure_ffi_registered, registry
from pyptx.jit import JitKernel

X = jnp.arange(100, dtype=jnp.float32)


@pytest.mark.transform("JAX", "eager call", "supported")
def test_an_eager_call_gives_an_array():
    y = scale(X, factor=3.0)
    assert isinstance(y, jax.Array) and (y == 3 * X).all()


@pytest.mark.transform("JAX", "`jax.jit`", "supported: one FFI call")
def test_under_jit():
    compiled = jax.jit(lambda x: scale(x * 2, factor=3.0) + 1)
    for size in (100, 37):
        x = jnp.arange(size, dtype=jnp.float32)
        assert (compiled(x) == 6 * x + 1).all()


def test_several_outputs():
    a, b = (jnp.asarray(np.random.default_rng(k).normal(size=(3, 100)), jnp.float32) for k in range(2))
    both, total = jax.jit(product)(a, b)
    assert (both == a * b).all() and (total == a + b).all()


def test_outputs_that_a_kernel_adds_to_are_zeros_first():
    x = jnp.arange(300, dtype=jnp.uint32) % 8
    compiled = jax.jit(lambda x: counts(x))
    for f in (counts, compiled, compiled):
        assert (f(x) == jnp.bincount(x, length=8)).all()
    assert (jax.vmap(compiled)(jnp.stack([x, 7 - x]))[1] == jnp.bincount(7 - x, length=8)).all()


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


def test_of_equal_kernels_the_one_that_was_called_runs():
    """A notebook cell that is run again makes an equal kernel; its last_run is looked at next."""
    for kernel in (JitKernel(scale.declaration), JitKernel(scale.declaration)):
        jax.jit(lambda x, kernel=kernel: kernel(x, factor=7.0))(X).block_until_ready()
        assert kernel.last_specialization is not None


@pytest.mark.transform("JAX", "`jax.grad`", "supported with `jax.custom_vjp`")
def test_gradients_through_custom_vjp():
    @jax.custom_vjp
    def tripled(x):
        return scale(x, factor=3.0)

    tripled.defvjp(lambda x: (tripled(x), None), lambda _, gradient: (scale(gradient, factor=3.0),))
    gradient = jax.grad(lambda x: (tripled(x) * X).sum())
    assert (gradient(X) == 3 * X).all() and (jax.jit(gradient)(X) == 3 * X).all()


@pytest.mark.transform("JAX", "`jax.grad` without a rule", "refused")
def test_gradients_without_a_rule_are_refused():
    with pytest.raises(ValueError, match="custom_vjp|custom_jvp"):
        jax.grad(lambda x: scale(x, factor=3.0).sum())(X)


def attributes_in(text: str) -> tuple[int, str]:
    """Return handle and description of the call in a lowered computation."""
    description = text.split('kernel = "')[1].split('"}')[0]
    return int(text.split("cubin_handle = ")[1].split(" ")[0]), re.sub(r"\\22", '"', description)


CHECKS = [jax.export.DisabledSafetyCheck.custom_call("pyptx_launch")]


def exported(*shapes: tuple):
    function = jax.jit(lambda *xs: (product if len(xs) == 2 else lambda x: scale(x, factor=2.0))(*xs))
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return jax.export.export(function, platforms=["cpu", "cuda"], disabled_checks=CHECKS)(*arrays)


@pytest.mark.transform(
    "JAX", "`jax.export`", "supported: the kernel is found in its module, or refused if it has changed"
)
def test_exported_computations_name_their_kernel_by_what_it_is(monkeypatch):
    computation = exported(X.shape)
    assert (computation.call(X) == 2 * X).all()
    handle, description = attributes_in(computation.mlir_module())
    call = jax.ffi.ffi_call("pyptx_launch", jax.ShapeDtypeStruct(X.shape, X.dtype))
    monkeypatch.setattr(registry, "_calls", {})  # as in another process
    monkeypatch.setattr(registry, "_digests", {})
    assert (call(X, cubin_handle=np.int64(handle), kernel=description) == 2 * X).all()
    with pytest.raises(Exception, match=f"no kernel with handle {handle + 1:#x}"):
        jax.block_until_ready(call(X, cubin_handle=np.int64(handle + 1)))
    with pytest.raises(Exception, match="kernel scale launches differently than when this computation was exported"):
        jax.block_until_ready(call(X, cubin_handle=np.int64(handle + 1), kernel=description))
    with pytest.raises(Exception, match="does not exist in this process"):
        other = description.replace(":scale:", ":scales:")
        jax.block_until_ready(call(X, cubin_handle=np.int64(handle + 2), kernel=other))


@pytest.mark.transform(
    "JAX", "`jax.export` with symbolic shapes", "supported on the CPU, for sizes that the Tiles name"
)
def test_exports_with_symbolic_shapes_run_for_every_size():
    (n,) = jax.export.symbolic_shape("n")
    computation = exported((n,))
    for size in (100, 37, 1):
        assert (computation.call(X[:size]) == 2 * X[:size]).all()
    rows, columns = jax.export.symbolic_shape("rows, columns")
    both, total = exported((rows, columns), (rows, columns)).call(X.reshape(4, 25), X.reshape(4, 25) + 1)
    assert (both == X.reshape(4, 25) * (X.reshape(4, 25) + 1)).all() and (total == 2 * X.reshape(4, 25) + 1).all()
    with pytest.raises(LaunchError, match="product: conflicting sizes for 'M': rows in a, columns in b"):
        exported((rows, columns), (columns, rows))


TWO_PROCESSES = """
import sys
import jax, jax.numpy as jnp, pyptx
jax.config.update("jax_compilation_cache_dir", "cache")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name) if name.endswith("cache_hits") else None)
"""
WRITES = """
import kernels
chk = [jax.export.DisabledSafetyCheck.custom_call("pyptx_launch")]
print(jax.jit(lambda x: kernels.scaled(x) + 1)(jnp.ones(4)).tolist())
print(jax.export.export(jax.jit(kernels.scaled), disabled_checks=chk)(jnp.ones(4)).mlir_module())
"""


@pytest.mark.transform(
    "JAX",
    "persistent compilation cache, exports in another process",
    "supported: entries are keyed by the kernel's content",
)
@pytest.mark.slow
def test_another_process_runs_exports_and_cached_computations(tmp_path: Path):
    def run(text: str, factor: float) -> str:
        (tmp_path / "kernels.py").write_text(KERNELS.format(factor=factor, size='"N"'), encoding="utf-8")
        done = python("-c", TWO_PROCESSES + text, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{PACKAGE_PARENT}"})
        return done.stdout + done.stderr

    first = run(WRITES, 2.0)
    assert first.startswith("[3.0, 3.0, 3.0, 3.0]"), first
    handle, description = attributes_in(first)
    call = f"""
import numpy as np
made = jax.ffi.ffi_call("pyptx_launch", jax.ShapeDtypeStruct((4,), jnp.float32))
try:
    print(made(jnp.ones(4), cubin_handle=np.int64({handle}), kernel={description!r}).tolist())
except Exception as error:
    print(error)
"""
    cached = """
import kernels
hits.clear()
print(jax.jit(lambda x: kernels.{}(x) + 1)(jnp.ones(4)).tolist(), len(hits))
"""
    second = run(call + cached.format("negated") + cached.format("scaled"), 2.0)
    assert second.splitlines() == ["[2.0, 2.0, 2.0, 2.0]", "[0.0, 0.0, 0.0, 0.0] 0", "[3.0, 3.0, 3.0, 3.0] 1"], second
    third = run(call + cached.format("scaled"), 4.0)
    assert "kernel kernels.scaled has changed since this computation was compiled or exported" in third, third
    assert "[5.0, 5.0, 5.0, 5.0] 0" in third, third


SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from runtime.kernels import scale
assert jax.device_count() == 2
mesh = Mesh(np.array(jax.devices()), ("d",))
x = jax.device_put(jnp.arange(64, dtype=jnp.float32), NamedSharding(mesh, P("d")))
parts = jax.jit(jax.shard_map(lambda x: scale(x, factor=2.0), mesh=mesh, in_specs=P("d"), out_specs=P("d"),
                              check_vma=False))
y = parts(x)
assert len(y.sharding.device_set) == 2 and (y == 2 * x).all()
assert (scale(x, factor=3.0) == 3 * x).all()                        # gathered
text = parts.trace(x).lower().compile().as_text()
assert "f32[32]" in text, text
print("sharded")
"""


@pytest.mark.transform("JAX", "`jax.shard_map`", "supported: one launch for each device")
@pytest.mark.transform("JAX", "a call on sharded arrays", "supported: gathered first")
@pytest.mark.slow
def test_each_device_launches_on_its_part_in_shard_map():
    tests = str(Path(__file__).parents[1])
    done = python(
        "-c",
        SHARDED,
        env={"PYTHONPATH": f"{tests}:{PACKAGE_PARENT}", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"},
    )
    assert done.stdout == "sharded\n", done.stderr


def test_a_fault_of_the_kernel_fails_the_computation():
    with pytest.raises(Exception, match="outside every buffer"):
        jax.block_until_ready(past_the_end(X))


@pytest.mark.parametrize(
    "array, problem",
    [
        (jnp.zeros(4, jnp.int32), "x has dtype int32"),
        (jnp.zeros((2, 2)), "x: array of shape .* has rank 2"),
        (jax.random.key(0), "elements that kernels do not support"),
    ],
)
def test_bad_arrays_are_named(array, problem):
    with pytest.raises(LaunchError, match=problem):
        scale(array, factor=1.0)


@pytest.mark.transform("JAX", "`out=`", "refused: arrays are immutable")
def test_out_is_refused():
    with pytest.raises(LaunchError, match="JAX arrays are immutable"):
        scale(X, factor=1.0, out=X)


def test_registering_twice_is_fine():
    assert ensure_ffi_registered() is ensure_ffi_registered()
