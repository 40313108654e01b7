// The operations of tensor copies and of tensor maps.
//
// Op of a copy: mod: direction, mode << 4, rank << 8, operation << 12, pair << 16, inside << 17; aux2: coordinates,
// offsets << 8; pool from aux: rows of the map's address, shared memory, mbarrier, CTA mask, tensor address (NONE where
// there is none), coordinates, offsets. The map is read at issue, to check it, and at completion.
#include "sanitizer/sanitizer.h"
#include "tensor_map.h"

enum { P_SHARED, P_TARGET, P_COPY };                                     // Async.p
_Static_assert(P_COPY + sizeof(TensorCopy) / 8 <= 20, "a tensor copy fits Async.p");

static void trap(Ctx *x, u32 lane, u32 problem, u64 about, const Geometry *g) {
    raise_fault(x, FAULT_TENSOR, lane, about, problem == TP_SHARED_BOUNDS ? problem | g->footprint << 8 : problem);
}

static int read_map(Ctx *x, u32 lane, const TensorCopy *c, TensorMap *m) {
    u64 about;
    u32 problem;
    const u8 *from = tensor_map_at(x, c->map, &about, &problem);
    if (!from) { trap(x, lane, problem, about, 0); return 0; }
    memcpy(m, from, sizeof *m);
    if (c->override) m->address = c->base;
    return 1;
}

// Read the map again and execute the copy; `smem` holds the box in its shared-memory layout.
static int move(Ctx *x, Async *a, u8 *smem) {
    TensorCopy c;
    TensorMap m;
    Geometry g;
    u32 lane = (u32)__builtin_ctz(a->lanes);
    memcpy(&c, &a->p[P_COPY], sizeof c);
    u64 about = c.map;
    if (!read_map(x, lane, &c, &m)) return 0;
    u32 problem = tensor_geometry(&m, &c, &g);
    if (!problem) problem = tensor_check(x, &m, &c, &g, a->p[P_SHARED], &about);
    if (!problem && c.direction != TC_LOAD && g.footprint > a->p[P_TARGET]) problem = TP_SHARED_BOUNDS;       // the map changed
    if (!problem) problem = tensor_move(x, &m, &c, &g, smem, a->p[P_SHARED], &about);
    if (problem) trap(x, lane, problem, about, &g);
    return !problem;
}

static void land_load(Ctx *x, Async *a) {
    Cta *target = (Cta *)(uintptr_t)a->p[P_TARGET];
    move(x, a, target->smem - x->smem_start);
}

// The first stage reads the box from shared memory, the second writes it.
static void land_store(Ctx *x, Async *a) {
    u64 at = a->p[P_SHARED], bytes = a->p[P_TARGET];
    if (a->stage == 0) {
        a->data = malloc(bytes ? bytes : 1);
        a->data_bytes = bytes;
        if (!a->data) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; return; }
        memcpy(a->data, x->cta->smem + (at - x->smem_start), bytes);
    } else {
        move(x, a, a->data - at);
    }
}

// Report the accesses of a copy to the sanitizer at issue; `at`: it completes on an mbarrier of that CTA.
static void sanitizer_box(Ctx *x, u32 lane, Cta *at, u32 barrier, const Cta *cta, u64 offset, const TensorCopy *c, const TensorMap *m, const Geometry *g) {
    int load = c->direction == TC_LOAD;
    Accessor global = sanitizer_async(x, lane, load ? ROW_MBARRIER : ROW_BULK, load ? SEEN_READ : c->direction == TC_REDUCE ? SEEN_ATOMIC : SEEN_WRITE);
    if (load) sanitizer_on_barrier(x, &global, at, barrier);
    if (!load || cta == x->cta || at == x->cta) tensor_copy_accesses(x, m, c, g, &global);
    sanitizer_map(x, &global, c->map);
    Accessor shared = sanitizer_async(x, lane, load ? ROW_MBARRIER : ROW_BULK_READ, load ? SEEN_WRITE : SEEN_READ);
    if (load && !m->interleave && m->swizzle < 4 && m->atomicity < 2) {
        shared.flags |= SEEN_BOX;
        shared.base = m->atomicity ? SWIZZLE_ATOM_32 : 1u << m->swizzle;
    }
    if (load) sanitizer_on_barrier(x, &shared, at, barrier);
    sanitizer_shared(x, &shared, cta, offset - x->smem_start, g->footprint);
    if (load) sanitizer_signal(x, at, barrier, lane, ROW_MBARRIER);
}

