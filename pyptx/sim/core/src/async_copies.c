// Asynchronous copies: cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, red.async; also st.bulk.
#include "sanitizer/sanitizer.h"

enum { MOST_BYTES = 0xfffff };
typedef struct { u8 *to[LANES]; const u8 *from[LANES]; u8 bytes[LANES]; } Small;

// cp.async: the source as for loads; b the destination (64 bits), c how many bytes to read (32 bits, NONE: all), e a
// predicate of lanes that read nothing (xor aux2 & 1). The rest of the destination becomes zero.
static void move_small(const Small *s, u32 lanes, u32 size) {
    for (u32 k = lanes; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k), n = s->bytes[i];
        if (n == 16) { memcpy(s->to[i], s->from[i], 16); continue; }
        if (n) memcpy(s->to[i], s->from[i], n);
        memset(s->to[i] + n, 0, size - n);
    }
}
static void land_small(Ctx *x, Async *a) {
    (void)x;
    move_small((const Small *)a->data, a->lanes, (u32)a->p[0]);
}
static V32 own_offsets(const Ctx *x, const Small *s) {                   // of the destinations of all lanes
    V32 offsets;
    for (u32 i = 0; i < LANES; i++) offsets[i] = (u32)(s->to[i] - x->cta->smem);
    return offsets;
}
static void sanitizer_small(Ctx *x, const Op *o, const Small *s, u32 m, u32 size) {
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        Accessor a = sanitizer_async(x, i, ROW_CP_ASYNC, SEEN_READ);
        if (s->bytes[i]) sanitizer_global(x, &a, lane_address(x, o, i), s->bytes[i]);
        a = sanitizer_async(x, i, ROW_CP_ASYNC, SEEN_WRITE);
        sanitizer_shared(x, &a, x->cta, (u64)(s->to[i] - x->cta->smem), size);
    }
}
static void f_cp_async(Ctx *x, const Op *o, u32 m) {
    u32 size = 1u << (o->mod & 15), generic = o->mod & ACCESS_SIGNED ? ADDRESS_GENERIC : 0, whole = 0, skip = o->e == NONE ? 0 : PRED(x, o->e) ^ (o->aux2 & 1 ? ALL : 0);
    Small s;
    Access t;
    if (!m) return;
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k), n = o->c == NONE ? size : ((const u32 *)R(x, o->c))[i];
        if (n > size) { raise_fault(x, FAULT_SIZE, i, n, size); return; }
        s.bytes[i] = skip >> i & 1 ? 0 : (u8)n;
        s.from[i] = 0;
        if (!(s.to[i] = shared_place(x, i, ((const u64 *)R(x, o->b))[i], size, size, generic | ADDRESS_OWN, 0))) return;
        if (s.bytes[i] == size) whole |= 1u << i;
        else if (s.bytes[i] && !(s.from[i] = global_place(x, i, lane_address(x, o, i), s.bytes[i], size, 0))) return;
    }
    if (whole) {
        if (!resolve(x, o, whole, &t, 0)) return;
        account(x, o, whole, &t);
        for (u32 k = whole; k; k &= k - 1) {
            u32 i = (u32)__builtin_ctz(k);
            if (!(s.from[i] = t.space == SPACE_MIXED ? lane_host(x, o, &t, i, 0) : host_of_lane(&t, i))) return;
        }
    }
    if (UNLIKELY(x->sanitizer != 0)) {
        int together = whole == ALL && t.space == SPACE_GLOBAL;
        if (!together || !sanitizer_cp_async(x, t.pattern, t.lo, own_offsets(x, &s), size)) sanitizer_small(x, o, &s, m, size);
    }
    if (x->schedule == SCHEDULE_EAGER) {
        x->async_operations[o->instr] += (u32)__builtin_popcount(m);
        move_small(&s, m, size);
        return;
    }
    Async a = new_async(x, land_small, m);
    a.track = TRACK_CP_ASYNC;
    a.p[0] = size;
    if (!(a.data = malloc(sizeof s))) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return; }
    a.data_bytes = sizeof s;
    memcpy(a.data, &s, sizeof s);
    for (u32 k = m; k; k &= k - 1) poison(x, s.to[__builtin_ctz(k)], size);
    issue_async(x, &a);
}

