// tcgen05.mma: the instruction descriptor, and the product, row block by row block and datapath by datapath.
//
// The columns of D lie in `groups` of the 128 lanes (data path layouts; m is the row within the CTA, n the column):
//     A, D   lane m                       128 rows, 1 group      B, E   lane m + 64 g    64 rows, 2 groups of n
//     F, C   lane m % 16 + 32 (m / 16)     64 rows, 1 group      G      lane m + 32 g    32 rows, 4 groups
// Operands in tensor memory (A, metadata, scales) are read from the lanes of the same datapath, so what the PTX ISA requires
// to be duplicated must be.
#include "tmem.h"

enum { BLOCK = 32 };                                                     // rows of a block: the lanes of a datapath

// The description that Op.aux points to in the pool. d, a, b, meta, scales and zero are 64-bit rows or NONE.
typedef struct {
    u32 kind, flags, vector, fraction, fraction4;                        // scales of a row; the hardware model's, of fp4
    u32 d, a, b, id, enable, flip, scale, meta, scale_a, scale_b, zero, masks, mask[];
} Mma5;

enum { P_D, P_A, P_B, P_ID, P_META, P_SCALES, P_ZERO, P_MASK };          // Async.p; P_ID: | enable << 32; P_SCALES: a | b << 32

typedef struct {
    Product p;                                                           // of a block of rows
    u32 m, n, k, rows, columns, groups, half;                            // of a CTA; columns of a group
    u32 stored, smem_a, smem_b;                                          // stored columns of A; formats in shared memory
    u32 mn_a, mn_b, negate, selector, shift, id_a, id_b, ctas;
} Shape5;

static const u32 kinds_k[] = {16, 8, 32, 32, 32, 64, 64};
static const u32 formats8[8] = {E_E4M3, E_E5M2, E_FORMATS, E_E2M3, E_E3M2, E_E2M1, E_FORMATS, E_FORMATS};
static const u32 padded8[8] = {E_E4M3, E_E5M2, E_FORMATS, E_E2M3_PADDED, E_E3M2_PADDED, E_E2M1_PADDED, E_FORMATS, E_FORMATS};

static u32 shape_problem(u32 kind, u32 flags, u32 ctas, u32 m, u32 n) {
    u32 sparse = flags & TCGEN05_SPARSE, i8 = kind == K_I8, step = ctas == 2 ? (i8 ? 32 : 16) : i8 && n > 32 ? 16 : 8;
    if (flags & TCGEN05_WS) return (m != 32 && m != 64 && m != 128) || (n != 64 && n != 128 && (n != 256 || sparse));
    if (n < 8 || n > 256 || n % step) return 1;
    if (kind >= K_MXF8F6F4) return !((m == 128 && !(sparse && ctas == 2)) || (m == 256 && ctas == 2));
    return m != 64 * ctas && m != 128 * ctas;
}

