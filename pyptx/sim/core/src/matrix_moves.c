// ldmatrix, stmatrix, movmatrix; loads and stores of wmma fragments.
#include "half_vectors.h"
#include "sanitizer/sanitizer.h"
#include "fragments.h"

typedef u8 Line[16];

// Op.aux2 of matrix moves: shape, bits 4-7 matrices, 8 transposed, 12-15 format. Lane i holds the address of a row of 16
// bytes: 8 lanes for a matrix, 16 for m16n16. Op.aux: the registers in the pool.
static u32 suppliers(const Op *o) {
    u32 lanes = (o->aux2 >> 4 & 15) * ((o->aux2 & 15) == M16N16 ? 16 : 8);
    return lanes == 32 ? ALL : (1u << lanes) - 1;
}

// The host address of the row of each lane. 0: a fault was raised.
static int rows_at(Ctx *x, const Op *o, u32 m, u8 **rows, int writes) {
    Access t;
    if (!resolve(x, o, m, &t, writes)) return 0;
    account(x, o, m, &t);
    if (UNLIKELY(x->sanitizer != 0)) sanitizer_access(x, o, m, &t, writes ? SEEN_WRITE : SEEN_READ | SEEN_TOGETHER);
    for (u32 k = m; k; k &= k - 1) {
        u32 i = (u32)__builtin_ctz(k);
        rows[i] = t.space == SPACE_MIXED ? lane_host(x, o, &t, i, writes) : host_of_lane(&t, i);
        if (!rows[i]) return 0;
    }
    return 1;
}

// Expand a row in memory to 16 bytes: elements of 6 and 4 bits are packed into its first 12 and 8.
static void unpack(u8 *out, const u8 *row, u32 format) {
    switch (format) {
    case LINE_B6:
        for (u32 k = 0; k < 16; k++) {
            u32 bit = 6 * k, word = row[bit / 8] | (u32)row[bit / 8 + 1] << 8;
            out[k] = word >> (bit & 7) & 63;
        }
        break;
    case LINE_B4: for (u32 k = 0; k < 16; k++) out[k] = row[k / 2] >> (4 * (k & 1)) & 15; break;
    case LINE_S4: for (u32 k = 0; k < 16; k++) out[k] = (u8)((int8_t)(row[k / 2] >> (4 * (k & 1)) << 4) >> 4); break;
    default: memcpy(out, row, 16);
    }
}

// A matrix of 8 x 8 halves, or its transpose, in a register: each lane holds two elements of a row.
static inline void eight_by_eight(u32 *d, const Line *row, u32 across) {
    if (!across) { memcpy(d, row, 128); return; }
    for (u32 t = 0; t < 4; t++) {
        const H8 low = *(const H8 *)row[2 * t], high = *(const H8 *)row[2 * t + 1];
        U8 pair = __builtin_convertvector(low, U8) | __builtin_convertvector(high, U8) << 16;
        for (u32 g = 0; g < 8; g++) d[4 * g + t] = pair[g];
    }
}

static void f_ldmatrix(Ctx *x, const Op *o, u32 m) {
    u8 *at[LANES];
    Line row[LANES];
    u32 lanes = suppliers(o), shape = o->aux2 & 15, count = o->aux2 >> 4 & 15, across = o->aux2 >> 8 & 1, format = o->aux2 >> 12 & 15;
    if (!whole_warp(x, m) || !rows_at(x, o, lanes, at, 0)) return;
    const u32 *data = x->pool + o->aux;
    if (LIKELY(shape == M8N8 && format == LINE_B16)) {
        for (u32 r = 0; r < 8 * count; r++) memcpy(row[r], at[r], 16);   // all rows are read before the first write
        for (u32 r = 0; r < count; r++) if (data[r] != NONE) eight_by_eight((u32 *)R(x, data[r]), row + 8 * r, across);
        return;
    }
    for (u32 k = lanes; k; k &= k - 1) { u32 i = (u32)__builtin_ctz(k); unpack(row[i], at[i], format); }
    for (u32 r = 0; r < count * (shape == M16N16 ? 2 : 1); r++) {
        if (data[r] == NONE) continue;
        u32 *d = (u32 *)R(x, data[r]);
        const Line *first = row + (shape == M16N16 ? 16 * (r / 2) : 8 * r);
        for (u32 i = 0; i < LANES; i++) {
            u32 g = i / 4, t = i % 4;
            if (shape == M16N16) {                                       // rows 4t + 2q + {0, 1} of columns g and g + 8
                const Line *p = first + 4 * t + 2 * (r & 1);
                d[i] = p[0][g] | (u32)p[1][g] << 8 | (u32)p[0][g + 8] << 16 | (u32)p[1][g + 8] << 24;
            } else if (across) {
                u16 low, high;
                memcpy(&low, first[2 * t] + 2 * g, 2);
                memcpy(&high, first[2 * t + 1] + 2 * g, 2);
                d[i] = low | (u32)high << 16;
            } else memcpy(d + i, first[g] + 4 * t, 4);
        }
    }
}

