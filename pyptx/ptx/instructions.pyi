"""Written by `python -m pyptx.isa.generate`; do not edit."""

from pyptx.reg import Reg

__all__ = ["inst", "pipe"]

class _Instruction:
    def __call__(self, *operands: object, pred: object = None) -> Reg | None: ...

class _abs(_Instruction):
    """Absolute value."""
    bf16: _abs
    bf16x2: _abs
    f16: _abs
    f16x2: _abs
    f32: _abs
    f64: _abs
    ftz: _abs
    s16: _abs
    s32: _abs
    s64: _abs

class _activemask(_Instruction):
    """Mask of active lanes."""
    b32: _activemask

class _add(_Instruction):
    """Add."""
    bf16: _add
    bf16x2: _add
    cc: _add
    e2m1p4x4: _add
    e2m1x4: _add
    e2m3x4: _add
    e3m2x4: _add
    e4m3x4: _add
    e5m2x4: _add
    f16: _add
    f16x2: _add
    f32: _add
    f32x2: _add
    f64: _add
    ftz: _add
    rm: _add
    rn: _add
    rp: _add
    rz: _add
    s16: _add
    s16x2: _add
    s32: _add
    s64: _add
    s8x4: _add
    sat: _add
    satfinite: _add
    u16: _add
    u16x2: _add
    u32: _add
    u64: _add
    u8x4: _add
    ue8m0x4: _add

class _addc(_Instruction):
    """Add with carry-in."""
    cc: _addc
    s32: _addc
    s64: _addc
    u32: _addc
    u64: _addc

class _alloca(_Instruction):
    """Allocate stack memory."""
    u32: _alloca
    u64: _alloca

class _and(_Instruction):
    """Bitwise and."""
    b16: _and
    b32: _and
    b64: _and
    pred: _and

class _applypriority(_Instruction):
    """Change the cache priority of a range."""
    L2__evict_normal: _applypriority
    async_: _applypriority_async
    global_: _applypriority

class _applypriority_async(_Instruction):
    """Change the cache priority of a range asynchronously. Change the cache priority of a tensor tile
    asynchronously."""
    bulk: _applypriority_async_bulk

class _applypriority_async_bulk(_Instruction):
    """Change the cache priority of a range asynchronously."""
    L2__evict_normal: _applypriority_async_bulk
    bulk_group: _applypriority_async_bulk
    global_: _applypriority_async_bulk
    tensor: _applypriority_async_bulk_tensor

class _applypriority_async_bulk_tensor(_Instruction):
    """Change the cache priority of a tensor tile asynchronously."""
    _2d: _applypriority_async_bulk_tensor
    L2__evict_normal: _applypriority_async_bulk_tensor
    bulk_group: _applypriority_async_bulk_tensor
    global_: _applypriority_async_bulk_tensor
    tile: _applypriority_async_bulk_tensor

class _atom(_Instruction):
    """Read, modify and write atomically; returns the old value."""
    L2__cache_hint: _atom
    acq_rel: _atom
    acquire: _atom
    add: _atom
    and_: _atom
    b128: _atom
    b16: _atom
    b32: _atom
    b64: _atom
    bf16: _atom
    bf16x2: _atom
    cas: _atom
    cluster: _atom
    cta: _atom
    dec: _atom
    exch: _atom
    f16: _atom
    f16x2: _atom
    f32: _atom
    f64: _atom
    global_: _atom
    gpu: _atom
    inc: _atom
    max: _atom
    min: _atom
    noftz: _atom
    or_: _atom
    relaxed: _atom
    release: _atom
    s32: _atom
    s64: _atom
    shared: _atom
    shared__cluster: _atom
    shared__cta: _atom
    sys: _atom
    u32: _atom
    u64: _atom
    v2: _atom
    v4: _atom
    v8: _atom
    xor: _atom

class _bar(_Instruction):
    """Arrive at a barrier without waiting. Wait at a barrier and reduce a predicate. Wait for the threads of a
    barrier. Wait for lanes of the warp."""
    arrive: _bar_arrive
    cta: _bar_cta
    red: _bar_red
    sync: _bar_sync
    warp: _bar_warp

class _bar_arrive(_Instruction):
    """Arrive at a barrier without waiting."""
    cta: _bar_arrive

class _bar_cta(_Instruction):
    """Arrive at a barrier without waiting. Wait at a barrier and reduce a predicate. Wait for the threads of a
    barrier."""
    arrive: _bar_cta_arrive
    red: _bar_cta_red
    sync: _bar_cta_sync

class _bar_cta_arrive(_Instruction):
    """Arrive at a barrier without waiting."""

class _bar_cta_red(_Instruction):
    """Wait at a barrier and reduce a predicate."""
    and_: _bar_cta_red
    or_: _bar_cta_red
    popc: _bar_cta_red
    pred: _bar_cta_red
    u32: _bar_cta_red

class _bar_cta_sync(_Instruction):
    """Wait for the threads of a barrier."""

class _bar_red(_Instruction):
    """Wait at a barrier and reduce a predicate."""
    and_: _bar_red
    cta: _bar_red
    or_: _bar_red
    popc: _bar_red
    pred: _bar_red
    u32: _bar_red

class _bar_sync(_Instruction):
    """Wait for the threads of a barrier."""
    cta: _bar_sync

class _bar_warp(_Instruction):
    """Wait for lanes of the warp."""
    sync: _bar_warp

class _barrier(_Instruction):
    """Arrive at a barrier without waiting. Arrive at the cluster barrier. Wait at the cluster barrier. Wait at a
    barrier and reduce a predicate. Wait for the threads of a barrier."""
    arrive: _barrier_arrive
    cluster: _barrier_cluster
    cta: _barrier_cta
    red: _barrier_red
    sync: _barrier_sync

class _barrier_arrive(_Instruction):
    """Arrive at a barrier without waiting."""
    aligned: _barrier_arrive
    cta: _barrier_arrive

class _barrier_cluster(_Instruction):
    """Arrive at the cluster barrier. Wait at the cluster barrier."""
    arrive: _barrier_cluster_arrive
    wait: _barrier_cluster_wait

class _barrier_cluster_arrive(_Instruction):
    """Arrive at the cluster barrier."""
    aligned: _barrier_cluster_arrive
    relaxed: _barrier_cluster_arrive
    release: _barrier_cluster_arrive

class _barrier_cluster_wait(_Instruction):
    """Wait at the cluster barrier."""
    acquire: _barrier_cluster_wait
    aligned: _barrier_cluster_wait

class _barrier_cta(_Instruction):
    """Arrive at a barrier without waiting. Wait at a barrier and reduce a predicate. Wait for the threads of a
    barrier."""
    arrive: _barrier_cta_arrive
    red: _barrier_cta_red
    sync: _barrier_cta_sync

class _barrier_cta_arrive(_Instruction):
    """Arrive at a barrier without waiting."""
    aligned: _barrier_cta_arrive

class _barrier_cta_red(_Instruction):
    """Wait at a barrier and reduce a predicate."""
    aligned: _barrier_cta_red
    and_: _barrier_cta_red
    or_: _barrier_cta_red
    popc: _barrier_cta_red
    pred: _barrier_cta_red
    u32: _barrier_cta_red

class _barrier_cta_sync(_Instruction):
    """Wait for the threads of a barrier."""
    aligned: _barrier_cta_sync

class _barrier_red(_Instruction):
    """Wait at a barrier and reduce a predicate."""
    aligned: _barrier_red
    and_: _barrier_red
    cta: _barrier_red
    or_: _barrier_red
    popc: _barrier_red
    pred: _barrier_red
    u32: _barrier_red

class _barrier_sync(_Instruction):
    """Wait for the threads of a barrier."""
    aligned: _barrier_sync
    cta: _barrier_sync

class _bfe(_Instruction):
    """Extract a bit field."""
    s32: _bfe
    s64: _bfe
    u32: _bfe
    u64: _bfe

class _bfi(_Instruction):
    """Insert a bit field."""
    b32: _bfi
    b64: _bfi

class _bfind(_Instruction):
    """Find the most significant non-sign bit."""
    s32: _bfind
    s64: _bfind
    shiftamt: _bfind
    u32: _bfind
    u64: _bfind

class _bmsk(_Instruction):
    """Make a mask of consecutive ones."""
    b32: _bmsk
    clamp: _bmsk
    wrap: _bmsk

class _bra(_Instruction):
    """Branch."""
    uni: _bra

class _brev(_Instruction):
    """Reverse the bits."""
    b32: _brev
    b64: _brev

class _brkpt(_Instruction):
    """Stop in the debugger."""

class _brx(_Instruction):
    """Branch through a table."""
    idx: _brx_idx

class _brx_idx(_Instruction):
    """Branch through a table."""
    uni: _brx_idx

class _call(_Instruction):
    """Call a function."""
    uni: _call

class _clmad(_Instruction):
    """Carry-less multiply and xor."""
    hi: _clmad_hi
    lo: _clmad_lo

class _clmad_hi(_Instruction):
    """Carry-less multiply and xor."""
    lo: _clmad_hi
    u64: _clmad_hi

class _clmad_lo(_Instruction):
    """Carry-less multiply and xor."""
    hi: _clmad_lo
    u64: _clmad_lo

class _clusterlaunchcontrol(_Instruction):
    """Decode the answer to a cancel request. Ask to cancel a cluster that has not been launched yet."""
    query_cancel: _clusterlaunchcontrol_query_cancel
    try_cancel: _clusterlaunchcontrol_try_cancel

class _clusterlaunchcontrol_query_cancel(_Instruction):
    """Decode the answer to a cancel request."""
    b128: _clusterlaunchcontrol_query_cancel
    b32: _clusterlaunchcontrol_query_cancel
    get_first_ctaid: _clusterlaunchcontrol_query_cancel
    get_first_ctaid__x: _clusterlaunchcontrol_query_cancel
    get_first_ctaid__y: _clusterlaunchcontrol_query_cancel
    get_first_ctaid__z: _clusterlaunchcontrol_query_cancel
    is_canceled: _clusterlaunchcontrol_query_cancel
    pred: _clusterlaunchcontrol_query_cancel
    v4: _clusterlaunchcontrol_query_cancel

class _clusterlaunchcontrol_try_cancel(_Instruction):
    """Ask to cancel a cluster that has not been launched yet."""
    async_: _clusterlaunchcontrol_try_cancel_async

class _clusterlaunchcontrol_try_cancel_async(_Instruction):
    """Ask to cancel a cluster that has not been launched yet."""
    b128: _clusterlaunchcontrol_try_cancel_async
    mbarrier__complete_tx__bytes: _clusterlaunchcontrol_try_cancel_async
    multicast__cluster__all: _clusterlaunchcontrol_try_cancel_async
    shared__cta: _clusterlaunchcontrol_try_cancel_async

class _clz(_Instruction):
    """Count the leading zeros."""
    b32: _clz
    b64: _clz

class _cnot(_Instruction):
    """Logical negation: 1 for zero, else 0."""
    b16: _cnot
    b32: _cnot
    b64: _cnot

class _copysign(_Instruction):
    """Copy the sign of one value to another."""
    f32: _copysign
    f64: _copysign

class _cos(_Instruction):
    """Cosine, approximated."""
    approx: _cos
    f32: _cos
    ftz: _cos

class _cp(_Instruction):
    """Copy from global to shared memory asynchronously. Copy bytes in bulk asynchronously. Prefetch in bulk to L2.
    Prefetch a tensor tile to L2 (TMA). Copy a tensor tile asynchronously (TMA). Wait for bulk groups. Arrive on an
    mbarrier when this thread's cp.async are done. Reduce in bulk asynchronously. Reduce a tensor tile into global
    memory asynchronously (TMA)."""
    async_: _cp_async
    reduce: _cp_reduce

class _cp_async(_Instruction):
    """Copy from global to shared memory asynchronously."""
    L2__128B: _cp_async
    L2__256B: _cp_async
    L2__64B: _cp_async
    L2__cache_hint: _cp_async
    bulk: _cp_async_bulk
    ca: _cp_async
    cg: _cp_async
    commit_group: _cp_async
    global_: _cp_async
    mbarrier: _cp_async_mbarrier
    shared: _cp_async
    shared__cta: _cp_async
    wait_all: _cp_async
    wait_group: _cp_async

class _cp_async_bulk(_Instruction):
    """Copy bytes in bulk asynchronously."""
    L2__cache_hint: _cp_async_bulk
    b128: _cp_async_bulk
    bulk_group: _cp_async_bulk
    cluster: _cp_async_bulk
    commit_group: _cp_async_bulk
    cp_mask: _cp_async_bulk
    cta: _cp_async_bulk
    global_: _cp_async_bulk
    gpu: _cp_async_bulk
    ignore_oob: _cp_async_bulk
    mbarrier__complete_tx__bytes: _cp_async_bulk
    mbarrier__report__disabled: _cp_async_bulk
    mbarrier__report__validity__per_16bytes__8: _cp_async_bulk
    mbarrier__report__validity__per_16bytes__80: _cp_async_bulk
    mbarrier__report__validity__per_16bytes__8000: _cp_async_bulk
    mbarrier__report__validity__per_16bytes__80000000: _cp_async_bulk
    mbarrier__report__validity__per_element__ff: _cp_async_bulk
    multicast__cluster: _cp_async_bulk
    multicast__cluster__16b: _cp_async_bulk
    multicast__cluster__32b: _cp_async_bulk
    prefetch: _cp_async_bulk_prefetch
    relaxed: _cp_async_bulk
    shared__cluster: _cp_async_bulk
    shared__cta: _cp_async_bulk
    sys: _cp_async_bulk
    tensor: _cp_async_bulk_tensor
    wait_group: _cp_async_bulk_wait_group
    weak: _cp_async_bulk

