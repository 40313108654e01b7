"""Decoded instructions: the closed set of actions that every engine implements.

`Action` is the union of all of them. An engine dispatches on the class of an action; its fields are plain data.
"""

from __future__ import annotations

from pyptx.sim.actions.asynchronous import (
    AsyncGroup,
    AsyncStore,
    BulkCopy,
    ClusterArrive,
    ClusterWait,
    CpAsync,
    CpAsyncArrive,
    IsCanceled,
    MbarrierArrive,
    MbarrierInit,
    MbarrierInval,
    MbarrierLayout,
    MbarrierPending,
    MbarrierTest,
    MbarrierWait,
    Reduction,
    SetMaxRegisters,
    StBulk,
    TryCancel,
)
from pyptx.sim.actions.expressions import Apply, Leaf, Node, walk
from pyptx.sim.actions.matrix import (
    LoadFragment,
    LoadMatrix,
    Mma,
    Model,
    MoveMatrix,
    Product,
    Scale,
    StoreFragment,
    StoreMatrix,
    Wgmma,
    WgmmaGroup,
    flops,
    model,
)
from pyptx.sim.actions.operands import (
    Address,
    Blocking,
    Collective,
    Const,
    Handled,
    Reg,
    Special,
    Sum,
    Value,
    WholeWarp,
)
from pyptx.sim.actions.scalar import (
    Atomic,
    Branch,
    Call,
    Clock,
    Compute,
    Exit,
    HostCall,
    IsSpace,
    Jump,
    Load,
    Move,
    Nop,
    Return,
    Store,
    Transfer,
    Trap,
)
from pyptx.sim.actions.tcgen05 import (
    Tcgen05Commit,
    Tcgen05Mma,
    TmemAlloc,
    TmemCopy,
    TmemFree,
    TmemLoad,
    TmemRelinquish,
    TmemShift,
    TmemStore,
    TmemWait,
)
from pyptx.sim.actions.tensor_copies import TensorCopy, TensormapCopy, TensormapFence, TensormapReplace
from pyptx.sim.actions.textures import Fetch, Handle, IsType, Query, SurfaceLoad, SurfaceReduce, SurfaceStore
from pyptx.sim.actions.warp import ActiveMask, CtaBarrier, Elect, Match, Redux, Shuffle, Vote, WarpBarrier

__all__ = [
    "Action",
    "ActiveMask",
    "Address",
    "Apply",
    "AsyncGroup",
    "AsyncStore",
    "Atomic",
    "CtaBarrier",
    "Blocking",
    "Branch",
    "BulkCopy",
    "Call",
    "Clock",
    "ClusterArrive",
    "ClusterWait",
    "Collective",
    "Compute",
    "Const",
    "CpAsync",
    "CpAsyncArrive",
    "Elect",
    "Exit",
    "Fetch",
    "Handle",
    "Handled",
    "HostCall",
    "IsCanceled",
    "IsSpace",
    "IsType",
    "Jump",
    "Leaf",
    "Load",
    "LoadFragment",
    "LoadMatrix",
    "Match",
    "MbarrierArrive",
    "MbarrierInit",
    "MbarrierInval",
    "MbarrierLayout",
    "MbarrierPending",
    "MbarrierTest",
    "MbarrierWait",
    "Mma",
    "Model",
    "Move",
    "MoveMatrix",
    "Node",
    "Nop",
    "Product",
    "Query",
    "Reduction",
    "Redux",
    "Reg",
    "Return",
    "Scale",
    "SetMaxRegisters",
    "Shuffle",
    "Special",
    "Sum",
    "StBulk",
    "Store",
    "StoreFragment",
    "StoreMatrix",
    "SurfaceLoad",
    "SurfaceReduce",
    "SurfaceStore",
    "Tcgen05Commit",
    "Tcgen05Mma",
    "TensorCopy",
    "TensormapCopy",
    "TensormapFence",
    "TensormapReplace",
    "TmemAlloc",
    "TmemCopy",
    "TmemFree",
    "TmemLoad",
    "TmemRelinquish",
    "TmemShift",
    "TmemStore",
    "TmemWait",
    "Transfer",
    "Trap",
    "TryCancel",
    "Value",
    "Vote",
    "WarpBarrier",
    "Wgmma",
    "WgmmaGroup",
    "WholeWarp",
    "flops",
    "model",
    "walk",
]

Action = (
    Load
    | Store
    | Atomic
    | Move
    | Compute
    | Branch
    | Jump
    | Exit
    | Call
    | Return
    | HostCall
    | Trap
    | Nop
    | Clock
    | IsSpace
    | Shuffle
    | Vote
    | Match
    | Redux
    | Elect
    | WarpBarrier
    | ActiveMask
    | CtaBarrier
    | MbarrierInit
    | MbarrierInval
    | MbarrierLayout
    | MbarrierArrive
    | MbarrierTest
    | MbarrierWait
    | MbarrierPending
    | CpAsync
    | CpAsyncArrive
    | AsyncGroup
    | BulkCopy
    | AsyncStore
    | StBulk
    | ClusterArrive
    | ClusterWait
    | SetMaxRegisters
    | TryCancel
    | IsCanceled
    | Mma
    | Wgmma
    | WgmmaGroup
    | LoadMatrix
    | StoreMatrix
    | MoveMatrix
    | LoadFragment
    | StoreFragment
    | TensorCopy
    | TensormapReplace
    | TensormapCopy
    | TensormapFence
    | TmemAlloc
    | TmemFree
    | TmemRelinquish
    | TmemLoad
    | TmemStore
    | TmemWait
    | TmemCopy
    | TmemShift
    | Tcgen05Commit
    | Tcgen05Mma
    | Fetch
    | Query
    | IsType
    | SurfaceLoad
    | SurfaceStore
    | SurfaceReduce
)
