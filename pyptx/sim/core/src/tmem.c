// tcgen05 without the products: allocation, loads and stores, copies, shifts, commit.
#include "tmem.h"

void tmem_fault(Ctx *x, u32 lane, u32 problem, u64 about) { raise_fault(x, FAULT_TMEM, lane, about, problem); }

static Tmem *tmem_of(Ctx *x, Cta *cta) {
    if (!cta->tmem) {
        cta->tmem = (Tmem *)aligned(sizeof(Tmem));
        if (!cta->tmem) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; }
    }
    return cta->tmem;
}
void reset_tmem(Cta *cta) { if (cta->tmem) memset(cta->tmem, 0, offsetof(Tmem, cell)); }
void free_tmem(Cta *cta) { release_aligned(cta->tmem); cta->tmem = 0; }

int tmem_holds(Ctx *x, const Cta *cta, u32 lane, u32 address, u32 columns) {
    u32 first = tmem_column(address), used = cta->tmem ? cta->tmem->used : 0;
    if (first < TMEM_COLUMNS && first + columns <= TMEM_COLUMNS) {
        u32 low = first / TMEM_BLOCK, high = (first + columns - 1) / TMEM_BLOCK, need = ((2u << high) - 1) & ~((1u << low) - 1);
        if ((used & need) == need) return 1;
    }
    tmem_fault(x, lane, TM_UNALLOCATED, (u64)columns << 32 | address);
    return 0;
}

u32 tmem_ctas(Ctx *x, u32 lane, u32 group, Cta **ctas) {
    Tmem *t = tmem_of(x, x->cta);
    if (!t) return 0;
    if (t->group && t->group != group) { tmem_fault(x, lane, TM_MIXED, t->group); return 0; }
    t->group = group;
    ctas[0] = x->cta;
    if (group == 1) return 1;
    Cluster *cluster = x->cta->cluster;
    u32 even = x->cta->rank & ~1u;
    if (even + 1 >= cluster->size) { tmem_fault(x, lane, TM_PAIR, cluster->size); return 0; }
    ctas[0] = cluster->cta[even];
    ctas[1] = cluster->cta[even + 1];
    return tmem_of(x, ctas[0]) && tmem_of(x, ctas[1]) ? 2 : 0;
}

void poison_cells(Ctx *x, Cta *cta, u32 lane, u32 column, u32 columns) { poison(x, &cta->tmem->cell[lane][column], 4 * columns); }

int tcgen05_tile(Ctx *x, u32 lane, u64 d, u32 mn, u32 tf32, Tile *t) {
    static const u8 chunks[8] = {1, 8, 8, 0, 4, 0, 2, 0};
    u32 layout = (u32)(d >> 61), wide = layout == 1;
    if ((d >> 46 & 7) != 1) { tmem_fault(x, lane, TM_VERSION, d); return 0; }
    if (d >> 52 & 1) { tmem_fault(x, lane, TM_ABSOLUTE, d); return 0; }
    if (!chunks[layout] || wide != (mn && tf32)) { tmem_fault(x, lane, TM_LAYOUT, d); return 0; }
    *t = (Tile){(u32)(d & 0x3fff) << 4, (u32)(d >> 16 & 0x3fff) << 4, (u32)(d >> 32 & 0x3fff) << 4, chunks[layout],
                (u32)(d >> 49 & 7), mn, wide};
    return 1;
}

// alloc, dealloc, relinquish_alloc_permit. Bits 0-1 of Op.mod: cta_group, bit 2: exclusive. ----------------------------


static i32 find_blocks(u32 used, u32 blocks) {
    for (u32 k = 0; k + blocks <= TMEM_BLOCKS; k++) if (!(used >> k & ((1u << blocks) - 1))) return (i32)k;
    return -1;
}
static void take(Ctx *x, Tmem *t, u32 first, u32 blocks) {
    t->used |= ((1u << blocks) - 1) << first;
    t->blocks[first] = blocks;
    t->pc[first] = x->pc;
    t->warp[first] = x->warp->index;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_fresh_tensor(x, t == x->cta->tmem ? x->cta : x->cta->cluster->cta[x->cta->rank ^ 1], first * TMEM_BLOCK, blocks * TMEM_BLOCK);
    for (u32 lane = 0; lane < TMEM_LANES; lane++) memset(&t->cell[lane][first * TMEM_BLOCK], 0xff, 4 * blocks * TMEM_BLOCK);
}