// Decode an instruction descriptor and check it against the instruction; returns the problem or 0.
static u32 decode(const Mma5 *q, u32 id, Shape5 *s) {
    u32 kind = q->kind, fp4 = kind >= K_MXF4, scaled = kind >= K_MXF8F6F4, sparse = q->flags & TCGEN05_SPARSE;
    u32 a = id >> 7 & 7, b = id >> 10 & (fp4 ? 3 : 7), d = id >> 4 & 3;
    static const u32 reserved[] = {1u << 3 | 1u << 6 | 1u << 23 | 1u << 29, 1u << 3 | 1u << 6 | 1u << 23 | 1u << 29,
        1u << 3 | 1u << 6 | 1u << 23 | 1u << 29, 1u << 6 | 1u << 23 | 1u << 29, 0x8700004b, 0x0700104b, 0x0700104b};
    memset(s, 0, sizeof *s);
    s->ctas = q->flags & TCGEN05_PAIR ? 2 : 1;
    if ((id >> 2 & 1) != sparse) return TM_SPARSE;
    if (!scaled && (id & 3) && !(sparse && kind <= K_TF32)) return TM_SELECTOR;
    if (id & reserved[kind]) return TM_RESERVED;
    if (fp4 && id >> 31) return TM_K96;
    Product *p = &s->p;
    p->c = p->d = E_F32;
    switch (kind) {
    case K_F16:
        if (a > 1 || b > 1 || d > 1 || (!d && (a || b))) return TM_TYPE;
        p->a = a ? E_BF16 : E_F16; p->b = b ? E_BF16 : E_F16;
        break;
    case K_TF32:
        if (a != 2 || b != 2 || d != 1) return TM_TYPE;
        p->a = p->b = E_TF32;
        break;
    case K_I8:
        if (a > 1 || b > 1 || d != 2) return TM_TYPE;
        p->a = a ? E_S8 : E_U8; p->b = b ? E_S8 : E_U8;
        p->c = p->d = E_S32;
        if (id >> 13 & 3) return TM_NEGATE;
        if (id >> 3 & 1) p->flags |= P_SATURATE;
        break;
    case K_F8F6F4: case K_MXF8F6F4:
        p->a = formats8[a]; p->b = formats8[b];
        if (p->a == E_FORMATS || p->b == E_FORMATS || (!scaled && d > 1)) return TM_TYPE;
        break;
    default:
        if (a != 1 || b != 1) return TM_TYPE;
        p->a = p->b = E_E2M1X8;
    }
    if (!scaled && !d) p->c = p->d = E_F16;
    s->smem_a = p->a; s->smem_b = p->b;
    if (kind == K_F8F6F4 || kind == K_MXF8F6F4) { s->smem_a = padded8[a]; s->smem_b = padded8[b]; }
    s->m = (id >> 24 & 31) << 4; s->n = (id >> 17 & 63) << 3; s->k = kinds_k[kind] << (sparse ? 1 : 0);
    if (fp4) s->m = (id >> 27 & 3) << 7;
    s->mn_a = id >> 15 & 1; s->mn_b = id >> 16 & 1;
    s->negate = (id >> 13 & 1) != (id >> 14 & 1);
    s->selector = scaled ? 0 : id & 3;
    s->shift = id >> 30 ? 8u << ((id >> 30) - 1) : 0;
    if (shape_problem(kind, q->flags, s->ctas, s->m, s->n)) return TM_SHAPE;
    u32 narrow_a = s->smem_a != p->a, narrow_b = s->smem_b != p->b;
    if ((fp4 && (s->mn_a || s->mn_b)) || (s->mn_a && (narrow_a || q->flags & TCGEN05_A_TMEM)) || (s->mn_b && narrow_b)) return TM_TRANSPOSE;
    if (s->mn_b && format_bits(p->b) == 8 && s->n % (16 * s->ctas)) return TM_SHAPE;
    if (q->flags & TCGEN05_ASHIFT && s->m < 128) return TM_ASHIFT;
    if (scaled) {
        s->id_a = id >> 29 & 3; s->id_b = id >> 4 & 3;
        u32 ue8m0 = id >> 23 & 1;
        if (!ue8m0 && !(kind == K_MXF4NVF4 && q->vector == 4)) return TM_TYPE;
        if (q->vector > 1 && ((s->id_a | s->id_b) & (q->vector == 2 ? 1 : 3))) return TM_SCALE_ID;
        p->scale = s->k / q->vector;
        p->scale_format = ue8m0 ? E_UE8M0 : E_UE4M3;
    }
    s->rows = s->m / s->ctas;
    s->half = s->rows == 64 && (s->ctas == 2 ? sparse : !(q->flags & TCGEN05_WS));
    s->groups = s->half ? 1 : 128 / s->rows;
    s->columns = s->n / s->groups;
    s->stored = sparse ? s->k / 2 : s->k;
    p->m = BLOCK; p->n = s->columns; p->k = p->step = s->k;
    p->fraction = fp4 ? q->fraction4 : q->fraction;
    p->result = p->d == E_F16 ? TO_F16 : TO_F32;
    return TM_NONE;
}

