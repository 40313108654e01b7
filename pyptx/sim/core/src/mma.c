// mma.sync and wmma.mma: operands from registers, the product, the result to registers.
#include "half_vectors.h"
#include "fragments.h"

typedef float F4 __attribute__((ext_vector_type(4), aligned(4)));
typedef u32 U4 __attribute__((ext_vector_type(4), aligned(4)));

int whole_warp(Ctx *x, u32 m) {
    if (LIKELY(m == ALL)) return 1;
    raise_fault(x, FAULT_WARP, (u32)__builtin_ctz(m), m, 0);
    return 0;
}

void gather_fragment(Ctx *x, const u32 *rows, u32 registers, u32 format, const u32 *table, u32 count, float *out) {
    float planes[2 * MAX_TILE] __attribute__((aligned(128)));
    u32 bits = format_bits(format), e = format == E_B1 ? 1 : 32 / bits;
    for (u32 r = 0; r < registers; r++) {
        if (format == E_B1) memcpy(planes + LANES * r, R(x, rows[r]), 4 * LANES);
        else decode_row(planes + LANES * e * r, (const u32 *)R(x, rows[r]), format);
    }
    for (u32 i = 0; i < count; i++) out[i] = planes[table[i]];
}

void load_accumulator(Ctx *x, const u32 *rows, u32 n, u32 format, float *out) {
    float planes[2 * LANES];
    for (u32 j = 0; j < n / 8; j++)
        for (u32 half = 0; half < 2; half++) {
            const float *even, *odd;
            if (format == E_F16) {
                decode_row(planes, (const u32 *)R(x, rows[2 * j + half]), E_F16);
                even = planes; odd = planes + LANES;
            } else {
                even = (const float *)R(x, rows[4 * j + 2 * half]);
                odd = (const float *)R(x, rows[4 * j + 2 * half + 1]);
            }
            for (u32 g = 0; g < 8; g++) {
                F4 a = *(const F4 *)(even + 4 * g), b = *(const F4 *)(odd + 4 * g);
                *(F8 *)(out + (8 * half + g) * n + 8 * j) = __builtin_shufflevector(a, b, 0, 4, 1, 5, 2, 6, 3, 7);
            }
        }
}

void store_accumulator(Ctx *x, const u32 *rows, u32 n, u32 format, const float *in) {
    for (u32 j = 0; j < n / 8; j++)
        for (u32 half = 0; half < 2; half++) {
            if (format == E_F16) {
                u32 *d = (u32 *)R(x, rows[2 * j + half]);
                for (u32 i = 0; i < LANES; i++) {
                    const float *pair = in + (8 * half + i / 4) * n + 8 * j + 2 * (i & 3);
                    d[i] = encode_f16(pair[0]) | encode_f16(pair[1]) << 16;
                }
                continue;
            }
            float *even = (float *)R(x, rows[4 * j + 2 * half]), *odd = (float *)R(x, rows[4 * j + 2 * half + 1]);
            for (u32 g = 0; g < 8; g++) {
                F8 v = *(const F8 *)(in + (8 * half + g) * n + 8 * j);
                *(F4 *)(even + 4 * g) = v.even;
                *(F4 *)(odd + 4 * g) = v.odd;
            }
        }
}

