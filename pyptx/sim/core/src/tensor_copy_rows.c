// Tensor copies between global and shared memory, row by row. Rows entirely within the tensor are moved by memcpy, 16 bytes
// at a time if shared memory is swizzled; other rows are assembled in a buffer first.
#include "tensor_copy_rows.h"
#include "sanitizer/sanitizer.h"

typedef struct {
    Ctx *x;
    const TensorMap *m;
    const TensorCopy *c;
    const Geometry *g;
    u8 *smem;                   // smem + address is the byte of shared memory at `address`
    u64 shared, *about;         // shared-memory address of the box
    Segment *near;
    u32 atom, converts;
    u8 row[256 * 32] __attribute__((aligned(16)));
} Job;

// Consecutive units in global memory, or NULL and the problem of the first unit that has one.
static u8 *host(Job *j, u64 va, u64 bytes, int writes, u32 *problem) {
    Segment *s = j->near;
    if (!s || va < s->va || va - s->va > s->bytes || bytes > s->bytes - (va - s->va)) s = j->near = segment_of(j->x, va, bytes);
    *j->about = va;
    if (!s) {
        while (bytes > j->g->global_unit && segment_of(j->x, *j->about, j->g->global_unit)) *j->about += j->g->global_unit;
        *problem = TP_GLOBAL_BOUNDS;
        return 0;
    }
    if (writes && s->read_only) { *problem = TP_READ_ONLY; return 0; }
    touch(j->x, s, va, bytes, writes);
    return s->host + (va - s->va);
}

static inline u64 swizzled(const TensorMap *m, u64 a) {
    u64 line = a >> 7;
    switch (m->swizzle) {
    case 1: case 4: return a ^ (line & 1) << 4;
    case 2: return a ^ (line & 3) << 4;
    case 3: break;
    default: return a;
    }
    switch (m->atomicity) {
    case 0: return a ^ (line & 7) << 4;
    case 1: return a ^ (line & 3) << 5;
    case 2: return a ^ (line & 3) << 5 ^ (line & 1) << 3;
    default: return a ^ (line & 1) << 6;
    }
}

// Copy bytes to or from shared memory, starting at an atom of the swizzle.
static inline __attribute__((always_inline)) void exchange(Job *j, u64 at, u8 *data, u32 bytes, int in) {
    const TensorMap *m = j->m;
    if (!m->swizzle) {
        if (in) memcpy(j->smem + at, data, bytes); else memcpy(data, j->smem + at, bytes);
        return;
    }
    u32 atom = j->atom, k = 0;
    if (atom == 16) for (; k + 16 <= bytes; k += 16) {
        u8 *p = j->smem + swizzled(m, at + k);
        if (in) memcpy(p, data + k, 16); else memcpy(data + k, p, 16);
    }
    for (; k < bytes; k += atom) {
        u8 *p = j->smem + swizzled(m, at + k);
        u32 n = bytes - k < atom ? bytes - k : atom;
        if (in) memcpy(p, data + k, n); else memcpy(data + k, p, n);
    }
}

// The units [lo, hi) of a row that are within the tensor, and the address of the first; 0: none are.
static int extent(const Job *j, const i64 *at, u32 *lo, u32 *hi, u64 *address) {
    const TensorMap *m = j->m;
    const Geometry *g = j->g;
    u64 a = m->address;
    for (u32 d = 1; d < m->rank; d++) {
        if (at[d] < 0 || at[d] > (i64)m->last[d]) return 0;
        a += (u64)at[d] * m->stride[d - 1];
    }
    i64 first = at[0] / (i64)g->per_unit, step = g->step, size = (i64)g->size;
    i64 from = first < 0 ? (-first + step - 1) / step : 0, to = first < size ? (size - first + step - 1) / step : 0;
    if (to > g->units) to = g->units;
    if (from >= to) return 0;
    *lo = (u32)from;
    *hi = (u32)to;
    *address = a + (u64)((first + from * step) * (i64)g->global_unit);
    return 1;
}