static inline u32 lane_of(const Shape5 *s, u32 base, u32 group, u32 row) {
    return s->half ? base + row % 16 + 32 * (row / 16) : row + 128 / s->groups * group;
}

// Read A of a block of rows, 16 at a time if it is sparse. 0: a fault was raised.
static int read_a(Ctx *x, const Mma5 *q, const Shape5 *s, const Async *a, const Cta *cta, u32 group, u32 first, float *out) {
    float stored[BLOCK * 128];
    u32 sparse = q->flags & TCGEN05_SPARSE, base = tmem_lane((u32)a->p[P_D]), lane = (u32)__builtin_ctz(a->lanes);
    float *to = sparse ? stored : out;
    if (q->flags & TCGEN05_A_TMEM) {
        for (u32 r = 0; r < BLOCK; r++) {
            u32 at = lane_of(s, base, group, first + r);
            if (q->flags & TCGEN05_ASHIFT && at % 32 != 31) at++;
            decode_run(to + r * s->stored, (const u8 *)&cta->tmem->cell[at][tmem_column((u32)a->p[P_A])], s->stored, s->p.a);
        }
    } else {
        Tile t;
        if (!tcgen05_tile(x, lane, a->p[P_A], s->mn_a, s->p.a == E_TF32, &t)) return 0;
        if (!read_tile(x, cta, &t, s->smem_a, first, BLOCK, s->stored, 0, to, s->stored)) return 0;
    }
    if (sparse) {
        u32 wide = q->kind <= K_TF32, chunks = s->k / (s->p.a == E_TF32 ? 2 : s->p.a == E_E2M1X8 ? 8 : 4), codes[16 * 16], places[16 * 16];
        u32 column = tmem_column((u32)a->p[P_META]) + s->selector;
        for (u32 part = 0; part < BLOCK; part += 16) {
            for (u32 r = 0; r < 16; r++)
                for (u32 c = 0; c < chunks; c++) {
                    u32 at = lane_of(s, base, group, first + part + r), k = r * chunks + c, word;
                    if (wide) word = cta->tmem->cell[(at & ~15u) + (at & 7) + 8 * (c / 4)][column] >> (16 * (at >> 3 & 1) + 4 * (c & 3));
                    else word = cta->tmem->cell[at][column + c / 8] >> 4 * (c & 7);
                    codes[k] = word & 15;
                    places[k] = k;
                }
            expand_sparse(out + part * s->k, stored + part * s->stored, 16, s->k, codes, places, chunks);
        }
    }
    if (s->negate) for (u32 i = 0; i < BLOCK * s->k; i++) out[i] = -out[i];
    return 1;
}

// Read B of all columns [k][n]; each CTA of a pair holds half of them.
static int read_b(Ctx *x, const Mma5 *q, const Shape5 *s, const Async *a, Cta **ctas, float *out) {
    u64 zero = a->p[P_ZERO];
    u32 n = s->n / s->ctas, shift = (u32)(zero >> 56 & 63), lane = (u32)__builtin_ctz(a->lanes);
    Tile t;
    (void)q;
    if (!tcgen05_tile(x, lane, a->p[P_B], s->mn_b, s->p.b == E_TF32, &t)) return 0;
    for (u32 c = 0; c < s->ctas; c++)
        if (!read_tile(x, ctas[c], &t, s->smem_b, shift, n, s->k, 1, out + c * n, s->n)) return 0;
    if (!(zero >> 39 & 1)) return 1;
    u32 nothing = (u32)(zero >> 40 & 255) + 1, used = (u32)(zero >> 48 & 255) + 1;
    for (u32 j = 0; j < s->n; j++) {                                     // alternating runs of used and zero columns
        u32 g = j / s->columns, zeros_first = (u32)(zero >> (32 + g)) & 1;
        u32 at = (j % s->columns + ((u32)(zero >> 8 * g) & 255)) % (nothing + used);
        if (zeros_first ? at < nothing : at >= used) for (u32 k = 0; k < s->k; k++) out[k * s->n + j] = 0;
    }
    return 1;
}

