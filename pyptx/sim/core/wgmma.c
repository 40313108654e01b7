// wgmma: each warp of the warpgroup multiplies its 16 rows of A with all of B.
#include "tensor.h"
#include "tile.h"

// What Op.aux points to in the pool; then the registers of D. `a` is the table of A's fragment and its four registers,
// or NONE and the descriptor.
typedef struct {
    Product p;                                                           // of a warp: 16 rows
    u32 na, table_a, a[4], b;
    u32 scale_d, scale_flip, negate, mn_a, mn_b;
    u32 metadata, metadata_table, chunks, nd;
    u32 registers[];
} Wgmma;

// The product itself, for the registers of the warp that x->base[0] points to.
static void multiply_warp(Ctx *x, const Cta *cta, const Wgmma *q, u32 warp, u64 desc_a, u64 desc_b, int keep) {
    float a[MAX_TILE], b[MAX_K * MAX_N / 4], d[16 * MAX_N];
    Product p = q->p;
    if (x->tensor_hw && p.fraction) p.flags |= P_HARDWARE;
    u32 n = p.n, stored = q->metadata == NONE ? p.k : p.k / 2, row = warp % 4 * 16, bits = p.a == E_B1;
    u32 width = bits ? p.k / 32 : stored;
    Tile tile = wgmma_tile(desc_b, q->mn_b);
    if (!read_tile(x, cta, &tile, p.b, 0, n, p.k, !bits, b, bits ? p.k / 32 : n)) return;
    if (q->na > 1) gather_fragment(x, q->a, q->na, p.a, x->pool + q->table_a, 16 * width, a);
    else {
        tile = wgmma_tile(desc_a, q->mn_a);
        if (!read_tile(x, cta, &tile, p.a, row, 16, stored, 0, a, width)) return;
    }
    if (q->metadata != NONE) {
        float dense[MAX_TILE];
        expand_sparse(dense, a, 16, p.k, p.a, (const u32 *)R(x, q->metadata), x->pool + q->metadata_table, q->chunks);
        memcpy(a, dense, 4 * 16 * p.k);
    }
    if (q->negate) for (u32 i = 0; i < 16 * p.k; i++) a[i] = -a[i];
    if (keep) load_accumulator(x, q->registers, n, p.d, d);
    else memset(d, 0, 4 * 16 * n);
    if (bits) multiply_bits(&p, (i32 *)d, n, (u32 *)a, (u32 *)b, width);
    else if (p.d == E_S32) multiply_integers(&p, (i32 *)d, n, a, p.k, b, n);
    else multiply(&p, d, n, a, p.k, b, n, 0, 0);
    store_accumulator(x, q->registers, n, p.d, d);
}

static void f_wgmma(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    const Wgmma *q = (const Wgmma *)(x->pool + o->aux);
    u64 desc_a = q->na == 1 ? *(u64 *)R(x, q->a[0]) : 0, desc_b = *(u64 *)R(x, q->b);
    int keep = (int)((PRED(x, q->scale_d) ^ q->scale_flip) & 1);
    multiply_warp(x, x->cta, q, x->warp->index, desc_a, desc_b, keep);
}
static void f_wgmma_group(Ctx *x, const Op *o, u32 m) { (void)o; whole_warp(x, m); }

#define E(n) {#n, f_##n}
const Entry wgmma_ops[] = {E(wgmma), E(wgmma_group), {0, 0}};
