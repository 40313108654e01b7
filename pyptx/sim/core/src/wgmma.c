// wgmma: each warp of the warpgroup multiplies its 16 rows of A with all of B, asynchronously: operands are read on completion;
// until then the accumulators are poisoned. Those of a warp complete in the order of issue.
#include "sanitizer/sanitizer.h"
#include "fragments.h"
#include "half_vectors.h"
#include "matrix_descriptor.h"

// The description that Op.aux points to in the pool, followed by the registers of D. `a` is the table of A's fragment and its
// four registers, or NONE and the descriptor.
typedef struct {
    Product p;                                                           // of a warp: 16 rows
    u32 na, table_a, a[4], b;
    u32 scale_d, scale_flip, negate, mn_a, mn_b;
    u32 metadata, metadata_table, chunks, nd;
    u32 registers[];
} Wgmma;

enum { PART = 64 };                                                      // columns of a tile, which stays in the L1 cache

static void transpose(float *out, const float *in, u32 rows, u32 columns) {      // multiples of 8
    for (u32 r = 0; r < rows; r += 8)
        for (u32 c = 0; c < columns; c += 8) {
            F8 v[8];
            for (u32 i = 0; i < 8; i++) v[i] = *(const F8 *)(in + (r + i) * columns + c);
            transpose8(out + c * rows + r, rows, v);
        }
}

// A of the warp as [16][k], of which `stored` columns in lines of `width` elements or words are in memory. 0: a fault was raised.
static int read_left(Ctx *x, const Cta *cta, const Wgmma *q, u32 warp, u64 descriptor, float *a, u32 stored, u32 width) {
    if (q->na > 1) gather_fragment(x, q->a, q->na, q->p.a, x->pool + q->table_a, 16 * width, a);
    else {
        Tile left = wgmma_tile(descriptor, q->mn_a);
        if (!read_tile(x, cta, &left, q->p.a, warp % 4 * 16, 16, stored, 0, a, width)) return 0;
    }
    if (q->metadata != NONE) {
        float dense[MAX_TILE];
        expand_sparse(dense, a, 16, q->p.k, (const u32 *)R(x, q->metadata), x->pool + q->metadata_table, q->chunks);
        memcpy(a, dense, 4 * 16 * q->p.k);
    }
    if (q->negate) for (u32 i = 0; i < 16 * q->p.k; i++) a[i] = -a[i];
    return 1;
}

// The product, for the registers of the warp that x->base[0] points to. A K-major B is contiguous along k, so D is computed across,
// as B * A: then the small A is transposed instead of B. The sums are the same.
static void multiply_warp(Ctx *x, const Cta *cta, const Wgmma *q, u32 warp, u64 desc_a, u64 desc_b, int keep) {
    float a[MAX_TILE], b[PART * MAX_K / 4], d[16 * PART];
    Product p = q->p;
    if (x->tensor_cores && p.fraction) p.flags |= P_HARDWARE;
    u32 n = p.n, stored = q->metadata == NONE ? p.k : p.k / 2, bits = p.a == E_B1, width = bits ? p.k / 32 : stored;
    int across = !q->mn_b && !bits && !(p.flags & P_HARDWARE);
    Tile right = wgmma_tile(desc_b, q->mn_b);
    if (!read_left(x, cta, q, warp, desc_a, a, stored, width)) return;
    if (across) {
        float lines[MAX_TILE];
        transpose(lines, a, 16, p.k);
        memcpy(a, lines, 4 * 16 * p.k);
        p.n = 16;
    }
    for (u32 first = 0; first < n; first += PART) {
        u32 part = n - first < PART ? n - first : PART;
        const u32 *registers = q->registers + first * q->nd / n;
        if (!read_tile(x, cta, &right, p.b, first, part, p.k, !bits && !across, b, bits ? width : across ? p.k : part)) return;
        if (!keep) memset(d, 0, 4 * 16 * part);
        else if (across) load_accumulator_across(x, registers, part, p.d, d);
        else load_accumulator(x, registers, part, p.d, d);
        if (across) p.m = part; else p.n = part;
        const float *left = across ? b : a, *over = across ? a : b;
        if (bits) multiply_bits(&p, (i32 *)d, p.n, (u32 *)a, (u32 *)b, width);
        else if (p.d == E_S32) multiply_integers(&p, (i32 *)d, p.n, left, p.k, over, p.n);
        else multiply(&p, d, p.n, left, p.k, over, p.n, 0, 0);
        if (across) store_accumulator_across(x, registers, part, p.d, d); else store_accumulator(x, registers, part, p.d, d);
    }
}

