"""500 random wrong calls over NumPy, torch and JAX arrays: each is an error that names its cause, never a crash."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from runtime.kernels import product, scale

import pyptx
from pyptx import kernel, ptx, sim
from pyptx.errors import LaunchError, PtxError
from pyptx.types import u64

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

ARRAY_PACKAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy": lambda a: a,
    "torch": torch.from_numpy,
    "jax": jax.numpy.asarray,
}
OTHERS = [np.float64, np.int32, np.int64, np.uint8, np.float16, np.complex64, np.bool_]
NO_ARRAYS = ["text", 3, 2.5, None, [1.0, 2.0], {"a": 1}, object(), b"bytes", np.float32(3), (1, 2)]


def good(rng: random.Random, shape: tuple[int, ...]) -> np.ndarray:
    return np.full(shape, rng.random(), np.float32)


def wrong_array(rng: random.Random, rank: int, package: str) -> Any:
    """An array that a Tile of f32 and that rank does not take."""
    make, shape = ARRAY_PACKAGES[package], tuple(rng.randint(1, 9) for _ in range(rank))
    kind = rng.choice(["dtype", "rank", "object"] + ["package"] * (rank > 1) + ["layout"] * (package != "jax"))
    if kind == "dtype":
        other = rng.choice([o for o in OTHERS if package != "jax" or np.dtype(o).itemsize != 8])
        return make(np.zeros(shape, other))
    if kind == "rank":
        return make(good(rng, (*shape, 3) if rng.random() < 0.5 or rank == 1 else shape[1:]))
    if kind == "layout":
        base = make(good(rng, (*shape[:-1], 4 * shape[-1] + 4)))
        return base[..., ::2]
    if kind == "package":
        return ARRAY_PACKAGES[rng.choice([p for p in ARRAY_PACKAGES if p != package])](good(rng, shape))
    return rng.choice(NO_ARRAYS)


def bad_call(rng: random.Random) -> tuple[str, Callable[[], Any]]:
    """What the error names, and a call that is wrong in one way."""
    package = rng.choice(list(ARRAY_PACKAGES))
    make = ARRAY_PACKAGES[package]
    match rng.choice(["scale", "product", "sizes", "value", "name", "count", "launch"]):
        case "scale":
            x = wrong_array(rng, 1, package)
            return "x", lambda: scale(x, factor=1.0)
        case "product":
            a, b = make(good(rng, (3, 4))), wrong_array(rng, 2, package)
            return "b", lambda: product(a, b)
        case "sizes":
            m, n = rng.randint(1, 9), rng.randint(1, 9)
            a, b = make(good(rng, (m, n))), make(good(rng, (m + 1, n)))
            return "M", lambda: product(a, b)
        case "value":
            value = rng.choice(["two", None, [1.0], object(), {}, make(good(rng, (2,))), 10**400])
            x = make(good(rng, (8,)))
            return "factor", lambda: scale(x, factor=value)
        case "name":
            x, name = make(good(rng, (8,))), rng.choice(["factr", "n", "x", "M"])
            return name, lambda: scale(x, factor=1.0, **{name: 3})
        case "count":
            arrays = [make(good(rng, (3, 4)))] * rng.randint(0, 1)
            return "takes 2 input arrays", lambda: product(*arrays)
        case _:
            x = good(rng, (8,))
            args = [x, x.copy(), 1.0, 8]
            k = rng.randrange(4)
            args[k] = rng.choice(
                ["text", None, [1], object(), {}, b"abc"] + ([1 << 80, -(1 << 70)] if k != 2 else [x, 10**400])
            )
            return ("x", "y", "factor", "N")[k], lambda: scale.launch(1, 64, *args)


@pytest.mark.parametrize("seed", range(10))
def test_wrong_calls_are_refused_by_name(seed: int):
    rng = random.Random(seed)
    for n in range(50):
        name, call = bad_call(rng)
        try:
            call()
        except (PtxError, TypeError, NotImplementedError) as error:  # TypeError: a count or a name, as in Python
            assert name in str(error), f"seed {seed}, call {n}: {error!r} does not name {name}"
            assert isinstance(error, PtxError) or "scale" in str(error) or "product" in str(error), repr(error)
        else:
            pytest.fail(f"seed {seed}, call {n}: nothing was refused ({name})")


REFERENCES = {
    "object": lambda: np.array([1.5] * 64, dtype=object),
    "struct": lambda: np.zeros(64, dtype=[("key", object), ("value", "f4")]),
    "strings": lambda: np.array(["a"] * 64, dtype=np.dtypes.StringDType()),
    "nested": lambda: np.zeros(64, dtype=[("inner", [("key", object)], 2)]),
    "one": lambda: np.array(None, dtype=object),
}


@pytest.mark.parametrize("make", REFERENCES.values(), ids=REFERENCES)
def test_arrays_of_python_references_are_refused_wherever_a_pointer_is_made(make):
    store = kernel(raw_params=[("u64", "out")])(store_zero)
    with pytest.raises(LaunchError, match="whose elements are Python references"):
        store.launch(1, 1, make())
    with pytest.raises(LaunchError, match="whose elements are Python references"):
        store.check(1, 1, make())
    with pytest.raises(LaunchError, match="whose elements are Python references"):
        store.debug(1, 1, make())
    with pytest.raises(LaunchError, match="whose elements are Python references"):
        sim.launch(sim.load(store.module()), (1, 1, 1), (1, 1, 1), [make()])


def store_zero():
    ptx.inst.st.global_.u64(ptx.addr(ptx.param(u64, "out")), 0)


def test_a_tensor_map_of_python_references_is_refused():
    with pytest.raises(LaunchError, match="TensorMap: the array has dtype object"):
        pyptx.TensorMap(np.array([[None] * 8] * 8, dtype=object), (8, 8), dtype="u64")
