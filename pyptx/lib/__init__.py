"""Building blocks of warp-specialized kernels: `from pyptx import lib`.

They are plain Python over `pyptx.ptx`: each call emits the instructions that its documentation names, and the view shows
them below the line of the call.
"""

from pyptx.lib.array_tile import ArrayTile, tile
from pyptx.lib.boxed_fragment import BoxedFragment
from pyptx.lib.bulk_copy import copy_bulk
from pyptx.lib.copies import copy, copy_async
from pyptx.lib.epilogue import activation, bias, gelu, relu, residual, row_scaled, scaled, silu, times
from pyptx.lib.fp4 import store_fp4
from pyptx.lib.fragment import Fragment
from pyptx.lib.layout import Layout
from pyptx.lib.online_softmax import OnlineSoftmax
from pyptx.lib.roles import Roles, roles
from pyptx.lib.store_boxes import StoreBoxes
from pyptx.lib.swizzle import Swizzle, SwizzledLayout
from pyptx.lib.tensor_memory import TensorFragment, TensorMemory
from pyptx.lib.tensor_product import TensorProduct
from pyptx.lib.tile_order import Share, StreamK, TileOrder, divided
from pyptx.lib.tma_ring import TmaRing
from pyptx.lib.tma_stage import Stage
from pyptx.lib.wgmma_fragment import WgmmaFragment
from pyptx.lib.wgmma_tile import WgmmaTile

__all__ = [
    "ArrayTile",
    "BoxedFragment",
    "Fragment",
    "Layout",
    "OnlineSoftmax",
    "Roles",
    "Share",
    "Stage",
    "StoreBoxes",
    "StreamK",
    "Swizzle",
    "SwizzledLayout",
    "TensorFragment",
    "TensorMemory",
    "TensorProduct",
    "TileOrder",
    "TmaRing",
    "WgmmaFragment",
    "WgmmaTile",
    "activation",
    "bias",
    "copy",
    "copy_async",
    "copy_bulk",
    "divided",
    "gelu",
    "relu",
    "residual",
    "roles",
    "row_scaled",
    "scaled",
    "silu",
    "store_fp4",
    "tile",
    "times",
]
