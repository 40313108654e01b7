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
    """Change the cache priority of a range. Change the cache priority of a range asynchronously. Change the cache
    priority of a tensor tile asynchronously."""
    L2__evict_normal: _applypriority
    _2d: _applypriority
    async_: _applypriority
    bulk: _applypriority
    bulk_group: _applypriority
    global_: _applypriority
    tensor: _applypriority
    tile: _applypriority

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
    """Wait for the threads of a barrier. Arrive at a barrier without waiting. Wait at a barrier and reduce a
    predicate. Wait for lanes of the warp."""
    and_: _bar
    arrive: _bar
    cta: _bar
    or_: _bar
    popc: _bar
    pred: _bar
    red: _bar
    sync: _bar
    u32: _bar
    warp: _bar

class _barrier(_Instruction):
    """Wait for the threads of a barrier. Arrive at a barrier without waiting. Wait at a barrier and reduce a
    predicate. Arrive at the cluster barrier. Wait at the cluster barrier."""
    acquire: _barrier
    aligned: _barrier
    and_: _barrier
    arrive: _barrier
    cluster: _barrier
    cta: _barrier
    or_: _barrier
    popc: _barrier
    pred: _barrier
    red: _barrier
    relaxed: _barrier
    release: _barrier
    sync: _barrier
    u32: _barrier
    wait: _barrier

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
    idx: _brx
    uni: _brx

class _call(_Instruction):
    """Call a function."""
    uni: _call

class _clmad(_Instruction):
    """Carry-less multiply and xor."""
    hi: _clmad
    lo: _clmad
    u64: _clmad

class _clusterlaunchcontrol(_Instruction):
    """Ask to cancel a cluster that has not been launched yet. Decode the answer to a cancel request."""
    async_: _clusterlaunchcontrol
    b128: _clusterlaunchcontrol
    b32: _clusterlaunchcontrol
    get_first_ctaid: _clusterlaunchcontrol
    get_first_ctaid__x: _clusterlaunchcontrol
    get_first_ctaid__y: _clusterlaunchcontrol
    get_first_ctaid__z: _clusterlaunchcontrol
    is_canceled: _clusterlaunchcontrol
    mbarrier__complete_tx__bytes: _clusterlaunchcontrol
    multicast__cluster__all: _clusterlaunchcontrol
    pred: _clusterlaunchcontrol
    query_cancel: _clusterlaunchcontrol
    shared__cta: _clusterlaunchcontrol
    try_cancel: _clusterlaunchcontrol
    v4: _clusterlaunchcontrol

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
    """Copy from global to shared memory asynchronously. Arrive on an mbarrier when this thread's cp.async are done.
    Copy bytes in bulk asynchronously. Prefetch in bulk to L2. Wait for bulk groups. Reduce in bulk asynchronously.
    Copy a tensor tile asynchronously (TMA). Reduce a tensor tile into global memory asynchronously (TMA). Prefetch
    a tensor tile to L2 (TMA)."""
    L2: _cp
    L2__128B: _cp
    L2__256B: _cp
    L2__64B: _cp
    L2__cache_hint: _cp
    L2__evict_last: _cp
    _1d: _cp
    _2d: _cp
    _3d: _cp
    _4d: _cp
    _5d: _cp
    add: _cp
    and_: _cp
    arrive: _cp
    async_: _cp
    b128: _cp
    b32: _cp
    b64: _cp
    bf16: _cp
    bulk: _cp
    bulk_group: _cp
    ca: _cp
    cg: _cp
    cluster: _cp
    commit_group: _cp
    cp_mask: _cp
    cta: _cp
    cta_group__1: _cp
    cta_group__2: _cp
    dec: _cp
    f16: _cp
    f32: _cp
    f64: _cp
    global_: _cp
    gpu: _cp
    ignore_oob: _cp
    im2col: _cp
    im2col__w: _cp
    im2col__w__128: _cp
    im2col_no_offs: _cp
    im2col_no_offs__w: _cp
    inc: _cp
    max: _cp
    mbarrier: _cp
    mbarrier__complete_tx__bytes: _cp
    mbarrier__report__disabled: _cp
    mbarrier__report__validity__per_16bytes__8: _cp
    mbarrier__report__validity__per_16bytes__80: _cp
    mbarrier__report__validity__per_16bytes__8000: _cp
    mbarrier__report__validity__per_16bytes__80000000: _cp
    mbarrier__report__validity__per_element__ff: _cp
    min: _cp
    multicast__cluster: _cp
    multicast__cluster__16b: _cp
    multicast__cluster__32b: _cp
    noftz: _cp
    noinc: _cp
    or_: _cp
    override__global_address: _cp
    override__global_dim: _cp
    override__global_dim_stride: _cp
    prefetch: _cp
    read: _cp
    reduce: _cp
    relaxed: _cp
    s32: _cp
    s64: _cp
    shared: _cp
    shared__cluster: _cp
    shared__cta: _cp
    sys: _cp
    tensor: _cp
    tile: _cp
    tile__gather4: _cp
    tile__scatter4: _cp
    u32: _cp
    u64: _cp
    wait_all: _cp
    wait_group: _cp
    weak: _cp
    xor: _cp