static void read_scales(const Shape5 *s, const Cta *cta, u32 address, u32 id, u32 datapath, u32 first, u32 count, u32 vector, float *out) {
    for (u32 i = 0; i < count; i++) {
        u32 word = cta->tmem->cell[32 * datapath + (first + i) % 32][tmem_column(address) + (first + i) / 32];
        for (u32 v = 0; v < vector; v++) out[i * vector + v] = decode_byte(word >> 8 * (id + v), s->p.scale_format);
    }
}

static void read_d(const Shape5 *s, const u32 *cell, u32 keep, float scale, float *out) {
    if (!keep) { memset(out, 0, 4 * s->columns); return; }
    memcpy(out, cell, 4 * s->columns);
    if (s->p.d == E_F16) for (u32 j = 0; j < s->columns; j++) out[j] = (float)widen(cell[j] & 0xffff, T_F16);
    if (scale != 1.0f) for (u32 j = 0; j < s->columns; j++) out[j] *= scale;
}

static void land_mma(Ctx *x, Async *a) {
    const Mma5 *q = (const Mma5 *)(x->pool + x->ops[x->pc].aux);
    float b[128 * MAX_N], left[BLOCK * 128], d[BLOCK * MAX_N], sa[BLOCK * 4], sb[MAX_N * 4];
    u32 keep = (u32)(a->p[P_ID] >> 32), column = tmem_column((u32)a->p[P_D]), masks[8];
    float scale = as_f32((127 - q->scale) << 23);
    Shape5 s;
    Cta *ctas[2];
    decode(q, (u32)a->p[P_ID], &s);
    memcpy(masks, &a->p[P_MASK], sizeof masks);
    if (x->tensor_cores == 2) return;
    if (!tmem_ctas(x, (u32)__builtin_ctz(a->lanes), s.ctas, ctas) || !read_b(x, q, &s, a, ctas, b)) return;
    Product p = s.p;
    if (x->tensor_cores && p.d != E_S32) p.flags |= P_HARDWARE;
    for (u32 c = 0; c < s.ctas; c++)
        for (u32 g = 0; g < s.groups; g++)
            for (u32 first = 0; first < s.rows; first += BLOCK) {
                if (!read_a(x, q, &s, a, ctas[c], g, first, left)) return;
                u32 base = tmem_lane((u32)a->p[P_D]), datapath = lane_of(&s, base, g, first) / 32;
                if (p.scale) {
                    read_scales(&s, ctas[c], (u32)a->p[P_SCALES], s.id_a, datapath, first, BLOCK, q->vector, sa);
                    read_scales(&s, ctas[c], (u32)(a->p[P_SCALES] >> 32), s.id_b, datapath, 0, s.columns, q->vector, sb);
                }
                for (u32 r = 0; r < BLOCK; r++)
                    read_d(&s, &ctas[c]->tmem->cell[lane_of(&s, base, g, first + r)][column], keep, scale, d + r * s.columns);
                if (p.d == E_S32) multiply_integers(&p, (i32 *)d, s.columns, left, s.k, b + g * s.columns, s.n);
                else multiply(&p, d, s.columns, left, s.k, b + g * s.columns, s.n, sa, sb);
                for (u32 r = 0; r < BLOCK; r++) {
                    u32 lane = lane_of(&s, base, g, first + r), *cell = &ctas[c]->tmem->cell[lane][column];
                    if (masks[4 * c + lane / 32] >> (lane % 32) & 1) continue;
                    if (p.d == E_F16) for (u32 j = 0; j < s.columns; j++) cell[j] = encode_f16(d[r * s.columns + j]);
                    else memcpy(cell, d + r * s.columns, 4 * s.columns);
                }
            }
}