class _cp_async_bulk_prefetch(_Instruction):
    """Prefetch in bulk to L2."""
    L2: _cp_async_bulk_prefetch
    L2__cache_hint: _cp_async_bulk_prefetch
    L2__evict_last: _cp_async_bulk_prefetch
    global_: _cp_async_bulk_prefetch
    tensor: _cp_async_bulk_prefetch_tensor

class _cp_async_bulk_prefetch_tensor(_Instruction):
    """Prefetch a tensor tile to L2 (TMA)."""
    _1d: _cp_async_bulk_prefetch_tensor
    _2d: _cp_async_bulk_prefetch_tensor
    _3d: _cp_async_bulk_prefetch_tensor
    _4d: _cp_async_bulk_prefetch_tensor
    _5d: _cp_async_bulk_prefetch_tensor
    L2: _cp_async_bulk_prefetch_tensor
    L2__cache_hint: _cp_async_bulk_prefetch_tensor
    L2__evict_last: _cp_async_bulk_prefetch_tensor
    global_: _cp_async_bulk_prefetch_tensor
    im2col: _cp_async_bulk_prefetch_tensor
    im2col__w: _cp_async_bulk_prefetch_tensor
    im2col__w__128: _cp_async_bulk_prefetch_tensor
    tile: _cp_async_bulk_prefetch_tensor
    tile__gather4: _cp_async_bulk_prefetch_tensor

class _cp_async_bulk_tensor(_Instruction):
    """Copy a tensor tile asynchronously (TMA)."""
    _1d: _cp_async_bulk_tensor
    _2d: _cp_async_bulk_tensor
    _3d: _cp_async_bulk_tensor
    _4d: _cp_async_bulk_tensor
    _5d: _cp_async_bulk_tensor
    L2__cache_hint: _cp_async_bulk_tensor
    bulk_group: _cp_async_bulk_tensor
    cta_group__1: _cp_async_bulk_tensor
    cta_group__2: _cp_async_bulk_tensor
    global_: _cp_async_bulk_tensor
    im2col: _cp_async_bulk_tensor
    im2col__w: _cp_async_bulk_tensor
    im2col__w__128: _cp_async_bulk_tensor
    im2col_no_offs: _cp_async_bulk_tensor
    im2col_no_offs__w: _cp_async_bulk_tensor
    mbarrier__complete_tx__bytes: _cp_async_bulk_tensor
    multicast__cluster: _cp_async_bulk_tensor
    override__global_address: _cp_async_bulk_tensor
    override__global_dim: _cp_async_bulk_tensor
    override__global_dim_stride: _cp_async_bulk_tensor
    shared__cluster: _cp_async_bulk_tensor
    shared__cta: _cp_async_bulk_tensor
    tile: _cp_async_bulk_tensor
    tile__gather4: _cp_async_bulk_tensor
    tile__scatter4: _cp_async_bulk_tensor

class _cp_async_bulk_wait_group(_Instruction):
    """Wait for bulk groups."""
    read: _cp_async_bulk_wait_group

class _cp_async_mbarrier(_Instruction):
    """Arrive on an mbarrier when this thread's cp.async are done."""
    arrive: _cp_async_mbarrier_arrive

class _cp_async_mbarrier_arrive(_Instruction):
    """Arrive on an mbarrier when this thread's cp.async are done."""
    b64: _cp_async_mbarrier_arrive
    noinc: _cp_async_mbarrier_arrive
    shared: _cp_async_mbarrier_arrive
    shared__cta: _cp_async_mbarrier_arrive

class _cp_reduce(_Instruction):
    """Reduce in bulk asynchronously. Reduce a tensor tile into global memory asynchronously (TMA)."""
    async_: _cp_reduce_async

class _cp_reduce_async(_Instruction):
    """Reduce in bulk asynchronously. Reduce a tensor tile into global memory asynchronously (TMA)."""
    bulk: _cp_reduce_async_bulk

class _cp_reduce_async_bulk(_Instruction):
    """Reduce in bulk asynchronously."""
    L2__cache_hint: _cp_reduce_async_bulk
    add: _cp_reduce_async_bulk
    and_: _cp_reduce_async_bulk
    b32: _cp_reduce_async_bulk
    b64: _cp_reduce_async_bulk
    bf16: _cp_reduce_async_bulk
    bulk_group: _cp_reduce_async_bulk
    cluster: _cp_reduce_async_bulk
    cta: _cp_reduce_async_bulk
    dec: _cp_reduce_async_bulk
    f16: _cp_reduce_async_bulk
    f32: _cp_reduce_async_bulk
    f64: _cp_reduce_async_bulk
    global_: _cp_reduce_async_bulk
    gpu: _cp_reduce_async_bulk
    inc: _cp_reduce_async_bulk
    max: _cp_reduce_async_bulk
    mbarrier__complete_tx__bytes: _cp_reduce_async_bulk
    min: _cp_reduce_async_bulk
    noftz: _cp_reduce_async_bulk
    or_: _cp_reduce_async_bulk
    relaxed: _cp_reduce_async_bulk
    s32: _cp_reduce_async_bulk
    s64: _cp_reduce_async_bulk
    shared__cluster: _cp_reduce_async_bulk
    shared__cta: _cp_reduce_async_bulk
    sys: _cp_reduce_async_bulk
    tensor: _cp_reduce_async_bulk_tensor
    u32: _cp_reduce_async_bulk
    u64: _cp_reduce_async_bulk
    xor: _cp_reduce_async_bulk

class _cp_reduce_async_bulk_tensor(_Instruction):
    """Reduce a tensor tile into global memory asynchronously (TMA)."""
    _1d: _cp_reduce_async_bulk_tensor
    _2d: _cp_reduce_async_bulk_tensor
    _3d: _cp_reduce_async_bulk_tensor
    _4d: _cp_reduce_async_bulk_tensor
    _5d: _cp_reduce_async_bulk_tensor
    L2__cache_hint: _cp_reduce_async_bulk_tensor
    add: _cp_reduce_async_bulk_tensor
    and_: _cp_reduce_async_bulk_tensor
    bulk_group: _cp_reduce_async_bulk_tensor
    dec: _cp_reduce_async_bulk_tensor
    global_: _cp_reduce_async_bulk_tensor
    im2col_no_offs: _cp_reduce_async_bulk_tensor
    inc: _cp_reduce_async_bulk_tensor
    max: _cp_reduce_async_bulk_tensor
    min: _cp_reduce_async_bulk_tensor
    or_: _cp_reduce_async_bulk_tensor
    shared__cta: _cp_reduce_async_bulk_tensor
    tile: _cp_reduce_async_bulk_tensor
    xor: _cp_reduce_async_bulk_tensor

class _createpolicy(_Instruction):
    """Make a cache policy from a CUDA access property. Make a cache policy for a fraction of accesses. Make a cache
    policy for an address range."""
    cvt: _createpolicy_cvt
    fractional: _createpolicy_fractional
    range: _createpolicy_range

class _createpolicy_cvt(_Instruction):
    """Make a cache policy from a CUDA access property."""
    L2: _createpolicy_cvt
    b64: _createpolicy_cvt

class _createpolicy_fractional(_Instruction):
    """Make a cache policy for a fraction of accesses."""
    L2__evict_first: _createpolicy_fractional
    L2__evict_last: _createpolicy_fractional
    L2__evict_normal: _createpolicy_fractional
    L2__evict_unchanged: _createpolicy_fractional
    b64: _createpolicy_fractional

class _createpolicy_range(_Instruction):
    """Make a cache policy for an address range."""
    L2__evict_first: _createpolicy_range
    L2__evict_last: _createpolicy_range
    L2__evict_normal: _createpolicy_range
    L2__evict_unchanged: _createpolicy_range
    b64: _createpolicy_range
    global_: _createpolicy_range

class _cvt(_Instruction):
    """Convert between types."""
    bf16: _cvt
    bf16x2: _cvt
    e2m1x2: _cvt
    e2m1x4: _cvt
    e2m3x2: _cvt
    e2m3x4: _cvt
    e3m2x2: _cvt
    e3m2x4: _cvt
    e4m3x2: _cvt
    e4m3x4: _cvt
    e5m2x2: _cvt
    e5m2x4: _cvt
    f16: _cvt
    f16x2: _cvt
    f32: _cvt
    f64: _cvt
    ftz: _cvt
    pack: _cvt_pack
    pzo: _cvt
    relu: _cvt
    rm: _cvt
    rmi: _cvt
    rn: _cvt
    rna: _cvt
    rni: _cvt
    rp: _cvt
    rpi: _cvt
    rs: _cvt
    rz: _cvt
    rzi: _cvt
    s16: _cvt
    s2f6x2: _cvt
    s32: _cvt
    s64: _cvt
    s8: _cvt
    sat: _cvt
    satfinite: _cvt
    scaled__n1__ue8m0: _cvt
    scaled__n2__ue8m0: _cvt
    tf32: _cvt
    u16: _cvt
    u32: _cvt
    u64: _cvt
    u8: _cvt
    ue5m3x2: _cvt
    ue8m0x2: _cvt

class _cvt_pack(_Instruction):
    """Convert two integers with saturation and pack them."""
    b32: _cvt_pack
    s16: _cvt_pack
    s2: _cvt_pack
    s32: _cvt_pack
    s4: _cvt_pack
    s8: _cvt_pack
    sat: _cvt_pack
    u16: _cvt_pack
    u2: _cvt_pack
    u4: _cvt_pack
    u8: _cvt_pack

class _cvta(_Instruction):
    """Convert an address of a state space to generic."""
    const: _cvta
    global_: _cvta
    local: _cvta
    param: _cvta
    param__entry: _cvta
    shared: _cvta
    shared__cluster: _cvta
    shared__cta: _cvta
    to: _cvta_to
    u32: _cvta
    u64: _cvta

class _cvta_to(_Instruction):
    """Convert a generic address to a state space."""
    const: _cvta_to
    global_: _cvta_to
    local: _cvta_to
    param: _cvta_to
    param__entry: _cvta_to
    shared: _cvta_to
    shared__cluster: _cvta_to
    shared__cta: _cvta_to
    u32: _cvta_to
    u64: _cvta_to

class _discard(_Instruction):
    """Drop cached data without writing it back."""
    L2: _discard
    global_: _discard

class _div(_Instruction):
    """Divide."""
    approx: _div
    f32: _div
    f64: _div
    ftz: _div
    full: _div_full
    rm: _div
    rn: _div
    rp: _div
    rz: _div
    s16: _div
    s32: _div
    s64: _div
    u16: _div
    u32: _div
    u64: _div

class _div_full(_Instruction):
    """Divide over the full range, at most 2 ulp off."""
    f32: _div_full
    ftz: _div_full

class _dp2a(_Instruction):
    """Dot product of two halves and two bytes, accumulated."""
    hi: _dp2a_hi
    lo: _dp2a_lo

class _dp2a_hi(_Instruction):
    """Dot product of two halves and two bytes, accumulated."""
    lo: _dp2a_hi
    s32: _dp2a_hi
    u32: _dp2a_hi

class _dp2a_lo(_Instruction):
    """Dot product of two halves and two bytes, accumulated."""
    hi: _dp2a_lo
    s32: _dp2a_lo
    u32: _dp2a_lo

class _dp4a(_Instruction):
    """Dot product of four bytes, accumulated."""
    s32: _dp4a
    u32: _dp4a

class _elect(_Instruction):
    """Elect one lane."""
    sync: _elect

class _ex2(_Instruction):
    """Power of two, approximated."""
    approx: _ex2
    bf16: _ex2
    bf16x2: _ex2
    f16: _ex2
    f16x2: _ex2
    f32: _ex2
    ftz: _ex2

class _exit(_Instruction):
    """End the thread."""

class _fabric(_Instruction):
    """Submit fabric operations. Read through the fabric asynchronously. Pull and reduce through the fabric
    asynchronously. Write through the fabric asynchronously. Reduce through the fabric asynchronously. Wait for
    fabric operations."""
    submit: _fabric_submit
    try_get: _fabric_try_get
    try_pullred: _fabric_try_pullred
    try_put: _fabric_try_put
    try_red: _fabric_try_red
    wait: _fabric_wait

class _fabric_submit(_Instruction):
    """Submit fabric operations."""
    op_restrict__fetching: _fabric_submit

class _fabric_try_get(_Instruction):
    """Read through the fabric asynchronously."""
    async_: _fabric_try_get_async

class _fabric_try_get_async(_Instruction):
    """Read through the fabric asynchronously."""
    b128: _fabric_try_get_async
    mbarrier__complete_tx__bytes: _fabric_try_get_async
    mbarrier__report__fabric: _fabric_try_get_async
    relaxed: _fabric_try_get_async
    shared__cta: _fabric_try_get_async
    sys: _fabric_try_get_async

class _fabric_try_pullred(_Instruction):
    """Pull and reduce through the fabric asynchronously."""
    async_: _fabric_try_pullred_async

class _fabric_try_pullred_async(_Instruction):
    """Pull and reduce through the fabric asynchronously."""
    acc__f16: _fabric_try_pullred_async
    acc__f32: _fabric_try_pullred_async
    add: _fabric_try_pullred_async
    and_: _fabric_try_pullred_async
    b32: _fabric_try_pullred_async
    b64: _fabric_try_pullred_async
    bf16: _fabric_try_pullred_async
    e4m3: _fabric_try_pullred_async
    e5m2: _fabric_try_pullred_async
    f16: _fabric_try_pullred_async
    f32: _fabric_try_pullred_async
    max: _fabric_try_pullred_async
    mbarrier__complete_tx__bytes: _fabric_try_pullred_async
    mbarrier__report__fabric: _fabric_try_pullred_async
    min: _fabric_try_pullred_async
    multimem: _fabric_try_pullred_async
    or_: _fabric_try_pullred_async
    relaxed: _fabric_try_pullred_async
    s32: _fabric_try_pullred_async
    s64: _fabric_try_pullred_async
    shared__cta: _fabric_try_pullred_async
    sync: _fabric_try_pullred_async
    sys: _fabric_try_pullred_async
    u32: _fabric_try_pullred_async
    u64: _fabric_try_pullred_async
    xor: _fabric_try_pullred_async