// a: the shared-memory address of the result; b: columns. It blocks until they are free.
static void f_tmem_alloc(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    u32 columns = *(const u32 *)R(x, o->b), blocks = columns / TMEM_BLOCK, group = o->mod & 3;
    Cta *ctas[2];
    u32 count = tmem_ctas(x, 0, group, ctas);
    if (!count) return;
    Tmem *t = x->cta->tmem;
    u32 exclusive = (o->mod & TCGEN05_EXCLUSIVE) != 0;
    if (columns < 32 || columns > TMEM_COLUMNS || columns & (exclusive ? TMEM_BLOCK - 1 : columns - 1)) {
        tmem_fault(x, 0, exclusive ? TM_BLOCKS : TM_COLUMNS, columns);
        return;
    }
    if (t->relinquished) { tmem_fault(x, 0, TM_RELINQUISHED, 0); return; }
    u32 flags = ADDRESS_WRITES | ADDRESS_OWN | ((o->mod >> 12 & 15) == SPACE_GENERIC ? ADDRESS_GENERIC : 0);
    u8 *to = shared_place(x, 0, lane_address(x, o, 0), 4, 4, flags, 0);
    if (!to) return;
    i32 first;
    if (count == 1) {
        first = t->exclusive || (exclusive && t->used) ? -1 : find_blocks(t->used, blocks);
        if (first < 0) { x->not_yet = 1; return; }
        take(x, t, (u32)first, blocks);
        t->exclusive = exclusive;
    } else if (t->granted) {                                            // the peer arrived later and allocated for both
        first = (i32)((t->granted - 1) / TMEM_BLOCK);
        t->granted = 0;
        t->pc[first] = x->pc;
        t->warp[first] = x->warp->index;
    } else {
        Tmem *peer = (ctas[0] == x->cta ? ctas[1] : ctas[0])->tmem;
        u32 used = t->used | peer->used, theirs = peer->wanted & 0xffff;
        if (theirs && theirs != columns) { tmem_fault(x, 0, TM_PAIR_SIZE, (u64)theirs << 32 | columns); return; }
        if (theirs && peer->wanted >> 16 != exclusive) { tmem_fault(x, 0, TM_EXCLUSIVE, columns); return; }
        first = !theirs || t->exclusive || peer->exclusive || (exclusive && used) ? -1 : find_blocks(used, blocks);
        t->wanted = columns | exclusive << 16;
        if (first < 0) { x->not_yet = 1; return; }
        take(x, t, (u32)first, blocks);
        take(x, peer, (u32)first, blocks);
        peer->granted = (u32)first * TMEM_BLOCK + 1;
        peer->wanted = t->wanted = 0;
        peer->exclusive = t->exclusive = exclusive;
    }
    u32 address = (u32)first * TMEM_BLOCK;
    memcpy(to, &address, 4);
    if (UNLIKELY(x->sanitizer != 0)) {
        Accessor a = sanitizer_async(x, 0, ROW_THREAD, SEEN_WRITE);
        a.flags = 0;
        sanitizer_shared(x, &a, x->cta, (u64)(to - x->cta->smem), 4);
    }
}

static void f_tmem_free(Ctx *x, const Op *o, u32 m) {                    // a: address (64-bit row), b: columns
    if (!whole_warp(x, m)) return;
    u32 address = *(const u32 *)R(x, o->a), columns = *(const u32 *)R(x, o->b), first = address / TMEM_BLOCK;
    Cta *ctas[2];
    if (!tmem_ctas(x, 0, o->mod & 3, ctas)) return;
    Tmem *t = x->cta->tmem;
    if (address % TMEM_BLOCK || first >= TMEM_BLOCKS || !t->blocks[first]) { tmem_fault(x, 0, TM_NOT_ALLOCATED, address); return; }
    if (t->blocks[first] * TMEM_BLOCK != columns) { tmem_fault(x, 0, TM_SIZE, (u64)t->blocks[first] * TMEM_BLOCK << 32 | columns); return; }
    if (t->exclusive != ((o->mod & TCGEN05_EXCLUSIVE) != 0)) { tmem_fault(x, 0, TM_EXCLUSIVE, columns); return; }
    t->used &= ~(((1u << t->blocks[first]) - 1) << first);
    t->blocks[first] = t->exclusive = 0;
}
static void f_tmem_relinquish(Ctx *x, const Op *o, u32 m) {
    Cta *ctas[2];
    if (whole_warp(x, m) && tmem_ctas(x, 0, o->mod & 3, ctas)) x->cta->tmem->relinquished = 1;
}

