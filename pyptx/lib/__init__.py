"""Building blocks of warp-specialized kernels: `from pyptx import lib`.

They are plain Python over `pyptx.ptx`: each call emits the instructions that its documentation names, and the view shows
them below the line of the call.
"""

from pyptx.lib.layout import Layout
from pyptx.lib.roles import Roles, roles
from pyptx.lib.tma_ring import Stage, TmaRing
from pyptx.lib.wgmma_fragment import WgmmaFragment
from pyptx.lib.wgmma_tile import WgmmaTile

__all__ = ["Layout", "Roles", "Stage", "TmaRing", "WgmmaFragment", "WgmmaTile", "roles"]