class _fabric_try_put(_Instruction):
    """Write through the fabric asynchronously."""
    async_: _fabric_try_put_async

class _fabric_try_put_async(_Instruction):
    """Write through the fabric asynchronously."""
    b128: _fabric_try_put_async
    counted__bytes: _fabric_try_put_async
    cp_mask: _fabric_try_put_async
    mbarrier__complete_tx__16B: _fabric_try_put_async
    mbarrier__report__fabric: _fabric_try_put_async
    multimem: _fabric_try_put_async
    relaxed: _fabric_try_put_async
    shared__cta: _fabric_try_put_async
    sys: _fabric_try_put_async

class _fabric_try_red(_Instruction):
    """Reduce through the fabric asynchronously."""
    async_: _fabric_try_red_async

class _fabric_try_red_async(_Instruction):
    """Reduce through the fabric asynchronously."""
    add: _fabric_try_red_async
    and_: _fabric_try_red_async
    b32: _fabric_try_red_async
    b64: _fabric_try_red_async
    bf16: _fabric_try_red_async
    f16: _fabric_try_red_async
    f32: _fabric_try_red_async
    f64: _fabric_try_red_async
    max: _fabric_try_red_async
    mbarrier__complete_tx__16B: _fabric_try_red_async
    mbarrier__report__fabric: _fabric_try_red_async
    min: _fabric_try_red_async
    multimem: _fabric_try_red_async
    or_: _fabric_try_red_async
    relaxed: _fabric_try_red_async
    s32: _fabric_try_red_async
    s64: _fabric_try_red_async
    shared__cta: _fabric_try_red_async
    sys: _fabric_try_red_async
    u32: _fabric_try_red_async
    u64: _fabric_try_red_async
    xor: _fabric_try_red_async

class _fabric_wait(_Instruction):
    """Wait for fabric operations."""
    sync_restrict__reads: _fabric_wait

class _fence(_Instruction):
    """Order memory accesses."""
    acq_rel: _fence
    acquire: _fence
    cluster: _fence
    cta: _fence
    gpu: _fence
    mbarrier_init: _fence
    proxy: _fence_proxy
    release: _fence
    sc: _fence
    sync_restrict__shared__cluster: _fence
    sync_restrict__shared__cta: _fence
    sys: _fence

class _fence_proxy(_Instruction):
    """Order accesses through different proxies."""
    acquire: _fence_proxy
    alias: _fence_proxy
    async_: _fence_proxy
    async__generic: _fence_proxy
    cluster: _fence_proxy
    cta: _fence_proxy
    fabric__fabric: _fence_proxy
    fabric__generic: _fence_proxy
    generic__fabric: _fence_proxy
    global_: _fence_proxy
    gpu: _fence_proxy
    release: _fence_proxy
    shared__cluster: _fence_proxy
    shared__cta: _fence_proxy
    sync_restrict__shared__cluster: _fence_proxy
    sync_restrict__shared__cta: _fence_proxy
    sys: _fence_proxy
    tensormap__generic: _fence_proxy

class _fma(_Instruction):
    """Multiply and add with one rounding."""
    bf16: _fma
    bf16x2: _fma
    e2m1p4x4: _fma
    e2m1x4: _fma
    e2m3x4: _fma
    e3m2x4: _fma
    e4m3x4: _fma
    e5m2x4: _fma
    f16: _fma
    f16x2: _fma
    f32: _fma
    f32x2: _fma
    f64: _fma
    ftz: _fma
    oob: _fma
    relu: _fma
    rm: _fma
    rn: _fma
    rp: _fma
    rz: _fma
    sat: _fma
    satfinite: _fma
    ue8m0x4: _fma

class _fns(_Instruction):
    """Find the n-th set bit."""
    b32: _fns

class _getctarank(_Instruction):
    """Rank of the CTA that owns a shared address."""
    s32: _getctarank
    s64: _getctarank
    shared__cluster: _getctarank
    u32: _getctarank
    u64: _getctarank

class _griddepcontrol(_Instruction):
    """Control dependent grids."""
    launch_dependents: _griddepcontrol
    wait: _griddepcontrol

class _isspacep(_Instruction):
    """Test whether a generic address is in a state space."""
    const: _isspacep
    global_: _isspacep
    local: _isspacep
    param: _isspacep
    param__entry: _isspacep
    shared: _isspacep
    shared__cluster: _isspacep
    shared__cta: _isspacep

class _istypep(_Instruction):
    """Test what a handle is."""
    samplerref: _istypep
    surfref: _istypep
    texref: _istypep

class _ld(_Instruction):
    """Load."""
    L1__evict_first: _ld
    L1__evict_last: _ld
    L1__evict_normal: _ld
    L1__evict_unchanged: _ld
    L1__no_allocate: _ld
    L2__128B: _ld
    L2__256B: _ld
    L2__64B: _ld
    L2__cache_hint: _ld
    L2__evict_first: _ld
    L2__evict_last: _ld
    L2__evict_normal: _ld
    acquire: _ld
    b128: _ld
    b16: _ld
    b32: _ld
    b64: _ld
    b8: _ld
    ca: _ld
    cg: _ld
    cluster: _ld
    const: _ld
    cs: _ld
    cta: _ld
    cv: _ld
    f32: _ld
    f64: _ld
    global_: _ld
    gpu: _ld
    local: _ld
    lu: _ld
    mmio: _ld
    nc: _ld
    param: _ld
    param__entry: _ld
    param__func: _ld
    proxy__readonly: _ld
    relaxed: _ld
    s16: _ld
    s32: _ld
    s64: _ld
    s8: _ld
    shared: _ld
    shared__cluster: _ld
    shared__cta: _ld
    sys: _ld
    u16: _ld
    u32: _ld
    u64: _ld
    u8: _ld
    v2: _ld
    v4: _ld
    v8: _ld
    volatile: _ld
    weak: _ld

class _ldmatrix(_Instruction):
    """Load matrices from shared memory."""
    aligned: _ldmatrix
    b16: _ldmatrix
    b4x16_p64: _ldmatrix
    b6x16_p32: _ldmatrix
    b8: _ldmatrix
    b8x16: _ldmatrix
    m16n16: _ldmatrix
    m8n16: _ldmatrix
    m8n8: _ldmatrix
    s4: _ldmatrix
    s8: _ldmatrix
    shared: _ldmatrix
    shared__cta: _ldmatrix
    sync: _ldmatrix
    trans: _ldmatrix
    x1: _ldmatrix
    x2: _ldmatrix
    x4: _ldmatrix

class _ldu(_Instruction):
    """Load read-only data from an address that is the same in the whole warp."""
    b128: _ldu
    b16: _ldu
    b32: _ldu
    b64: _ldu
    b8: _ldu
    f32: _ldu
    f64: _ldu
    global_: _ldu
    s16: _ldu
    s32: _ldu
    s64: _ldu
    s8: _ldu
    u16: _ldu
    u32: _ldu
    u64: _ldu
    u8: _ldu
    v2: _ldu
    v4: _ldu

class _lg2(_Instruction):
    """Base-2 logarithm, approximated."""
    approx: _lg2
    f32: _lg2
    ftz: _lg2

class _lop3(_Instruction):
    """Any bitwise function of three inputs, given as a table."""
    and_: _lop3
    b32: _lop3
    or_: _lop3

class _mad(_Instruction):
    """Multiply and add."""
    f32: _mad
    f64: _mad
    ftz: _mad
    hi: _mad_hi
    lo: _mad_lo
    rm: _mad
    rn: _mad
    rp: _mad
    rz: _mad
    sat: _mad
    wide: _mad_wide

class _mad_hi(_Instruction):
    """Multiply and add. Multiply, take the high half, add and saturate."""
    cc: _mad_hi
    lo: _mad_hi
    s16: _mad_hi
    s32: _mad_hi
    s64: _mad_hi
    sat: _mad_hi
    u16: _mad_hi
    u32: _mad_hi
    u64: _mad_hi

class _mad_lo(_Instruction):
    """Multiply and add."""
    cc: _mad_lo
    hi: _mad_lo
    s16: _mad_lo
    s32: _mad_lo
    s64: _mad_lo
    u16: _mad_lo
    u32: _mad_lo
    u64: _mad_lo

class _mad_wide(_Instruction):
    """Multiply and add in twice the width."""
    s16: _mad_wide
    s32: _mad_wide
    u16: _mad_wide
    u32: _mad_wide

class _mad24(_Instruction):
    """Multiply the low 24 bits and add. Multiply the low 24 bits, add and saturate."""
    hi: _mad24_hi
    lo: _mad24_lo

class _mad24_hi(_Instruction):
    """Multiply the low 24 bits and add. Multiply the low 24 bits, add and saturate."""
    lo: _mad24_hi
    s32: _mad24_hi
    sat: _mad24_hi
    u32: _mad24_hi

class _mad24_lo(_Instruction):
    """Multiply the low 24 bits and add."""
    hi: _mad24_lo
    s32: _mad24_lo
    u32: _mad24_lo

class _madc(_Instruction):
    """Multiply and add with carry-in."""
    hi: _madc_hi
    lo: _madc_lo

class _madc_hi(_Instruction):
    """Multiply and add with carry-in."""
    cc: _madc_hi
    lo: _madc_hi
    s32: _madc_hi
    s64: _madc_hi
    u32: _madc_hi
    u64: _madc_hi

class _madc_lo(_Instruction):
    """Multiply and add with carry-in."""
    cc: _madc_lo
    hi: _madc_lo
    s32: _madc_lo
    s64: _madc_lo
    u32: _madc_lo
    u64: _madc_lo

class _mapa(_Instruction):
    """Map a shared address to another CTA of the cluster."""
    s32: _mapa
    s64: _mapa
    shared__cluster: _mapa
    u32: _mapa
    u64: _mapa

class _match(_Instruction):
    """Find lanes with equal values."""
    all: _match
    any: _match
    b32: _match
    b64: _match
    sync: _match

class _max(_Instruction):
    """Maximum."""
    NaN: _max
    abs: _max
    bf16: _max
    bf16x2: _max
    f16: _max
    f16x2: _max
    f32: _max
    f64: _max
    ftz: _max
    relu: _max
    s16: _max
    s16x2: _max
    s32: _max
    s64: _max
    s8x4: _max
    u16: _max
    u16x2: _max
    u32: _max
    u64: _max
    u8x4: _max
    xorsign: _max

class _mbarrier(_Instruction):
    """Arrive at an mbarrier. Test the layout of an mbarrier. Complete transaction bytes. Expect more transaction
    bytes. Initialize an mbarrier. Invalidate an mbarrier. Pending count in an mbarrier state. Test whether an
    mbarrier phase is over. Wait for an mbarrier phase, for a bounded time."""
    arrive: _mbarrier_arrive
    arrive_drop: _mbarrier_arrive_drop
    check_layout: _mbarrier_check_layout
    complete_tx: _mbarrier_complete_tx
    expect_tx: _mbarrier_expect_tx
    init: _mbarrier_init
    inval: _mbarrier_inval
    pending_count: _mbarrier_pending_count
    test_wait: _mbarrier_test_wait
    try_wait: _mbarrier_try_wait

class _mbarrier_arrive(_Instruction):
    """Arrive at an mbarrier."""
    arrive_drop: _mbarrier_arrive
    b64: _mbarrier_arrive
    cluster: _mbarrier_arrive
    cta: _mbarrier_arrive
    expect_tx: _mbarrier_arrive_expect_tx
    multicast__cluster__32b: _mbarrier_arrive
    noComplete: _mbarrier_arrive
    relaxed: _mbarrier_arrive
    release: _mbarrier_arrive
    shared: _mbarrier_arrive
    shared__cluster: _mbarrier_arrive
    shared__cta: _mbarrier_arrive

class _mbarrier_arrive_expect_tx(_Instruction):
    """Arrive at an mbarrier."""
    arrive_drop: _mbarrier_arrive_expect_tx
    b64: _mbarrier_arrive_expect_tx
    cluster: _mbarrier_arrive_expect_tx
    cta: _mbarrier_arrive_expect_tx
    relaxed: _mbarrier_arrive_expect_tx
    release: _mbarrier_arrive_expect_tx
    shared: _mbarrier_arrive_expect_tx
    shared__cluster: _mbarrier_arrive_expect_tx
    shared__cta: _mbarrier_arrive_expect_tx

class _mbarrier_arrive_drop(_Instruction):
    """Arrive at an mbarrier."""
    arrive: _mbarrier_arrive_drop
    b64: _mbarrier_arrive_drop
    cluster: _mbarrier_arrive_drop
    cta: _mbarrier_arrive_drop
    expect_tx: _mbarrier_arrive_drop_expect_tx
    noComplete: _mbarrier_arrive_drop
    relaxed: _mbarrier_arrive_drop
    release: _mbarrier_arrive_drop
    shared: _mbarrier_arrive_drop
    shared__cluster: _mbarrier_arrive_drop
    shared__cta: _mbarrier_arrive_drop

class _mbarrier_arrive_drop_expect_tx(_Instruction):
    """Arrive at an mbarrier."""
    arrive: _mbarrier_arrive_drop_expect_tx
    b64: _mbarrier_arrive_drop_expect_tx
    cluster: _mbarrier_arrive_drop_expect_tx
    cta: _mbarrier_arrive_drop_expect_tx
    relaxed: _mbarrier_arrive_drop_expect_tx
    release: _mbarrier_arrive_drop_expect_tx
    shared: _mbarrier_arrive_drop_expect_tx
    shared__cluster: _mbarrier_arrive_drop_expect_tx
    shared__cta: _mbarrier_arrive_drop_expect_tx

