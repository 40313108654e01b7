// Loads and stores: translation to host pointers with bounds and alignment checks, and fast address patterns.
//
// Op.mod of loads and stores: bits 0-3 log2 of the element's bytes, 4-7 elements, 8 sign-extend, 9-11 destination
// register width (log2 bytes), 12-15 space. Op.imm is the offset added to the address, Op.a the address register
// (ACCESS_WIDE: 64 bits, ACCESS_ABSOLUTE: none), Op.aux the index of the data operands in the pool.
#include "sanitizer/sanitizer.h"

Segment *segment_of(Ctx *x, u64 va, u64 bytes) {
    u64 lo = 0, hi = x->nsegments;
    while (lo < hi) {
        u64 mid = (lo + hi) / 2;
        if (x->segments[mid].va <= va) lo = mid + 1; else hi = mid;
    }
    if (!lo) return 0;
    Segment *s = &x->segments[lo - 1];
    return va - s->va <= s->bytes && bytes <= s->bytes - (va - s->va) ? s : 0;
}

static void addresses(Ctx *x, const Op *o, u64 *out) {
    u32 space = o->mod >> 12 & 15;
    if (o->mod & ACCESS_ABSOLUTE) for (int i = 0; i < LANES; i++) out[i] = o->imm + (space == SPACE_SHARED || space == SPACE_CLUSTER ? x->cta->base : 0);
    else if (o->mod & ACCESS_WIDE) *(V64 *)out = ROW(V64, x, o->a) + o->imm;
    else *(V64 *)out = __builtin_convertvector(ROW(V32, x, o->a) + (u32)o->imm, V64);
}

// The pattern of an access relative to its first lane, cached from the last execution of the operation: its lowest and highest
// lanes, and whether it is contiguous or uniform.
static void shape(Pattern *p, V64 delta, u32 m, u32 bytes) {
    i64 lo = __builtin_reduce_min((S64)delta), hi = __builtin_reduce_max((S64)delta);
    u64 bits = __builtin_reduce_or(delta);
    lo = lo < 0 ? lo : 0;
    hi = hi > 0 ? hi : 0;
    p->delta = delta; p->mask = m; p->bytes = bytes; p->phase = p->wide_phase = NONE; p->lo = lo; p->hi = hi; p->bits = bits; p->valid = 1;
    p->kind = SCATTERED;
    p->span = (u64)hi - (u64)lo + bytes;
    if (UNLIKELY(p->span < bytes)) p->span = ~(u64)0;                   // lanes at both ends of the address space
    p->near = p->span >> 31 == 0;
    p->delta32 = __builtin_convertvector(delta, V32);
    p->offset = __builtin_convertvector(delta - (u64)lo, V32);
    if (m == ALL) {
        V64 step = __builtin_convertvector(iota32() * bytes, V64);
        if (__builtin_reduce_or(delta ^ step) == 0) p->kind = CONTIGUOUS;
        else if (bits == 0) p->kind = UNIFORM;
        else if (__builtin_reduce_or(delta ^ (step & (u64)(16 * bytes - 1))) == 0 && !(bytes & (bytes - 1))) p->kind = TWICE;
        else {
            V64 halves = 0;
            for (u32 i = 16; i < LANES; i++) halves[i] = delta[16];
            if (__builtin_reduce_or(delta ^ halves) == 0) p->kind = HALVES;
        }
    }
}

static u32 lane_where(const u64 *addr, u32 m, u64 start, u64 bytes, u64 need) {
    for (u32 i = 0; i < LANES; i++)
        if (m >> i & 1 && (addr[i] < start || addr[i] - start > bytes || need > bytes - (addr[i] - start))) return i;
    return 0;
}

static u32 space_of(Ctx *x, u64 va) {
    if (va - x->shared_window < (u64)1 << 32) return SPACE_SHARED;
    if (va - x->local_window < (u64)1 << 32) return SPACE_LOCAL;
    if (va - x->param_window < (u64)1 << 32) return SPACE_PARAM;
    return SPACE_GLOBAL;
}

