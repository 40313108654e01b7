// Tiles of shared memory by matrix descriptor, as dense floats.
#include "half_vectors.h"
#include "matrix_descriptor.h"
#include "sanitizer/sanitizer.h"

Tile wgmma_tile(u64 d, u32 mn) {
    static const u32 chunks[4] = {1, 8, 4, 2};
    return (Tile){(u32)(d & 0x3fff) << 4, (u32)(d >> 16 & 0x3fff) << 4, (u32)(d >> 32 & 0x3fff) << 4, chunks[d >> 62],
                  (u32)(d >> 49 & 7), mn};
}

static inline const u8 *chunk_at(Ctx *x, const Cta *cta, const Tile *t, u32 offset) {
    u32 address = t->start + offset;
    if (t->wide) address ^= ((address >> 7) - t->phase & 3) << 5;
    else address ^= ((address >> 7) - t->phase & (t->chunks - 1)) << 4;
    u64 at = address - (u32)x->smem_start;
    if (UNLIKELY(at > x->smem_bytes || x->smem_bytes - at < 16)) { raise_fault(x, FAULT_BOUNDS, 0, address, 16); return 0; }
    return cta->smem + at;
}
static inline const u8 *chunk_k(Ctx *x, const Cta *cta, const Tile *t, u32 row, u32 c) {
    u32 s = t->chunks;
    return chunk_at(x, cta, t, row % 8 * 16 * s + row / 8 * t->stride + c % s * 16 + c / s * t->leading);
}
static inline const u8 *chunk_mn(Ctx *x, const Cta *cta, const Tile *t, u32 k, u32 c) {
    u32 s = t->chunks, lines = t->wide ? 4 : 8, line = k % lines * 16 * s + c % s * 16;
    return chunk_at(x, cta, t, s == 1 ? line + k / 8 * t->leading + c * t->stride : line + k / lines * t->stride + c / s * t->leading);
}
const u8 *tile_chunk(Ctx *x, const Cta *cta, const Tile *t, u32 row, u32 c) { return chunk_k(x, cta, t, row, c); }

// Fast path: a K-major tile of 16-bit elements, transposed; row, rows and k are multiples of 8.
static int read_halves(Ctx *x, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k, float *out, u32 ld) {
    u32 s = t->chunks;
    for (u32 r = 0; r < rows; r += 8)
        for (u32 c = 0; c < k / 8; c++) {
            u32 offset = (row + r) / 8 * t->stride + c % s * 16 + c / s * t->leading;
            U8 address = t->start + offset + (U8){0, 1, 2, 3, 4, 5, 6, 7} * (16 * s);               // as in chunk_at, for eight rows
            address ^= t->wide ? ((address >> 7) - t->phase & 3) << 5 : ((address >> 7) - t->phase & (s - 1)) << 4;
            U8 at = address - (u32)x->smem_start;
            F8 v[8];
            if (UNLIKELY(x->smem_bytes < 16 || __builtin_reduce_max(at) > x->smem_bytes - 16)) {
                for (u32 i = 0; i < 8; i++) if (!chunk_at(x, cta, t, offset + i * 16 * s)) return 0;
            }
            for (u32 i = 0; i < 8; i++) v[i] = format == E_BF16 ? widen_bf16(cta->smem + at[i]) : widen_f16(cta->smem + at[i]);
            transpose8(out + 8 * c * ld + r, ld, v);
        }
    return 1;
}

int read_tile(Ctx *x, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k, int across, float *out, u32 ld) {
    u32 per = 128 / format_bits(format);                                 // elements of a chunk
    float lines[8][128];
    const u8 *p;
    if (across && !t->mn && (format == E_BF16 || format == E_F16) && !(row % 8) && !(k % 8)) return read_halves(x, cta, t, format, row, rows, k, out, ld);
    if (format == E_B1) {
        for (u32 r = 0; r < rows; r++)
            for (u32 c = 0; c < k / per; c++) {
                if (!(p = chunk_k(x, cta, t, row + r, c))) return 0;
                memcpy(out + r * ld + 4 * c, p, 16);
            }
        return 1;
    }
    if (t->mn) {                                                         // a chunk runs along the rows
        for (u32 q = 0; q < k; q++)
            for (u32 r = 0; r < rows;) {
                u32 at = (row + r) % per, n = per - at < rows - r ? per - at : rows - r;
                if (!(p = chunk_mn(x, cta, t, q, (row + r) / per))) return 0;
                if (across && !at && n == per) decode_run(out + q * ld + r, p, per, format);
                else {
                    decode_run(lines[0], p, per, format);
                    for (u32 i = 0; i < n; i++) out[across ? q * ld + r + i : (r + i) * ld + q] = lines[0][at + i];
                }
                r += n;
            }
        return 1;
    }
    for (u32 r = 0; r < rows; r += 8)
        for (u32 c = 0; c < (k + per - 1) / per; c++) {
            u32 n = k - c * per < per ? k - c * per : per;
            for (u32 i = 0; i < 8; i++) {
                if (!(p = chunk_k(x, cta, t, row + r + i, c))) return 0;
                decode_run(across ? lines[i] : out + (r + i) * ld + c * per, p, n, format);
            }
            if (!across) continue;
            float *to = out + c * per * ld + r;
            for (u32 j = 0; j < n; j++) for (u32 i = 0; i < 8; i++) to[j * ld + i] = lines[i][j];
        }
    return 1;
}

// Report the chunks that read_tile would read to the sanitizer; `accessor` is an Accessor.
void sanitizer_tile(Ctx *x, void *accessor, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k) {
    u32 per = 128 / format_bits(format), status = x->status;
    u32 held = format == E_E2M1_PADDED ? 8 : format == E_E3M2_PADDED || format == E_E2M3_PADDED ? 12 : 16;   // used bytes of a chunk
    for (u32 r = t->mn ? row / per : row, end = t->mn ? (row + rows + per - 1) / per : row + rows; r < end; r++)
        for (u32 c = 0; c < (t->mn ? k : (k + per - 1) / per); c++) {
            const u8 *p = t->mn ? chunk_mn(x, cta, t, c, r) : chunk_k(x, cta, t, r, c);
            if (!p) { x->status = status; continue; }                    // the fault is raised where it is read
            sanitizer_shared(x, accessor, cta, (u64)(p - cta->smem), held);
            if (!t->phase) sanitizer_chunk(x, accessor, cta, (u64)(p - cta->smem), t->wide ? SWIZZLE_ATOM_32 : t->chunks);
        }
}
