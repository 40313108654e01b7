// The dense product D = A * B + C of one instruction: one kernel for mma, wmma, wgmma and tcgen05.
//
// Operands come as tiles of floats: A [m][k], B [k][n], D [m][n] with the accumulator in it. Elements of 4 to 19 bits
// and integers of 4 and 8 bits are exact as floats, and so are their sums over one instruction. The callers that gather
// tiles (mma.c from registers, matrix_descriptor.c from shared memory) decode with `decode_row` and `decode_run`.
#ifndef PYPTX_PRODUCT_H
#define PYPTX_PRODUCT_H
#include "core.h"

typedef struct {
    u32 m, n, k;
    u32 a, b, c, d;             // formats
    u32 flags;
    u32 scale, scale_format;    // columns of one scale (0: none), UE8M0 or UE4M3
    u32 fraction, result, step; // hardware model: bits kept below the largest exponent, TO_*, columns added at once
} Product;

#define MAX_K 256               // columns of a tile; words of 32 columns for B1
#define MAX_N 256

// D of floats (F16, BF16, TF32, fp8, fp6, fp4 sources; D F32 or F16): `d` holds the accumulator and receives the result, rounded
// to F16 for D F16. NaN is 0x7fffffff. scale_a [m][k / scale], scale_b [n][k / scale], or NULL.
void multiply(const Product *p, float *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb,
              const float *scale_a, const float *scale_b);
// D of S32 from integers as floats; `d` holds the accumulator.
void multiply_integers(const Product *p, i32 *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb);
// D of S32 from B1: A [m][words], B [n][words].
void multiply_bits(const Product *p, i32 *d, u32 ldd, const u32 *a, const u32 *b, u32 words);
void multiply_f64(const Product *p, double *d, const double *a, const double *b);       // dense, D [m][n]

u32 format_bits(u32 format);                                             // in memory and registers
// Elements of a register of all lanes: out[element][lane], 32 / bits elements.
void decode_row(float *out, const u32 *row, u32 format);
// `count` consecutive elements in memory, starting on a byte.
void decode_run(float *out, const u8 *from, u32 count, u32 format);
float decode_byte(u32 byte, u32 format);                                 // of 8 bits and less, scales included
u32 encode_f16(float v);                                                 // to nearest, NaN 0x7fff
#endif