// Groups. mod: the track and an ASYNC_GROUP_ flag; without one, wait until at most `imm` groups are in flight.
static void f_async_group(Ctx *x, const Op *o, u32 m) {
    u32 track = o->mod & 7;
    if (UNLIKELY(x->sanitizer != 0) && m) {
        u32 kind = track == TRACK_CP_ASYNC ? ROW_CP_ASYNC : ROW_BULK;
        if (o->mod & ASYNC_GROUP_COMMIT) sanitizer_commit(x, kind, m);
        else if (o->mod & ASYNC_GROUP_ALL) sanitizer_wait_groups(x, kind, m, NONE);
        else if (o->mod & ASYNC_GROUP_READ) sanitizer_wait_groups(x, ROW_BULK_READ, m, (u32)o->imm);
        else sanitizer_wait_groups(x, kind, m, (u32)o->imm);
    }
    if (!m || x->schedule == SCHEDULE_EAGER) return;
    if (o->mod & ASYNC_GROUP_COMMIT) commit_group(x, track, m);
    else if (o->mod & ASYNC_GROUP_ALL) land_track(x, track, m);
    else land_groups(x, track, m, (u32)o->imm, o->mod & ASYNC_GROUP_READ ? 1 : 2);
}

// Bulk copies, one for each lane: d the destination, a the source, b the bytes, c the mbarrier (64-bit rows; b 32), aux in
// the pool: mask of CTAs, of bytes, ignored bytes at both ends (32-bit rows or NONE). aux2: operation,
// type << 8, flush << 16 of a reduction.

static void combine(u8 *to, const u8 *from, u64 bytes, u32 how) {
    u32 type = how >> 8 & 255, ftz = how >> 16 & 1;
    u32 size = type == T_F16 || type == T_BF16 ? 2 : type == T_U64 || type == T_S64 || type == T_F64 ? 8 : 4;
    for (u64 k = 0; k < bytes; k += size) {
        u64 old = 0, value = 0;
        memcpy(&old, to + k, size);
        memcpy(&value, from + k, size);
        old = apply_atomic(old, value, 0, how & 255, type, (int)ftz);
        memcpy(to + k, &old, size);
    }
}
static void deliver(const Async *a, u8 *to, const u8 *from) {
    u64 bytes = a->p[2];
    if (a->p[3] >> 63) { combine(to, from, bytes, (u32)a->p[3]); return; }
    if (a->p[4] == 0xffff) { memcpy(to, from, bytes); return; }
    for (u64 k = 0; k < bytes; k++) if (a->p[4] >> (k & 15) & 1) to[k] = from[k];
}
static void land_bulk(Ctx *x, Async *a) {                                // p: to, from, bytes, how, byte mask
    if (a->stages == 1) { deliver(a, (u8 *)a->p[0], (const u8 *)a->p[1]); return; }
    if (a->stage == 1) { deliver(a, (u8 *)a->p[0], a->data); return; }
    a->data_bytes = a->p[2] + 1;
    if (!(a->data = malloc(a->data_bytes))) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return; }
    memcpy(a->data, (const u8 *)a->p[1], a->p[2]);
}
static void land_inside(Ctx *x, Async *a) {                              // p[4], p[5]: bytes at both ends that are not read
    (void)x;
    u8 *to = (u8 *)a->p[0];
    memset(to, 0xff, a->p[2]);
    memcpy(to + a->p[4], (const u8 *)a->p[1], a->p[2] - a->p[4] - a->p[5]);
}

static u32 cell(Ctx *x, const Op *o, u32 which, u32 lane, u32 otherwise) {
    u32 place = x->pool[o->aux + which];
    return place == NONE ? otherwise : ((const u32 *)R(x, place))[lane];
}