class _createpolicy(_Instruction):
    """Make a cache policy for an address range. Make a cache policy for a fraction of accesses. Make a cache policy
    from a CUDA access property."""
    L2: _createpolicy
    L2__evict_first: _createpolicy
    L2__evict_last: _createpolicy
    L2__evict_normal: _createpolicy
    L2__evict_unchanged: _createpolicy
    b64: _createpolicy
    cvt: _createpolicy
    fractional: _createpolicy
    global_: _createpolicy
    range: _createpolicy

class _cvt(_Instruction):
    """Convert between types. Convert two integers with saturation and pack them."""
    b32: _cvt
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
    pack: _cvt
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
    s2: _cvt
    s2f6x2: _cvt
    s32: _cvt
    s4: _cvt
    s64: _cvt
    s8: _cvt
    sat: _cvt
    satfinite: _cvt
    scaled__n1__ue8m0: _cvt
    scaled__n2__ue8m0: _cvt
    tf32: _cvt
    u16: _cvt
    u2: _cvt
    u32: _cvt
    u4: _cvt
    u64: _cvt
    u8: _cvt
    ue5m3x2: _cvt
    ue8m0x2: _cvt

class _cvta(_Instruction):
    """Convert an address of a state space to generic. Convert a generic address to a state space."""
    const: _cvta
    global_: _cvta
    local: _cvta
    param: _cvta
    param__entry: _cvta
    shared: _cvta
    shared__cluster: _cvta
    shared__cta: _cvta
    to: _cvta
    u32: _cvta
    u64: _cvta

class _discard(_Instruction):
    """Drop cached data without writing it back."""
    L2: _discard
    global_: _discard

class _div(_Instruction):
    """Divide. Divide over the full range, at most 2 ulp off."""
    approx: _div
    f32: _div
    f64: _div
    ftz: _div
    full: _div
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

class _dp2a(_Instruction):
    """Dot product of two halves and two bytes, accumulated."""
    hi: _dp2a
    lo: _dp2a
    s32: _dp2a
    u32: _dp2a

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
    """Read through the fabric asynchronously. Write through the fabric asynchronously. Reduce through the fabric
    asynchronously. Submit fabric operations. Wait for fabric operations. Pull and reduce through the fabric
    asynchronously."""
    acc__f16: _fabric
    acc__f32: _fabric
    add: _fabric
    and_: _fabric
    async_: _fabric
    b128: _fabric
    b32: _fabric
    b64: _fabric
    bf16: _fabric
    counted__bytes: _fabric
    cp_mask: _fabric
    e4m3: _fabric
    e5m2: _fabric
    f16: _fabric
    f32: _fabric
    f64: _fabric
    max: _fabric
    mbarrier__complete_tx__16B: _fabric
    mbarrier__complete_tx__bytes: _fabric
    mbarrier__report__fabric: _fabric
    min: _fabric
    multimem: _fabric
    op_restrict__fetching: _fabric
    or_: _fabric
    relaxed: _fabric
    s32: _fabric
    s64: _fabric
    shared__cta: _fabric
    submit: _fabric
    sync: _fabric
    sync_restrict__reads: _fabric
    sys: _fabric
    try_get: _fabric
    try_pullred: _fabric
    try_put: _fabric
    try_red: _fabric
    u32: _fabric
    u64: _fabric
    wait: _fabric
    xor: _fabric