class _mbarrier_check_layout(_Instruction):
    """Test the layout of an mbarrier."""
    b64: _mbarrier_check_layout
    layout__v0: _mbarrier_check_layout
    layout__v1: _mbarrier_check_layout
    shared__cta: _mbarrier_check_layout

class _mbarrier_complete_tx(_Instruction):
    """Complete transaction bytes."""
    b64: _mbarrier_complete_tx
    cluster: _mbarrier_complete_tx
    cta: _mbarrier_complete_tx
    multicast__cluster__32b: _mbarrier_complete_tx
    relaxed: _mbarrier_complete_tx
    shared: _mbarrier_complete_tx
    shared__cluster: _mbarrier_complete_tx
    shared__cta: _mbarrier_complete_tx

class _mbarrier_expect_tx(_Instruction):
    """Expect more transaction bytes."""
    b64: _mbarrier_expect_tx
    cluster: _mbarrier_expect_tx
    cta: _mbarrier_expect_tx
    multicast__cluster__32b: _mbarrier_expect_tx
    relaxed: _mbarrier_expect_tx
    shared: _mbarrier_expect_tx
    shared__cluster: _mbarrier_expect_tx
    shared__cta: _mbarrier_expect_tx

class _mbarrier_init(_Instruction):
    """Initialize an mbarrier."""
    b64: _mbarrier_init
    layout__v0: _mbarrier_init
    layout__v1: _mbarrier_init
    shared: _mbarrier_init
    shared__cta: _mbarrier_init

class _mbarrier_inval(_Instruction):
    """Invalidate an mbarrier."""
    b64: _mbarrier_inval
    shared: _mbarrier_inval
    shared__cta: _mbarrier_inval

class _mbarrier_pending_count(_Instruction):
    """Pending count in an mbarrier state."""
    b64: _mbarrier_pending_count
    layout__v0: _mbarrier_pending_count

class _mbarrier_test_wait(_Instruction):
    """Test whether an mbarrier phase is over."""
    acquire: _mbarrier_test_wait
    b64: _mbarrier_test_wait
    cluster: _mbarrier_test_wait
    cta: _mbarrier_test_wait
    parity: _mbarrier_test_wait_parity
    phase_type__primary: _mbarrier_test_wait
    relaxed: _mbarrier_test_wait
    shared: _mbarrier_test_wait
    shared__cta: _mbarrier_test_wait

class _mbarrier_test_wait_parity(_Instruction):
    """Test whether an mbarrier phase is over."""
    acquire: _mbarrier_test_wait_parity
    b64: _mbarrier_test_wait_parity
    cluster: _mbarrier_test_wait_parity
    cta: _mbarrier_test_wait_parity
    phase_type__conditional: _mbarrier_test_wait_parity
    phase_type__primary: _mbarrier_test_wait_parity
    relaxed: _mbarrier_test_wait_parity
    shared: _mbarrier_test_wait_parity
    shared__cta: _mbarrier_test_wait_parity

class _mbarrier_try_wait(_Instruction):
    """Wait for an mbarrier phase, for a bounded time."""
    acquire: _mbarrier_try_wait
    b64: _mbarrier_try_wait
    cluster: _mbarrier_try_wait
    cta: _mbarrier_try_wait
    parity: _mbarrier_try_wait_parity
    phase_type__primary: _mbarrier_try_wait
    relaxed: _mbarrier_try_wait
    shared: _mbarrier_try_wait
    shared__cta: _mbarrier_try_wait

class _mbarrier_try_wait_parity(_Instruction):
    """Wait for an mbarrier phase, for a bounded time."""
    acquire: _mbarrier_try_wait_parity
    b64: _mbarrier_try_wait_parity
    cluster: _mbarrier_try_wait_parity
    cta: _mbarrier_try_wait_parity
    phase_type__conditional: _mbarrier_try_wait_parity
    phase_type__primary: _mbarrier_try_wait_parity
    relaxed: _mbarrier_try_wait_parity
    shared: _mbarrier_try_wait_parity
    shared__cta: _mbarrier_try_wait_parity

class _membar(_Instruction):
    """Order memory accesses, old spelling."""
    cta: _membar
    gl: _membar
    proxy: _membar_proxy
    sys: _membar

class _membar_proxy(_Instruction):
    """Order accesses through different proxies, old spelling."""
    alias: _membar_proxy
    async_: _membar_proxy

class _min(_Instruction):
    """Minimum."""
    NaN: _min
    abs: _min
    bf16: _min
    bf16x2: _min
    f16: _min
    f16x2: _min
    f32: _min
    f64: _min
    ftz: _min
    relu: _min
    s16: _min
    s16x2: _min
    s32: _min
    s64: _min
    s8x4: _min
    u16: _min
    u16x2: _min
    u32: _min
    u64: _min
    u8x4: _min
    xorsign: _min

class _mma(_Instruction):
    """Matrix multiply-accumulate of a warp. Sparse matrix multiply-accumulate of a warp."""
    aligned: _mma
    and_: _mma
    b1: _mma
    bf16: _mma
    block_scale: _mma
    col: _mma
    e2m1: _mma
    e2m3: _mma
    e3m2: _mma
    e4m3: _mma
    e5m2: _mma
    f16: _mma
    f32: _mma
    f64: _mma
    kind__f8f6f4: _mma
    kind__mxf4: _mma
    kind__mxf4nvf4: _mma
    kind__mxf8f6f4: _mma
    m16n8k128: _mma
    m16n8k16: _mma
    m16n8k256: _mma
    m16n8k32: _mma
    m16n8k4: _mma
    m16n8k64: _mma
    m16n8k8: _mma
    m8n8k128: _mma
    m8n8k16: _mma
    m8n8k32: _mma
    m8n8k4: _mma
    popc: _mma
    rm: _mma
    rn: _mma
    row: _mma
    rp: _mma
    rz: _mma
    s32: _mma
    s4: _mma
    s8: _mma
    satfinite: _mma
    scale_vec__1X: _mma
    scale_vec__2X: _mma
    scale_vec__4X: _mma
    sp: _mma
    sp__ordered_metadata: _mma
    sync: _mma
    tf32: _mma
    u4: _mma
    u8: _mma
    ue4m3: _mma
    ue8m0: _mma
    xor: _mma

class _mov(_Instruction):
    """Copy a register, a number, an address or a special register; pack or unpack a vector."""
    b128: _mov
    b16: _mov
    b32: _mov
    b64: _mov
    f32: _mov
    f64: _mov
    pred: _mov
    s16: _mov
    s32: _mov
    s64: _mov
    u16: _mov
    u32: _mov
    u64: _mov
    v2: _mov
    v4: _mov

class _movmatrix(_Instruction):
    """Transpose a matrix across the warp."""
    aligned: _movmatrix
    b16: _movmatrix
    m8n8: _movmatrix
    sync: _movmatrix
    trans: _movmatrix

class _mul(_Instruction):
    """Multiply."""
    bf16: _mul
    bf16x2: _mul
    e2m1p4x4: _mul
    e2m1x4: _mul
    e2m3x4: _mul
    e3m2x4: _mul
    e4m3x4: _mul
    e5m2x4: _mul
    f16: _mul
    f16x2: _mul
    f32: _mul
    f32x2: _mul
    f64: _mul
    ftz: _mul
    hi: _mul_hi
    lo: _mul_lo
    rm: _mul
    rn: _mul
    rp: _mul
    rz: _mul
    sat: _mul
    satfinite: _mul
    ue8m0x4: _mul
    wide: _mul_wide

class _mul_hi(_Instruction):
    """Multiply."""
    lo: _mul_hi
    s16: _mul_hi
    s32: _mul_hi
    s64: _mul_hi
    u16: _mul_hi
    u32: _mul_hi
    u64: _mul_hi

class _mul_lo(_Instruction):
    """Multiply."""
    hi: _mul_lo
    s16: _mul_lo
    s32: _mul_lo
    s64: _mul_lo
    u16: _mul_lo
    u32: _mul_lo
    u64: _mul_lo

class _mul_wide(_Instruction):
    """Multiply into twice the width."""
    s16: _mul_wide
    s32: _mul_wide
    u16: _mul_wide
    u32: _mul_wide

class _mul24(_Instruction):
    """Multiply the low 24 bits."""
    hi: _mul24_hi
    lo: _mul24_lo

class _mul24_hi(_Instruction):
    """Multiply the low 24 bits."""
    lo: _mul24_hi
    s32: _mul24_hi
    u32: _mul24_hi

class _mul24_lo(_Instruction):
    """Multiply the low 24 bits."""
    hi: _mul24_lo
    s32: _mul24_lo
    u32: _mul24_lo

class _multimem(_Instruction):
    """Copy in bulk to all replicas asynchronously. Reduce in bulk into all replicas asynchronously. Load from all
    replicas of a multimem address and reduce. Reduce into all replicas of a multimem address. Reduce into all
    replicas asynchronously. Store to all replicas of a multimem address. Store to all replicas asynchronously."""
    cp: _multimem_cp
    ld_reduce: _multimem_ld_reduce
    red: _multimem_red
    st: _multimem_st

class _multimem_cp(_Instruction):
    """Copy in bulk to all replicas asynchronously. Reduce in bulk into all replicas asynchronously."""
    async_: _multimem_cp_async
    reduce: _multimem_cp_reduce

class _multimem_cp_async(_Instruction):
    """Copy in bulk to all replicas asynchronously."""
    bulk: _multimem_cp_async_bulk

class _multimem_cp_async_bulk(_Instruction):
    """Copy in bulk to all replicas asynchronously."""
    b128: _multimem_cp_async_bulk
    bulk_group: _multimem_cp_async_bulk
    cluster: _multimem_cp_async_bulk
    cp_mask: _multimem_cp_async_bulk
    cta: _multimem_cp_async_bulk
    global_: _multimem_cp_async_bulk
    gpu: _multimem_cp_async_bulk
    relaxed: _multimem_cp_async_bulk
    shared__cta: _multimem_cp_async_bulk
    sys: _multimem_cp_async_bulk

class _multimem_cp_reduce(_Instruction):
    """Reduce in bulk into all replicas asynchronously."""
    async_: _multimem_cp_reduce_async

class _multimem_cp_reduce_async(_Instruction):
    """Reduce in bulk into all replicas asynchronously."""
    bulk: _multimem_cp_reduce_async_bulk

class _multimem_cp_reduce_async_bulk(_Instruction):
    """Reduce in bulk into all replicas asynchronously."""
    add: _multimem_cp_reduce_async_bulk
    and_: _multimem_cp_reduce_async_bulk
    b32: _multimem_cp_reduce_async_bulk
    b64: _multimem_cp_reduce_async_bulk
    bf16: _multimem_cp_reduce_async_bulk
    bulk_group: _multimem_cp_reduce_async_bulk
    cluster: _multimem_cp_reduce_async_bulk
    cta: _multimem_cp_reduce_async_bulk
    dec: _multimem_cp_reduce_async_bulk
    f16: _multimem_cp_reduce_async_bulk
    f32: _multimem_cp_reduce_async_bulk
    f64: _multimem_cp_reduce_async_bulk
    global_: _multimem_cp_reduce_async_bulk
    gpu: _multimem_cp_reduce_async_bulk
    inc: _multimem_cp_reduce_async_bulk
    max: _multimem_cp_reduce_async_bulk
    min: _multimem_cp_reduce_async_bulk
    noftz: _multimem_cp_reduce_async_bulk
    or_: _multimem_cp_reduce_async_bulk
    relaxed: _multimem_cp_reduce_async_bulk
    s32: _multimem_cp_reduce_async_bulk
    s64: _multimem_cp_reduce_async_bulk
    shared__cta: _multimem_cp_reduce_async_bulk
    sys: _multimem_cp_reduce_async_bulk
    u32: _multimem_cp_reduce_async_bulk
    u64: _multimem_cp_reduce_async_bulk
    xor: _multimem_cp_reduce_async_bulk

class _multimem_ld_reduce(_Instruction):
    """Load from all replicas of a multimem address and reduce."""
    acc__f16: _multimem_ld_reduce
    acc__f32: _multimem_ld_reduce
    acquire: _multimem_ld_reduce
    add: _multimem_ld_reduce
    and_: _multimem_ld_reduce
    b32: _multimem_ld_reduce
    b64: _multimem_ld_reduce
    bf16: _multimem_ld_reduce
    bf16x2: _multimem_ld_reduce
    cluster: _multimem_ld_reduce
    cta: _multimem_ld_reduce
    e4m3: _multimem_ld_reduce
    e4m3x2: _multimem_ld_reduce
    e4m3x4: _multimem_ld_reduce
    e5m2: _multimem_ld_reduce
    e5m2x2: _multimem_ld_reduce
    e5m2x4: _multimem_ld_reduce
    f16: _multimem_ld_reduce
    f16x2: _multimem_ld_reduce
    f32: _multimem_ld_reduce
    f64: _multimem_ld_reduce
    global_: _multimem_ld_reduce
    gpu: _multimem_ld_reduce
    max: _multimem_ld_reduce
    min: _multimem_ld_reduce
    or_: _multimem_ld_reduce
    relaxed: _multimem_ld_reduce
    s32: _multimem_ld_reduce
    s64: _multimem_ld_reduce
    sys: _multimem_ld_reduce
    u32: _multimem_ld_reduce
    u64: _multimem_ld_reduce
    v2: _multimem_ld_reduce
    v4: _multimem_ld_reduce
    v8: _multimem_ld_reduce
    weak: _multimem_ld_reduce
    xor: _multimem_ld_reduce

class _multimem_red(_Instruction):
    """Reduce into all replicas of a multimem address."""
    add: _multimem_red
    and_: _multimem_red
    async_: _multimem_red_async
    b32: _multimem_red
    b64: _multimem_red
    bf16: _multimem_red
    bf16x2: _multimem_red
    cluster: _multimem_red
    cta: _multimem_red
    f16: _multimem_red
    f16x2: _multimem_red
    f32: _multimem_red
    f64: _multimem_red
    global_: _multimem_red
    gpu: _multimem_red
    max: _multimem_red
    min: _multimem_red
    or_: _multimem_red
    relaxed: _multimem_red
    release: _multimem_red
    s32: _multimem_red
    s64: _multimem_red
    sys: _multimem_red
    u32: _multimem_red
    u64: _multimem_red
    v2: _multimem_red
    v4: _multimem_red
    v8: _multimem_red
    xor: _multimem_red

