// Tiles of shared memory by matrix descriptor, as dense floats.
#include "half_vectors.h"
#include "matrix_descriptor.h"
#include "sanitizer/sanitizer.h"

Tile wgmma_tile(u64 d, u32 mn) {
    static const u32 chunks[4] = {1, 8, 4, 2};
    return (Tile){(u32)(d & 0x3fff) << 4, (u32)(d >> 16 & 0x3fff) << 4, (u32)(d >> 32 & 0x3fff) << 4, chunks[d >> 62],
                  (u32)(d >> 49 & 7), mn};
}

// An address, or a vector of them, as the swizzle of a tile moves it.
#define SWIZZLED(t, address) \
    ((address) ^ ((t)->wide ? (((address) >> 7) - (t)->phase & 3) << 5 : (((address) >> 7) - (t)->phase & ((t)->chunks - 1)) << 4))

static inline const u8 *chunk_at(Ctx *x, const Cta *cta, const Tile *t, u32 offset) {
    u32 address = SWIZZLED(t, t->start + offset);
    u64 at = address - (u32)x->smem_start;
    if (UNLIKELY(at > x->smem_bytes || x->smem_bytes - at < 16)) { raise_fault(x, FAULT_BOUNDS, 0, address, 16); return 0; }
    return cta->smem + at;
}
// The offset of chunk `c` of a line: a row of a K-major tile, a line of k of an MN-major one.
static inline u32 place(const Tile *t, u32 line, u32 c) {
    u32 s = t->chunks, lines = t->mn && t->wide ? 4 : 8, offset = line % lines * 16 * s;
    if (t->mn && s == 1) return offset + line / 8 * t->leading + c * t->stride;
    return offset + line / lines * t->stride + c % s * 16 + c / s * t->leading;
}
static inline const u8 *chunk_of(Ctx *x, const Cta *cta, const Tile *t, u32 line, u32 c) { return chunk_at(x, cta, t, place(t, line, c)); }
const u8 *tile_chunk(Ctx *x, const Cta *cta, const Tile *t, u32 row, u32 c) { return chunk_of(x, cta, t, row, c); }

// A chunk of each of the eight lines of a swizzle pattern, `offset` bytes from the start of the tile, as in chunk_at. 0: some are
// outside shared memory.
static inline int lines_at(const Ctx *x, const Tile *t, u32 offset, U8 *at) {
    U8 address = t->start + offset + (U8){0, 1, 2, 3, 4, 5, 6, 7} * (16 * t->chunks);
    *at = SWIZZLED(t, address) - (u32)x->smem_start;
    return x->smem_bytes >= 16 && __builtin_reduce_max(*at) <= x->smem_bytes - 16;
}

// Fast path for 16-bit elements: rows, their number, and k are multiples of 8; `across` or K-major.
static int read_halves(Ctx *x, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k, int across, float *out, u32 ld) {
    u32 lines = t->mn ? k : rows, chunks = (t->mn ? rows : k) / 8;
    for (u32 r = 0; r < lines; r += 8)
        for (u32 c = 0; c < chunks; c++) {
            u32 offset = t->mn ? place(t, r, row / 8 + c) : place(t, row + r, c);
            U8 at;
            if (UNLIKELY(!lines_at(x, t, offset, &at))) {
                for (u32 i = 0; i < 8; i++) if (!chunk_at(x, cta, t, offset + i * 16 * t->chunks)) return 0;
            }
            F8 v[8];
            for (u32 i = 0; i < 8; i++) v[i] = format == E_BF16 ? widen_bf16(cta->smem + at[i]) : widen_f16(cta->smem + at[i]);
            if (across && !t->mn) transpose8(out + 8 * c * ld + r, ld, v);
            else for (u32 i = 0; i < 8; i++) *(F8 *)(out + (r + i) * ld + 8 * c) = v[i];
        }
    return 1;
}

int read_tile(Ctx *x, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k, int across, float *out, u32 ld) {
    u32 per = 128 / format_bits(format);                                 // elements of a chunk
    float lines[8][128];
    const u8 *p;
    int halves = (format == E_BF16 || format == E_F16) && !(row % 8 | rows % 8 | k % 8);
    if (halves && (across || !t->mn) && !(t->mn && t->wide)) return read_halves(x, cta, t, format, row, rows, k, across, out, ld);
    if (format == E_B1) {
        for (u32 r = 0; r < rows; r++)
            for (u32 c = 0; c < k / per; c++) {
                if (!(p = chunk_of(x, cta, t, row + r, c))) return 0;
                memcpy(out + r * ld + 4 * c, p, 16);
            }
        return 1;
    }
    if (t->mn) {                                                         // a chunk runs along the rows
        for (u32 q = 0; q < k; q++)
            for (u32 r = 0; r < rows;) {
                u32 at = (row + r) % per, n = per - at < rows - r ? per - at : rows - r;
                if (!(p = chunk_of(x, cta, t, q, (row + r) / per))) return 0;
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
                if (!(p = chunk_of(x, cta, t, row + r + i, c))) return 0;
                decode_run(across ? lines[i] : out + (r + i) * ld + c * per, p, n, format);
            }
            if (!across) continue;
            float *to = out + c * per * ld + r;
            for (u32 j = 0; j < n; j++) for (u32 i = 0; i < 8; i++) to[j * ld + i] = lines[i][j];
        }
    return 1;
}

// Report the chunks that read_tile would read to the sanitizer, all lines of a pattern at a time; `accessor` is an Accessor.
void sanitizer_tile(Ctx *x, void *accessor, const Cta *cta, const Tile *t, u32 format, u32 row, u32 rows, u32 k) {
    u32 per = 128 / format_bits(format), lines = t->mn && t->wide ? 4 : 8, swizzle = t->phase ? 0 : t->wide ? SWIZZLE_ATOM_32 : t->chunks;
    u32 held = format == E_E2M1_PADDED ? 8 : format == E_E3M2_PADDED || format == E_E2M3_PADDED ? 12 : 16;   // used bytes of a chunk
    u32 first = t->mn ? 0 : row, end = t->mn ? k : row + rows, left = t->mn ? row / per : 0, right = t->mn ? (row + rows + per - 1) / per : (k + per - 1) / per;
    ((Accessor *)accessor)->box = NONE;                                  // of a tile with another swizzle
    for (u32 r = first - first % lines; r < end; r += lines)
        for (u32 c = left; c < right; c++) {
            u32 lo = r < first ? first - r : 0, hi = end - r < lines ? end - r : lines;
            U8 at;
            lines_at(x, t, place(t, r, c), &at);
            sanitizer_chunks(x, accessor, cta, (const u32 *)&at + lo, hi - lo, held, swizzle);
        }
}