static u64 value64(Ctx *x, u32 row, u32 lane) { return row == NONE ? 0 : ((const u64 *)R(x, row))[lane]; }

static u32 address_problem(const Mma5 *q, const Shape5 *s, const Async *a) {
    u32 base = tmem_lane((u32)a->p[P_D]);
    if (base != 0 && !(s->half && base == 16)) return TM_LANE;
    if (q->flags & TCGEN05_A_TMEM && tmem_lane((u32)a->p[P_A]) != base) return TM_ALIGNMENT;
    if (q->meta != NONE && tmem_lane((u32)a->p[P_META]) != base) return TM_ALIGNMENT;
    return TM_NONE;
}

static int columns_hold(Ctx *x, const Mma5 *q, const Shape5 *s, const Async *a, u32 lane, Cta **ctas) {
    u32 bits = format_bits(s->p.a), meta = q->kind <= K_TF32 ? 1 : 2;
    for (u32 c = 0; c < s->ctas; c++) {
        if (!tmem_holds(x, ctas[c], lane, (u32)a->p[P_D], s->columns)) return 0;
        if (q->flags & TCGEN05_A_TMEM && !tmem_holds(x, ctas[c], lane, (u32)a->p[P_A], s->stored * bits / 32)) return 0;
        if (q->meta != NONE && !tmem_holds(x, ctas[c], lane, (u32)a->p[P_META] + s->selector, meta)) return 0;
        if (!s->p.scale) continue;
        if (!tmem_holds(x, ctas[c], lane, (u32)a->p[P_SCALES], s->rows / 32)) return 0;
        if (!tmem_holds(x, ctas[c], lane, (u32)(a->p[P_SCALES] >> 32), (s->columns + 31) / 32)) return 0;
    }
    return 1;
}

// Operands in shared memory, and tensor memory by halves of the 32 lanes of a warp.
static void sanitizer_product(Ctx *x, const Mma5 *q, const Shape5 *s, const Async *m, u32 lane, u32 keep, const u32 *masks, Cta **ctas) {
    Accessor reads = sanitizer_async(x, lane, ROW_TCGEN05, SEEN_READ), writes = sanitizer_async(x, lane, ROW_TCGEN05, SEEN_WRITE);
    u32 n = s->n / s->ctas, shift = (u32)(m->p[P_ZERO] >> 56 & 63), base = tmem_lane((u32)m->p[P_D]);
    Tile t;
    for (u32 c = 0; c < s->ctas; c++) {
        if (!(q->flags & TCGEN05_A_TMEM) && tcgen05_tile(x, lane, m->p[P_A], s->mn_a, s->p.a == E_TF32, &t))
            sanitizer_tile(x, &reads, ctas[c], &t, s->smem_a, 0, s->rows, s->stored);
        if (tcgen05_tile(x, lane, m->p[P_B], s->mn_b, s->p.b == E_TF32, &t)) sanitizer_tile(x, &reads, ctas[c], &t, s->smem_b, shift, n, s->k);
        for (u32 g = 0; g < s->groups; g++)
            for (u32 r = 0; r < s->rows; r += 16) {
                u32 at = lane_of(s, base, g, r);
                if (q->flags & TCGEN05_A_TMEM) sanitizer_tensor(x, &reads, ctas[c], at / 16, tmem_column((u32)m->p[P_A]), s->stored * format_bits(s->p.a) / 32);
                if ((masks[4 * c + at / 32] >> (at & 16) & 0xffff) == 0xffff) continue;
                if (keep) sanitizer_tensor(x, &reads, ctas[c], at / 16, tmem_column((u32)m->p[P_D]), s->columns);
                writes.good = writes.good_reads = NONE;
                sanitizer_tensor(x, &writes, ctas[c], at / 16, tmem_column((u32)m->p[P_D]), s->columns);
            }
    }
}

