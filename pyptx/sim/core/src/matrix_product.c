// Dense products. `fast`: one rounding to nearest for each product added, k ascending, products exact. `hw`: the
// published model of the tensor cores (MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004): all products
// of a step and the accumulator are aligned to the largest exponent, truncated some bits below it and added exactly, and the
// sum is rounded toward zero (f32) or to nearest (f16).
#include <math.h>
#include "matrix_product.h"

typedef float F8 __attribute__((ext_vector_type(8), aligned(4)));
typedef u32 U8 __attribute__((ext_vector_type(8), aligned(4)));
typedef i32 I8 __attribute__((ext_vector_type(8), aligned(4)));

#define FMA(a, b, c) __builtin_elementwise_fma(a, b, c)

// ROWS x (8 * COLS) accumulators stay in registers while k runs.
#define BLOCK(NAME, ROWS, COLS) \
static inline __attribute__((always_inline)) I8 NAME(float *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb, u32 k) { \
    F8 s[ROWS][COLS]; \
    I8 bad = 0; \
    for (int i = 0; i < ROWS; i++) for (int j = 0; j < COLS; j++) s[i][j] = *(F8 *)(d + i * ldd + 8 * j); \
    for (u32 p = 0; p < k; p++) { \
        F8 v[COLS]; \
        for (int j = 0; j < COLS; j++) v[j] = *(const F8 *)(b + p * ldb + 8 * j); \
        for (int i = 0; i < ROWS; i++) { \
            F8 x = (F8)a[i * lda + p]; \
            for (int j = 0; j < COLS; j++) s[i][j] = FMA(x, v[j], s[i][j]); \
        } \
    } \
    for (int i = 0; i < ROWS; i++) for (int j = 0; j < COLS; j++) { *(F8 *)(d + i * ldd + 8 * j) = s[i][j]; bad |= s[i][j] != s[i][j]; } \
    return bad; \
}
BLOCK(wide, 4, 2)
BLOCK(narrow, 8, 1)

// m and n are multiples of 8. Returns 1 if a sum is NaN.
static int accumulate(float *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb, u32 m, u32 n, u32 k) {
    u32 j = 0;
    I8 bad = 0;
    for (; j + 16 <= n; j += 16) for (u32 i = 0; i < m; i += 4) bad |= wide(d + i * ldd + j, ldd, a + i * lda, lda, b + j, ldb, k);
    for (; j < n; j += 8) for (u32 i = 0; i < m; i += 8) bad |= narrow(d + i * ldd + j, ldd, a + i * lda, lda, b + j, ldb, k);
    return __builtin_reduce_or(bad) != 0;
}

static void canonical(const Product *p, float *d, u32 ldd) {
    for (u32 i = 0; i < p->m; i++)
        for (u32 j = 0; j < p->n; j += 8) {
            U8 *v = (U8 *)(d + i * ldd + j), u = *v;
            *v = (I8)((u & 0x7fffffff) > 0x7f800000) ? (U8)0x7fffffff : u;
        }
    if (p->d == E_F16)
        for (u32 i = 0; i < p->m; i++)
            for (u32 j = 0; j < p->n; j++) d[i * ldd + j] = (float)widen(encode_f16(d[i * ldd + j]), T_F16);
}

// Each block of columns summed in f32 from zero, times its two scales, added to the accumulator: the product with the
// scales is exact in f64, the sum there is rounded once, and once more to f32.
static void scaled(const Product *p, float *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb, const float *sa, const float *sb) {
    u32 blocks = p->k / p->scale;
    float sum[8 * MAX_N];
    for (u32 i = 0; i < p->m; i += 8)
        for (u32 q = 0; q < blocks; q++) {
            memset(sum, 0, 4 * 8 * p->n);
            accumulate(sum, p->n, a + i * lda + q * p->scale, lda, b + q * p->scale * ldb, ldb, 8, p->n, p->scale);
            for (u32 r = 0; r < 8; r++)
                for (u32 j = 0; j < p->n; j++) {
                    double s = (double)sa[(i + r) * blocks + q] * (double)sb[j * blocks + q];
                    float *c = d + (i + r) * ldd + j;
                    *c = (float)((double)sum[r * p->n + j] * s + (double)*c);
                }
        }
}

// Decompose a number into mantissa * 2^(exponent - bits) in its format; subnormals have the least exponent.
typedef struct { i32 mantissa, exponent; } Parts;
typedef struct { i32 bits, least; } Range;
static const Range ranges[E_FORMATS] = {
    [E_F16] = {10, -14}, [E_BF16] = {7, -126}, [E_TF32] = {10, -126}, [E_E4M3] = {3, -6}, [E_E5M2] = {2, -14}, [E_E3M2] = {2, -2},
    [E_E2M3] = {3, 0}, [E_E2M1] = {1, 0}, [E_E2M1X8] = {1, 0}, [E_F32] = {23, -126}, [E_UE8M0] = {0, -127}, [E_UE4M3] = {3, -6}};
