"""Compare a kernel with a reference: `testing.compare(kernel, arrays, wanted, rtol=1e-5)`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyptx.kernel import Kernel

__all__ = ["compare", "of_package"]

PACKAGES = ("numpy", "torch", "jax")


def compare(
    kernel: Kernel,
    arrays: Sequence[np.ndarray],
    wanted: np.ndarray | Sequence[np.ndarray],
    *,
    rtol: float,
    atol: float = 0.0,
    call: Callable[..., Any] | None = None,
    **params: Any,
) -> None:
    """Call a kernel with arrays of NumPy, torch and JAX, as far as installed, and print the largest difference.

    Args:
        arrays: NumPy arrays; the inputs.
        wanted: the expected outputs, an array for each.
        rtol, atol: tolerances, as in numpy.testing.assert_allclose.
        call: function that launches the kernel; default: the kernel itself.
        params: template parameters.
    Raises:
        AssertionError: a result is out of tolerance.
    """
    expected = [wanted] if isinstance(wanted, np.ndarray) else list(wanted)
    for package in filter(importlib.util.find_spec, PACKAGES):
        results = (call or kernel)(*(of_package(package, array) for array in arrays), **params)
        results = list(results) if isinstance(results, tuple | list) else [results]
        largest = 0.0
        for result, value in zip(results, expected, strict=True):
            result = host(result).astype(np.float64)
            np.testing.assert_allclose(result, value, rtol=rtol, atol=atol)
            largest = max(largest, float(np.abs(result - value).max(initial=0)))
        shapes = ", ".join(" x ".join(map(str, array.shape)) for array in arrays)
        assert kernel.last_run is not None, "the kernel was launched"
        print(
            f"{kernel.name} of {shapes} {arrays[0].dtype}, {package} arrays, on {kernel.last_run.backend!r}: largest "
            f"difference from NumPy {largest:.1e}"
        )


def of_package(package: str, array: np.ndarray) -> Any:
    """Convert a NumPy array to an array of "numpy", "torch" or "jax" with the same bits, also for ml_dtypes types."""
    if package == "numpy":
        return array
    module = importlib.import_module({"torch": "torch", "jax": "jax.numpy"}[package])
    if package == "torch" and array.dtype.kind == "V":  # bfloat16, float8_e4m3fn
        bits = array.view(f"u{array.dtype.itemsize}")
        return module.asarray(bits).view(getattr(module, array.dtype.name))
    return module.asarray(array)


def host(array: Any) -> np.ndarray:
    """Convert an array of any package to NumPy, 16-bit and smaller floats to f32."""
    if hasattr(array, "detach"):  # torch: NumPy has no bfloat16 of its own
        array = array.detach().cpu()
        return (array.float() if array.is_floating_point() else array).numpy()
    return np.asarray(array)