int resolve(Ctx *x, const Op *o, u32 m, Access *t, int writes) {
    u32 bytes = (1u << (o->mod & 15)) * (o->mod >> 4 & 15), space = o->mod >> 12 & 15;
    addresses(x, o, t->addr);
    Pattern *p = t->pattern = &x->pattern[m == ALL ? x->pc : x->nops + 1 + x->pc];
    u64 base = t->addr[__builtin_ctz(m)];
    V64 delta = *(V64 *)t->addr - base;
    if (m != ALL) delta &= (V64)expand64(m);
    if (UNLIKELY(!p->valid || p->mask != m || p->bytes != bytes || __builtin_reduce_or(p->delta ^ delta))) shape(p, delta, m, bytes);
    u64 lo = base + (u64)p->lo, hi = base + (u64)p->hi;
    u32 written = space;
    t->bytes = bytes;
    t->writes = writes;
    t->kind = p->kind;
    t->window = 0;
    t->remote = 0;
    if (space == SPACE_CLUSTER) space = SPACE_SHARED;
    if (UNLIKELY((base | p->bits) & (bytes - 1))) {
        for (u32 i = 0; i < LANES; i++)
            if (m >> i & 1 && t->addr[i] & (bytes - 1)) { raise_fault(x, FAULT_ALIGNMENT, i, t->addr[i], bytes); return 0; }
    }
    if (space == SPACE_GENERIC) {
        space = space_of(x, lo);
        if (UNLIKELY(space_of(x, hi) != space)) { t->space = SPACE_MIXED; return 1; }
        t->window = space == SPACE_SHARED ? x->shared_window : space == SPACE_LOCAL ? x->local_window : space == SPACE_PARAM ? x->param_window : 0;
    }
    t->space = space;
    u64 start, size;
    u8 *host;
    switch (space) {
    case SPACE_SHARED: {
        Cta *cta = x->cta;
        if (UNLIKELY(lo - t->window - cta->base >= (u64)1 << RANK_SHIFT || hi - t->window - cta->base >= (u64)1 << RANK_SHIFT)) {
            u64 rank = (lo - t->window) >> RANK_SHIFT;                  // another CTA of the cluster, or several
            if (written != SPACE_SHARED && rank == (hi - t->window) >> RANK_SHIFT && rank < cta->cluster->size) cta = cta->cluster->cta[rank];
            else if (written != SPACE_SHARED) { t->space = SPACE_MIXED; t->remote = 1; return 1; }
        }
        start = t->window + cta->base + x->smem_start; size = x->smem_bytes; host = cta->smem;
        break;
    }
    case SPACE_LOCAL: start = t->window; size = x->local_bytes; host = x->warp->local; break;
    case SPACE_PARAM:
        start = t->window; size = x->param_bytes; host = x->param;
        if (writes) { raise_fault(x, FAULT_READ_ONLY, (u32)__builtin_ctz(m), lo, bytes); return 0; }
        break;
    case SPACE_CONST: default: {
        Segment *s = &x->segments[p->segment];
        if (space == SPACE_CONST && !t->window) t->window = x->const_window;
        u64 shift = space == SPACE_CONST ? t->window : 0;
        if (space == SPACE_CONST) { *(V64 *)t->addr += shift; lo += shift; hi += shift; }
        if (UNLIKELY(!x->nsegments || lo - s->va > s->bytes || p->span > s->bytes - (lo - s->va))) {
            s = segment_of(x, lo, bytes);
            if (!s || p->span > s->bytes - (lo - s->va)) {
                for (u32 i = 0; i < LANES; i++)                       // lanes access different buffers
                    if (m >> i & 1 && !segment_of(x, t->addr[i], bytes)) {
                        raise_fault(x, FAULT_BOUNDS, i, t->addr[i] - shift, bytes);
                        return 0;
                    }
                t->space = SPACE_MIXED;
                return 1;
            }
            p->segment = (u32)(s - x->segments);
        }
        if (UNLIKELY(writes && s->read_only)) { raise_fault(x, FAULT_READ_ONLY, (u32)__builtin_ctz(m), lo - shift, bytes); return 0; }
        if (UNLIKELY(x->marks != 0)) for (u32 k = m; k; k &= k - 1) mark(x, s, t->addr[__builtin_ctz(k)] - s->va, bytes, writes);
        t->host = (u64)(uintptr_t)s->host - s->va;
        t->lo = lo;
        t->stride = 0;
        return 1;
    }
    }
    if (UNLIKELY(lo - start > size || p->span > size - (lo - start))) {
        u32 lane = lane_where(t->addr, m, start, size, bytes);
        if (written == SPACE_SHARED && t->addr[lane] >> RANK_SHIFT != x->cta->rank && t->addr[lane] >> RANK_SHIFT < x->cta->cluster->size) {
            raise_fault(x, FAULT_REMOTE, lane, t->addr[lane], bytes);
            return 0;
        }
        raise_fault(x, FAULT_BOUNDS, lane, t->addr[lane], bytes);
        return 0;
    }
    t->host = (u64)(uintptr_t)host - start;
    t->lo = lo;
    t->stride = space == SPACE_LOCAL ? x->local_bytes : 0;
    return 1;
}