// At the end of a CTA all tensor memory must be free.
void check_tmem(Ctx *x, Cta *cta) {
    Tmem *t = cta->tmem;
    if (!t || !t->used) return;
    u32 first = (u32)__builtin_ctz(t->used);
    x->cta = cta;
    x->warp = &cta->warps[t->warp[first]];
    x->pc = t->pc[first];
    tmem_fault(x, 0, TM_LEAK, (u64)t->blocks[first] * TMEM_BLOCK << 32 | first * TMEM_BLOCK);
}

// ld and st ----------------------------------------------------------------------------------------------------------
// Op: a the address (64-bit row), aux the registers in the pool, aux2 their number, imm the offset of the second half of 16x32bx2;
// mod: shape, packed << 4, and of ld.red (operation + 1) << 8, abs << 12, NaN << 13; then the last register is the result.


// The position of register q of lane l relative to the address; columns before packing.
static inline void locate(u32 shape, u32 q, u32 l, u32 *row, u32 *column) {
    switch (shape) {
    case TMEM_32X32B: *row = l; *column = q; return;
    case TMEM_16X64B: *row = (l >> 2) + 8 * (l & 1); *column = 2 * q + (l >> 1 & 1); return;
    case TMEM_16X128B: *row = (l >> 2) + 8 * (q & 1); *column = 4 * (q >> 1) + (l & 3); return;
    case TMEM_16X256B: *row = (l >> 2) + 8 * (q >> 1 & 1); *column = 8 * (q >> 2) + 2 * (l & 3) + (q & 1); return;
    default: *row = l & 15; *column = q;
    }
}

// Check the address of all lanes. 0: a fault was raised.
static int reach(Ctx *x, const Op *o, u32 count, u32 *address) {
    const u64 *row = (const u64 *)R(x, o->a);
    u32 shape = o->mod & 15, packed = o->mod >> 4 & 1, own = x->warp->index % 4 * 32;
    u32 columns = (shape == TMEM_32X32B || shape == TMEM_16X32BX2 ? count : 2 * count) << packed;
    *address = (u32)row[0];
    for (u32 i = 1; i < LANES; i++) if ((u32)row[i] != *address) { tmem_fault(x, i, TM_UNEVEN, *address); return 0; }
    u32 lane = tmem_lane(*address), half = shape != TMEM_32X32B && lane == own + 16;
    if (lane != own && !half) { tmem_fault(x, 0, TM_WARP, (u64)own << 32 | *address); return 0; }
    if (!tmem_holds(x, x->cta, 0, *address, columns)) return 0;
    return shape != TMEM_16X32BX2 || tmem_holds(x, x->cta, 0, *address + (u32)o->imm, columns);
}
static inline u32 *cell_of(Cta *cta, const Op *o, u32 address, u32 q, u32 l) {
    u32 row, column, shape = o->mod & 15;
    locate(shape, q, l, &row, &column);
    column = (column << (o->mod >> 4 & 1)) + (shape == TMEM_16X32BX2 && l >= 16 ? (u32)o->imm : 0);
    return &cta->tmem->cell[tmem_lane(address) + row][tmem_column(address) + column];
}

// Report loads and stores to the sanitizer, by halves of the 32 lanes.
static void sanitizer_moves(Ctx *x, const Op *o, u32 count, u32 address, u32 kind) {
    u32 shape = o->mod & 15, packed = o->mod >> 4 & 1, columns = (shape == TMEM_32X32B || shape == TMEM_16X32BX2 ? count : 2 * count) << packed;
    Accessor a = sanitizer_async(x, ANY_LANE, kind, kind == ROW_TCGEN05_LD ? SEEN_READ : SEEN_WRITE);
    for (u32 half = 0; half < (shape == TMEM_32X32B ? 2 : 1); half++) sanitizer_tensor(x, &a, x->cta, tmem_lane(address) / 16 + half, tmem_column(address), columns);
    if (shape == TMEM_16X32BX2) sanitizer_tensor(x, &a, x->cta, tmem_lane(address) / 16, tmem_column(address) + (u32)o->imm, columns);
}

