"""Batched grids: one launch of an entry for a batch of equal launches, with the batch in the z dimension of the grid.

`obstacle` decides whether the entry behaves in the batched grid as in separate launches; `with_batched_grid` rewrites it.
"""

from pyptx.grid_batch.alignment import alignments
from pyptx.grid_batch.obstacles import MAX_GRID_Z, obstacle, waits_for_memory
from pyptx.grid_batch.rewrite import with_batched_grid

__all__ = ["MAX_GRID_Z", "alignments", "obstacle", "waits_for_memory", "with_batched_grid"]