static void start(Ctx *x, const Op *o, u32 lane, u64 address, u64 barrier, const TensorCopy *c, const TensorMap *m, const Geometry *g) {
    u32 mask_row = x->pool[o->aux + 3];
    Cta *target = x->cta, *signals = 0;
    u64 about, offset = address & (((u64)1 << RANK_SHIFT) - 1);
    u32 problem = tensor_check(x, m, c, g, offset, &about);
    if (problem) { trap(x, lane, problem, about, g); return; }
    if (!shared_place(x, lane, address, 1, 1, c->direction == TC_LOAD ? ADDRESS_WRITES : ADDRESS_OWN, &target)) return;
    Async a = new_async(x, c->direction == TC_LOAD ? land_load : land_store, 1u << lane);
    a.p[P_SHARED] = offset;
    memcpy(&a.p[P_COPY], c, sizeof *c);
    x->tma_bytes[o->instr] += g->transaction;
    if (c->direction != TC_LOAD) {
        a.p[P_TARGET] = g->footprint;
        a.track = TRACK_BULK;
        a.stages = 2;
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_box(x, lane, 0, 0, x->cta, offset, c, m, g);
        issue_async(x, &a);
        return;
    }
    if (!shared_place(x, lane, barrier, 8, 8, ADDRESS_WRITES, &signals)) return;
    u32 pair = o->mod >> 16 & 1, at = (u32)(barrier & ((1u << RANK_SHIFT) - 1)), targets = 1u << target->rank;
    if (mask_row != NONE) targets = ((u32 *)R(x, mask_row))[lane];
    Cluster *cluster = x->cta->cluster;
    if (targets >> cluster->size) { trap(x, lane, TP_TARGET, 31 - (u32)__builtin_clz(targets), g); return; }
    if (mask_row == NONE && signals->rank != target->rank && !(pair && (signals->rank ^ 1) == target->rank)) { trap(x, lane, TP_BARRIER, signals->rank, g); return; }
    for (u32 rank = 0; rank < cluster->size && x->status == STATUS_RUNNING; rank++) {
        if (!(targets >> rank & 1)) continue;
        Async one = a;
        Cta *to = cluster->cta[rank];
        one.p[P_TARGET] = (u64)(uintptr_t)to;
        one.at = mask_row == NONE ? signals : pair ? cluster->cta[(rank & ~1u) | (signals->rank & 1)] : to;
        one.barrier = at;
        one.tx = (u32)g->transaction;
        if (!check_mbarrier(x, one.at, at, lane)) return;
        poison(x, to->smem + (offset - x->smem_start), g->footprint);
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_box(x, lane, one.at, at, to, offset, c, m, g);
        issue_async(x, &one);
    }
}

static void f_tensor_copy(Ctx *x, const Op *o, u32 mask) {
    const u32 *rows = x->pool + o->aux;
    u32 coordinates = o->aux2 & 255, offsets = o->aux2 >> 8;
    for (u32 k = mask; k && x->status == STATUS_RUNNING; k &= k - 1) {
        u32 lane = (u32)__builtin_ctz(k);
        TensorCopy c = {.direction = o->mod & 15, .mode = o->mod >> 4 & 15, .rank = o->mod >> 8 & 15, .operation = o->mod >> 12 & 15,
                        .inside = o->mod >> 17 & 1, .offsets = (u8)offsets, .override = rows[4] != NONE};
        TensorMap m;
        Geometry g;
        for (u32 d = 0; d < coordinates; d++) c.at[d] = ((i32 *)R(x, rows[5 + d]))[lane];
        for (u32 d = 0; d < offsets; d++) c.offset[d] = (u16)((u32 *)R(x, rows[5 + coordinates + d]))[lane];
        c.map = ((u64 *)R(x, rows[0]))[lane];
        if (c.override) c.base = ((u64 *)R(x, rows[4]))[lane];
        if (!read_map(x, lane, &c, &m)) return;
        u64 about = c.map;
        u32 problem = tensor_geometry(&m, &c, &g);
        if (!problem && c.direction == TC_PREFETCH) problem = tensor_check(x, &m, &c, &g, 0, &about);
        if (problem) { trap(x, lane, problem, about, &g); return; }
        if (c.direction == TC_PREFETCH) continue;
        start(x, o, lane, ((u64 *)R(x, rows[1]))[lane], rows[2] == NONE ? 0 : ((u64 *)R(x, rows[2]))[lane], &c, &m, &g);
    }
}

