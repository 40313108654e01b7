// The dense product D = A * B + C of one instruction: one kernel for mma, wmma, wgmma and tcgen05.
//
// Operands come as tiles of floats: A [m][k], B [k][n], D [m][n] with the accumulator in it. Elements of 4 to 19 bits
// and integers of 4 and 8 bits are exact as floats, and so are their sums over one instruction. Who gathers the tiles
// (tensor.c from registers, tile.c from shared memory) decodes with `decode_row` and `decode_run`.
#ifndef PYPTX_PRODUCT_H
#define PYPTX_PRODUCT_H
#include "core.h"

// Formats of elements, in the order known to core/matrix.py. E2M1 fills bits 5..2 of a byte, E2M1X8 four bits; 16 PADDED
// ones fill the first 8 or 12 of 16 bytes of memory.
enum { E_F16, E_BF16, E_TF32, E_E4M3, E_E5M2, E_E3M2, E_E2M3, E_E2M1, E_E2M1X8, E_S8, E_U8, E_S4, E_U4, E_B1, E_F32, E_S32,
       E_F64, E_UE8M0, E_UE4M3, E_E2M1_PADDED, E_E3M2_PADDED, E_E2M3_PADDED, E_FORMATS };

enum { P_SATURATE = 1, P_XOR = 2, P_ORDERED = 4, P_HARDWARE = 8, P_ROUNDING = 16 };      // bits 4-5: RN RZ RM RP of f64
enum { TO_F32 = 0, TO_F16 = 1, TO_E8M13 = 2 };              // what the hardware model rounds a step's sum to

typedef struct {
    u32 m, n, k;
    u32 a, b, c, d;             // formats
    u32 flags;
    u32 scale, scale_format;    // columns of one scale (0: none), UE8M0 or UE4M3
    u32 fraction, result, step; // hardware model: bits kept below the largest exponent, TO_*, columns added at once
} Product;

#define MAX_K 256               // columns of a tile; words of 32 columns for B1
#define MAX_N 256

// D of floats (F16, BF16, TF32, fp8, fp6, fp4 sources; D F32 or F16): the accumulator in `d`, the result there too, of
// D F16 rounded to it. NaN is 0x7fffffff. scale_a [m][k / scale], scale_b [n][k / scale], or NULL.
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
