// Integer operations on 32- and 64-bit lanes; narrower types are extended and truncated by the encoder.
#include "core.h"

#define BIN32(NAME, T, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    T a = ROW(T, x, o->a), b = ROW(T, x, o->b); put32(x, o->d, (V32)(EXPR), m); }
#define BIN64(NAME, T, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    T a = ROW(T, x, o->a), b = ROW(T, x, o->b); put64(x, o->d, (V64)(EXPR), m); }
#define UN32(NAME, T, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    T a = ROW(T, x, o->a); put32(x, o->d, (V32)(EXPR), m); }
#define UN64(NAME, T, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    T a = ROW(T, x, o->a); put64(x, o->d, (V64)(EXPR), m); }
// Lane by lane: a, b, c are scalars.
#define LANE32(NAME, T, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    const T *A = (const T *)R(x, o->a), *B = (const T *)R(x, o->b), *C = (const T *)R(x, o->c); V32 r; (void)B; (void)C; \
    for (int i = 0; i < LANES; i++) { T a = A[i], b = B[i], c = C[i]; (void)a; (void)b; (void)c; r[i] = (u32)(EXPR); } \
    put32(x, o->d, r, m); }
#define LANE64(NAME, T, EXPR) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    const T *A = (const T *)R(x, o->a), *B = (const T *)R(x, o->b); V64 r; (void)B; \
    for (int i = 0; i < LANES; i++) { T a = A[i], b = B[i]; (void)a; (void)b; r[i] = (u64)(EXPR); } \
    put64(x, o->d, r, m); }
#define CMP32(NAME, T, OP) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    put_pred(x, o->d, bits32((S32)(ROW(T, x, o->a) OP ROW(T, x, o->b))), m); }
#define CMP64(NAME, T, OP) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    put_pred(x, o->d, bits64((S64)(ROW(T, x, o->a) OP ROW(T, x, o->b))), m); }

static inline i32 div_s32(i32 a, i32 b) { return b == 0 ? -1 : b == -1 ? (i32)(0u - (u32)a) : a / b; }
static inline u32 div_u32(u32 a, u32 b) { return b == 0 ? ALL : a / b; }
static inline i32 rem_s32(i32 a, i32 b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }
static inline u32 rem_u32(u32 a, u32 b) { return b == 0 ? ALL : a % b; }
static inline i64 div_s64(i64 a, i64 b) { return b == 0 ? -1 : b == -1 ? (i64)(0u - (u64)a) : a / b; }
static inline u64 div_u64(u64 a, u64 b) { return b == 0 ? ~(u64)0 : a / b; }
static inline i64 rem_s64(i64 a, i64 b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }
static inline u64 rem_u64(u64 a, u64 b) { return b == 0 ? ~(u64)0 : a % b; }

BIN32(add_32, V32, a + b)
BIN32(sub_32, V32, a - b)
BIN32(mul_32, V32, a * b)
BIN64(add_64, V64, a + b)
BIN64(sub_64, V64, a - b)
BIN64(mul_64, V64, a * b)
BIN32(min_s32, S32, __builtin_elementwise_min(a, b))
BIN32(max_s32, S32, __builtin_elementwise_max(a, b))
BIN32(min_u32, V32, __builtin_elementwise_min(a, b))
BIN32(max_u32, V32, __builtin_elementwise_max(a, b))
BIN64(min_s64, S64, __builtin_elementwise_min(a, b))
BIN64(max_s64, S64, __builtin_elementwise_max(a, b))
BIN64(min_u64, V64, __builtin_elementwise_min(a, b))
BIN64(max_u64, V64, __builtin_elementwise_max(a, b))
BIN32(addsat_s32, S32, __builtin_elementwise_add_sat(a, b))
BIN32(subsat_s32, S32, __builtin_elementwise_sub_sat(a, b))
BIN32(addsat_u32, V32, __builtin_elementwise_add_sat(a, b))
BIN32(subsat_u32, V32, __builtin_elementwise_sub_sat(a, b))
UN32(neg_32, V32, -a)
UN64(neg_64, V64, -a)
UN32(abs_s32, S32, a < 0 ? (S32)(-(V32)a) : a)
UN64(abs_s64, S64, a < 0 ? (S64)(-(V64)a) : a)
BIN32(mulhi_u32, V32, __builtin_convertvector((__builtin_convertvector(a, V64) * __builtin_convertvector(b, V64)) >> 32, V32))
BIN32(mulhi_s32, S32, __builtin_convertvector((V64)(__builtin_convertvector(a, S64) * __builtin_convertvector(b, S64)) >> 32, V32))
LANE64(mulhi_u64, u64, (u64)(((unsigned __int128)a * b) >> 64))
LANE64(mulhi_s64, i64, (u64)(((__int128)a * b) >> 64))
LANE32(div_s32, i32, div_s32(a, b))
LANE32(div_u32, u32, div_u32(a, b))
LANE32(rem_s32, i32, rem_s32(a, b))
LANE32(rem_u32, u32, rem_u32(a, b))
LANE64(div_s64, i64, div_s64(a, b))
LANE64(div_u64, u64, div_u64(a, b))
LANE64(rem_s64, i64, rem_s64(a, b))
LANE64(rem_u64, u64, rem_u64(a, b))