// tensormap.replace: a the address, b the value; mod: field, ordinal << 4, space << 8 (generic, global, shared),
// value of 64 bits << 12.
static u32 replace(TensorMap *m, u32 field, u32 k, u64 v) {
    if (k > 4) return 0;
    switch (field) {
    case 0: if (v & 15) return 0; m->address = v; break;
    case 1: if (v > 4) return 0; m->rank = (u8)(v + 1); break;
    case 2: if (v < 1 || v > 256) return 0; m->box[k] = (u32)v; break;
    case 3: if (!v) return 0; m->last[k] = (u32)v - 1; break;
    case 4: if (k > 3 || v & 15 || v >> 40) return 0; m->stride[k] = v; break;
    case 5: if (v < 1 || v > 8) return 0; m->step[k] = (u8)v; break;
    case 6: if (v > 15) return 0; m->type = (u8)v; break;
    case 7: if (v > 2) return 0; m->interleave = (u8)v; break;
    case 8: if (v > 4) return 0; m->swizzle = (u8)v; break;
    case 9: if (v > 3) return 0; m->atomicity = (u8)v; break;
    default: if (v > 1) return 0; m->fill = (u8)v;
    }
    return 1;
}

// 128 zero bytes are an empty map: compilers clear them and then replace one field after the other.
static int begin_map(TensorMap *m) {
    const char *bytes = (const char *)m;
    for (u32 k = 0; k < sizeof *m; k++) if (bytes[k]) return 0;
    memcpy(m->magic, "pyptxTMA", 8);
    m->version = m->rank = 1;
    return 1;
}

static void f_tensormap_replace(Ctx *x, const Op *o, u32 mask) {
    for (u32 k = mask; k; k &= k - 1) {
        u32 lane = (u32)__builtin_ctz(k), space = o->mod >> 8 & 15;
        u64 address = ((u64 *)R(x, o->a))[lane], value = o->mod >> 12 & 1 ? ((u64 *)R(x, o->b))[lane] : ((u32 *)R(x, o->b))[lane];
        u32 generic = space == 0 && address - x->shared_window < (u64)1 << 32 ? ADDRESS_GENERIC : 0;
        Cta *owner;
        u8 *host = space == 2 || generic ? shared_place(x, lane, address, 128, 64, ADDRESS_OWN | ADDRESS_WRITES | generic, &owner)
                              : global_place(x, lane, address, 128, 64, ADDRESS_WRITES);
        if (!host) return;
        TensorMap m;
        memcpy(&m, host, sizeof m);
        if (memcmp(m.magic, "pyptxTMA", 8) && !begin_map(&m)) { trap(x, lane, TP_MAP_MAGIC, address, 0); return; }
        if (!replace(&m, o->mod & 15, o->mod >> 4 & 15, value)) { trap(x, lane, TP_FIELD, value, 0); return; }
        memcpy(host, &m, sizeof m);
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_map_written(x, lane, host, 0);
    }
}

static void f_tensormap_copy(Ctx *x, const Op *o, u32 mask) {
    if (!mask) return;
    u32 lane = (u32)__builtin_ctz(mask);
    Cta *owner;
    u8 *from = shared_place(x, lane, ((u64 *)R(x, o->b))[lane], 128, 64, ADDRESS_OWN, &owner);
    u8 *to = from ? global_place(x, lane, ((u64 *)R(x, o->a))[lane], 128, 64, ADDRESS_WRITES) : 0;
    if (to) memcpy(to, from, 128);
    if (UNLIKELY(x->sanitizer != 0) && to) sanitizer_map_copied(x, from, to, lane);
}
// fence.proxy.tensormap::generic.acquire has no effect on values: the simulator's memory is sequentially consistent.
static void f_tensormap_fence(Ctx *x, const Op *o, u32 mask) {
    if (UNLIKELY(x->sanitizer != 0) && mask) sanitizer_map_acquire(x, mask, (const u64 *)R(x, o->a));
}

#define E(n) {#n, f_##n}
const Entry tma_ops[] = {E(tensor_copy), E(tensormap_replace), E(tensormap_copy), E(tensormap_fence), {0, 0}};