// The memory of one lane; NULL: out of bounds. `read_only` is set if it cannot be written.
static u8 *host_of(Ctx *x, Warp *w, u32 lane, u32 space, u64 va, u64 bytes, int *read_only) {
    u64 start = 0, size = 0;
    u8 *host = 0;
    *read_only = space == SPACE_PARAM;
    if (space == SPACE_SHARED) {
        u64 rank = (va - x->shared_window) >> RANK_SHIFT;
        if (rank >= x->cta->cluster->size) return 0;
        Cta *cta = x->cta->cluster->cta[rank];
        start = x->shared_window + cta->base + x->smem_start; size = x->smem_bytes; host = cta->smem;
    } else if (space == SPACE_LOCAL) start = x->local_window, size = x->local_bytes, host = w->local + lane * x->local_bytes;
    else if (space == SPACE_PARAM) start = x->param_window, size = x->param_bytes, host = x->param;
    else {
        Segment *s = segment_of(x, va, bytes);
        *read_only = s && s->read_only;
        return s ? s->host + (va - s->va) : 0;
    }
    return va < start || va - start > size || bytes > size - (va - start) ? 0 : host + (va - start);
}
u8 *lane_memory(Ctx *x, Warp *w, u32 lane, u64 address, u64 bytes) {
    int read_only;
    return host_of(x, w, lane, space_of(x, address), address, bytes, &read_only);
}
u8 *lane_host(Ctx *x, const Op *o, Access *t, u32 lane, int writes) {
    u32 written = o->mod >> 12 & 15;
    u64 va = t->addr[lane];
    int read_only;
    u8 *host = written == SPACE_CLUSTER ? host_of(x, x->warp, lane, SPACE_SHARED, va + x->shared_window, t->bytes, &read_only)
             : host_of(x, x->warp, lane, written != SPACE_GENERIC ? SPACE_GLOBAL : space_of(x, va), va, t->bytes, &read_only);
    if (writes && read_only) { raise_fault(x, FAULT_READ_ONLY, lane, va, t->bytes); return 0; }
    if (!host) raise_fault(x, FAULT_BOUNDS, lane, va, t->bytes);
    Segment *s = x->marks && !t->remote ? segment_of(x, va, t->bytes) : 0;
    if (s) touch(x, s, va, t->bytes, writes);
    return host;
}

static inline u64 fetch(const u8 *p, u32 size) {
    u64 v8; u32 v4; u16 v2;
    switch (size) {
    case 8: memcpy(&v8, p, 8); return v8;
    case 4: memcpy(&v4, p, 4); return v4;
    case 2: memcpy(&v2, p, 2); return v2;
    default: return *p;
    }
}
static inline void deposit(u8 *p, u64 v, u32 size) {
    switch (size) {
    case 8: memcpy(p, &v, 8); break;
    case 4: memcpy(p, &v, 4); break;
    case 2: memcpy(p, &v, 2); break;
    default: *p = (u8)v;
    }
}
static inline u64 extend(u64 v, u32 size, u32 sign, u32 width) {
    if (sign && size < 8) {
        u32 n = 64 - 8 * size;
        v = (u64)((i64)(v << n) >> n);
    }
    return width >= 8 ? v : v & (((u64)1 << 8 * width) - 1);
}