static void f_stmatrix(Ctx *x, const Op *o, u32 m) {
    u8 *at[LANES];
    Line row[LANES];
    u32 lanes = suppliers(o), shape = o->aux2 & 15, count = o->aux2 >> 4 & 15, across = o->aux2 >> 8 & 1;
    if (!whole_warp(x, m) || !rows_at(x, o, lanes, at, 1)) return;
    const u32 *data = x->pool + o->aux;
    for (u32 r = 0; r < count; r++) {
        const u32 *s = (const u32 *)R(x, data[r]);
        Line *first = row + 8 * r;
        for (u32 i = 0; i < LANES; i++) {
            u32 g = i / 4, t = i % 4, v = s[i];
            if (shape == M16N8)
                for (u32 b = 0; b < 4; b++) first[2 * t + (b & 1)][g + 8 * (b >> 1)] = (u8)(v >> (8 * b));
            else if (across) {
                u16 low = (u16)v, high = (u16)(v >> 16);
                memcpy(first[2 * t] + 2 * g, &low, 2);
                memcpy(first[2 * t + 1] + 2 * g, &high, 2);
            } else memcpy(first[g] + 4 * t, &v, 4);
        }
    }
    for (u32 k = lanes; k; k &= k - 1) { u32 i = (u32)__builtin_ctz(k); memcpy(at[i], row[i], 16); }
}

static void f_movmatrix(Ctx *x, const Op *o, u32 m) {
    if (!whole_warp(x, m)) return;
    u32 in[LANES], *d = (u32 *)R(x, o->d);
    memcpy(in, R(x, o->a), sizeof in);
    for (u32 i = 0; i < LANES; i++) {                                    // row i / 4 of the result is a column of the source
        u32 half = 16 * (i / 4 & 1), column = i / 8, line = 8 * (i % 4);
        d[i] = (in[line + column] >> half & 0xffff) | (in[line + 4 + column] >> half & 0xffff) << 16;
    }
}

// wmma.load and wmma.store. In the pool at Op.aux: accesses, bytes of one, bits of an element, the stride's operand or
// NONE, the stride otherwise; the rows of its matrices and the index of their table, if the machine loads it as ldmatrix does; for
// each access the register, the shift and the index of the table of its lanes. Tables have major | minor << 16. Op.d is a
// scratch row for addresses.
typedef struct { u32 accesses, bytes, bits, stride, leading, rows, matrices; struct { u32 row, shift, table; } each[]; } Fragment;

// Count the bank conflicts of a fragment that the machine loads in matrices of 8 x 8 halves.
static void account_matrices(Ctx *x, const Op *o, const Fragment *q, u64 base, u32 stride) {
    for (u32 first = 0; first < q->rows; first += LANES) {
        u64 addr[LANES];
        u32 count = q->rows - first < LANES ? q->rows - first : LANES;
        for (u32 i = 0; i < count; i++) {
            u32 row = (x->pool + q->matrices)[first + i];
            addr[i] = base + 2 * ((u64)(row & 0xffff) * stride + (row >> 16));
        }
        x->conflicts[o->instr] += wavefronts(addr, count == LANES ? ALL : (1u << count) - 1, 16);
    }
}

static void fragment(Ctx *x, const Op *o, u32 m, int writes) {
    if (!whole_warp(x, m)) return;
    const Fragment *q = (const Fragment *)(x->pool + o->aux);
    u64 base[LANES], *address = (u64 *)R(x, o->d), loaded[64][LANES];
    u32 stride[LANES];
    for (u32 i = 0; i < LANES; i++) {
        base[i] = o->mod & ACCESS_ABSOLUTE ? o->imm : o->mod & ACCESS_WIDE ? ((u64 *)R(x, o->a))[i] + o->imm : ((u32 *)R(x, o->a))[i] + (u32)o->imm;
        stride[i] = q->stride == NONE ? q->leading : ((u32 *)R(x, q->stride))[i];
    }
    Op one = *o;
    one.a = o->d;
    one.imm = 0;
    one.mod = (o->mod & 0xf000) | ACCESS_WIDE | 1 << 4 | (u32)__builtin_ctz(q->bytes);
    for (u32 k = 0; k < q->accesses; k++) {
        const u32 *table = x->pool + q->each[k].table;
        u32 shift = q->each[k].shift, row = q->each[k].row;
        Access t;
        for (u32 i = 0; i < LANES; i++)
            address[i] = base[i] + ((u64)(table[i] & 0xffff) * stride[i] + (table[i] >> 16)) * q->bits / 8;
        if (!resolve(x, &one, ALL, &t, writes)) return;
        if (!q->rows) account(x, &one, ALL, &t);
        else if (!k) account_matrices(x, o, q, base[0], stride[0]);
        if (UNLIKELY(x->sanitizer != 0)) sanitizer_access(x, &one, ALL, &t, writes ? SEEN_WRITE : SEEN_READ);
        for (u32 i = 0; i < LANES; i++) {
            u8 *p = t.space == SPACE_MIXED ? lane_host(x, &one, &t, i, writes) : host_of_lane(&t, i);
            if (!p) return;
            if (writes) {
                u64 v = q->bytes == 8 ? ((u64 *)R(x, row))[i] : ((u32 *)R(x, row))[i] >> shift;
                memcpy(p, &v, q->bytes);
            } else {
                loaded[k][i] = 0;
                memcpy(&loaded[k][i], p, q->bytes);
            }
        }
    }
    for (u32 k = 0; !writes && k < q->accesses; k++) {
        u32 row = q->each[k].row, shift = q->each[k].shift;
        if (row == NONE) continue;
        for (u32 i = 0; i < LANES; i++) {
            if (q->bytes == 8) ((u64 *)R(x, row))[i] = loaded[k][i];
            else ((u32 *)R(x, row))[i] = (shift ? ((u32 *)R(x, row))[i] : 0) | (u32)loaded[k][i] << shift;
        }
    }
}
static void f_wmma_load(Ctx *x, const Op *o, u32 m) { fragment(x, o, m, 0); }
static void f_wmma_store(Ctx *x, const Op *o, u32 m) { fragment(x, o, m, 1); }

#define E(n) {#n, f_##n}
const Entry matrix_ops[] = {E(ldmatrix), E(stmatrix), E(movmatrix), E(wmma_load), E(wmma_store), {0, 0}};