// Loads of tf32 round to nearest even, the types with .ftz flush subnormals.
static void convert(u32 type, u8 *data, u32 bytes) {
    for (u32 k = 0; k < bytes; k += 4) {
        u32 v;
        memcpy(&v, data + k, 4);
        if (type != 11 && !(v & 0x7f800000)) v &= 0x80000000;
        if (type != 8 && (v & 0x7fffffff) > 0x7f800000) v = 0x7fffe000;
        else if (type != 8 && (v & 0x7f800000) != 0x7f800000) v = (v + 0xfff + (v >> 13 & 1)) & 0xffffe000;
        memcpy(data + k, &v, 4);
    }
}

static u32 load_row(void *p, u32 row, const i64 *at) {
    Job *j = p;
    const Geometry *g = j->g;
    u64 out = j->shared + (u64)row * g->pitch, address;
    u32 lo = 0, hi = 0, unit = g->global_unit, bytes = g->units * unit, problem;
    int some = extent(j, at, &lo, &hi, &address);
    if (some && hi - lo == g->units && g->step == 1 && !j->converts && unit == g->shared_unit) {
        u8 *from = host(j, address, bytes, 0, &problem);
        if (!from) return problem;
        exchange(j, out, from, bytes, 1);
        return 0;
    }
    if (!some || hi - lo < g->units) {
        if (j->m->fill) for (u32 k = 0; k < bytes; k++) j->row[k] = k & 1 ? 0x7f : 0xf7;
        else memset(j->row, 0, bytes);
    }
    if (some) {
        for (u32 u = lo; u < hi; u += g->step == 1 ? hi - lo : 1) {
            u32 n = g->step == 1 ? (hi - lo) * unit : unit;
            u8 *from = host(j, address + (u64)(u - lo) * g->step * unit, n, 0, &problem);
            if (!from) return problem;
            memcpy(j->row + u * unit, from, n);
        }
        if (j->converts) convert(j->m->type, j->row + lo * unit, (hi - lo) * unit);
    }
    if (unit == g->shared_unit) exchange(j, out, j->row, bytes, 1);
    else for (u32 u = 0; u < g->units; u++) exchange(j, out + u * 16, j->row + u * unit, unit, 1);
    return 0;
}

// Sixteen bytes with six bits each, packed.
static void pack6(const u8 *from, u8 *to) {
    for (u32 k = 0; k < 4; k++) {
        u32 v = (from[4 * k] & 63u) | (from[4 * k + 1] & 63u) << 6 | (from[4 * k + 2] & 63u) << 12 | (from[4 * k + 3] & 63u) << 18;
        to[3 * k] = (u8)v; to[3 * k + 1] = (u8)(v >> 8); to[3 * k + 2] = (u8)(v >> 16);
    }
}

static void combine(Job *j, u8 *to, const u8 *from, u32 bytes) {
    static const u8 types[11] = {0, 0, T_U32, T_S32, T_U64, T_S64, T_F16, T_F32, T_F32, T_F64, T_BF16};
    u32 type = types[j->m->type], size = type == T_F16 || type == T_BF16 ? 2 : type == T_U64 || type == T_S64 || type == T_F64 ? 8 : 4;
    for (u32 k = 0; k < bytes; k += size) {
        u64 old = 0, value = 0;
        memcpy(&old, to + k, size);
        memcpy(&value, from + k, size);
        old = apply_atomic(old, value, 0, j->c->operation, type, j->m->type == 8);
        memcpy(to + k, &old, size);
    }
}