typedef u32 Q __attribute__((ext_vector_type(4), aligned(4)));
#define TRANSPOSE(a, b, c, d) \
    Q ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5); \
    Q AB = __builtin_shufflevector(a, b, 2, 6, 3, 7), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7); \
    Q p = __builtin_shufflevector(ab, cd, 0, 1, 4, 5), q = __builtin_shufflevector(ab, cd, 2, 3, 6, 7); \
    Q r = __builtin_shufflevector(AB, CD, 0, 1, 4, 5), s = __builtin_shufflevector(AB, CD, 2, 3, 6, 7);

// Four consecutive words of each lane into four registers, and back.
static inline void load_4x32(Ctx *x, const u32 *operands, u64 base, const u64 *addr) {
    u32 *d0 = (u32 *)R(x, operands[0]), *d1 = (u32 *)R(x, operands[1]), *d2 = (u32 *)R(x, operands[2]), *d3 = (u32 *)R(x, operands[3]);
    for (int i = 0; i < LANES; i += 4) {
        Q a = *(const Q *)host_at(base, addr[i]), b = *(const Q *)host_at(base, addr[i + 1]);
        Q c = *(const Q *)host_at(base, addr[i + 2]), d = *(const Q *)host_at(base, addr[i + 3]);
        TRANSPOSE(a, b, c, d)
        *(Q *)(d0 + i) = p; *(Q *)(d1 + i) = q; *(Q *)(d2 + i) = r; *(Q *)(d3 + i) = s;
    }
}
static inline void store_4x32(Ctx *x, const u32 *operands, u64 base, const u64 *addr) {
    const u32 *d0 = (u32 *)R(x, operands[0]), *d1 = (u32 *)R(x, operands[1]), *d2 = (u32 *)R(x, operands[2]), *d3 = (u32 *)R(x, operands[3]);
    for (int i = 0; i < LANES; i += 4) {
        Q a = *(const Q *)(d0 + i), b = *(const Q *)(d1 + i), c = *(const Q *)(d2 + i), d = *(const Q *)(d3 + i);
        TRANSPOSE(a, b, c, d)
        *(Q *)host_at(base, addr[i]) = p; *(Q *)host_at(base, addr[i + 1]) = q;
        *(Q *)host_at(base, addr[i + 2]) = r; *(Q *)host_at(base, addr[i + 3]) = s;
    }
}

static void put_lane(Ctx *x, u32 d, u32 width, u32 lane, u64 v) {
    if (d == NONE) return;
    if (width == 8) ((u64 *)R(x, d))[lane] = v; else ((u32 *)R(x, d))[lane] = (u32)v;
}
static u64 get_lane(Ctx *x, u32 a, u32 width, u32 lane) {
    return width == 8 ? ((u64 *)R(x, a))[lane] : ((u32 *)R(x, a))[lane];
}

static void f_ld(Ctx *x, const Op *o, u32 m);

// Load one word from a fixed shared-memory address into all lanes.
static void f_lds(Ctx *x, const Op *o, u32 m) {
    u64 at = o->imm - x->smem_start;
    if (!m || x->sanitizer || x->wide_passes || at > x->smem_bytes || x->smem_bytes - at < 4 || at & 3) { f_ld(x, o, m); return; }
    u32 v;
    memcpy(&v, x->cta->smem + at, 4);
    put32(x, o->d, (V32)v, m);
}