class _fence(_Instruction):
    """Order memory accesses. Order accesses through different proxies."""
    acq_rel: _fence
    acquire: _fence
    alias: _fence
    async_: _fence
    async__generic: _fence
    cluster: _fence
    cta: _fence
    fabric__fabric: _fence
    fabric__generic: _fence
    generic__fabric: _fence
    global_: _fence
    gpu: _fence
    mbarrier_init: _fence
    proxy: _fence
    release: _fence
    sc: _fence
    shared__cluster: _fence
    shared__cta: _fence
    sync_restrict__shared__cluster: _fence
    sync_restrict__shared__cta: _fence
    sys: _fence
    tensormap__generic: _fence

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
    """Multiply and add. Multiply and add in twice the width. Multiply, take the high half, add and saturate."""
    cc: _mad
    f32: _mad
    f64: _mad
    ftz: _mad
    hi: _mad
    lo: _mad
    rm: _mad
    rn: _mad
    rp: _mad
    rz: _mad
    s16: _mad
    s32: _mad
    s64: _mad
    sat: _mad
    u16: _mad
    u32: _mad
    u64: _mad
    wide: _mad

class _mad24(_Instruction):
    """Multiply the low 24 bits and add. Multiply the low 24 bits, add and saturate."""
    hi: _mad24
    lo: _mad24
    s32: _mad24
    sat: _mad24
    u32: _mad24

class _madc(_Instruction):
    """Multiply and add with carry-in."""
    cc: _madc
    hi: _madc
    lo: _madc
    s32: _madc
    s64: _madc
    u32: _madc
    u64: _madc

class _mapa(_Instruction):
    """Map a shared address to another CTA of the cluster."""
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
    """Initialise an mbarrier. Invalidate an mbarrier. Expect more transaction bytes. Complete transaction bytes.
    Arrive at an mbarrier. Test whether an mbarrier phase is over. Wait for an mbarrier phase, for a bounded time.
    Pending count in an mbarrier state. Test the layout of an mbarrier."""
    acquire: _mbarrier
    arrive: _mbarrier
    arrive_drop: _mbarrier
    b64: _mbarrier
    check_layout: _mbarrier
    cluster: _mbarrier
    complete_tx: _mbarrier
    cta: _mbarrier
    expect_tx: _mbarrier
    init: _mbarrier
    inval: _mbarrier
    layout__v0: _mbarrier
    layout__v1: _mbarrier
    multicast__cluster__32b: _mbarrier
    noComplete: _mbarrier
    parity: _mbarrier
    pending_count: _mbarrier
    phase_type__conditional: _mbarrier
    phase_type__primary: _mbarrier
    relaxed: _mbarrier
    release: _mbarrier
    shared: _mbarrier
    shared__cluster: _mbarrier
    shared__cta: _mbarrier
    test_wait: _mbarrier
    try_wait: _mbarrier

class _membar(_Instruction):
    """Order memory accesses, old spelling. Order accesses through different proxies, old spelling."""
    alias: _membar
    async_: _membar
    cta: _membar
    gl: _membar
    proxy: _membar
    sys: _membar

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
    """Multiply. Multiply into twice the width."""
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
    hi: _mul
    lo: _mul
    rm: _mul
    rn: _mul
    rp: _mul
    rz: _mul
    s16: _mul
    s32: _mul
    s64: _mul
    sat: _mul
    satfinite: _mul
    u16: _mul
    u32: _mul
    u64: _mul
    ue8m0x4: _mul
    wide: _mul

class _mul24(_Instruction):
    """Multiply the low 24 bits."""
    hi: _mul24
    lo: _mul24
    s32: _mul24
    u32: _mul24