static u32 lowest(const Wgmma *q) {
    u32 r = q->registers[0];
    for (u32 i = 1; i < q->nd; i++) r = q->registers[i] < r ? q->registers[i] : r;
    return r;
}
static u32 highest(const Wgmma *q) {
    u32 r = q->registers[0];
    for (u32 i = 1; i < q->nd; i++) r = q->registers[i] > r ? q->registers[i] : r;
    return r;
}
// The accumulators of an operation in flight: their values when the first one of a chain was issued are in a->data.
static int in_flight(const Ctx *x, const Wgmma *q) {
    for (const Async *a = x->cta->cluster->first; a; a = a->next) {
        if (a->track != TRACK_WGMMA || a->warp != x->warp) continue;
        const Wgmma *other = (const Wgmma *)(x->pool + x->ops[a->pc].aux);
        if (other->registers[0] == q->registers[0]) return 1;            // as a rule, all are the same or none is
        if (highest(other) < lowest(q) || highest(q) < lowest(other)) continue;
        for (u32 i = 0; i < other->nd; i++)
            for (u32 k = 0; k < q->nd; k++) if (other->registers[i] == q->registers[k]) return 1;
    }
    return 0;
}

static void land_wgmma(Ctx *x, Async *a) {
    const Wgmma *q = (const Wgmma *)(x->pool + x->ops[a->pc].aux);
    if (a->data) for (u32 i = 0; i < q->nd; i++) memcpy(R(x, q->registers[i]), a->data + 128 * i, 128);
    if (x->tensor_cores == 2) {
        if (!a->p[2]) for (u32 i = 0; i < q->nd; i++) memset(R(x, q->registers[i]), 0, 128);
        return;
    }
    multiply_warp(x, a->cta, q, a->warp->index, a->p[0], a->p[1], (int)a->p[2]);
}

// Read a matrix descriptor, which must be the same in all lanes. 0: a fault was raised.
static int descriptor(Ctx *x, u32 operand, u64 *out) {
    V64 v = ROW(V64, x, operand), differs = v ^ v[0];
    *out = v[0];
    if (LIKELY(!__builtin_reduce_or(differs))) return 1;
    u32 lane = 1;
    while (!differs[lane]) lane++;
    raise_fault(x, FAULT_UNIFORM, lane, v[lane], v[0]);
    return 0;
}

// Report the shared memory it reads to the sanitizer: 16 rows of A, all of B.
static void sanitizer_operands(Ctx *x, const Wgmma *q, u64 desc_a, u64 desc_b) {
    Accessor a = sanitizer_async(x, ANY_LANE, ROW_WGMMA, SEEN_READ);
    u32 stored = q->metadata == NONE ? q->p.k : q->p.k / 2;
    Tile right = wgmma_tile(desc_b, q->mn_b);
    if (q->na == 1) {
        Tile left = wgmma_tile(desc_a, q->mn_a);
        sanitizer_tile(x, &a, x->cta, &left, q->p.a, x->warp->index % 4 * 16, 16, stored);
    }
    sanitizer_tile(x, &a, x->cta, &right, q->p.b, 0, q->p.n, q->p.k);
}

static void f_wgmma(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    const Wgmma *q = (const Wgmma *)(x->pool + o->aux);
    Async a = new_async(x, land_wgmma, ALL);
    if (q->na == 1 && !descriptor(x, q->a[0], &a.p[0])) return;
    if (!descriptor(x, q->b, &a.p[1])) return;
    a.p[2] = (PRED(x, q->scale_d) ^ q->scale_flip) & 1;
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_operands(x, q, a.p[0], a.p[1]);
    a.track = TRACK_WGMMA;
    a.after = 1u << TRACK_WGMMA;
    if (x->schedule != SCHEDULE_EAGER && !in_flight(x, q)) {
        if (a.p[2]) {
            a.data = malloc(a.data_bytes = 128 * (size_t)q->nd);
            if (!a.data) { raise_fault(x, FAULT_MEMORY, 0, 0, 0); return; }
            for (u32 i = 0; i < q->nd; i++) memcpy(a.data + 128 * i, R(x, q->registers[i]), 128);
        }
        for (u32 i = 0; i < q->nd; i++) poison(x, R(x, q->registers[i]), 128);
    }
    issue_async(x, &a);
}

static void f_wgmma_group(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    if (UNLIKELY(x->sanitizer != 0) && o->mod == WGMMA_COMMIT_GROUP) sanitizer_commit(x, ROW_WGMMA, ALL);
    if (UNLIKELY(x->sanitizer != 0) && o->mod == WGMMA_WAIT_GROUP) sanitizer_wait_groups(x, ROW_WGMMA, ALL, (u32)o->imm);
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_warp_sync(x, ALL);
    if (o->mod == WGMMA_COMMIT_GROUP) commit_group(x, TRACK_WGMMA, ALL);
    if (o->mod == WGMMA_WAIT_GROUP) land_groups(x, TRACK_WGMMA, ALL, (u32)o->imm, 2);
}

#define E(n) {#n, f_##n}
const Entry wgmma_ops[] = {E(wgmma), E(wgmma_group), {0, 0}};