enum { OF_ZERO = -126 };                                                // the exponent of a zero

static inline Parts parts(float v, Range r) {
    u32 u = of_f32(v), mag = u & 0x7fffffff;
    if (!mag) return (Parts){0, OF_ZERO};
    i32 e = (i32)(mag >> 23), m = (i32)(mag & 0x7fffff);
    if (e) m |= 1 << 23; else e = 1;
    e -= 127;
    if (r.least < -126) while (!(m >> 23)) m <<= 1, e--;                // UE8M0: 2^-127 is a normal number
    i32 cut = 23 - r.bits;
    if (e < r.least) { cut += r.least - e; e = r.least; }
    m >>= cut;
    return (Parts){u >> 31 ? -m : m, e};
}
static inline i64 aligned_to(i64 mantissa, i32 shift) {                  // truncated
    if (shift >= 0) return shift < 40 ? (i64)((u64)mantissa << shift) : 0;           // shift is at most the bits kept
    if (shift <= -63) return 0;
    return mantissa < 0 ? -(-mantissa >> -shift) : mantissa >> -shift;
}

static float result_of(i64 sum, i32 exponent, const Product *p) {        // sum * 2^exponent
    if (!sum) return 0.0f;
    double v = ldexp((double)(sum < 0 ? -sum : sum), exponent);          // at most 50 bits: exact
    if (p->result == TO_F16) v = widen(round_double(v, T_F16, RN), T_F16);
    else {
        int top;
        frexp(v, &top);
        int unit = (top - 1 < -126 ? -126 : top - 1) - (p->result == TO_E8M13 ? 13 : 23);
        v = ldexp(trunc(ldexp(v, -unit)), unit);
    }
    return (float)(sum < 0 ? -v : v);
}

// One step: `count` columns from `first`; columns of a are contiguous, of b `ldb` apart.
static float step(const Product *p, float c, const float *a, const Parts *pa, const float *b, const Parts *pb, u32 ldb, u32 count,
                  i32 scale_exponent) {
    double special = c;
    for (u32 k = 0; k < count; k++) special += (double)a[k] * (double)b[k * ldb];
    if (special != special) return as_f32(0x7fffffff);
    if (isinf(special)) return (float)special;
    Parts pc = parts(c, ranges[E_F32]);
    i32 top = pc.exponent, bits = ranges[p->a].bits + ranges[p->b].bits;
    for (u32 k = 0; k < count; k++) {
        i32 e = pa[k].mantissa && pb[k * ldb].mantissa ? pa[k].exponent + pb[k * ldb].exponent + scale_exponent : OF_ZERO;
        top = e > top ? e : top;
    }
    i32 keep = (i32)p->fraction - top;
    i64 sum = aligned_to(pc.mantissa, keep - 23 + pc.exponent);
    for (u32 k = 0; k < count; k++) {
        i64 m = (i64)pa[k].mantissa * pb[k * ldb].mantissa;
        if (m) sum += aligned_to(m, keep - bits + pa[k].exponent + pb[k * ldb].exponent + scale_exponent);
    }
    return result_of(sum, -keep, p);
}

// Scaled fp4: groups of 16 columns are added exactly, each times the significands of its scales.
static float grouped(const Product *p, float c, const float *a, const float *b, u32 ldb, const float *sa, const float *sb) {
    enum { GROUP = 16 };
    u32 groups = p->k / GROUP, blocks = p->k / p->scale;
    int nan = c != c;
    for (u32 q = 0; q < blocks; q++) nan |= sa[q] != sa[q] || sb[q] != sb[q];
    if (nan) return as_f32(0x7fffffff);
    if (isinf(c)) return c;
    Range r = ranges[p->scale_format];
    Parts pc = parts(c, ranges[E_F32]);
    i64 mantissa[MAX_K / GROUP];
    i32 exponent[MAX_K / GROUP], top = pc.exponent, bits = 2 * ranges[E_E2M1].bits + 2 * r.bits;
    for (u32 g = 0; g < groups; g++) {
        float s = 0;
        for (u32 k = GROUP * g; k < GROUP * (g + 1); k++) s += a[k] * b[k * ldb];
        Parts x = parts(sa[GROUP * g / p->scale], r), y = parts(sb[GROUP * g / p->scale], r);
        mantissa[g] = (i64)(s * 4.0f) * x.mantissa * y.mantissa;
        exponent[g] = mantissa[g] ? x.exponent + y.exponent : OF_ZERO;
        top = exponent[g] > top ? exponent[g] : top;
    }
    i32 keep = (i32)p->fraction - top;
    i64 sum = aligned_to(pc.mantissa, keep - 23 + pc.exponent);
    for (u32 g = 0; g < groups; g++) if (mantissa[g]) sum += aligned_to(mantissa[g], keep - bits + exponent[g]);
    return result_of(sum, -keep, p);
}