class _multimem_red_async(_Instruction):
    """Reduce into all replicas asynchronously."""
    add: _multimem_red_async
    global_: _multimem_red_async
    gpu: _multimem_red_async
    release: _multimem_red_async
    s32: _multimem_red_async
    sys: _multimem_red_async
    u32: _multimem_red_async
    u64: _multimem_red_async

class _multimem_st(_Instruction):
    """Store to all replicas of a multimem address."""
    async_: _multimem_st_async
    b32: _multimem_st
    b64: _multimem_st
    bf16: _multimem_st
    bf16x2: _multimem_st
    cluster: _multimem_st
    cta: _multimem_st
    e4m3x2: _multimem_st
    e4m3x4: _multimem_st
    e5m2x2: _multimem_st
    e5m2x4: _multimem_st
    f16: _multimem_st
    f16x2: _multimem_st
    f32: _multimem_st
    f64: _multimem_st
    global_: _multimem_st
    gpu: _multimem_st
    relaxed: _multimem_st
    release: _multimem_st
    s32: _multimem_st
    s64: _multimem_st
    sys: _multimem_st
    u32: _multimem_st
    u64: _multimem_st
    v2: _multimem_st
    v4: _multimem_st
    v8: _multimem_st
    weak: _multimem_st

class _multimem_st_async(_Instruction):
    """Store to all replicas asynchronously."""
    b16: _multimem_st_async
    b32: _multimem_st_async
    b64: _multimem_st_async
    b8: _multimem_st_async
    f32: _multimem_st_async
    f64: _multimem_st_async
    global_: _multimem_st_async
    gpu: _multimem_st_async
    release: _multimem_st_async
    s16: _multimem_st_async
    s32: _multimem_st_async
    s64: _multimem_st_async
    s8: _multimem_st_async
    sys: _multimem_st_async
    u16: _multimem_st_async
    u32: _multimem_st_async
    u64: _multimem_st_async
    u8: _multimem_st_async

class _nanosleep(_Instruction):
    """Sleep for about that many nanoseconds."""
    u32: _nanosleep

class _neg(_Instruction):
    """Negate."""
    bf16: _neg
    bf16x2: _neg
    f16: _neg
    f16x2: _neg
    f32: _neg
    f64: _neg
    ftz: _neg
    s16: _neg
    s32: _neg
    s64: _neg
    s8x4: _neg

class _not(_Instruction):
    """Bitwise complement."""
    b16: _not
    b32: _not
    b64: _not
    pred: _not

class _or(_Instruction):
    """Bitwise or."""
    b16: _or
    b32: _or
    b64: _or
    pred: _or

class _pmevent(_Instruction):
    """Trigger performance monitor events."""
    mask: _pmevent

class _popc(_Instruction):
    """Count the one bits."""
    b32: _popc
    b64: _popc

class _prefetch(_Instruction):
    """Prefetch into a cache."""
    L1: _prefetch
    L1__32B: _prefetch
    L2: _prefetch
    L2__evict_last: _prefetch
    L2__evict_normal: _prefetch
    const: _prefetch
    global_: _prefetch
    local: _prefetch
    param: _prefetch
    tensormap: _prefetch
    valid_addr: _prefetch

class _prefetchu(_Instruction):
    """Prefetch into the uniform cache."""
    L1: _prefetchu

class _prmt(_Instruction):
    """Permute bytes of two registers."""
    b32: _prmt
    b4e: _prmt
    ecl: _prmt
    ecr: _prmt
    f4e: _prmt
    rc16: _prmt
    rc8: _prmt

class _rcp(_Instruction):
    """Reciprocal."""
    approx: _rcp
    f32: _rcp
    f64: _rcp
    ftz: _rcp
    rm: _rcp
    rn: _rcp
    rp: _rcp
    rz: _rcp

class _red(_Instruction):
    """Modify memory atomically."""
    L2__cache_hint: _red
    add: _red
    and_: _red
    async_: _red_async
    b32: _red
    b64: _red
    bf16: _red
    bf16x2: _red
    cluster: _red
    cta: _red
    dec: _red
    f16: _red
    f16x2: _red
    f32: _red
    f64: _red
    global_: _red
    gpu: _red
    inc: _red
    max: _red
    min: _red
    noftz: _red
    or_: _red
    relaxed: _red
    release: _red
    s32: _red
    s64: _red
    shared: _red
    shared__cluster: _red
    shared__cta: _red
    sys: _red
    u32: _red
    u64: _red
    v2: _red
    v4: _red
    v8: _red
    xor: _red

class _red_async(_Instruction):
    """Modify memory atomically and asynchronously."""
    add: _red_async
    and_: _red_async
    b32: _red_async
    cluster: _red_async
    dec: _red_async
    global_: _red_async
    gpu: _red_async
    inc: _red_async
    max: _red_async
    mbarrier__complete_tx__bytes: _red_async
    min: _red_async
    mmio: _red_async
    or_: _red_async
    relaxed: _red_async
    release: _red_async
    s32: _red_async
    s64: _red_async
    shared__cluster: _red_async
    sys: _red_async
    u32: _red_async
    u64: _red_async
    xor: _red_async

class _redux(_Instruction):
    """Reduce over the lanes of a warp."""
    NaN: _redux
    abs: _redux
    add: _redux
    and_: _redux
    b32: _redux
    f32: _redux
    max: _redux
    min: _redux
    or_: _redux
    s32: _redux
    sync: _redux
    u32: _redux
    xor: _redux

class _rem(_Instruction):
    """Remainder of a division, with the sign of the dividend."""
    s16: _rem
    s32: _rem
    s64: _rem
    u16: _rem
    u32: _rem
    u64: _rem

class _ret(_Instruction):
    """Return from a function, or end the thread of a kernel."""
    uni: _ret

class _rsqrt(_Instruction):
    """Reciprocal of the square root."""
    approx: _rsqrt
    f32: _rsqrt
    f64: _rsqrt
    ftz: _rsqrt

class _sad(_Instruction):
    """Sum of absolute differences."""
    s16: _sad
    s32: _sad
    s64: _sad
    u16: _sad
    u32: _sad
    u64: _sad

class _selp(_Instruction):
    """Select by a predicate."""
    b16: _selp
    b32: _selp
    b64: _selp
    f32: _selp
    f64: _selp
    s16: _selp
    s32: _selp
    s64: _selp
    u16: _selp
    u32: _selp
    u64: _selp

class _set(_Instruction):
    """Compare and set a register."""
    and_: _set
    b16: _set
    b32: _set
    b64: _set
    bf16: _set
    bf16x2: _set
    eq: _set
    equ: _set
    f16: _set
    f16x2: _set
    f32: _set
    f64: _set
    ftz: _set
    ge: _set
    geu: _set
    gt: _set
    gtu: _set
    hi: _set
    hs: _set
    le: _set
    leu: _set
    lo: _set
    ls: _set
    lt: _set
    ltu: _set
    nan: _set
    ne: _set
    neu: _set
    num: _set
    or_: _set
    s16: _set
    s16x2: _set
    s32: _set
    s64: _set
    s8x4: _set
    u16: _set
    u16x2: _set
    u32: _set
    u64: _set
    u8x4: _set
    xor: _set

class _setmaxnreg(_Instruction):
    """Change the registers of the warpgroup."""
    dec: _setmaxnreg_dec
    inc: _setmaxnreg_inc

class _setmaxnreg_dec(_Instruction):
    """Change the registers of the warpgroup."""
    aligned: _setmaxnreg_dec
    inc: _setmaxnreg_dec
    sync: _setmaxnreg_dec
    u32: _setmaxnreg_dec

class _setmaxnreg_inc(_Instruction):
    """Change the registers of the warpgroup."""
    aligned: _setmaxnreg_inc
    dec: _setmaxnreg_inc
    sync: _setmaxnreg_inc
    u32: _setmaxnreg_inc

class _setp(_Instruction):
    """Compare and set predicates."""
    and_: _setp
    b16: _setp
    b32: _setp
    b64: _setp
    bf16: _setp
    bf16x2: _setp
    eq: _setp
    equ: _setp
    f16: _setp
    f16x2: _setp
    f32: _setp
    f64: _setp
    ftz: _setp
    ge: _setp
    geu: _setp
    gt: _setp
    gtu: _setp
    hi: _setp
    hs: _setp
    le: _setp
    leu: _setp
    lo: _setp
    ls: _setp
    lt: _setp
    ltu: _setp
    nan: _setp
    ne: _setp
    neu: _setp
    num: _setp
    or_: _setp
    s16: _setp
    s32: _setp
    s64: _setp
    u16: _setp
    u32: _setp
    u64: _setp
    xor: _setp

class _shf(_Instruction):
    """Funnel shift of two registers."""
    l: _shf_l
    r: _shf_r

class _shf_l(_Instruction):
    """Funnel shift of two registers."""
    b32: _shf_l
    clamp: _shf_l
    r: _shf_l
    wrap: _shf_l

class _shf_r(_Instruction):
    """Funnel shift of two registers."""
    b32: _shf_r
    clamp: _shf_r
    l: _shf_r
    wrap: _shf_r

class _shfl(_Instruction):
    """Exchange a register between lanes of a warp."""
    b32: _shfl
    bfly: _shfl
    down: _shfl
    idx: _shfl
    sync: _shfl
    up: _shfl

class _shl(_Instruction):
    """Shift left."""
    b16: _shl
    b32: _shl
    b64: _shl

class _shr(_Instruction):
    """Shift right."""
    b16: _shr
    b32: _shr
    b64: _shr
    s16: _shr
    s32: _shr
    s64: _shr
    u16: _shr
    u32: _shr
    u64: _shr

class _sin(_Instruction):
    """Sine, approximated."""
    approx: _sin
    f32: _sin
    ftz: _sin

class _slct(_Instruction):
    """Select by the sign of a value."""
    b16: _slct
    b32: _slct
    b64: _slct
    f32: _slct
    f64: _slct
    ftz: _slct
    s16: _slct
    s32: _slct
    s64: _slct
    u16: _slct
    u32: _slct
    u64: _slct

class _spcompress(_Instruction):
    """Select the structured non-zeros."""
    b16: _spcompress
    b2: _spcompress
    b8: _spcompress
    x4: _spcompress
    x8: _spcompress

class _spdecompress(_Instruction):
    """Expand structured non-zeros."""
    b2: _spdecompress
    b8: _spdecompress
    x4: _spdecompress

class _sqrt(_Instruction):
    """Square root."""
    approx: _sqrt
    f32: _sqrt
    f64: _sqrt
    ftz: _sqrt
    rm: _sqrt
    rn: _sqrt
    rp: _sqrt
    rz: _sqrt

class _st(_Instruction):
    """Store."""
    L1__evict_first: _st
    L1__evict_last: _st
    L1__evict_normal: _st
    L1__evict_unchanged: _st
    L1__no_allocate: _st
    L2__cache_hint: _st
    L2__evict_first: _st
    L2__evict_last: _st
    L2__evict_normal: _st
    async_: _st_async
    b128: _st
    b16: _st
    b32: _st
    b64: _st
    b8: _st
    bulk: _st_bulk
    cg: _st
    cluster: _st
    cs: _st
    cta: _st
    f32: _st
    f64: _st
    global_: _st
    gpu: _st
    local: _st
    mmio: _st
    param: _st
    param__func: _st
    relaxed: _st
    release: _st
    s16: _st
    s32: _st
    s64: _st
    s8: _st
    shared: _st
    shared__cluster: _st
    shared__cta: _st
    sys: _st
    u16: _st
    u32: _st
    u64: _st
    u8: _st
    v2: _st
    v4: _st
    v8: _st
    volatile: _st
    wb: _st
    weak: _st
    wt: _st

class _st_async(_Instruction):
    """Store asynchronously."""
    b128: _st_async
    b16: _st_async
    b32: _st_async
    b64: _st_async
    b8: _st_async
    cluster: _st_async
    f32: _st_async
    f64: _st_async
    global_: _st_async
    gpu: _st_async
    mbarrier__complete_tx__bytes: _st_async
    mmio: _st_async
    release: _st_async
    s16: _st_async
    s32: _st_async
    s64: _st_async
    s8: _st_async
    shared__cluster: _st_async
    sys: _st_async
    u16: _st_async
    u32: _st_async
    u64: _st_async
    u8: _st_async
    v2: _st_async
    v4: _st_async
    weak: _st_async

class _st_bulk(_Instruction):
    """Fill shared memory with zeros."""
    shared__cta: _st_bulk
    weak: _st_bulk

class _stackrestore(_Instruction):
    """Set the stack pointer."""
    u32: _stackrestore
    u64: _stackrestore

class _stacksave(_Instruction):
    """Read the stack pointer."""
    u32: _stacksave
    u64: _stacksave

class _stmatrix(_Instruction):
    """Store matrices to shared memory."""
    aligned: _stmatrix
    b16: _stmatrix
    b8: _stmatrix
    m16n8: _stmatrix
    m8n8: _stmatrix
    shared: _stmatrix
    shared__cta: _stmatrix
    sync: _stmatrix
    trans: _stmatrix
    x1: _stmatrix
    x2: _stmatrix
    x4: _stmatrix

