"""Random arrays that stand in for the inputs of a kernel of which only the sizes are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pyptx.errors import MissingSizeError
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.specs import Tile

__all__ = ["random_array", "random_inputs"]


def random_inputs(
    kernel: str, specs: Sequence[Tile], sizes: Mapping[str, int], rng: np.random.Generator
) -> list[np.ndarray]:
    """Return an array for each Tile, with elements as of `random_array`.

    Args:
        kernel: its name, for messages.
        sizes: sizes of the symbolic dimensions.
    Raises:
        MissingSizeError: a Tile has a size that is not given.
    """
    arrays = []
    for spec in specs:
        if unknown := [name for name in spec.symbolic_dims if name not in sizes]:
            raise MissingSizeError(
                f"{kernel}: the size {', '.join(unknown)} of {spec} is not known",
                hint=f"pass input arrays, or sizes as in {', '.join(f'{name}=128' for name in unknown)}",
            )
        arrays.append(random_array(spec.resolve_shape(sizes), spec.dtype.name, rng))
    return arrays


def random_array(shape: tuple[int, ...], type_name: str, rng: np.random.Generator) -> np.ndarray:
    """Return standard normal floating-point numbers, or integers below 100.

    Raises:
        LaunchError: NumPy has no such type.
        KeyError: PTX has no such type.
    """
    kind = numpy_dtype(type_name)
    if kind.kind in "iub":
        return rng.integers(0, 2 if kind.kind == "b" else 100, shape).astype(kind)
    return rng.standard_normal(shape).astype(kind)