class _multimem(_Instruction):
    """Load from all replicas of a multimem address and reduce. Store to all replicas of a multimem address. Reduce
    into all replicas of a multimem address. Store to all replicas asynchronously. Reduce into all replicas
    asynchronously. Copy in bulk to all replicas asynchronously. Reduce in bulk into all replicas asynchronously."""
    acc__f16: _multimem
    acc__f32: _multimem
    acquire: _multimem
    add: _multimem
    and_: _multimem
    async_: _multimem
    b128: _multimem
    b16: _multimem
    b32: _multimem
    b64: _multimem
    b8: _multimem
    bf16: _multimem
    bf16x2: _multimem
    bulk: _multimem
    bulk_group: _multimem
    cluster: _multimem
    cp: _multimem
    cp_mask: _multimem
    cta: _multimem
    dec: _multimem
    e4m3x2: _multimem
    e4m3x4: _multimem
    e5m2x2: _multimem
    e5m2x4: _multimem
    f16: _multimem
    f16x2: _multimem
    f32: _multimem
    f64: _multimem
    global_: _multimem
    gpu: _multimem
    inc: _multimem
    ld_reduce: _multimem
    max: _multimem
    min: _multimem
    noftz: _multimem
    or_: _multimem
    red: _multimem
    reduce: _multimem
    relaxed: _multimem
    release: _multimem
    s16: _multimem
    s32: _multimem
    s64: _multimem
    s8: _multimem
    shared__cta: _multimem
    st: _multimem
    sys: _multimem
    u16: _multimem
    u32: _multimem
    u64: _multimem
    u8: _multimem
    v2: _multimem
    v4: _multimem
    v8: _multimem
    weak: _multimem
    xor: _multimem

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
    """Modify memory atomically. Modify memory atomically and asynchronously."""
    L2__cache_hint: _red
    add: _red
    and_: _red
    async_: _red
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
    mbarrier__complete_tx__bytes: _red
    min: _red
    mmio: _red
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
    aligned: _setmaxnreg
    dec: _setmaxnreg
    inc: _setmaxnreg
    sync: _setmaxnreg
    u32: _setmaxnreg

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
    b32: _shf
    clamp: _shf
    l: _shf
    r: _shf
    wrap: _shf

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
    """Store. Store asynchronously. Fill shared memory with zeros."""
    L1__evict_first: _st
    L1__evict_last: _st
    L1__evict_normal: _st
    L1__evict_unchanged: _st
    L1__no_allocate: _st
    L2__cache_hint: _st
    L2__evict_first: _st
    L2__evict_last: _st
    L2__evict_normal: _st
    async_: _st
    b128: _st
    b16: _st
    b32: _st
    b64: _st
    b8: _st
    bulk: _st
    cg: _st
    cluster: _st
    cs: _st
    cta: _st
    f32: _st
    f64: _st
    global_: _st
    gpu: _st
    local: _st
    mbarrier__complete_tx__bytes: _st
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
    _1d: _suld
    _2d: _suld
    _3d: _suld
    a1d: _suld
    a2d: _suld
    b: _suld
    b16: _suld
    b32: _suld
    b64: _suld
    b8: _suld
    ca: _suld
    cg: _suld
    clamp: _suld
    cs: _suld
    cv: _suld
    trap: _suld
    v2: _suld
    v4: _suld
    zero: _suld

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
    _1d: _sured
    _2d: _sured
    _3d: _sured
    add: _sured
    and_: _sured
    b: _sured
    b32: _sured
    clamp: _sured
    max: _sured
    min: _sured
    or_: _sured
    p: _sured
    s32: _sured
    s64: _sured
    trap: _sured
    u32: _sured
    u64: _sured
    zero: _sured