class _sub(_Instruction):
    """Subtract."""
    bf16: _sub
    bf16x2: _sub
    cc: _sub
    e2m1p4x4: _sub
    e2m1x4: _sub
    e2m3x4: _sub
    e3m2x4: _sub
    e4m3x4: _sub
    e5m2x4: _sub
    f16: _sub
    f16x2: _sub
    f32: _sub
    f32x2: _sub
    f64: _sub
    ftz: _sub
    rm: _sub
    rn: _sub
    rp: _sub
    rz: _sub
    s16: _sub
    s32: _sub
    s64: _sub
    s8x4: _sub
    sat: _sub
    satfinite: _sub
    u16: _sub
    u32: _sub
    u64: _sub
    u8x4: _sub
    ue8m0x4: _sub

class _subc(_Instruction):
    """Subtract with borrow-in."""
    cc: _subc
    s32: _subc
    s64: _subc
    u32: _subc
    u64: _subc

class _suld(_Instruction):
    """Load from a surface."""
    b: _suld_b

class _suld_b(_Instruction):
    """Load from a surface."""
    _1d: _suld_b
    _2d: _suld_b
    _3d: _suld_b
    a1d: _suld_b
    a2d: _suld_b
    b16: _suld_b
    b32: _suld_b
    b64: _suld_b
    b8: _suld_b
    ca: _suld_b
    cg: _suld_b
    clamp: _suld_b
    cs: _suld_b
    cv: _suld_b
    trap: _suld_b
    v2: _suld_b
    v4: _suld_b
    zero: _suld_b

class _suq(_Instruction):
    """Query a surface attribute."""
    array_size: _suq
    b32: _suq
    channel_data_type: _suq
    channel_order: _suq
    depth: _suq
    height: _suq
    memory_layout: _suq
    width: _suq

class _sured(_Instruction):
    """Reduce into a surface, addressed by byte. Reduce into a surface, addressed by sample."""
    b: _sured_b
    p: _sured_p

class _sured_b(_Instruction):
    """Reduce into a surface, addressed by byte."""
    _1d: _sured_b
    _2d: _sured_b
    _3d: _sured_b
    add: _sured_b
    and_: _sured_b
    b32: _sured_b
    clamp: _sured_b
    max: _sured_b
    min: _sured_b
    or_: _sured_b
    s32: _sured_b
    s64: _sured_b
    trap: _sured_b
    u32: _sured_b
    u64: _sured_b
    zero: _sured_b

class _sured_p(_Instruction):
    """Reduce into a surface, addressed by sample."""
    _1d: _sured_p
    _2d: _sured_p
    _3d: _sured_p
    add: _sured_p
    and_: _sured_p
    b32: _sured_p
    clamp: _sured_p
    max: _sured_p
    min: _sured_p
    or_: _sured_p
    trap: _sured_p
    zero: _sured_p

class _sust(_Instruction):
    """Store to a surface. Store formatted to a surface."""
    b: _sust_b
    p: _sust_p

class _sust_b(_Instruction):
    """Store to a surface."""
    _1d: _sust_b
    _2d: _sust_b
    _3d: _sust_b
    a1d: _sust_b
    a2d: _sust_b
    b16: _sust_b
    b32: _sust_b
    b64: _sust_b
    b8: _sust_b
    cg: _sust_b
    clamp: _sust_b
    cs: _sust_b
    trap: _sust_b
    v2: _sust_b
    v4: _sust_b
    wb: _sust_b
    wt: _sust_b
    zero: _sust_b

class _sust_p(_Instruction):
    """Store formatted to a surface."""
    _1d: _sust_p
    _2d: _sust_p
    _3d: _sust_p
    a1d: _sust_p
    a2d: _sust_p
    b32: _sust_p
    cg: _sust_p
    clamp: _sust_p
    cs: _sust_p
    trap: _sust_p
    v2: _sust_p
    v4: _sust_p
    wb: _sust_p
    wt: _sust_p
    zero: _sust_p

class _szext(_Instruction):
    """Sign- or zero-extend from a given bit."""
    clamp: _szext
    s32: _szext
    u32: _szext
    wrap: _szext

class _tanh(_Instruction):
    """Hyperbolic tangent, approximated."""
    approx: _tanh
    bf16: _tanh
    bf16x2: _tanh
    f16: _tanh
    f16x2: _tanh
    f32: _tanh

class _tcgen05(_Instruction):
    """Allocate tensor memory. Track tensor core operations with an mbarrier. Copy from shared to tensor memory.
    Free tensor memory. Order tensor core operations with thread synchronization. Load from tensor memory. Load from
    tensor memory and reduce. Load from tensor memory and compress. Matrix multiply-accumulate into tensor memory.
    Sparse matrix multiply-accumulate into tensor memory. Weight-stationary matrix multiply-accumulate into tensor
    memory. Sparse weight-stationary matrix multiply-accumulate into tensor memory. Give up the right to allocate
    tensor memory. Shift rows of tensor memory. Store to tensor memory. Wait for tensor memory accesses."""
    alloc: _tcgen05_alloc
    commit: _tcgen05_commit
    cp: _tcgen05_cp
    dealloc: _tcgen05_dealloc
    fence__after_thread_sync: _tcgen05_fence__after_thread_sync
    fence__before_thread_sync: _tcgen05_fence__before_thread_sync
    ld: _tcgen05_ld
    mma: _tcgen05_mma
    relinquish_alloc_permit: _tcgen05_relinquish_alloc_permit
    shift: _tcgen05_shift
    st: _tcgen05_st
    wait__ld: _tcgen05_wait__ld
    wait__st: _tcgen05_wait__st

class _tcgen05_alloc(_Instruction):
    """Allocate tensor memory."""
    aligned: _tcgen05_alloc
    b32: _tcgen05_alloc
    cta_group__1: _tcgen05_alloc
    cta_group__2: _tcgen05_alloc
    exclusive: _tcgen05_alloc
    shared__cta: _tcgen05_alloc
    sync: _tcgen05_alloc

class _tcgen05_commit(_Instruction):
    """Track tensor core operations with an mbarrier."""
    b64: _tcgen05_commit
    cta_group__1: _tcgen05_commit
    cta_group__2: _tcgen05_commit
    mbarrier__arrive__one: _tcgen05_commit
    multicast__cluster: _tcgen05_commit
    multicast__cluster__32b: _tcgen05_commit
    shared__cluster: _tcgen05_commit
    sync_restrict__shared__read__mma__a: _tcgen05_commit

class _tcgen05_cp(_Instruction):
    """Copy from shared to tensor memory."""
    _128x128b: _tcgen05_cp
    _128x256b: _tcgen05_cp
    _32x128b: _tcgen05_cp
    _4x256b: _tcgen05_cp
    _64x128b: _tcgen05_cp
    b4x16_p64: _tcgen05_cp
    b6x16_p32: _tcgen05_cp
    b8x16: _tcgen05_cp
    cta_group__1: _tcgen05_cp
    cta_group__2: _tcgen05_cp
    warpx2__01_23: _tcgen05_cp
    warpx2__02_13: _tcgen05_cp
    warpx4: _tcgen05_cp

class _tcgen05_dealloc(_Instruction):
    """Free tensor memory."""
    aligned: _tcgen05_dealloc
    b32: _tcgen05_dealloc
    cta_group__1: _tcgen05_dealloc
    cta_group__2: _tcgen05_dealloc
    exclusive: _tcgen05_dealloc
    sync: _tcgen05_dealloc

class _tcgen05_fence__after_thread_sync(_Instruction):
    """Order tensor core operations with thread synchronization."""
    fence__before_thread_sync: _tcgen05_fence__after_thread_sync

class _tcgen05_fence__before_thread_sync(_Instruction):
    """Order tensor core operations with thread synchronization."""
    fence__after_thread_sync: _tcgen05_fence__before_thread_sync

class _tcgen05_ld(_Instruction):
    """Load from tensor memory."""
    _16x128b: _tcgen05_ld
    _16x256b: _tcgen05_ld
    _16x32bx2: _tcgen05_ld
    _16x64b: _tcgen05_ld
    _32x32b: _tcgen05_ld
    aligned: _tcgen05_ld
    b32: _tcgen05_ld
    pack__16b: _tcgen05_ld
    red: _tcgen05_ld_red
    spcompress: _tcgen05_ld_spcompress
    sync: _tcgen05_ld
    x1: _tcgen05_ld
    x128: _tcgen05_ld
    x16: _tcgen05_ld
    x2: _tcgen05_ld
    x32: _tcgen05_ld
    x4: _tcgen05_ld
    x64: _tcgen05_ld
    x8: _tcgen05_ld

class _tcgen05_ld_red(_Instruction):
    """Load from tensor memory and reduce."""
    _16x32bx2: _tcgen05_ld_red
    _32x32b: _tcgen05_ld_red
    NaN: _tcgen05_ld_red
    abs: _tcgen05_ld_red
    aligned: _tcgen05_ld_red
    f32: _tcgen05_ld_red
    max: _tcgen05_ld_red
    min: _tcgen05_ld_red
    s32: _tcgen05_ld_red
    sync: _tcgen05_ld_red
    u32: _tcgen05_ld_red
    x128: _tcgen05_ld_red
    x16: _tcgen05_ld_red
    x2: _tcgen05_ld_red
    x32: _tcgen05_ld_red
    x4: _tcgen05_ld_red
    x64: _tcgen05_ld_red
    x8: _tcgen05_ld_red

class _tcgen05_ld_spcompress(_Instruction):
    """Load from tensor memory and compress."""
    _32x32b: _tcgen05_ld_spcompress
    abs: _tcgen05_ld_spcompress
    aligned: _tcgen05_ld_spcompress
    b2: _tcgen05_ld_spcompress
    f32: _tcgen05_ld_spcompress
    max: _tcgen05_ld_spcompress
    min: _tcgen05_ld_spcompress
    sync: _tcgen05_ld_spcompress
    x128: _tcgen05_ld_spcompress
    x16: _tcgen05_ld_spcompress
    x32: _tcgen05_ld_spcompress
    x4: _tcgen05_ld_spcompress
    x64: _tcgen05_ld_spcompress
    x8: _tcgen05_ld_spcompress

class _tcgen05_mma(_Instruction):
    """Matrix multiply-accumulate into tensor memory. Sparse matrix multiply-accumulate into tensor memory."""
    ashift: _tcgen05_mma
    block16: _tcgen05_mma
    block32: _tcgen05_mma
    block_scale: _tcgen05_mma
    collector__a__discard: _tcgen05_mma
    collector__a__fill: _tcgen05_mma
    collector__a__lastuse: _tcgen05_mma
    collector__a__use: _tcgen05_mma
    collector__b__discard: _tcgen05_mma
    collector__b__fill: _tcgen05_mma
    collector__b__lastuse: _tcgen05_mma
    collector__b__use: _tcgen05_mma
    cta_group__1: _tcgen05_mma
    cta_group__2: _tcgen05_mma
    decompress__lut__b: _tcgen05_mma
    kind__f16: _tcgen05_mma
    kind__f8f6f4: _tcgen05_mma
    kind__i8: _tcgen05_mma
    kind__mxf4: _tcgen05_mma
    kind__mxf4nvf4: _tcgen05_mma
    kind__mxf8f6f4: _tcgen05_mma
    kind__tf32: _tcgen05_mma
    kind__ti16: _tcgen05_mma
    scale_vec__1X: _tcgen05_mma
    scale_vec__2X: _tcgen05_mma
    scale_vec__4X: _tcgen05_mma
    sp: _tcgen05_mma
    ws: _tcgen05_mma_ws

class _tcgen05_mma_ws(_Instruction):
    """Weight-stationary matrix multiply-accumulate into tensor memory. Sparse weight-stationary matrix multiply-
    accumulate into tensor memory."""
    collector__b0__discard: _tcgen05_mma_ws
    collector__b0__fill: _tcgen05_mma_ws
    collector__b0__lastuse: _tcgen05_mma_ws
    collector__b0__use: _tcgen05_mma_ws
    collector__b1__discard: _tcgen05_mma_ws
    collector__b1__fill: _tcgen05_mma_ws
    collector__b1__lastuse: _tcgen05_mma_ws
    collector__b1__use: _tcgen05_mma_ws
    collector__b2__discard: _tcgen05_mma_ws
    collector__b2__fill: _tcgen05_mma_ws
    collector__b2__lastuse: _tcgen05_mma_ws
    collector__b2__use: _tcgen05_mma_ws
    collector__b3__discard: _tcgen05_mma_ws
    collector__b3__fill: _tcgen05_mma_ws
    collector__b3__lastuse: _tcgen05_mma_ws
    collector__b3__use: _tcgen05_mma_ws
    cta_group__1: _tcgen05_mma_ws
    kind__f16: _tcgen05_mma_ws
    kind__f8f6f4: _tcgen05_mma_ws
    kind__i8: _tcgen05_mma_ws
    kind__tf32: _tcgen05_mma_ws
    kind__ti16: _tcgen05_mma_ws
    sp: _tcgen05_mma_ws

class _tcgen05_relinquish_alloc_permit(_Instruction):
    """Give up the right to allocate tensor memory."""
    aligned: _tcgen05_relinquish_alloc_permit
    cta_group__1: _tcgen05_relinquish_alloc_permit
    cta_group__2: _tcgen05_relinquish_alloc_permit
    sync: _tcgen05_relinquish_alloc_permit

class _tcgen05_shift(_Instruction):
    """Shift rows of tensor memory."""
    cta_group__1: _tcgen05_shift
    cta_group__2: _tcgen05_shift
    down: _tcgen05_shift

class _tcgen05_st(_Instruction):
    """Store to tensor memory."""
    _16x128b: _tcgen05_st
    _16x256b: _tcgen05_st
    _16x32bx2: _tcgen05_st
    _16x64b: _tcgen05_st
    _32x32b: _tcgen05_st
    aligned: _tcgen05_st
    b32: _tcgen05_st
    sync: _tcgen05_st
    unpack__16b: _tcgen05_st
    x1: _tcgen05_st
    x128: _tcgen05_st
    x16: _tcgen05_st
    x2: _tcgen05_st
    x32: _tcgen05_st
    x4: _tcgen05_st
    x64: _tcgen05_st
    x8: _tcgen05_st