static u32 extremum(u32 a, u32 b, u32 code, u32 nan) {                   // 0 min.s32, max, min.u32, max, min.f32, max
    switch (code) {
    case 0: return (i32)b < (i32)a ? b : a;
    case 1: return (i32)b > (i32)a ? b : a;
    case 2: return b < a ? b : a;
    case 3: return b > a ? b : a;
    default: return extremum_f32(a, b, code == 5, (int)nan);
    }
}

// Loads complete at issue in every schedule: register dependencies are honored, and compilers read the registers before
// tcgen05.wait::ld.
static void f_tmem_ld(Ctx *x, const Op *o, u32 m) {
    const u32 *data = x->pool + o->aux;
    u32 red = o->mod >> 8 & 15, count = o->aux2 - (red != 0), address, packed = o->mod >> 4 & 1, sum[LANES];
    u32 absolute = o->mod >> 12 & 1, nan = o->mod >> 13 & 1;
    if (!whole_warp(x, m) || !reach(x, o, count, &address)) return;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_moves(x, o, count, address, ROW_TCGEN05_LD);
    for (u32 q = 0; q < count; q++) {
        u32 *to = data[q] == NONE ? 0 : (u32 *)R(x, data[q]);
        for (u32 l = 0; l < LANES; l++) {
            const u32 *cell = cell_of(x->cta, o, address, q, l);
            u32 v = packed ? (cell[0] & 0xffff) | cell[1] << 16 : cell[0];
            if (to) to[l] = v;
            if (!red) continue;
            if (absolute) v &= 0x7fffffff;
            sum[l] = q ? extremum(sum[l], v, red - 1, nan) : red >= 5 ? extremum_f32(v, v, 0, (int)nan) : v;
        }
    }
    if (red && data[count] != NONE) memcpy(R(x, data[count]), sum, sizeof sum);
}

static void land_st(Ctx *x, Async *a) {
    const Op *o = &x->ops[x->pc];
    const u32 *data = (const u32 *)a->data;
    for (u32 q = 0; q < o->aux2; q++)
        for (u32 l = 0; l < LANES; l++) {
            u32 *cell = cell_of(x->cta, o, (u32)a->p[0], q, l), v = data[LANES * q + l];
            if (o->mod >> 4 & 1) { cell[0] = v & 0xffff; cell[1] = v >> 16; } else cell[0] = v;
        }
}
static void f_tmem_st(Ctx *x, const Op *o, u32 m) {
    u32 address;
    if (!whole_warp(x, m) || !reach(x, o, o->aux2, &address)) return;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_moves(x, o, o->aux2, address, ROW_TCGEN05_ST);
    Async a = new_async(x, land_st, m);
    a.p[0] = address;
    a.track = TRACK_TCGEN05_ST;
    a.data_bytes = 4 * LANES * o->aux2;
    if (!(a.data = malloc(a.data_bytes))) { x->status = STATUS_FAULT; x->fault = FAULT_MEMORY; return; }
    for (u32 q = 0; q < o->aux2; q++) memcpy(a.data + 4 * LANES * q, R(x, x->pool[o->aux + q]), 4 * LANES);
    for (u32 q = 0; q < o->aux2 && x->schedule != SCHEDULE_EAGER; q++)
        for (u32 l = 0; l < LANES; l++) memset(cell_of(x->cta, o, address, q, l), 0xff, 4u << (o->mod >> 4 & 1));
    issue_async(x, &a);
}
static void f_tmem_wait(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_wait_groups(x, o->mod ? ROW_TCGEN05_ST : ROW_TCGEN05_LD, m, 0);
    if (o->mod) land_track(x, TRACK_TCGEN05_ST, m);
}

// cp and shift -------------------------------------------------------------------------------------------------------
// Op: a the address, b the descriptor (64-bit rows); mod: cta_group, shape << 4, expansion << 8 (1: 6 bits, 2: 4 bits).