class _sust(_Instruction):
    """Store to a surface. Store formatted to a surface."""
    _1d: _sust
    _2d: _sust
    _3d: _sust
    a1d: _sust
    a2d: _sust
    b: _sust
    b16: _sust
    b32: _sust
    b64: _sust
    b8: _sust
    cg: _sust
    clamp: _sust
    cs: _sust
    p: _sust
    trap: _sust
    v2: _sust
    v4: _sust
    wb: _sust
    wt: _sust
    zero: _sust

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
    """Allocate tensor memory. Free tensor memory. Give up the right to allocate tensor memory. Load from tensor
    memory. Load from tensor memory and reduce. Load from tensor memory and compress. Store to tensor memory. Wait
    for tensor memory accesses. Order tensor core operations with thread synchronisation. Track tensor core
    operations with an mbarrier. Copy from shared to tensor memory. Shift rows of tensor memory. Matrix multiply-
    accumulate into tensor memory. Sparse matrix multiply-accumulate into tensor memory. Weight-stationary matrix
    multiply-accumulate into tensor memory. Sparse weight-stationary matrix multiply-accumulate into tensor
    memory."""
    NaN: _tcgen05
    _128x128b: _tcgen05
    _128x256b: _tcgen05
    _16x128b: _tcgen05
    _16x256b: _tcgen05
    _16x32bx2: _tcgen05
    _16x64b: _tcgen05
    _32x128b: _tcgen05
    _32x32b: _tcgen05
    _4x256b: _tcgen05
    _64x128b: _tcgen05
    abs: _tcgen05
    aligned: _tcgen05
    alloc: _tcgen05
    ashift: _tcgen05
    b2: _tcgen05
    b32: _tcgen05
    b4x16_p64: _tcgen05
    b64: _tcgen05
    b6x16_p32: _tcgen05
    b8x16: _tcgen05
    block16: _tcgen05
    block32: _tcgen05
    block_scale: _tcgen05
    collector__a__discard: _tcgen05
    collector__a__fill: _tcgen05
    collector__a__lastuse: _tcgen05
    collector__a__use: _tcgen05
    collector__b0__discard: _tcgen05
    collector__b0__fill: _tcgen05
    collector__b0__lastuse: _tcgen05
    collector__b0__use: _tcgen05
    collector__b1__discard: _tcgen05
    collector__b1__fill: _tcgen05
    collector__b1__lastuse: _tcgen05
    collector__b1__use: _tcgen05
    collector__b2__discard: _tcgen05
    collector__b2__fill: _tcgen05
    collector__b2__lastuse: _tcgen05
    collector__b2__use: _tcgen05
    collector__b3__discard: _tcgen05
    collector__b3__fill: _tcgen05
    collector__b3__lastuse: _tcgen05
    collector__b3__use: _tcgen05
    collector__b__discard: _tcgen05
    collector__b__fill: _tcgen05
    collector__b__lastuse: _tcgen05
    collector__b__use: _tcgen05
    commit: _tcgen05
    cp: _tcgen05
    cta_group__1: _tcgen05
    cta_group__2: _tcgen05
    dealloc: _tcgen05
    decompress__lut__b: _tcgen05
    down: _tcgen05
    exclusive: _tcgen05
    f32: _tcgen05
    fence__after_thread_sync: _tcgen05
    fence__before_thread_sync: _tcgen05
    kind__f16: _tcgen05
    kind__f8f6f4: _tcgen05
    kind__i8: _tcgen05
    kind__mxf4: _tcgen05
    kind__mxf4nvf4: _tcgen05
    kind__mxf8f6f4: _tcgen05
    kind__tf32: _tcgen05
    kind__ti16: _tcgen05
    ld: _tcgen05
    max: _tcgen05
    mbarrier__arrive__one: _tcgen05
    min: _tcgen05
    mma: _tcgen05
    multicast__cluster: _tcgen05
    multicast__cluster__32b: _tcgen05
    pack__16b: _tcgen05
    red: _tcgen05
    relinquish_alloc_permit: _tcgen05
    s32: _tcgen05
    scale_vec__1X: _tcgen05
    scale_vec__2X: _tcgen05
    scale_vec__4X: _tcgen05
    shared__cluster: _tcgen05
    shared__cta: _tcgen05
    shift: _tcgen05
    sp: _tcgen05
    spcompress: _tcgen05
    st: _tcgen05
    sync: _tcgen05
    sync_restrict__shared__read__mma__a: _tcgen05
    u32: _tcgen05
    unpack__16b: _tcgen05
    wait__ld: _tcgen05
    wait__st: _tcgen05
    warpx2__01_23: _tcgen05
    warpx2__02_13: _tcgen05
    warpx4: _tcgen05
    ws: _tcgen05
    x1: _tcgen05
    x128: _tcgen05
    x16: _tcgen05
    x2: _tcgen05
    x32: _tcgen05
    x4: _tcgen05
    x64: _tcgen05
    x8: _tcgen05