class _tcgen05_wait__ld(_Instruction):
    """Wait for tensor memory accesses."""
    aligned: _tcgen05_wait__ld
    sync: _tcgen05_wait__ld
    wait__st: _tcgen05_wait__ld

class _tcgen05_wait__st(_Instruction):
    """Wait for tensor memory accesses."""
    aligned: _tcgen05_wait__st
    sync: _tcgen05_wait__st
    wait__ld: _tcgen05_wait__st

class _tensormap(_Instruction):
    """Copy a tensor map and make it visible to the tensormap proxy. Change a field of a tensor map."""
    cp_fenceproxy: _tensormap_cp_fenceproxy
    replace: _tensormap_replace

class _tensormap_cp_fenceproxy(_Instruction):
    """Copy a tensor map and make it visible to the tensormap proxy."""
    aligned: _tensormap_cp_fenceproxy
    cluster: _tensormap_cp_fenceproxy
    cta: _tensormap_cp_fenceproxy
    global_: _tensormap_cp_fenceproxy
    gpu: _tensormap_cp_fenceproxy
    release: _tensormap_cp_fenceproxy
    shared__cta: _tensormap_cp_fenceproxy
    sync: _tensormap_cp_fenceproxy
    sys: _tensormap_cp_fenceproxy
    tensormap__generic: _tensormap_cp_fenceproxy

class _tensormap_replace(_Instruction):
    """Change a field of a tensor map."""
    b1024: _tensormap_replace
    b32: _tensormap_replace
    b64: _tensormap_replace
    box_dim: _tensormap_replace
    element_stride: _tensormap_replace
    elemtype: _tensormap_replace
    fill_mode: _tensormap_replace
    global_: _tensormap_replace
    global_address: _tensormap_replace
    global_dim: _tensormap_replace
    global_stride: _tensormap_replace
    interleave_layout: _tensormap_replace
    rank: _tensormap_replace
    shared__cta: _tensormap_replace
    swizzle_atomicity: _tensormap_replace
    swizzle_mode: _tensormap_replace
    tile: _tensormap_replace

class _testp(_Instruction):
    """Test a property of a float."""
    f32: _testp
    f64: _testp
    finite: _testp
    infinite: _testp
    normal: _testp
    notanumber: _testp
    number: _testp
    subnormal: _testp

class _tex(_Instruction):
    """Sample a texture."""
    _1d: _tex
    _2d: _tex
    _2dms: _tex
    _3d: _tex
    a1d: _tex
    a2d: _tex
    a2dms: _tex
    acube: _tex
    base: _tex_base
    cube: _tex
    f16: _tex
    f16x2: _tex
    f32: _tex
    grad: _tex_grad
    level: _tex_level
    s32: _tex
    u32: _tex
    v2: _tex
    v4: _tex

class _tex_base(_Instruction):
    """Sample the base level of a texture."""
    _1d: _tex_base
    _2d: _tex_base
    _2dms: _tex_base
    _3d: _tex_base
    a1d: _tex_base
    a2d: _tex_base
    a2dms: _tex_base
    acube: _tex_base
    cube: _tex_base
    f16: _tex_base
    f16x2: _tex_base
    f32: _tex_base
    s32: _tex_base
    u32: _tex_base
    v2: _tex_base
    v4: _tex_base

class _tex_grad(_Instruction):
    """Sample a texture with given gradients."""
    _1d: _tex_grad
    _2d: _tex_grad
    _3d: _tex_grad
    a1d: _tex_grad
    a2d: _tex_grad
    acube: _tex_grad
    cube: _tex_grad
    f16: _tex_grad
    f16x2: _tex_grad
    f32: _tex_grad
    s32: _tex_grad
    u32: _tex_grad
    v2: _tex_grad
    v4: _tex_grad

class _tex_level(_Instruction):
    """Sample a texture at a given level of detail."""
    _1d: _tex_level
    _2d: _tex_level
    _3d: _tex_level
    a1d: _tex_level
    a2d: _tex_level
    acube: _tex_level
    cube: _tex_level
    f16: _tex_level
    f16x2: _tex_level
    f32: _tex_level
    s32: _tex_level
    u32: _tex_level
    v2: _tex_level
    v4: _tex_level

class _tld4(_Instruction):
    """Gather one component of four texels."""
    _2d: _tld4
    a: _tld4
    a2d: _tld4
    acube: _tld4
    b: _tld4
    cube: _tld4
    f32: _tld4
    g: _tld4
    r: _tld4
    s32: _tld4
    u32: _tld4
    v4: _tld4

class _trap(_Instruction):
    """Abort the grid."""

class _txq(_Instruction):
    """Query a texture or sampler attribute."""
    addr_mode_0: _txq
    addr_mode_1: _txq
    addr_mode_2: _txq
    array_size: _txq
    b32: _txq
    channel_data_type: _txq
    channel_order: _txq
    depth: _txq
    filter_mode: _txq
    force_unnormalized_coords: _txq
    height: _txq
    level: _txq_level
    normalized_coords: _txq
    num_mipmap_levels: _txq
    num_samples: _txq
    width: _txq

class _txq_level(_Instruction):
    """Query a texture attribute at a level."""
    b32: _txq_level
    depth: _txq_level
    height: _txq_level
    width: _txq_level

class _vabsdiff(_Instruction):
    """Absolute difference of bytes, halves or words; merge into c or combine with it."""
    add: _vabsdiff
    max: _vabsdiff
    min: _vabsdiff
    s32: _vabsdiff
    sat: _vabsdiff
    u32: _vabsdiff

class _vabsdiff2(_Instruction):
    """Absolute difference of two halves, merged into c or added to it."""
    add: _vabsdiff2
    s32: _vabsdiff2
    sat: _vabsdiff2
    u32: _vabsdiff2

class _vabsdiff4(_Instruction):
    """Absolute difference of four bytes, merged into c or added to it."""
    add: _vabsdiff4
    s32: _vabsdiff4
    sat: _vabsdiff4
    u32: _vabsdiff4

class _vadd(_Instruction):
    """Add bytes, halves or words; merge into c or combine with it."""
    add: _vadd
    max: _vadd
    min: _vadd
    s32: _vadd
    sat: _vadd
    u32: _vadd

class _vadd2(_Instruction):
    """Add two halves, merged into c or added to it."""
    add: _vadd2
    s32: _vadd2
    sat: _vadd2
    u32: _vadd2

class _vadd4(_Instruction):
    """Add four bytes, merged into c or added to it."""
    add: _vadd4
    s32: _vadd4
    sat: _vadd4
    u32: _vadd4

class _vavrg2(_Instruction):
    """Average of two halves, merged into c or added to it."""
    add: _vavrg2
    s32: _vavrg2
    sat: _vavrg2
    u32: _vavrg2

class _vavrg4(_Instruction):
    """Average of four bytes, merged into c or added to it."""
    add: _vavrg4
    s32: _vavrg4
    sat: _vavrg4
    u32: _vavrg4

class _vmad(_Instruction):
    """Multiply and add with scaling."""
    po: _vmad
    s32: _vmad
    sat: _vmad
    shr15: _vmad
    shr7: _vmad
    u32: _vmad

class _vmax(_Instruction):
    """Maximum of bytes, halves or words; merge into c or combine with it."""
    add: _vmax
    max: _vmax
    min: _vmax
    s32: _vmax
    sat: _vmax
    u32: _vmax

class _vmax2(_Instruction):
    """Maximum of two halves, merged into c or added to it."""
    add: _vmax2
    s32: _vmax2
    sat: _vmax2
    u32: _vmax2

class _vmax4(_Instruction):
    """Maximum of four bytes, merged into c or added to it."""
    add: _vmax4
    s32: _vmax4
    sat: _vmax4
    u32: _vmax4

class _vmin(_Instruction):
    """Minimum of bytes, halves or words; merge into c or combine with it."""
    add: _vmin
    max: _vmin
    min: _vmin
    s32: _vmin
    sat: _vmin
    u32: _vmin

class _vmin2(_Instruction):
    """Minimum of two halves, merged into c or added to it."""
    add: _vmin2
    s32: _vmin2
    sat: _vmin2
    u32: _vmin2

class _vmin4(_Instruction):
    """Minimum of four bytes, merged into c or added to it."""
    add: _vmin4
    s32: _vmin4
    sat: _vmin4
    u32: _vmin4

class _vote(_Instruction):
    """Vote over the lanes of a warp."""
    all: _vote
    any: _vote
    b32: _vote
    ballot: _vote
    pred: _vote
    sync: _vote
    uni: _vote

class _vset(_Instruction):
    """Compare bytes, halves or words; merge into c or combine with it."""
    add: _vset
    eq: _vset
    ge: _vset
    gt: _vset
    le: _vset
    lt: _vset
    max: _vset
    min: _vset
    ne: _vset
    s32: _vset
    u32: _vset

class _vset2(_Instruction):
    """Compare two halves, merged into c or added to it."""
    add: _vset2
    eq: _vset2
    ge: _vset2
    gt: _vset2
    le: _vset2
    lt: _vset2
    ne: _vset2
    s32: _vset2
    u32: _vset2

class _vset4(_Instruction):
    """Compare four bytes, merged into c or added to it."""
    add: _vset4
    eq: _vset4
    ge: _vset4
    gt: _vset4
    le: _vset4
    lt: _vset4
    ne: _vset4
    s32: _vset4
    u32: _vset4

class _vshl(_Instruction):
    """Shift left bytes, halves or words; merge into c or combine with it."""
    add: _vshl
    clamp: _vshl
    max: _vshl
    min: _vshl
    s32: _vshl
    sat: _vshl
    u32: _vshl
    wrap: _vshl

class _vshr(_Instruction):
    """Shift right bytes, halves or words; merge into c or combine with it."""
    add: _vshr
    clamp: _vshr
    max: _vshr
    min: _vshr
    s32: _vshr
    sat: _vshr
    u32: _vshr
    wrap: _vshr

class _vsub(_Instruction):
    """Subtract bytes, halves or words; merge into c or combine with it."""
    add: _vsub
    max: _vsub
    min: _vsub
    s32: _vsub
    sat: _vsub
    u32: _vsub

class _vsub2(_Instruction):
    """Subtract two halves, merged into c or added to it."""
    add: _vsub2
    s32: _vsub2
    sat: _vsub2
    u32: _vsub2

class _vsub4(_Instruction):
    """Subtract four bytes, merged into c or added to it."""
    add: _vsub4
    s32: _vsub4
    sat: _vsub4
    u32: _vsub4

class _wgmma(_Instruction):
    """Close the wgmma group. Order register and shared accesses before wgmma. Matrix multiply-accumulate of a
    warpgroup. Sparse matrix multiply-accumulate of a warpgroup. Wait for wgmma groups."""
    commit_group: _wgmma_commit_group
    fence: _wgmma_fence
    mma_async: _wgmma_mma_async
    wait_group: _wgmma_wait_group

class _wgmma_commit_group(_Instruction):
    """Close the wgmma group."""
    aligned: _wgmma_commit_group
    sync: _wgmma_commit_group

class _wgmma_fence(_Instruction):
    """Order register and shared accesses before wgmma."""
    aligned: _wgmma_fence
    sync: _wgmma_fence

