"""Published times of vectors, transposes, sums and a convolution: held out until 2026-11-29.

`forward_ladders.py` has the rule by which they were chosen, and what is inferred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rungs import Ladder, Rung, data_of, source_ladder, zeros


def vectors() -> Ladder:
    """Sums and copies of f16 vectors by the numbers of a thread; ms."""
    data, rungs, count, file = data_of("hidden_vectors"), [], 1 << 31, "hidden_vectors.ptx"
    each = {"add_pairs": 2, "add_apart": 2, "copy_eights": 8}
    for entry, ms in data["values"].items():
        arrays, grid = 3 if entry.startswith("add") else 2, (count // 256 // each.get(entry, 1),)

        def args(arrays: int = arrays) -> Sequence[Any]:
            return [*zeros(*[count] * arrays, dtype="float16")(), count]

        rungs.append(Rung(entry, data["gpu"], ms / 1e3, file, entry, grid, (256,), args, isolated=True))
    return source_ladder("sums and copies of vectors", data, rungs)


def transposes() -> Ladder:
    """Transposes of an f16 matrix by elements and by tiles; GB/s."""
    data, rungs, side, file = data_of("hidden_transposes"), [], 32768, "hidden_transposes.ptx"

    def args() -> Sequence[Any]:
        return [*zeros((side, side), (side, side), dtype="float16")(), side, side]

    each = {"move_fours": 4, "move_eights": 8}  # of a thread, of the kernels without tiles
    tiles = {
        "move_tiles": (16, 16),
        "move_turned": (16, 16),
        "move_twice": (32, 32),
    }  # columns and rows, 16 columns else
    for entry, rate in data["values"].items():
        grid, block = (side**2 // 256 // each.get(entry, 1),), (256,)
        if entry in ("move_tiles", "move_turned", "move_tall", "move_padded", "move_twice"):
            across, down = tiles.get(entry, (16, 32))
            grid, block = (side // across, side // down), (16, down)
        seconds = 4 * side**2 / rate / 1e9
        rungs.append(Rung(entry, data["gpu"], seconds, file, entry, grid, block, args, isolated=True))
    return source_ladder("transposes of a matrix", data, rungs)


def sums() -> Ladder:
    """Sums of a vector by atomics, trees and shuffles; ms."""
    data, rungs, count, file = data_of("hidden_sums"), [], 1 << 25, "hidden_sums.ptx"
    for of, values in data["values"].items():
        for name, ms in values.items():

            def args(of: Any = np.float32 if of == "f32" else np.int32) -> Sequence[Any]:
                return [*zeros(1, count, dtype=of)(), count]

            entry, grid, shared = f"sum_{name}_{of}", (count // 256,), 1024 if name in ("tree", "shuffles") else 0
            on, seconds = data["gpu"], ms / 1e3
            rungs.append(Rung(entry, on, seconds, file, entry, grid, (256,), args, shared, isolated=True))
    return source_ladder("sums by atomics and trees", data, rungs)


def convolutions() -> Ladder:
    """A convolution by the sizes of the image and the weights, and by the threads of a CTA; ms."""
    data, rungs, file = data_of("hidden_convolution"), [], "hidden_convolution.ptx"
    for side, wide, (across, down), ms in data["values"]:

        def args(side: int = side, wide: int = wide) -> Sequence[Any]:
            image, out, weights = zeros((side, side), (side, side), (wide, wide))()
            return [image, out, side, side, weights, wide]

        named, grid = f"{wide} x {wide} of {side} by {across} x {down}", (side // across, side // down)
        named += " again" * (named in [rung.name for rung in rungs])
        on, block, seconds = data["gpu"], (across, down), ms / 1e3
        rungs.append(Rung(named, on, seconds, file, "convolve", grid, block, args, isolated=True, repeated=True))
    return source_ladder("a convolution by sizes", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield these ladders."""
    yield from (vectors(), transposes(), sums(), convolutions())