static const struct { u32 rows, chunks, copies, span; } cp_shapes[] = {  // chunks of 16 bytes; span: lanes below the last row
    {128, 2, 1, 128}, {4, 2, 1, 97}, {128, 1, 1, 128}, {64, 1, 2, 128}, {64, 1, 2, 128}, {32, 1, 4, 128}};

static u32 cp_lane(u32 shape, u32 row, u32 copy) {
    switch (shape) {
    case TMEM_CP_4X256B: return 32 * row;
    case TMEM_CP_64X128B_WARPX2_02_13: return row + 64 * copy;
    case TMEM_CP_64X128B_WARPX2_01_23: return row % 32 + 64 * (row / 32) + 32 * copy;
    case TMEM_CP_32X128B_WARPX4: return row + 32 * copy;
    default: return row;
    }
}
// Expand 16 bytes: elements of 4 and 6 bits to one byte each, 4 bits to bits 2-5.
static void expand(u8 *out, const u8 *in, u32 expansion) {
    for (u32 k = 0; k < 16; k++) {
        u32 bit = 6 * k, word = in[bit / 8] | (u32)in[bit / 8 + 1] << 8;
        out[k] = (u8)(expansion == 1 ? word >> (bit & 7) & 63 : (in[k / 2] >> 4 * (k & 1) & 15) << 2);
    }
}

static void land_cp(Ctx *x, Async *a) {
    const Op *o = &x->ops[x->pc];
    u32 shape = o->mod >> 4 & 15, expansion = o->mod >> 8 & 3, address = (u32)a->p[0], lane = (u32)__builtin_ctz(a->lanes);
    Cta *ctas[2];
    Tile t;
    u32 count = tmem_ctas(x, lane, o->mod & 3, ctas);
    if (!tcgen05_tile(x, lane, a->p[1], 0, 0, &t)) return;
    for (u32 k = 0; k < count; k++)
        for (u32 row = 0; row < cp_shapes[shape].rows; row++)
            for (u32 c = 0; c < cp_shapes[shape].chunks; c++) {
                const u8 *from = tile_chunk(x, ctas[k], &t, row, c);
                u8 line[16];
                if (!from) return;
                if (expansion) expand(line, from, expansion); else memcpy(line, from, 16);
                for (u32 copy = 0; copy < cp_shapes[shape].copies; copy++)
                    memcpy(&ctas[k]->tmem->cell[tmem_lane(address) + cp_lane(shape, row, copy)][tmem_column(address) + 4 * c], line, 16);
            }
}
static void sanitizer_cp(Ctx *x, u32 shape, u32 lane, u32 address, const Tile *t, Cta **ctas, u32 count) {
    Accessor reads = sanitizer_async(x, lane, ROW_TCGEN05, SEEN_READ), writes = sanitizer_async(x, lane, ROW_TCGEN05, SEEN_WRITE);
    u32 seen = 0;
    for (u32 k = 0; k < count; k++, seen = 0)
        for (u32 row = 0; row < cp_shapes[shape].rows; row++) {
            for (u32 c = 0; c < cp_shapes[shape].chunks; c++) {
                const u8 *from = tile_chunk(x, ctas[k], t, row, c);
                if (!from) return;
                u32 at = (u32)(from - ctas[k]->smem);
                sanitizer_chunks(x, &reads, ctas[k], &at, 1, 16, t->phase ? 0 : t->wide ? SWIZZLE_ATOM_32 : t->chunks);
            }
            for (u32 copy = 0; copy < cp_shapes[shape].copies; copy++) seen |= 1u << (tmem_lane(address) + cp_lane(shape, row, copy)) / 16;
            if (row + 1 < cp_shapes[shape].rows) continue;
            for (u32 half = 0; half < 8; half++) if (seen >> half & 1) sanitizer_tensor(x, &writes, ctas[k], half, tmem_column(address), 4 * cp_shapes[shape].chunks);
        }
}
static void f_tmem_cp(Ctx *x, const Op *o, u32 m) {
    u32 shape = o->mod >> 4 & 15;
    for (; m && x->status == STATUS_RUNNING; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m), address = (u32)((u64 *)R(x, o->a))[lane];
        u64 descriptor = ((u64 *)R(x, o->b))[lane];
        Cta *ctas[2];
        Tile t;
        u32 count = tmem_ctas(x, lane, o->mod & 3, ctas);
        if (!count || !tcgen05_tile(x, lane, descriptor, 0, 0, &t)) return;
        if (tmem_lane(address) + cp_shapes[shape].span > TMEM_LANES) { tmem_fault(x, lane, TM_LANE, address); return; }
        for (u32 k = 0; k < count; k++) if (!tmem_holds(x, ctas[k], lane, address, 4 * cp_shapes[shape].chunks)) return;
        Async a = new_async(x, land_cp, 1u << lane);
        a.p[0] = address; a.p[1] = descriptor;
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_cp(x, shape, lane, address, &t, ctas, count);
        a.track = TRACK_TCGEN05; a.after = 1u << TRACK_TCGEN05;
        issue_async(x, &a);
    }
}