// The accesses of a copy that signals an mbarrier.
static void sanitizer_copy(Ctx *x, const Async *c, u32 lane, u64 from, const u8 *host_from, u64 reads, Cta *at, const u8 *to, u64 bytes, u32 reduces) {
    Accessor a = sanitizer_async(x, lane, ROW_MBARRIER, SEEN_READ);
    sanitizer_on_barrier(x, &a, c->at, c->barrier);
    if (from) sanitizer_global(x, &a, from, reads); else sanitizer_shared(x, &a, x->cta, (u64)(host_from - x->cta->smem), reads);
    a = sanitizer_async(x, lane, ROW_MBARRIER, reduces ? SEEN_ATOMIC : SEEN_WRITE);
    sanitizer_on_barrier(x, &a, c->at, c->barrier);
    sanitizer_shared(x, &a, at, (u64)(to - at->smem), bytes);
    sanitizer_signal(x, c->at, c->barrier, lane, ROW_MBARRIER);
}
static void f_bulk(Ctx *x, const Op *o, u32 m) {
    u32 way = o->mod & 3, reduces = o->mod & BULK_REDUCE;
    for (; m; m &= m - 1) {
        u32 i = (u32)__builtin_ctz(m), bytes = ((const u32 *)R(x, o->b))[i];
        u64 to = ((const u64 *)R(x, o->d))[i], from = ((const u64 *)R(x, o->a))[i];
        u32 left = cell(x, o, 2, i, 0), right = cell(x, o, 3, i, 0), inside = x->pool[o->aux + 2] != NONE;
        u32 generic_to = o->mod & BULK_GENERIC_TO ? ADDRESS_GENERIC : 0, generic_from = o->mod & BULK_GENERIC_FROM ? ADDRESS_GENERIC : 0;
        Cta *owner = 0, *at = 0;
        if (bytes % 16 || bytes > MOST_BYTES || left > 15 || right > 15 || (inside && left + right > bytes)) {
            raise_fault(x, FAULT_SIZE, i, bytes, 0);
            return;
        }
        u8 *host_to = way == BULK_STORE ? global_place(x, i, to, bytes, 16, ADDRESS_WRITES)
                                     : shared_place(x, i, to, bytes, 16, generic_to | (o->mod & BULK_OWN ? ADDRESS_OWN : 0), &owner);
        if (!host_to) return;
        u8 *host_from = way != BULK_LOAD ? shared_place(x, i, from, bytes, 16, generic_from | ADDRESS_OWN, 0)
                      : inside && from % 16 ? global_place(x, i, from, bytes, 16, 0)
                                            : global_place(x, i, from + left, bytes - left - right, inside ? 1 : 16, 0);
        if (!host_from) return;
        Async a = new_async(x, inside ? land_inside : land_bulk, 1u << i);
        a.p[0] = (u64)host_to; a.p[1] = (u64)host_from; a.p[2] = bytes;
        a.p[3] = reduces ? (u64)1 << 63 | o->aux2 : 0;
        a.p[4] = cell(x, o, 1, i, 0xffff) & 0xffff;
        if (inside) a.p[4] = left, a.p[5] = right;
        x->tma_bytes[o->instr] += bytes;
        if (UNLIKELY(x->sanitizer != 0) && way == BULK_STORE) {
            Accessor s = sanitizer_async(x, i, ROW_BULK_READ, SEEN_READ);
            sanitizer_shared(x, &s, x->cta, (u64)(host_from - x->cta->smem), bytes);
            s = sanitizer_async(x, i, ROW_BULK, reduces ? SEEN_ATOMIC : SEEN_WRITE);
            sanitizer_global(x, &s, to, bytes);
        }
        if (way == BULK_STORE) {
            a.track = TRACK_BULK;
            a.stages = 2;
            issue_async(x, &a);
            if (x->status != STATUS_RUNNING) return;
            continue;
        }
        u8 *bar = shared_place(x, i, ((const u64 *)R(x, o->c))[i], 8, 8, o->mod & BULK_GENERIC_BARRIER ? ADDRESS_GENERIC : 0, &at);
        if (!bar) return;
        u32 offset = (u32)(bar - at->smem + x->smem_start), several = x->pool[o->aux] != NONE, mask = cell(x, o, 0, i, 0);
        if (!several && at != owner) { raise_fault(x, FAULT_REMOTE, i, ((const u64 *)R(x, o->c))[i], 8); return; }
        a.barrier = offset;
        a.tx = bytes;
        if (!several) {
            if (!check_mbarrier(x, at, offset, i)) return;
            a.at = at;
            if (!reduces) poison(x, host_to, bytes);
            if (UNLIKELY(x->sanitizer != 0)) sanitizer_copy(x, &a, i, way == BULK_LOAD ? from + left : 0, host_from, bytes - left - right, at, host_to, bytes, reduces);
            issue_async(x, &a);
            if (x->status != STATUS_RUNNING) return;
            continue;
        }
        if (mask >> x->cta->cluster->size) { raise_fault(x, FAULT_RANK, i, mask, x->cta->cluster->size); return; }
        for (u32 r = 0; r < x->cta->cluster->size; r++) {
            if (!(mask >> r & 1)) continue;
            Async one = a;
            one.at = x->cta->cluster->cta[r];
            if (!check_mbarrier(x, one.at, offset, i)) return;
            one.p[0] = (u64)(one.at->smem + (host_to - owner->smem));
            poison(x, (void *)one.p[0], bytes);
            if (UNLIKELY(x->sanitizer != 0)) sanitizer_copy(x, &one, i, way == BULK_LOAD ? from + left : 0, host_from, bytes - left - right, one.at, (u8 *)one.p[0], bytes, 0);
            issue_async(x, &one);
            if (x->status != STATUS_RUNNING) return;
        }
    }
}