// All checks happen here; shared memory is read when the operation lands.
static void issue(Ctx *x, const Op *o, const Mma5 *q, u32 lane) {
    Async a = new_async(x, land_mma, 1u << lane);
    u32 id = ((const u32 *)R(x, q->id))[lane], problem, keep = (PRED(x, q->enable) ^ q->flip) >> lane & 1, masks[8] = {0};
    Shape5 s;
    Tile t;
    Cta *ctas[2];
    a.p[P_D] = (u32)value64(x, q->d, lane);
    a.p[P_A] = value64(x, q->a, lane);
    a.p[P_B] = value64(x, q->b, lane);
    a.p[P_ID] = id | (u64)keep << 32;
    a.p[P_META] = (u32)value64(x, q->meta, lane);
    // bits 30-31 of the addresses of scales are ignored: compilers store the scale's id there
    a.p[P_SCALES] = ((u32)value64(x, q->scale_a, lane) & 0x3fffffff) | (value64(x, q->scale_b, lane) & 0x3fffffff) << 32;
    a.p[P_ZERO] = value64(x, q->zero, lane);
    for (u32 k = 0; k < q->masks; k++) masks[k] = ((const u32 *)R(x, q->mask[k]))[lane];
    memcpy(&a.p[P_MASK], masks, sizeof masks);
    if (!tmem_ctas(x, lane, q->flags & TCGEN05_PAIR ? 2 : 1, ctas)) return;
    if ((problem = decode(q, id, &s))) { tmem_fault(x, lane, problem, id); return; }
    u32 shift = (u32)(a.p[P_ZERO] >> 56 & 63);
    if (shift > s.shift || (s.m == 32 && shift > 16)) { tmem_fault(x, lane, TM_SHIFT, shift); return; }
    if ((problem = address_problem(q, &s, &a))) { tmem_fault(x, lane, problem, a.p[P_D]); return; }
    if (s.p.scale && (a.p[P_SCALES] & 0xffff0000ffff0000)) { tmem_fault(x, lane, TM_LANE, a.p[P_SCALES] & 0xffff0000 ? (u32)a.p[P_SCALES] : a.p[P_SCALES] >> 32); return; }
    if (!columns_hold(x, q, &s, &a, lane, ctas)) return;
    if (!(q->flags & TCGEN05_A_TMEM) && !tcgen05_tile(x, lane, a.p[P_A], s.mn_a, s.p.a == E_TF32, &t)) return;
    if (!tcgen05_tile(x, lane, a.p[P_B], s.mn_b, s.p.b == E_TF32, &t)) return;
    x->tensor_flops[o->instr] += 2ull * s.m * s.n * s.k;
    // D is poisoned until then, unless it is read or an earlier operation may still read it
    if (!keep && x->schedule != SCHEDULE_EAGER && track_empty(x, TRACK_TCGEN05, 1u << lane))
        for (u32 c = 0; c < s.ctas; c++)
            for (u32 g = 0; g < s.groups; g++)
                for (u32 r = 0; r < s.rows; r++) {
                    u32 at = lane_of(&s, tmem_lane((u32)a.p[P_D]), g, r);
                    if (!(masks[4 * c + at / 32] >> (at % 32) & 1)) poison_cells(x, ctas[c], at, tmem_column((u32)a.p[P_D]), s.columns);
                }
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_product(x, q, &s, &a, lane, keep, masks, ctas);
    a.track = TRACK_TCGEN05; a.after = 1u << TRACK_TCGEN05;
    issue_async(x, &a);
}
static void f_tcgen05_mma(Ctx *x, const Op *o, u32 m) {
    const Mma5 *q = (const Mma5 *)(x->pool + o->aux);
    for (; m && x->status == STATUS_RUNNING; m &= m - 1) issue(x, o, q, (u32)__builtin_ctz(m));
}

const Entry tcgen05_ops[] = {{"tcgen05_mma", f_tcgen05_mma}, {0, 0}};