static void f_mulwide_u32(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, __builtin_convertvector(ROW(V32, x, o->a), V64) * __builtin_convertvector(ROW(V32, x, o->b), V64), m); }
static void f_mulwide_s32(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, (V64)(__builtin_convertvector(ROW(S32, x, o->a), S64) * __builtin_convertvector(ROW(S32, x, o->b), S64)), m); }
static void f_madwide_u32(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, __builtin_convertvector(ROW(V32, x, o->a), V64) * __builtin_convertvector(ROW(V32, x, o->b), V64)
                   + ROW(V64, x, o->c), m); }
static void f_madwide_s32(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, (V64)(__builtin_convertvector(ROW(S32, x, o->a), S64) * __builtin_convertvector(ROW(S32, x, o->b), S64))
                   + ROW(V64, x, o->c), m); }
static void f_mad_32(Ctx *x, const Op *o, u32 m) {
    put32(x, o->d, ROW(V32, x, o->a) * ROW(V32, x, o->b) + ROW(V32, x, o->c), m); }
static void f_mad_64(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, ROW(V64, x, o->a) * ROW(V64, x, o->b) + ROW(V64, x, o->c), m); }

CMP32(eq_32, V32, ==)
CMP32(ne_32, V32, !=)
CMP32(lt_s32, S32, <)
CMP32(le_s32, S32, <=)
CMP32(lt_u32, V32, <)
CMP32(le_u32, V32, <=)
CMP64(eq_64, V64, ==)
CMP64(ne_64, V64, !=)
CMP64(lt_s64, S64, <)
CMP64(le_s64, S64, <=)
CMP64(lt_u64, V64, <)
CMP64(le_u64, V64, <=)

// With carry: e is the carry word written (bit per lane), c the carry word read.
#define CARRY(NAME, T, ROWT, PUT, SUM, OUT) static void f_##NAME(Ctx *x, const Op *o, u32 m) { \
    const T *A = (const T *)R(x, o->a), *B = (const T *)R(x, o->b); u32 in = PRED(x, o->c), out = 0; ROWT r; \
    for (int i = 0; i < LANES; i++) { T a = A[i], b = B[i], k = (in >> i) & 1, s = (SUM); r[i] = s; out |= (u32)(OUT) << i; } \
    PUT(x, o->d, r, m); if (o->e != NONE) put_pred(x, o->e, out, m); }
CARRY(addc_32, u32, V32, put32, a + b + k, k ? s <= a : s < a)
CARRY(addc_64, u64, V64, put64, a + b + k, k ? s <= a : s < a)
CARRY(subc_32, u32, V32, put32, a - b - k, k ? a <= b : a < b)
CARRY(subc_64, u64, V64, put64, a - b - k, k ? a <= b : a < b)

// Widths.
static void f_zx_64(Ctx *x, const Op *o, u32 m) { put64(x, o->d, __builtin_convertvector(ROW(V32, x, o->a), V64), m); }
static void f_sx_64(Ctx *x, const Op *o, u32 m) { put64(x, o->d, (V64)__builtin_convertvector(ROW(S32, x, o->a), S64), m); }
static void f_lo_32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, __builtin_convertvector(ROW(V64, x, o->a), V32), m); }
static void f_hi_32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, __builtin_convertvector(ROW(V64, x, o->a) >> 32, V32), m); }
static void f_pack_64(Ctx *x, const Op *o, u32 m) {
    put64(x, o->d, __builtin_convertvector(ROW(V32, x, o->a), V64) | __builtin_convertvector(ROW(V32, x, o->b), V64) << 32, m); }
UN32(sx8_32, V32, (S32)(a << 24) >> 24)
UN32(sx16_32, V32, (S32)(a << 16) >> 16)
UN32(zx8_32, V32, a & 0xff)
UN32(zx16_32, V32, a & 0xffff)
BIN32(pack_32, V32, (a & 0xffff) | b << 16)
UN32(hi16_32, V32, a >> 16)
UN32(mov_32, V32, a)
UN64(mov_64, V64, a)

#define E(n) {#n, f_##n}
const Entry integer_ops[] = {
    E(add_32), E(sub_32), E(mul_32), E(add_64), E(sub_64), E(mul_64), E(min_s32), E(max_s32), E(min_u32), E(max_u32),
    E(min_s64), E(max_s64), E(min_u64), E(max_u64), E(addsat_s32), E(subsat_s32), E(addsat_u32), E(subsat_u32), E(neg_32),
    E(neg_64), E(abs_s32), E(abs_s64), E(mulhi_u32), E(mulhi_s32), E(mulhi_u64), E(mulhi_s64), E(div_s32), E(div_u32),
    E(rem_s32), E(rem_u32), E(div_s64), E(div_u64), E(rem_s64), E(rem_u64), E(mulwide_u32),
    E(mulwide_s32), E(madwide_u32), E(madwide_s32), E(mad_32), E(mad_64), E(eq_32), E(ne_32), E(lt_s32), E(le_s32),
    E(lt_u32), E(le_u32), E(eq_64), E(ne_64), E(lt_s64), E(le_s64), E(lt_u64), E(le_u64), E(addc_32), E(addc_64),
    E(subc_32), E(subc_64), E(zx_64), E(sx_64), E(lo_32), E(hi_32), E(pack_64), E(sx8_32), E(sx16_32), E(zx8_32),
    E(zx16_32), E(pack_32), E(hi16_32), E(mov_32), E(mov_64), {0, 0}};