static void hardware(const Product *p, float *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb, const float *sa, const float *sb) {
    static const Range unit = {0, -127};
    int fp4 = p->a == E_E2M1X8;
    u32 per = p->step ? p->step : p->k, blocks = p->scale ? p->k / p->scale : 0;
    Parts *pb = malloc(sizeof(Parts) * p->k * p->n), pa[MAX_K];
    if (!pb) abort();
    for (u32 k = 0; k < p->k; k++) for (u32 j = 0; j < p->n; j++) pb[k * p->n + j] = parts(b[k * ldb + j], ranges[p->b]);
    for (u32 i = 0; i < p->m; i++) {
        for (u32 k = 0; k < p->k; k++) pa[k] = parts(a[i * lda + k], ranges[p->a]);
        for (u32 j = 0; j < p->n; j++) {
            float *c = d + i * ldd + j;
            if (fp4) { *c = grouped(p, *c, a + i * lda, b + j, ldb, sa + i * blocks, sb + j * blocks); continue; }
            for (u32 k = 0; k < p->k; k += per) {
                i32 e = 0;
                if (blocks) {
                    float x = sa[i * blocks], y = sb[j * blocks];
                    if (x != x || y != y) { *c = as_f32(0x7fffffff); break; }
                    e = parts(x, unit).exponent + parts(y, unit).exponent;
                }
                // a copy of B's column avoids a second stride in `step`
                float column[MAX_K]; Parts other[MAX_K];
                for (u32 q = 0; q < per; q++) column[q] = b[(k + q) * ldb + j], other[q] = pb[(k + q) * p->n + j];
                *c = step(p, *c, a + i * lda + k, pa + k, column, other, 1, per, e);
            }
        }
    }
    free(pb);
}

void multiply(const Product *p, float *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb, const float *sa, const float *sb) {
    if (p->flags & P_HARDWARE) { hardware(p, d, ldd, a, lda, b, ldb, sa, sb); return; }
    if (p->scale) scaled(p, d, ldd, a, lda, b, ldb, sa, sb);
    else if (!accumulate(d, ldd, a, lda, b, ldb, p->m, p->n, p->k) && p->d != E_F16) return;
    canonical(p, d, ldd);
}

void multiply_integers(const Product *p, i32 *d, u32 ldd, const float *a, u32 lda, const float *b, u32 ldb) {
    float sum[8 * MAX_N];
    for (u32 i = 0; i < p->m; i += 8) {
        memset(sum, 0, 4 * 8 * p->n);
        accumulate(sum, p->n, a + i * lda, lda, b, ldb, 8, p->n, p->k);
        for (u32 r = 0; r < 8; r++)
            for (u32 j = 0; j < p->n; j++) {
                i32 *c = d + (i + r) * ldd + j, s = (i32)sum[r * p->n + j];
                if (!(p->flags & P_SATURATE)) *c = (i32)((u32)*c + (u32)s);
                else if (__builtin_add_overflow(*c, s, c)) *c = s < 0 ? INT32_MIN : INT32_MAX;
            }
    }
}

void multiply_bits(const Product *p, i32 *d, u32 ldd, const u32 *a, const u32 *b, u32 words) {
    for (u32 i = 0; i < p->m; i++)
        for (u32 j = 0; j < p->n; j++) {
            u32 sum = 0;
            for (u32 w = 0; w < words; w++) {
                u32 x = a[i * words + w], y = b[j * words + w];
                sum += (u32)__builtin_popcount(p->flags & P_XOR ? x ^ y : x & y);
            }
            d[i * ldd + j] = (i32)((u32)d[i * ldd + j] + sum);
        }
}

void multiply_f64(const Product *p, double *d, const double *a, const double *b) {
    u32 mode = p->flags / P_ROUNDING & 3;
    if (mode) set_rounding(mode);
    for (u32 i = 0; i < p->m; i++)
        for (u32 j = 0; j < p->n; j++) {
            volatile double s = d[i * p->n + j];
            for (u32 k = 0; k < p->k; k++) s = __builtin_fma(a[i * p->k + k], b[k * p->n + j], s);
            d[i * p->n + j] = s;
        }
    if (mode) set_rounding(RN);
}