// The four columns 2t (or 2t + 1) of a register of the accumulator, of eight rows each: column[t][g] = row[4g + t].
static inline void columns_of(const float *row, F8 *column) {
    F8 v[4], near, far;
    memcpy(v, row, sizeof v);
    for (int t = 0; t < 4; t += 2) {
        near = t ? __builtin_shufflevector(v[0], v[1], 2, 6, 10, 14, 3, 7, 11, 15) : __builtin_shufflevector(v[0], v[1], 0, 4, 8, 12, 1, 5, 9, 13);
        far = t ? __builtin_shufflevector(v[2], v[3], 2, 6, 10, 14, 3, 7, 11, 15) : __builtin_shufflevector(v[2], v[3], 0, 4, 8, 12, 1, 5, 9, 13);
        column[t] = __builtin_shufflevector(near, far, 0, 1, 2, 3, 8, 9, 10, 11);
        column[t + 1] = __builtin_shufflevector(near, far, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
static inline void from_columns(const F8 *c, float *row) {
    F8 v[4];
    for (int h = 0; h < 4; h += 2) {
        F8 left = h ? __builtin_shufflevector(c[0], c[1], 4, 12, 5, 13, 6, 14, 7, 15) : __builtin_shufflevector(c[0], c[1], 0, 8, 1, 9, 2, 10, 3, 11);
        F8 right = h ? __builtin_shufflevector(c[2], c[3], 4, 12, 5, 13, 6, 14, 7, 15) : __builtin_shufflevector(c[2], c[3], 0, 8, 1, 9, 2, 10, 3, 11);
        v[h] = __builtin_shufflevector(left, right, 0, 1, 8, 9, 2, 3, 10, 11);
        v[h + 1] = __builtin_shufflevector(left, right, 4, 5, 12, 13, 6, 7, 14, 15);
    }
    memcpy(row, v, sizeof v);
}

void load_accumulator_across(Ctx *x, const u32 *rows, u32 n, u32 format, float *out) {
    float planes[2 * LANES];
    F8 column[4];
    for (u32 j = 0; j < n / 8; j++)
        for (u32 half = 0; half < 2; half++) {
            if (format == E_F16) decode_row(planes, (const u32 *)R(x, rows[2 * j + half]), E_F16);
            for (u32 odd = 0; odd < 2; odd++) {
                columns_of(format == E_F16 ? planes + odd * LANES : (const float *)R(x, rows[4 * j + 2 * half + odd]), column);
                for (u32 t = 0; t < 4; t++) *(F8 *)(out + (8 * j + 2 * t + odd) * 16 + 8 * half) = column[t];
            }
        }
}
void store_accumulator_across(Ctx *x, const u32 *rows, u32 n, u32 format, const float *in) {
    float planes[2 * LANES];
    F8 column[4];
    for (u32 j = 0; j < n / 8; j++)
        for (u32 half = 0; half < 2; half++) {
            for (u32 odd = 0; odd < 2; odd++) {
                for (u32 t = 0; t < 4; t++) column[t] = *(const F8 *)(in + (8 * j + 2 * t + odd) * 16 + 8 * half);
                from_columns(column, format == E_F16 ? planes + odd * LANES : (float *)R(x, rows[4 * j + 2 * half + odd]));
            }
            if (format != E_F16) continue;
            u32 *d = (u32 *)R(x, rows[2 * j + half]);
            for (u32 i = 0; i < LANES; i++) d[i] = encode_f16(planes[i]) | encode_f16(planes[LANES + i]) << 16;
        }
}

void expand_sparse(float *out, const float *stored, u32 m, u32 k, const u32 *row, const u32 *table, u32 chunks) {
    u32 per = k / chunks, half = k / 2;                                  // columns of a chunk: 2 tf32, 4, 8 of 4 bits
    memset(out, 0, 4 * m * k);
    for (u32 i = 0; i < m; i++)
        for (u32 c = 0; c < chunks; c++) {
            u32 at = table[i * chunks + c], code = row[at & 255] >> (at >> 8) & 15, low = code & 3, high = code >> 2;
            const float *s = stored + i * half + c * (per / 2);
            float *d = out + i * k + c * per;
            if (per == 2) d[high == 3] = s[0];
            else if (per == 4) { d[low] = s[0]; d[high] = s[1]; }
            else { d[2 * low] = s[0]; d[2 * low + 1] = s[1]; d[2 * high] = s[2]; d[2 * high + 1] = s[3]; }
        }
}

// The description that Op.aux points to in the pool, followed by the registers of A, B, C and D. Tables are indices in the pool.
typedef struct {
    Product p;
    u32 batch, na, nb, nc, nd, ta, tb, tc, td;                           // tc or td NONE: the standard accumulator
    u32 metadata, metadata_table, chunks;                                // metadata NONE: dense
    u32 scale_a, byte_a, thread_a, scale_b, byte_b, thread_b;
    u32 registers[];
} Mma;

// Scales of 16 rows of A (two lanes of a quad hold those of rows g and g + 8) or of 8 columns of B.
static void scales(Ctx *x, float *out, u32 row, u32 byte, u32 thread, u32 rows, u32 count, u32 format) {
    const u32 *word = (const u32 *)R(x, row);
    u32 first = *(u32 *)R(x, byte) & 3, t = *(u32 *)R(x, thread) & 3;
    for (u32 i = 0; i < rows; i++) {
        u32 lane = (rows == 16 ? 4 * (i & 7) + 2 * t + (i >> 3) : 4 * i + t) & 31;
        for (u32 q = 0; q < count; q++) out[i * count + q] = decode_byte(word[lane] >> (8 * (first + q) & 31), format);
    }
}

static void mma_f64(Ctx *x, const Mma *q, const u32 *a, const u32 *b, const u32 *c, const u32 *d) {
    const Product *p = &q->p;
    double tile[3][256], planes[8 * LANES];
    const u32 *rows[3] = {a, b, c}, counts[3] = {q->na, q->nb, q->nc}, tables[3] = {q->ta, q->tb, q->tc};
    u32 sizes[3] = {p->m * p->k, p->k * p->n, p->m * p->n};
    for (u32 t = 0; t < 3; t++) {
        for (u32 r = 0; r < counts[t]; r++) memcpy(planes + LANES * r, R(x, rows[t][r]), 8 * LANES);
        for (u32 i = 0; i < sizes[t]; i++) tile[t][i] = planes[x->pool[tables[t] + i]];
    }
    multiply_f64(p, tile[2], tile[0], tile[1]);
    for (u32 r = 0; r < q->nd; r++)
        for (u32 i = 0; i < LANES && d[r] != NONE; i++) ((double *)R(x, d[r]))[i] = tile[2][x->pool[q->td + LANES * r + i]];
}

static void scatter(Ctx *x, const u32 *d, const Mma *q, const float *tile) {
    const u32 *table = x->pool + q->td;
    for (u32 r = 0; r < q->nd; r++) {
        if (d[r] == NONE) continue;
        u32 *row = (u32 *)R(x, d[r]);
        for (u32 i = 0; i < LANES; i++) {
            if (q->p.d == E_F16) row[i] = encode_f16(tile[table[2 * LANES * r + i]]) | encode_f16(tile[table[2 * LANES * r + LANES + i]]) << 16;
            else row[i] = of_f32(tile[table[LANES * r + i]]);
        }
    }
}

// mma.sync m16n8k8 and m16n8k16 of 16-bit floats, in the order of the registers: a quad of lanes holds eight
// elements of a row of A, of a column of B, and of a row of D. A column of A is an element of each quad, for all lanes of it; a
// row of B is the same for all quads. Sums are as in `multiply`.
#define OF_QUADS(v, t) __builtin_shufflevector(v, v, t, t, t, t, 4 + t, 4 + t, 4 + t, 4 + t)
#define TERM(T, HALF) { \
    __asm__ volatile("" ::: "memory");      /* A is loaded here again: the sums need the registers */ \
    F8 even = row[2 * T + HALF][0], odd = row[2 * T + HALF][1]; \
    for (int i = 0; i < 4; i++) { \
        F8 v = OF_QUADS(left[4 * HALF + i], T); \
        sum[0][i] = __builtin_elementwise_fma(v, even, sum[0][i]); \
        sum[1][i] = __builtin_elementwise_fma(v, odd, sum[1][i]); \
    } \
}

// The lower halves of a register of all lanes, then the upper ones.
static inline __attribute__((always_inline)) void halves_of(F8 *out, const u32 *row, u32 format) {
    for (u32 i = 0; i < 4; i++) {
        U8 v = *(const U8 *)(row + 8 * i);
        out[i] = format == E_F16 ? from_f16(v & 0xffff) : (F8)(v << 16);
        out[4 + i] = format == E_F16 ? from_f16(v >> 16) : (F8)(v & 0xffff0000);
    }
}

// A word of lane 4n + t belongs to column n of B: out[t] holds the even columns, twice, then the odd ones.
static inline __attribute__((always_inline)) void columns_twice(U8 (*out)[2], const u32 *row) {
    U8 v[8], t[4];
    for (u32 n = 0; n < 8; n++) {
        U4 four = *(const U4 *)(row + 4 * n);
        v[n] = __builtin_shufflevector(four, four, 0, 1, 2, 3, 0, 1, 2, 3);
    }
    for (u32 odd = 0; odd < 2; odd++) {
        transpose4_twice(t, v[odd], v[2 + odd], v[4 + odd], v[6 + odd]);
        for (u32 i = 0; i < 4; i++) out[i][odd] = t[i];
    }
}

// Rows 2t and 2t + 1 of B, of two columns each as above.
static inline __attribute__((always_inline)) void rows_of_b(F8 (*rows)[2], const u32 *row, u32 format) {
    U8 found[2][4][2];
    if (format == E_F16) {                                               // decoding takes longer than the second transpose
        F8 planes[8];
        halves_of(planes, row, E_F16);
        columns_twice(found[0], (const u32 *)planes);
        columns_twice(found[1], (const u32 *)(planes + 4));
    } else {
        columns_twice(found[1], row);
        for (u32 t = 0; t < 4; t++) for (u32 odd = 0; odd < 2; odd++) found[0][t][odd] = found[1][t][odd] << 16, found[1][t][odd] &= 0xffff0000;
    }
    for (u32 k = 0; k < 8; k++) for (u32 odd = 0; odd < 2; odd++) rows[k][odd] = (F8)found[k & 1][k >> 1][odd];
}

static inline __attribute__((always_inline)) void quads_of(Ctx *x, const Product *p, const u32 *a, const u32 *b, const u32 *c, const u32 *d, u32 format) {
    F8 rows[2][8][2], parts[4][8], out[4][4];
    I8 bad = 0;
    for (u32 r = 0; r < p->k / 8; r++) rows_of_b(rows[r], (const u32 *)R(x, b[r]), format);
    for (u32 r = 0; r < p->k / 4; r++) halves_of(parts[r], (const u32 *)R(x, a[r]), format);
    for (u32 half = 0; half < 2; half++) {
        F8 sum[2][4];                                                    // in registers: its address is not taken
        if (p->c == E_F16) {
            F8 planes[8];
            halves_of(planes, (const u32 *)R(x, c[half]), E_F16);
            for (u32 i = 0; i < 8; i++) sum[i >> 2][i & 3] = planes[i];
        } else
            for (u32 odd = 0; odd < 2; odd++) {
                const float *row = (const float *)R(x, c[2 * half + odd]);
                for (u32 i = 0; i < 4; i++) sum[odd][i] = *(const F8 *)(row + 8 * i);
            }
        for (u32 r = 0; r < p->k / 8; r++) {
            const F8 (*row)[2] = rows[r], *left = parts[2 * r + half];
            TERM(0, 0) TERM(0, 1) TERM(1, 0) TERM(1, 1) TERM(2, 0) TERM(2, 1) TERM(3, 0) TERM(3, 1)
        }
        for (u32 odd = 0; odd < 2; odd++)
            for (u32 i = 0; i < 4; i++) { bad |= sum[odd][i] != sum[odd][i]; out[2 * half + odd][i] = sum[odd][i]; }
    }
    if (UNLIKELY(__builtin_reduce_or(bad) != 0))
        for (u32 r = 0; r < 4; r++)
            for (u32 i = 0; i < 4; i++) out[r][i] = (F8)((I8)(out[r][i] != out[r][i]) ? (U8)0x7fffffff : (U8)out[r][i]);
    if (p->d == E_F32) { for (u32 r = 0; r < 4; r++) memcpy(R(x, d[r]), out[r], sizeof out[r]); return; }
    for (u32 half = 0; half < 2; half++) {
        const float *even = (const float *)out[2 * half], *odd = (const float *)out[2 * half + 1];
        u32 *row = (u32 *)R(x, d[half]);
        for (u32 i = 0; i < LANES; i++) row[i] = encode_f16(even[i]) | encode_f16(odd[i]) << 16;
    }
}
static void multiply_quads(Ctx *x, const Product *p, const u32 *a, const u32 *b, const u32 *c, const u32 *d) {
    if (p->a == E_F16) quads_of(x, p, a, b, c, d, E_F16); else quads_of(x, p, a, b, c, d, E_BF16);
}

static int are_halves(const Mma *q) {
    const Product *p = &q->p;
    int shape = p->m == 16 && p->n == 8 && (p->a == E_F16 || p->a == E_BF16) && p->a == p->b && !p->scale;
    return shape && q->batch == 1 && q->metadata == NONE && q->tc == NONE && q->td == NONE;
}

static void f_mma(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    const Mma *q = (const Mma *)(x->pool + o->aux);
    const u32 *a = q->registers, *b = a + q->na, *c = b + q->nb, *d = c + q->nc;
    if (x->tensor_cores == 2) {
        for (u32 r = 0; r < q->nd; r++) if (d[r] != NONE) memset(R(x, d[r]), 0, q->p.d == E_F64 ? 256 : 128);
        return;
    }
    if (q->p.d == E_F64) { mma_f64(x, q, a, b, c, d); return; }
    u32 hardware = (x->tensor_cores && q->p.fraction) || (q->p.flags & P_HARDWARE);
    if (!hardware && are_halves(q)) { multiply_quads(x, &q->p, a, b, c, d); return; }
    Product p = q->p;
    if (hardware) p.flags |= P_HARDWARE;
    float ta[MAX_TILE], tb[MAX_TILE], tc[512], sa[16 * 4], sb[8 * 4];
    u32 words = p.k / 32, stored = q->metadata == NONE ? p.k : p.k / 2, sizes = q->batch * p.m;
    gather_fragment(x, a, q->na, p.a, x->pool + q->ta, p.a == E_B1 ? p.m * words : sizes * stored, ta);
    gather_fragment(x, b, q->nb, p.b, x->pool + q->tb, p.a == E_B1 ? p.n * words : q->batch * p.n * p.k, tb);
    if (q->tc == NONE) load_accumulator(x, c, p.n, p.c, tc);
    else gather_fragment(x, c, q->nc, p.c, x->pool + q->tc, sizes * p.n, tc);
    if (q->metadata != NONE) {
        float dense[MAX_TILE];
        expand_sparse(dense, ta, p.m, p.k, (const u32 *)R(x, q->metadata), x->pool + q->metadata_table, q->chunks);
        memcpy(ta, dense, 4 * p.m * p.k);
    }
    if (p.scale) {
        u32 count = p.k / p.scale;
        scales(x, sa, q->scale_a, q->byte_a, q->thread_a, p.m, count, p.scale_format);
        scales(x, sb, q->scale_b, q->byte_b, q->thread_b, p.n, count, p.scale_format);
    }
    if (p.a == E_B1) multiply_bits(&p, (i32 *)tc, p.n, (u32 *)ta, (u32 *)tb, words);
    else if (p.d == E_S32) multiply_integers(&p, (i32 *)tc, p.n, ta, p.k, tb, p.n);
    else for (u32 k = 0; k < q->batch; k++) multiply(&p, tc + k * p.m * p.n, p.n, ta + k * p.m * p.k, p.k, tb + k * p.k * p.n, p.n, sa, sb);
    if (q->td == NONE) store_accumulator(x, d, p.n, p.d, tc);
    else scatter(x, d, q, tc);
}

#define E(n) {#n, f_##n}
const Entry tensor_ops[] = {E(mma), {0, 0}};
