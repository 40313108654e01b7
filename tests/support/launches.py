"""The launches that a block of code makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from pyptx.jit import Specialization

__all__ = ["recorded_grids"]


@contextmanager
def recorded_grids() -> Iterator[list[tuple[int, int, int]]]:
    """Record the grid of each launch."""
    grids, launch = [], Specialization.launch

    def recorded(self, runtime, grid, *args, **options):
        grids.append(grid)
        return launch(self, runtime, grid, *args, **options)

    with mock.patch.object(Specialization, "launch", recorded):
        yield grids