class _wgmma_mma_async(_Instruction):
    """Matrix multiply-accumulate of a warpgroup. Sparse matrix multiply-accumulate of a warpgroup."""
    aligned: _wgmma_mma_async
    and_: _wgmma_mma_async
    b1: _wgmma_mma_async
    bf16: _wgmma_mma_async
    e4m3: _wgmma_mma_async
    e5m2: _wgmma_mma_async
    f16: _wgmma_mma_async
    f32: _wgmma_mma_async
    m64n104k16: _wgmma_mma_async
    m64n104k32: _wgmma_mma_async
    m64n104k64: _wgmma_mma_async
    m64n104k8: _wgmma_mma_async
    m64n112k16: _wgmma_mma_async
    m64n112k256: _wgmma_mma_async
    m64n112k32: _wgmma_mma_async
    m64n112k64: _wgmma_mma_async
    m64n112k8: _wgmma_mma_async
    m64n120k16: _wgmma_mma_async
    m64n120k32: _wgmma_mma_async
    m64n120k64: _wgmma_mma_async
    m64n120k8: _wgmma_mma_async
    m64n128k16: _wgmma_mma_async
    m64n128k256: _wgmma_mma_async
    m64n128k32: _wgmma_mma_async
    m64n128k64: _wgmma_mma_async
    m64n128k8: _wgmma_mma_async
    m64n136k16: _wgmma_mma_async
    m64n136k32: _wgmma_mma_async
    m64n136k64: _wgmma_mma_async
    m64n136k8: _wgmma_mma_async
    m64n144k16: _wgmma_mma_async
    m64n144k256: _wgmma_mma_async
    m64n144k32: _wgmma_mma_async
    m64n144k64: _wgmma_mma_async
    m64n144k8: _wgmma_mma_async
    m64n152k16: _wgmma_mma_async
    m64n152k32: _wgmma_mma_async
    m64n152k64: _wgmma_mma_async
    m64n152k8: _wgmma_mma_async
    m64n160k16: _wgmma_mma_async
    m64n160k256: _wgmma_mma_async
    m64n160k32: _wgmma_mma_async
    m64n160k64: _wgmma_mma_async
    m64n160k8: _wgmma_mma_async
    m64n168k16: _wgmma_mma_async
    m64n168k32: _wgmma_mma_async
    m64n168k64: _wgmma_mma_async
    m64n168k8: _wgmma_mma_async
    m64n16k16: _wgmma_mma_async
    m64n16k256: _wgmma_mma_async
    m64n16k32: _wgmma_mma_async
    m64n16k64: _wgmma_mma_async
    m64n16k8: _wgmma_mma_async
    m64n176k16: _wgmma_mma_async
    m64n176k256: _wgmma_mma_async
    m64n176k32: _wgmma_mma_async
    m64n176k64: _wgmma_mma_async
    m64n176k8: _wgmma_mma_async
    m64n184k16: _wgmma_mma_async
    m64n184k32: _wgmma_mma_async
    m64n184k64: _wgmma_mma_async
    m64n184k8: _wgmma_mma_async
    m64n192k16: _wgmma_mma_async
    m64n192k256: _wgmma_mma_async
    m64n192k32: _wgmma_mma_async
    m64n192k64: _wgmma_mma_async
    m64n192k8: _wgmma_mma_async
    m64n200k16: _wgmma_mma_async
    m64n200k32: _wgmma_mma_async
    m64n200k64: _wgmma_mma_async
    m64n200k8: _wgmma_mma_async
    m64n208k16: _wgmma_mma_async
    m64n208k256: _wgmma_mma_async
    m64n208k32: _wgmma_mma_async
    m64n208k64: _wgmma_mma_async
    m64n208k8: _wgmma_mma_async
    m64n216k16: _wgmma_mma_async
    m64n216k32: _wgmma_mma_async
    m64n216k64: _wgmma_mma_async
    m64n216k8: _wgmma_mma_async
    m64n224k16: _wgmma_mma_async
    m64n224k256: _wgmma_mma_async
    m64n224k32: _wgmma_mma_async
    m64n224k64: _wgmma_mma_async
    m64n224k8: _wgmma_mma_async
    m64n232k16: _wgmma_mma_async
    m64n232k32: _wgmma_mma_async
    m64n232k64: _wgmma_mma_async
    m64n232k8: _wgmma_mma_async
    m64n240k16: _wgmma_mma_async
    m64n240k256: _wgmma_mma_async
    m64n240k32: _wgmma_mma_async
    m64n240k64: _wgmma_mma_async
    m64n240k8: _wgmma_mma_async
    m64n248k16: _wgmma_mma_async
    m64n248k32: _wgmma_mma_async
    m64n248k64: _wgmma_mma_async
    m64n248k8: _wgmma_mma_async
    m64n24k16: _wgmma_mma_async
    m64n24k256: _wgmma_mma_async
    m64n24k32: _wgmma_mma_async
    m64n24k64: _wgmma_mma_async
    m64n24k8: _wgmma_mma_async
    m64n256k16: _wgmma_mma_async
    m64n256k256: _wgmma_mma_async
    m64n256k32: _wgmma_mma_async
    m64n256k64: _wgmma_mma_async
    m64n256k8: _wgmma_mma_async
    m64n32k16: _wgmma_mma_async
    m64n32k256: _wgmma_mma_async
    m64n32k32: _wgmma_mma_async
    m64n32k64: _wgmma_mma_async
    m64n32k8: _wgmma_mma_async
    m64n40k16: _wgmma_mma_async
    m64n40k32: _wgmma_mma_async
    m64n40k64: _wgmma_mma_async
    m64n40k8: _wgmma_mma_async
    m64n48k16: _wgmma_mma_async
    m64n48k256: _wgmma_mma_async
    m64n48k32: _wgmma_mma_async
    m64n48k64: _wgmma_mma_async
    m64n48k8: _wgmma_mma_async
    m64n56k16: _wgmma_mma_async
    m64n56k32: _wgmma_mma_async
    m64n56k64: _wgmma_mma_async
    m64n56k8: _wgmma_mma_async
    m64n64k16: _wgmma_mma_async
    m64n64k256: _wgmma_mma_async
    m64n64k32: _wgmma_mma_async
    m64n64k64: _wgmma_mma_async
    m64n64k8: _wgmma_mma_async
    m64n72k16: _wgmma_mma_async
    m64n72k32: _wgmma_mma_async
    m64n72k64: _wgmma_mma_async
    m64n72k8: _wgmma_mma_async
    m64n80k16: _wgmma_mma_async
    m64n80k256: _wgmma_mma_async
    m64n80k32: _wgmma_mma_async
    m64n80k64: _wgmma_mma_async
    m64n80k8: _wgmma_mma_async
    m64n88k16: _wgmma_mma_async
    m64n88k32: _wgmma_mma_async
    m64n88k64: _wgmma_mma_async
    m64n88k8: _wgmma_mma_async
    m64n8k16: _wgmma_mma_async
    m64n8k256: _wgmma_mma_async
    m64n8k32: _wgmma_mma_async
    m64n8k64: _wgmma_mma_async
    m64n8k8: _wgmma_mma_async
    m64n96k16: _wgmma_mma_async
    m64n96k256: _wgmma_mma_async
    m64n96k32: _wgmma_mma_async
    m64n96k64: _wgmma_mma_async
    m64n96k8: _wgmma_mma_async
    popc: _wgmma_mma_async
    s32: _wgmma_mma_async
    s8: _wgmma_mma_async
    satfinite: _wgmma_mma_async
    sp: _wgmma_mma_async
    sync: _wgmma_mma_async
    tf32: _wgmma_mma_async
    u8: _wgmma_mma_async

class _wgmma_wait_group(_Instruction):
    """Wait for wgmma groups."""
    aligned: _wgmma_wait_group
    sync: _wgmma_wait_group

class _wmma(_Instruction):
    """Load a fragment of A. Load a fragment of B. Load a fragment of C. Matrix multiply-accumulate on fragments.
    Store a fragment of D."""
    load: _wmma_load
    mma: _wmma_mma
    store: _wmma_store

class _wmma_load(_Instruction):
    """Load a fragment of A. Load a fragment of B. Load a fragment of C."""
    a: _wmma_load_a
    b: _wmma_load_b
    c: _wmma_load_c

class _wmma_load_a(_Instruction):
    """Load a fragment of A."""
    aligned: _wmma_load_a
    b: _wmma_load_a
    b1: _wmma_load_a
    bf16: _wmma_load_a
    col: _wmma_load_a
    f16: _wmma_load_a
    f64: _wmma_load_a
    global_: _wmma_load_a
    m16n16k16: _wmma_load_a
    m16n16k8: _wmma_load_a
    m32n8k16: _wmma_load_a
    m8n32k16: _wmma_load_a
    m8n8k128: _wmma_load_a
    m8n8k32: _wmma_load_a
    m8n8k4: _wmma_load_a
    row: _wmma_load_a
    s4: _wmma_load_a
    s8: _wmma_load_a
    shared: _wmma_load_a
    shared__cta: _wmma_load_a
    sync: _wmma_load_a
    tf32: _wmma_load_a
    u4: _wmma_load_a
    u8: _wmma_load_a

class _wmma_load_b(_Instruction):
    """Load a fragment of A. Load a fragment of B."""
    a: _wmma_load_b
    aligned: _wmma_load_b
    b1: _wmma_load_b
    bf16: _wmma_load_b
    col: _wmma_load_b
    f16: _wmma_load_b
    f64: _wmma_load_b
    global_: _wmma_load_b
    m16n16k16: _wmma_load_b
    m16n16k8: _wmma_load_b
    m32n8k16: _wmma_load_b
    m8n32k16: _wmma_load_b
    m8n8k128: _wmma_load_b
    m8n8k32: _wmma_load_b
    m8n8k4: _wmma_load_b
    row: _wmma_load_b
    s4: _wmma_load_b
    s8: _wmma_load_b
    shared: _wmma_load_b
    shared__cta: _wmma_load_b
    sync: _wmma_load_b
    tf32: _wmma_load_b
    u4: _wmma_load_b
    u8: _wmma_load_b

class _wmma_load_c(_Instruction):
    """Load a fragment of C."""
    aligned: _wmma_load_c
    col: _wmma_load_c
    f16: _wmma_load_c
    f32: _wmma_load_c
    f64: _wmma_load_c
    global_: _wmma_load_c
    m16n16k16: _wmma_load_c
    m16n16k8: _wmma_load_c
    m32n8k16: _wmma_load_c
    m8n32k16: _wmma_load_c
    m8n8k128: _wmma_load_c
    m8n8k32: _wmma_load_c
    m8n8k4: _wmma_load_c
    row: _wmma_load_c
    s32: _wmma_load_c
    shared: _wmma_load_c
    shared__cta: _wmma_load_c
    sync: _wmma_load_c

class _wmma_mma(_Instruction):
    """Matrix multiply-accumulate on fragments."""
    aligned: _wmma_mma
    and_: _wmma_mma
    b1: _wmma_mma
    bf16: _wmma_mma
    col: _wmma_mma
    f16: _wmma_mma
    f32: _wmma_mma
    f64: _wmma_mma
    m16n16k16: _wmma_mma
    m16n16k8: _wmma_mma
    m32n8k16: _wmma_mma
    m8n32k16: _wmma_mma
    m8n8k128: _wmma_mma
    m8n8k32: _wmma_mma
    m8n8k4: _wmma_mma
    popc: _wmma_mma
    rm: _wmma_mma
    rn: _wmma_mma
    row: _wmma_mma
    rp: _wmma_mma
    rz: _wmma_mma
    s32: _wmma_mma
    s4: _wmma_mma
    s8: _wmma_mma
    satfinite: _wmma_mma
    sync: _wmma_mma
    tf32: _wmma_mma
    u4: _wmma_mma
    u8: _wmma_mma
    xor: _wmma_mma

class _wmma_store(_Instruction):
    """Store a fragment of D."""
    d: _wmma_store_d

class _wmma_store_d(_Instruction):
    """Store a fragment of D."""
    aligned: _wmma_store_d
    col: _wmma_store_d
    f16: _wmma_store_d
    f32: _wmma_store_d
    f64: _wmma_store_d
    global_: _wmma_store_d
    m16n16k16: _wmma_store_d
    m16n16k8: _wmma_store_d
    m32n8k16: _wmma_store_d
    m8n32k16: _wmma_store_d
    m8n8k128: _wmma_store_d
    m8n8k32: _wmma_store_d
    m8n8k4: _wmma_store_d
    row: _wmma_store_d
    s32: _wmma_store_d
    shared: _wmma_store_d
    shared__cta: _wmma_store_d
    sync: _wmma_store_d

class _xor(_Instruction):
    """Bitwise exclusive or."""
    b16: _xor
    b32: _xor
    b64: _xor
    pred: _xor

class _Instructions:
    abs: _abs
    activemask: _activemask
    add: _add
    addc: _addc
    alloca: _alloca
    and_: _and
    applypriority: _applypriority
    atom: _atom
    bar: _bar
    barrier: _barrier
    bfe: _bfe
    bfi: _bfi
    bfind: _bfind
    bmsk: _bmsk
    bra: _bra
    brev: _brev
    brkpt: _brkpt
    brx: _brx
    call: _call
    clmad: _clmad
    clusterlaunchcontrol: _clusterlaunchcontrol
    clz: _clz
    cnot: _cnot
    copysign: _copysign
    cos: _cos
    cp: _cp
    createpolicy: _createpolicy
    cvt: _cvt
    cvta: _cvta
    discard: _discard
    div: _div
    dp2a: _dp2a
    dp4a: _dp4a
    elect: _elect
    ex2: _ex2
    exit: _exit
    fabric: _fabric
    fence: _fence
    fma: _fma
    fns: _fns
    getctarank: _getctarank
    griddepcontrol: _griddepcontrol
    isspacep: _isspacep
    istypep: _istypep
    ld: _ld
    ldmatrix: _ldmatrix
    ldu: _ldu
    lg2: _lg2
    lop3: _lop3
    mad: _mad
    mad24: _mad24
    madc: _madc
    mapa: _mapa
    match: _match
    max: _max
    mbarrier: _mbarrier
    membar: _membar
    min: _min
    mma: _mma
    mov: _mov
    movmatrix: _movmatrix
    mul: _mul
    mul24: _mul24
    multimem: _multimem
    nanosleep: _nanosleep
    neg: _neg
    not_: _not
    or_: _or
    pmevent: _pmevent
    popc: _popc
    prefetch: _prefetch
    prefetchu: _prefetchu
    prmt: _prmt
    rcp: _rcp
    red: _red
    redux: _redux
    rem: _rem
    ret: _ret
    rsqrt: _rsqrt
    sad: _sad
    selp: _selp
    set: _set
    setmaxnreg: _setmaxnreg
    setp: _setp
    shf: _shf
    shfl: _shfl
    shl: _shl
    shr: _shr
    sin: _sin
    slct: _slct
    spcompress: _spcompress
    spdecompress: _spdecompress
    sqrt: _sqrt
    st: _st
    stackrestore: _stackrestore
    stacksave: _stacksave
    stmatrix: _stmatrix
    sub: _sub
    subc: _subc
    suld: _suld
    suq: _suq
    sured: _sured
    sust: _sust
    szext: _szext
    tanh: _tanh
    tcgen05: _tcgen05
    tensormap: _tensormap
    testp: _testp
    tex: _tex
    tld4: _tld4
    trap: _trap
    txq: _txq
    vabsdiff: _vabsdiff
    vabsdiff2: _vabsdiff2
    vabsdiff4: _vabsdiff4
    vadd: _vadd
    vadd2: _vadd2
    vadd4: _vadd4
    vavrg2: _vavrg2
    vavrg4: _vavrg4
    vmad: _vmad
    vmax: _vmax
    vmax2: _vmax2
    vmax4: _vmax4
    vmin: _vmin
    vmin2: _vmin2
    vmin4: _vmin4
    vote: _vote
    vset: _vset
    vset2: _vset2
    vset4: _vset4
    vshl: _vshl
    vshr: _vshr
    vsub: _vsub
    vsub2: _vsub2
    vsub4: _vsub4
    wgmma: _wgmma
    wmma: _wmma
    xor: _xor

inst: _Instructions

class pipe:
    def __init__(self, src: object) -> None: ...
    def __getattr__(self, name: str) -> pipe: ...
    def __call__(self, dst: object, *rest: object, pred: object = None) -> pipe: ...