static u32 store_row(void *p, u32 row, const i64 *at) {
    Job *j = p;
    const TensorMap *m = j->m;
    const Geometry *g = j->g;
    u64 from = j->shared + (u64)row * g->pitch, address;
    u32 lo, hi, unit = g->global_unit, problem;
    if (j->c->inside) for (u32 d = 1; d < m->rank; d++) if (at[d] < 0 || at[d] > (i64)m->last[d]) return TP_STOP;
    if (!extent(j, at, &lo, &hi, &address)) return 0;
    exchange(j, from, j->row, g->units * g->shared_unit, 0);
    if (unit != g->shared_unit) for (u32 u = 0; u < g->units; u++) pack6(j->row + 16 * u, j->row + 12 * u);
    for (u32 u = lo; u < hi; u += g->step == 1 ? hi - lo : 1) {
        u32 n = g->step == 1 ? (hi - lo) * unit : unit;
        u8 *to = host(j, address + (u64)(u - lo) * g->step * unit, n, 1, &problem);
        if (!to) return problem;
        if (j->c->direction == TC_REDUCE) combine(j, to, j->row + u * unit, n);
        else memcpy(to, j->row + u * unit, n);
    }
    return 0;
}

static u32 no_row(void *p, u32 row, const i64 *at) { (void)p; (void)row; (void)at; return 0; }

// Check the shared-memory address and the coordinates of a copy.
u32 tensor_check(Ctx *x, const TensorMap *m, const TensorCopy *c, const Geometry *g, u64 shared, u64 *about) {
    if (c->direction != TC_PREFETCH) {
        *about = shared;
        if (shared & 127) return TP_SHARED_ALIGNMENT;
        if (shared < x->smem_start || shared - x->smem_start > x->smem_bytes || g->footprint > x->smem_bytes - (shared - x->smem_start)) return TP_SHARED_BOUNDS;
    }
    return m->mode || g->per_unit > 1 ? tensor_rows(m, c, g, no_row, 0, about) : 0;
}

u32 tensor_move(Ctx *x, const TensorMap *m, const TensorCopy *c, const Geometry *g, u8 *smem, u64 shared, u64 *about) {
    Job j;                                                               // its row stays uninitialized
    j.x = x; j.m = m; j.c = c; j.g = g; j.smem = smem; j.shared = shared; j.about = about; j.near = 0;
    j.atom = m->atomicity == 2 ? 8 : 16;
    j.converts = c->direction == TC_LOAD && (m->type == 8 || m->type == 11 || m->type == 12);
    return tensor_rows(m, c, g, c->direction == TC_LOAD ? load_row : store_row, &j, about);
}

// Report the rows of global memory that a copy accesses to the sanitizer.
static u32 sanitizer_row(void *p, u32 row, const i64 *at) {
    Job *j = p;
    const Geometry *g = j->g;
    u64 address;
    u32 lo, hi;
    (void)row;
    if (extent(j, at, &lo, &hi, &address)) {
        if (g->step == 1) sanitizer_global(j->x, (Accessor *)j->smem, address, (u64)(hi - lo) * g->global_unit);
        else for (u32 u = lo; u < hi; u++) sanitizer_global(j->x, (Accessor *)j->smem, address + (u64)(u - lo) * g->step * g->global_unit, g->global_unit);
    }
    return 0;
}
void tensor_copy_accesses(Ctx *x, const TensorMap *m, const TensorCopy *c, const Geometry *g, void *accessor) {
    u64 about;
    Job j;
    j.x = x; j.m = m; j.c = c; j.g = g; j.smem = accessor;
    tensor_rows(m, c, g, sanitizer_row, &j, &about);
}

// Execute one copy outside of any program, for tests; returns the problem or 0. Shared memory begins at address 0x400.
u32 core_tensor_copy(const TensorMap *m, const TensorCopy *c, u8 *smem, u64 smem_bytes, u64 shared, Segment *segments, u64 n, u64 *out) {
    static Ctx x;
    Geometry g;
    x.segments = segments; x.nsegments = n; x.smem_start = 0x400; x.smem_bytes = smem_bytes;
    out[0] = out[1] = 0;
    u32 problem = tensor_geometry(m, c, &g);
    if (!problem) out[1] = g.transaction;
    if (!problem) problem = tensor_check(&x, m, c, &g, shared, out);
    return problem ? problem : tensor_move(&x, m, c, &g, smem - 0x400, shared, out);
}