// Each of the 32 lanes from the address on, except the last, receives the eight columns of the next lane.
static void land_shift(Ctx *x, Async *a) {
    u32 address = (u32)a->p[0], column = tmem_column(address);
    Cta *ctas[2];
    u32 count = tmem_ctas(x, (u32)__builtin_ctz(a->lanes), x->ops[x->pc].mod & 3, ctas);
    for (u32 k = 0; k < count; k++)
        for (u32 lane = tmem_lane(address); lane < tmem_lane(address) + 31; lane++)
            memcpy(&ctas[k]->tmem->cell[lane][column], &ctas[k]->tmem->cell[lane + 1][column], 32);
}
static void f_tmem_shift(Ctx *x, const Op *o, u32 m) {
    for (; m && x->status == STATUS_RUNNING; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m), address = (u32)((u64 *)R(x, o->a))[lane];
        Cta *ctas[2];
        u32 count = tmem_ctas(x, lane, o->mod & 3, ctas);
        if (!count) return;
        if (tmem_lane(address) % 32 || tmem_lane(address) >= TMEM_LANES) { tmem_fault(x, lane, TM_LANE, address); return; }
        for (u32 k = 0; k < count; k++) if (!tmem_holds(x, ctas[k], lane, address, 8)) return;
        Async a = new_async(x, land_shift, 1u << lane);
        a.p[0] = address;
        a.track = TRACK_TCGEN05; a.after = 1u << TRACK_TCGEN05;
        issue_async(x, &a);
    }
}

// commit: a the mbarrier (64-bit row), b the mask of CTAs (NONE: the one the address names); mod: cta_group, generic << 4.
static void nothing(Ctx *x, Async *a) { (void)x; (void)a; }
static void f_tmem_commit(Ctx *x, const Op *o, u32 m) {
    for (; m && x->status == STATUS_RUNNING; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        Cta *ctas[2], *at;
        Cluster *cluster = x->cta->cluster;
        if (!tmem_ctas(x, lane, o->mod & 3, ctas)) return;
        u8 *host = shared_place(x, lane, ((u64 *)R(x, o->a))[lane], 8, 8, o->mod & 16 ? ADDRESS_GENERIC : 0, &at);
        if (!host) return;
        u32 offset = (u32)(host - at->smem + x->smem_start), targets = o->b == NONE ? 1u << at->rank : ((u32 *)R(x, o->b))[lane];
        if (targets >> cluster->size) { tmem_fault(x, lane, TM_TARGET, 31 - (u32)__builtin_clz(targets)); return; }
        for (u32 rank = 0; rank < cluster->size && x->status == STATUS_RUNNING; rank++) {
            if (!(targets >> rank & 1)) continue;
            Async a = new_async(x, nothing, 1u << lane);
            a.after = 1u << TRACK_TCGEN05;
            a.at = cluster->cta[rank]; a.barrier = offset; a.arrivals = 1;
            if (!check_mbarrier(x, a.at, offset, lane)) return;
            if (UNLIKELY(x->sanitizer != 0)) sanitizer_signal(x, a.at, offset, lane, ROW_TCGEN05);
            issue_async(x, &a);
        }
    }
}

#define E(n) {#n, f_##n}
const Entry tmem_ops[] = {E(tmem_alloc), E(tmem_free), E(tmem_relinquish), E(tmem_ld), E(tmem_st), E(tmem_wait), E(tmem_cp),
                          E(tmem_shift), E(tmem_commit), {0, 0}};