class _tensormap(_Instruction):
    """Change a field of a tensor map. Copy a tensor map and make it visible to the tensormap proxy."""
    aligned: _tensormap
    b1024: _tensormap
    b32: _tensormap
    b64: _tensormap
    box_dim: _tensormap
    cluster: _tensormap
    cp_fenceproxy: _tensormap
    cta: _tensormap
    element_stride: _tensormap
    elemtype: _tensormap
    fill_mode: _tensormap
    global_: _tensormap
    global_address: _tensormap
    global_dim: _tensormap
    global_stride: _tensormap
    gpu: _tensormap
    interleave_layout: _tensormap
    rank: _tensormap
    release: _tensormap
    replace: _tensormap
    shared__cta: _tensormap
    swizzle_atomicity: _tensormap
    swizzle_mode: _tensormap
    sync: _tensormap
    sys: _tensormap
    tensormap__generic: _tensormap
    tile: _tensormap

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
    """Sample a texture. Sample the base level of a texture. Sample a texture at a given level of detail. Sample a
    texture with given gradients."""
    _1d: _tex
    _2d: _tex
    _2dms: _tex
    _3d: _tex
    a1d: _tex
    a2d: _tex
    a2dms: _tex
    acube: _tex
    base: _tex
    cube: _tex
    f16: _tex
    f16x2: _tex
    f32: _tex
    grad: _tex
    level: _tex
    s32: _tex
    u32: _tex
    v2: _tex
    v4: _tex

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
    """Query a texture or sampler attribute. Query a texture attribute at a level."""
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
    level: _txq
    normalized_coords: _txq
    num_mipmap_levels: _txq
    num_samples: _txq
    width: _txq

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
    """Order register and shared accesses before wgmma. Close the wgmma group. Wait for wgmma groups. Matrix
    multiply-accumulate of a warpgroup. Sparse matrix multiply-accumulate of a warpgroup."""
    aligned: _wgmma
    and_: _wgmma
    b1: _wgmma
    bf16: _wgmma
    commit_group: _wgmma
    e4m3: _wgmma
    e5m2: _wgmma
    f16: _wgmma
    f32: _wgmma
    fence: _wgmma
    m64n104k16: _wgmma
    m64n104k32: _wgmma
    m64n104k64: _wgmma
    m64n104k8: _wgmma
    m64n112k16: _wgmma
    m64n112k256: _wgmma
    m64n112k32: _wgmma
    m64n112k64: _wgmma
    m64n112k8: _wgmma
    m64n120k16: _wgmma
    m64n120k32: _wgmma
    m64n120k64: _wgmma
    m64n120k8: _wgmma
    m64n128k16: _wgmma
    m64n128k256: _wgmma
    m64n128k32: _wgmma
    m64n128k64: _wgmma
    m64n128k8: _wgmma
    m64n136k16: _wgmma
    m64n136k32: _wgmma
    m64n136k64: _wgmma
    m64n136k8: _wgmma
    m64n144k16: _wgmma
    m64n144k256: _wgmma
    m64n144k32: _wgmma
    m64n144k64: _wgmma
    m64n144k8: _wgmma
    m64n152k16: _wgmma
    m64n152k32: _wgmma
    m64n152k64: _wgmma
    m64n152k8: _wgmma
    m64n160k16: _wgmma
    m64n160k256: _wgmma
    m64n160k32: _wgmma
    m64n160k64: _wgmma
    m64n160k8: _wgmma
    m64n168k16: _wgmma
    m64n168k32: _wgmma
    m64n168k64: _wgmma
    m64n168k8: _wgmma
    m64n16k16: _wgmma
    m64n16k256: _wgmma
    m64n16k32: _wgmma
    m64n16k64: _wgmma
    m64n16k8: _wgmma
    m64n176k16: _wgmma
    m64n176k256: _wgmma
    m64n176k32: _wgmma
    m64n176k64: _wgmma
    m64n176k8: _wgmma
    m64n184k16: _wgmma
    m64n184k32: _wgmma
    m64n184k64: _wgmma
    m64n184k8: _wgmma
    m64n192k16: _wgmma
    m64n192k256: _wgmma
    m64n192k32: _wgmma
    m64n192k64: _wgmma
    m64n192k8: _wgmma
    m64n200k16: _wgmma
    m64n200k32: _wgmma
    m64n200k64: _wgmma
    m64n200k8: _wgmma
    m64n208k16: _wgmma
    m64n208k256: _wgmma
    m64n208k32: _wgmma
    m64n208k64: _wgmma
    m64n208k8: _wgmma
    m64n216k16: _wgmma
    m64n216k32: _wgmma
    m64n216k64: _wgmma
    m64n216k8: _wgmma
    m64n224k16: _wgmma
    m64n224k256: _wgmma
    m64n224k32: _wgmma
    m64n224k64: _wgmma
    m64n224k8: _wgmma
    m64n232k16: _wgmma
    m64n232k32: _wgmma
    m64n232k64: _wgmma
    m64n232k8: _wgmma
    m64n240k16: _wgmma
    m64n240k256: _wgmma
    m64n240k32: _wgmma
    m64n240k64: _wgmma
    m64n240k8: _wgmma
    m64n248k16: _wgmma
    m64n248k32: _wgmma
    m64n248k64: _wgmma
    m64n248k8: _wgmma
    m64n24k16: _wgmma
    m64n24k256: _wgmma
    m64n24k32: _wgmma
    m64n24k64: _wgmma
    m64n24k8: _wgmma
    m64n256k16: _wgmma
    m64n256k256: _wgmma
    m64n256k32: _wgmma
    m64n256k64: _wgmma
    m64n256k8: _wgmma
    m64n32k16: _wgmma
    m64n32k256: _wgmma
    m64n32k32: _wgmma
    m64n32k64: _wgmma
    m64n32k8: _wgmma
    m64n40k16: _wgmma
    m64n40k32: _wgmma
    m64n40k64: _wgmma
    m64n40k8: _wgmma
    m64n48k16: _wgmma
    m64n48k256: _wgmma
    m64n48k32: _wgmma
    m64n48k64: _wgmma
    m64n48k8: _wgmma
    m64n56k16: _wgmma
    m64n56k32: _wgmma
    m64n56k64: _wgmma
    m64n56k8: _wgmma
    m64n64k16: _wgmma
    m64n64k256: _wgmma
    m64n64k32: _wgmma
    m64n64k64: _wgmma
    m64n64k8: _wgmma
    m64n72k16: _wgmma
    m64n72k32: _wgmma
    m64n72k64: _wgmma
    m64n72k8: _wgmma
    m64n80k16: _wgmma
    m64n80k256: _wgmma
    m64n80k32: _wgmma
    m64n80k64: _wgmma
    m64n80k8: _wgmma
    m64n88k16: _wgmma
    m64n88k32: _wgmma
    m64n88k64: _wgmma
    m64n88k8: _wgmma
    m64n8k16: _wgmma
    m64n8k256: _wgmma
    m64n8k32: _wgmma
    m64n8k64: _wgmma
    m64n8k8: _wgmma
    m64n96k16: _wgmma
    m64n96k256: _wgmma
    m64n96k32: _wgmma
    m64n96k64: _wgmma
    m64n96k8: _wgmma
    mma_async: _wgmma
    popc: _wgmma
    s32: _wgmma
    s8: _wgmma
    satfinite: _wgmma
    sp: _wgmma
    sync: _wgmma
    tf32: _wgmma
    u8: _wgmma
    wait_group: _wgmma

class _wmma(_Instruction):
    """Load a fragment of A. Load a fragment of C. Load a fragment of B. Store a fragment of D. Matrix multiply-
    accumulate on fragments."""
    a: _wmma
    aligned: _wmma
    and_: _wmma
    b: _wmma
    b1: _wmma
    bf16: _wmma
    c: _wmma
    col: _wmma
    d: _wmma
    f16: _wmma
    f32: _wmma
    f64: _wmma
    global_: _wmma
    load: _wmma
    m16n16k16: _wmma
    m16n16k8: _wmma
    m32n8k16: _wmma
    m8n32k16: _wmma
    m8n8k128: _wmma
    m8n8k32: _wmma
    m8n8k4: _wmma
    mma: _wmma
    popc: _wmma
    rm: _wmma
    rn: _wmma
    row: _wmma
    rp: _wmma
    rz: _wmma
    s32: _wmma
    s4: _wmma
    s8: _wmma
    satfinite: _wmma
    shared: _wmma
    shared__cta: _wmma
    store: _wmma
    sync: _wmma
    tf32: _wmma
    u4: _wmma
    u8: _wmma
    xor: _wmma

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