// st.async and red.async, one for each lane: d the destination, c the mbarrier (64-bit rows; NONE: global memory), the
// values in the pool from aux, mod as for stores, aux2 as for bulk reductions (NONE: a store).
static void land_values(Ctx *x, Async *a) {                              // p: to, how, elements, bytes of each, values
    (void)x;
    u8 *to = (u8 *)a->p[0];
    for (u32 k = 0; k < a->p[2]; k++, to += a->p[3]) {
        u64 old = 0;
        memcpy(&old, to, a->p[3]);
        u64 v = a->p[1] == NONE ? a->p[4 + k] : apply_atomic(old, a->p[4 + k], 0, (u32)a->p[1] & 255, (u32)a->p[1] >> 8 & 255, (u32)a->p[1] >> 16 & 1);
        memcpy(to, &v, a->p[3]);
    }
}
static void f_send(Ctx *x, const Op *o, u32 m) {
    u32 size = 1u << (o->mod & 15), count = o->mod >> 4 & 15, wide = (o->mod >> 9 & 7) == 3, bytes = size * count;
    u32 generic = o->mod & ACCESS_SIGNED ? ADDRESS_GENERIC : 0;
    for (; m; m &= m - 1) {
        u32 i = (u32)__builtin_ctz(m);
        Async a = new_async(x, land_values, 1u << i);
        u64 to = ((const u64 *)R(x, o->d))[i];
        Cta *owner, *at;
        u8 *host = o->c == NONE ? global_place(x, i, to, bytes, bytes, ADDRESS_WRITES) : shared_place(x, i, to, bytes, bytes, generic, &owner);
        if (!host) return;
        a.p[0] = (u64)host; a.p[1] = o->aux2; a.p[2] = count; a.p[3] = size;
        for (u32 k = 0; k < count; k++) {
            u32 place = x->pool[o->aux + k];
            a.p[4 + k] = wide ? ((const u64 *)R(x, place))[i] : ((const u32 *)R(x, place))[i];
        }
        if (o->c != NONE) {
            u8 *bar = shared_place(x, i, ((const u64 *)R(x, o->c))[i], 8, 8, generic, &at);
            if (!bar) return;
            if (at != owner) { raise_fault(x, FAULT_REMOTE, i, ((const u64 *)R(x, o->c))[i], 8); return; }
            a.at = at; a.barrier = (u32)(bar - at->smem + x->smem_start); a.tx = bytes;
            if (!check_mbarrier(x, at, a.barrier, i)) return;
            if (o->aux2 == NONE) poison(x, host, bytes);
            if (UNLIKELY(x->sanitizer != 0)) {                               // through the generic proxy
                Accessor s = sanitizer_async(x, i, ROW_MBARRIER, o->aux2 == NONE ? SEEN_WRITE : SEEN_ATOMIC);
                s.flags = o->aux2 == NONE ? 0 : SEEN_STRONG;
                sanitizer_on_barrier(x, &s, at, a.barrier);
                sanitizer_shared(x, &s, owner, (u64)(host - owner->smem), bytes);
                sanitizer_signal(x, at, a.barrier, i, ROW_MBARRIER);
            }
        }
        issue_async(x, &a);
        if (x->status != STATUS_RUNNING) return;
    }
}

// st.bulk: d the destination, b the number of bytes (64 bits), which are zeroed at once.
static void f_st_bulk(Ctx *x, const Op *o, u32 m) {
    for (; m; m &= m - 1) {
        u32 i = (u32)__builtin_ctz(m);
        u64 bytes = ((const u64 *)R(x, o->b))[i];
        if (bytes % 8) { raise_fault(x, FAULT_SIZE, i, bytes, 0); return; }
        u8 *to = shared_place(x, i, ((const u64 *)R(x, o->d))[i], bytes, 8, (o->mod ? ADDRESS_GENERIC : 0) | ADDRESS_OWN, 0);
        if (!to) return;
        memset(to, 0, bytes);
        if (UNLIKELY(x->sanitizer != 0)) {
            Accessor s = sanitizer_async(x, i, ROW_THREAD, SEEN_WRITE);
            s.flags = 0;
            sanitizer_shared(x, &s, x->cta, (u64)(to - x->cta->smem), bytes);
        }
    }
}

#define E(n) {#n, f_##n}
const Entry copy_ops[] = {E(cp_async), E(async_group), E(bulk), E(send), E(st_bulk), {0, 0}};