static void f_ld(Ctx *x, const Op *o, u32 m) {
    Access t;
    if (!m || !resolve(x, o, m, &t, 0)) return;
    t.kind = SCATTERED;
    account(x, o, m, &t);
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_access(x, o, m, &t, SEEN_READ);
    u32 size = 1u << (o->mod & 15), count = o->mod >> 4 & 15, sign = o->mod & ACCESS_SIGNED, width = 1u << (o->mod >> 9 & 7);
    const u32 *data = x->pool + o->aux;
    if (LIKELY(size == 4 && width <= 4 && t.space != SPACE_MIXED && !t.stride)) {
        u64 base = t.host;
        if (t.kind == UNIFORM) {
            for (u32 k = 0; k < count; k++)
                if (data[k] != NONE) ROW(V32, x, data[k]) = (V32)(u32)fetch(host_at(base, t.lo + 4 * k), 4);
            return;
        }
        if (count == 1) {
            u32 *d = (u32 *)R(x, data[0]);
            if (t.kind == CONTIGUOUS) { memcpy(d, host_at(base, t.lo), 128); return; }
            if (m == ALL) { for (int i = 0; i < LANES; i++) memcpy(&d[i], host_at(base, t.addr[i]), 4); return; }
            for (u32 k = m; k; k &= k - 1) { u32 i = (u32)__builtin_ctz(k); memcpy(&d[i], host_at(base, t.addr[i]), 4); }
            return;
        }
        if (m == ALL && count == 4 && data[0] != NONE && data[1] != NONE && data[2] != NONE && data[3] != NONE) {
            load_4x32(x, data, base, t.addr);
            return;
        }
    }
    if (size == 2 && width == 2 && count == 1 && t.space != SPACE_MIXED && !t.stride && data[0] != NONE) {
        u32 *d = (u32 *)R(x, data[0]);
        if (m == ALL) { for (int i = 0; i < LANES; i++) d[i] = (u16)fetch(host_at(t.host, t.addr[i]), 2); return; }
        for (u32 k = m; k; k &= k - 1) { u32 i = (u32)__builtin_ctz(k); d[i] = (u16)fetch(host_at(t.host, t.addr[i]), 2); }
        return;
    }
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        const u8 *p = t.space == SPACE_MIXED ? lane_host(x, o, &t, i, 0) : host_of_lane(&t, i);
        if (!p) return;
        for (u32 c = 0; c < count; c++) put_lane(x, data[c], width, i, extend(fetch(p + c * size, size), size, sign, width));
    }
}

static void f_st(Ctx *x, const Op *o, u32 m) {
    Access t;
    if (!m || !resolve(x, o, m, &t, 1)) return;
    t.kind = SCATTERED;
    account(x, o, m, &t);
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_access(x, o, m, &t, SEEN_WRITE);
    u32 size = 1u << (o->mod & 15), count = o->mod >> 4 & 15, width = 1u << (o->mod >> 9 & 7);
    const u32 *data = x->pool + o->aux;
    if (LIKELY(size == 4 && width <= 4 && t.space != SPACE_MIXED && !t.stride)) {
        if (count == 1) {
            const u32 *d = (const u32 *)R(x, data[0]);
            if (t.kind == CONTIGUOUS) { memcpy(host_at(t.host, t.lo), d, 128); return; }
            for (u32 k = m; k; k &= k - 1) { u32 i = (u32)__builtin_ctz(k); memcpy(host_at(t.host, t.addr[i]), &d[i], 4); }
            return;
        }
        if (m == ALL && count == 4) { store_4x32(x, data, t.host, t.addr); return; }
        for (u32 k = m; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            for (u32 c = 0; c < count; c++) memcpy(host_at(t.host, t.addr[i] + 4 * c), (u32 *)R(x, data[c]) + i, 4);
        }
        return;
    }
    if (size == 2 && width <= 4 && count == 1 && t.space != SPACE_MIXED && !t.stride) {
        const u32 *d = (const u32 *)R(x, data[0]);
        for (u32 k = m; k; k &= k - 1) { u32 i = (u32)__builtin_ctz(k); deposit(host_at(t.host, t.addr[i]), d[i], 2); }
        return;
    }
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        u8 *p = t.space == SPACE_MIXED ? lane_host(x, o, &t, i, 1) : host_of_lane(&t, i);
        if (!p) return;
        for (u32 c = 0; c < count; c++) deposit(p + c * size, get_lane(x, data[c], width, i), size);
    }
}

// isspacep: imm is the space.
static void f_isspacep(Ctx *x, const Op *o, u32 m) {
    const u64 *a = (const u64 *)R(x, o->a);
    u32 out = 0;
    for (int i = 0; i < LANES; i++) {
        u32 space = space_of(x, a[i]);
        if (space == SPACE_GLOBAL && a[i] - x->const_window < (u64)1 << 32) space = SPACE_CONST;
        out |= (u32)(space == o->imm ? space != SPACE_SHARED || (a[i] - x->shared_window) >> RANK_SHIFT == x->cta->rank
                                     : o->imm == SPACE_CLUSTER && space == SPACE_SHARED) << i;
    }
    put_pred(x, o->d, out, m);
}

#define E(n) {#n, f_##n}
const Entry memory_ops[] = {E(ld), E(lds), E(st), E(isspacep), {0, 0}};
