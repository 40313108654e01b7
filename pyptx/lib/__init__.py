"""Building blocks of warp-specialized kernels: `from pyptx import lib`.

They are plain Python over `pyptx.ptx`: each call emits the instructions that its documentation names, and the view shows
them below the line of the call.
"""

from pyptx.lib.roles import Roles, roles
from pyptx.lib.tma_ring import Stage, TmaRing

__all__ = ["Roles", "Stage", "TmaRing", "roles"]
