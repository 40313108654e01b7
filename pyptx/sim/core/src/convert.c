// Conversion between number formats: through an exact (sign, mantissa, exponent), with one rounding.
#include <math.h>
#include "core.h"

typedef struct { i32 mbits, emin, emax; u32 has_inf, max, inf, nan, sign; } Format;   // max, inf, nan as bits without sign
static const Format formats[] = {
    [T_F16] = {10, -14, 15, 1, 0x7bff, 0x7c00, 0x7fff, 0x8000},
    [T_BF16] = {7, -126, 127, 1, 0x7f7f, 0x7f80, 0x7fff, 0x8000},
    [T_TF32] = {10, -126, 127, 1, 0x3fbff, 0x3fc00, 0x3ffff, 0x40000},
    [T_F32] = {23, -126, 127, 1, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0x80000000},
    [T_E4M3] = {3, -6, 8, 0, 0x7e, 0x7f, 0x7f, 0x80},
    [T_E5M2] = {2, -14, 15, 1, 0x7b, 0x7c, 0x7f, 0x80},
    [T_E2M3] = {3, 0, 2, 0, 0x1f, 0x1f, 0x1f, 0x20},
    [T_E3M2] = {2, -2, 4, 0, 0x1f, 0x1f, 0x1f, 0x20},
    [T_E2M1] = {1, 0, 2, 0, 0x7, 0x7, 0x7, 0x8},
};

// 1: rounding increments the magnitude, given the last kept bit, the first discarded bit `half` and the others `rest`.
static inline int away(u32 mode, int sign, int odd, int half, int rest) {
    switch (mode) {
    case RN: return half && (rest || odd);
    case RZ: return 0;
    case RM: return sign && (half || rest);
    case RP: return !sign && (half || rest);
    default: return half;                                             // RNA
    }
}

// Stochastic rounding adds `value` to the top `bits` discarded bits; 0 bits: another rounding.
typedef struct { u32 bits, value; } Random;

// value = mant * 2^exp (+ something below when sticky) in `format`.
static u64 round_parts(int sign, u64 mant, int exp, int sticky, u32 format, u32 mod, Random random) {
    u32 mode = mod & RND_MASK;
    if (format == T_F64) {
        if (!mant) return (u64)sign << 63;
        int top = 63 - __builtin_clzll(mant), e = top + exp, cut = top - 52;
        u64 keep = cut > 0 ? mant >> cut : mant << -cut;
        int half = cut > 0 && mant >> (cut - 1) & 1, rest = sticky || (cut > 1 && mant & (((u64)1 << (cut - 1)) - 1));
        return ((u64)sign << 63) | ((((u64)(e + 1022) << 52) + keep) + (u64)away(mode, sign, keep & 1, half, rest));
    }
    const Format *f = &formats[format];
    u32 s = sign ? f->sign : 0;
    u64 bits;
    if ((mod & M_RELU) && sign) return 0;
    if (!mant) return s;
    int top = 63 - __builtin_clzll(mant), e = top + exp;
    int last = (e < f->emin ? f->emin : e) - f->mbits, cut = last - exp;  // weight of the last kept bit
    u64 keep; int half, rest;
    if (cut <= 0) { keep = mant << -cut; half = 0; rest = sticky; }
    else if (cut > 64) { keep = 0; half = 0; rest = 1; }
    else {
        keep = cut == 64 ? 0 : mant >> cut;
        half = mant >> (cut - 1) & 1;
        rest = sticky || (mant & (((u64)1 << (cut - 1)) - 1));
    }
    if (random.bits) {
        u64 dropped = cut <= 0 ? 0 : cut < 64 ? mant & (((u64)1 << cut) - 1) : mant;
        int low = cut - (int)random.bits;                               // bits below the random ones never carry
        if (low >= 0) keep += ((low < 64 ? dropped >> low : 0) + random.value) >> random.bits;
        else if (cut > 0) keep += (dropped + (random.value >> -low)) >> cut;
    } else keep += (u64)away(mode, sign, keep & 1, half, rest);
    bits = e < f->emin ? keep : ((u64)(e - f->emin) << f->mbits) + keep;   // carries move into the exponent
    if (bits > f->max) {
        int to_max = (mod & M_SATFINITE) || mode == RZ || (mode == RM && !sign) || (mode == RP && sign);
        if (!to_max && format == T_E4M3) return f->nan;                 // it has no infinity
        bits = to_max ? f->max : f->inf;
    }
    return bits | s;
}

static u64 round_with(double v, u32 format, u32 mod, Random random) {
    u64 u = of_f64(v);
    int sign = (int)(u >> 63), e = (int)(u >> 52 & 2047);
    u64 mant = u & 0xfffffffffffffull;
    if (e == 2047) {
        const Format *f = &formats[format];
        if (mant) {
            if (mod & M_SAT) return 0;
            return format == T_F64 ? u | 0x0008000000000000ull : f->nan;
        }
        if ((mod & M_RELU) && sign) return 0;
        if (format == T_F64) return u;
        if (!(mod & M_SATFINITE) && format == T_E4M3) return f->nan;
        return (mod & M_SATFINITE ? f->max : f->inf) | (sign ? f->sign : 0);
    }
    if (format == T_F64) return u;
    if (e) mant |= 1ull << 52; else e = 1;
    return round_parts(sign, mant, e - 1075, 0, format, mod, random);
}
u64 round_double(double v, u32 format, u32 mod) { return round_with(v, format, mod, (Random){0, 0}); }

double widen(u64 bits, u32 format) {
    if (format == T_UE8M0) return (bits & 255) == 255 ? NAN : ldexp(1.0, (int)(bits & 255) - 127);
    if (format == T_S2F6) return (int8_t)bits * 0x1p-6;
    if (format == T_F64) return as_f64(bits);
    if (format == T_F32 || format == T_TF32) return as_f32((u32)bits);
    const Format *f = &formats[format];
    u32 sign = (bits & f->sign) != 0, mag = (u32)bits & (f->sign - 1), e = mag >> f->mbits, m = mag & ((1u << f->mbits) - 1);
    double v;
    if (f->has_inf && mag >= f->inf) v = mag == f->inf ? INFINITY : NAN;
    else if (format == T_E4M3 && mag == 0x7f) v = NAN;
    else v = ldexp(e ? (double)(m + (1u << f->mbits)) : (double)m, (e ? (int)e - 1 : 0) + f->emin - f->mbits);
    return sign ? -v : v;
}

static double clamp01(double v, u32 mod) { return mod & M_SAT ? (v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0) : v; }
static double integral(double v, u32 mode) {
    switch (mode) { case RZ: return trunc(v); case RM: return floor(v); case RP: return ceil(v); default: return __builtin_roundeven(v); }
}
static inline double round_even(double v) {                             // avoids a library call on x86-64-v2
    double f = floor(v), d = v - f;
    if (d > 0.5 || (d == 0.5 && fmod(f, 2.0) != 0.0)) f += 1.0;
    return f;
}
static u64 to_integer(double v, u32 to, u32 from, u32 mode) {
    static const int width[] = {8, 8, 16, 16, 32, 32, 64, 64};
    int n = width[to];
    if (v != v) return from == T_F64 || n == 64 ? (u64)1 << (n - 1) : 0;
    v = mode == RN ? round_even(v) : integral(v, mode);
    if (to & 1) {                                                       // signed
        double top = ldexp(1.0, n - 1);
        if (v >= top) return ((u64)1 << (n - 1)) - 1;
        if (v < -top) return (u64)(-(i64)(((u64)1 << (n - 1)) - 1) - 1);
        return (u64)(i64)v;
    }
    if (v <= 0.0) return 0;
    if (v >= ldexp(1.0, n)) return n == 64 ? ~(u64)0 : ((u64)1 << n) - 1;
    return (u64)v;
}

// To a scale: the exponent without the sign; RP rounds up unless the number is a power of two.
static u64 to_scale(double v, u32 mod) {
    u32 most = mod & M_SATFINITE ? 254 : 255;
    int e;
    if (v != v) return 255;
    v = fabs(v);
    if (v == 0.0) return 0;
    if (isinf(v)) return most;
    double m = frexp(v, &e);
    i32 code = e - 1 + 127 + ((mod & RND_MASK) == RP && m != 0.5);
    return code < 0 ? 0 : code > (i32)most ? most : (u64)code;
}
// To fixed point with 6 bits of fraction.
static u64 to_fixed(double v, u32 mod) {
    if (v != v) return 0x7f;
    if ((mod & M_RELU) && v < 0.0) v = 0.0;
    if (isinf(v)) return v < 0.0 ? 0x80 : 0x7f;
    v *= 64.0;
    v = (mod & RND_MASK) == RN ? round_even(v) : integral(v, mod & RND_MASK);
    return (u64)(i64)(v > 127.0 ? 127.0 : v < -128.0 ? -128.0 : v) & 255;
}
static u64 without_minus(u64 r, u32 format) { return r == (format == T_TF32 ? 0x80000000u : formats[format].sign) ? 0 : r; }

static inline u64 convert(u64 bits, u32 from, u32 to, u32 mod, int to_integral) {
    if (from <= T_S64) {                                                // integers arrive extended to 64 bits
        int sign = (from & 1) && (i64)bits < 0;
        u64 mag = sign ? 0 - bits : bits;
        if (mod & M_SAT) return round_double(sign ? 0.0 : mag ? 1.0 : 0.0, to, mod & RND_MASK);
        return round_parts(sign, mag, 0, 0, to, mod, (Random){0, 0});
    }
    double v = widen(bits, from);
    if ((mod & M_FTZ) && from == T_F32 && fabs(v) < 0x1p-126) v = copysign(0.0, v);
    if (to <= T_S64) return to_integer(v, to, from, mod & RND_MASK);
    if (to == T_UE8M0) return to_scale(v, mod);
    if (to == T_S2F6) return to_fixed(v, mod);
    if (to_integral && v == v && fabs(v) < 0x1p60) {
        double r = (mod & RND_MASK) == RN ? round_even(v) : integral(v, mod & RND_MASK);
        v = copysign(r, v);
    }
    if (mod & M_SAT) v = clamp01(v, mod);
    if ((from == T_F16 || from == T_BF16) && to == T_F64 && v != v) return mod & M_SAT ? 0 : 0x7fffffffe0000000ull;    // through f32
    if (from == T_F64 && to == T_F32 && v != v && !(mod & M_SAT)) return (bits >> 32 & 0x80000000) | 0x7fc00000 | (bits >> 29 & 0x3fffff);
    u64 r = round_double(v, to, mod);
    if ((mod & M_FTZ) && to == T_F32 && (r & 0x7f800000) == 0) r &= 0x80000000;
    if (to == T_TF32) r <<= 13, r |= (r >> 13 & 0x3ffff) == 0x3ffff ? 0x1fff : 0;
    return mod & M_PZO ? without_minus(r, to) : r;
}

static inline int wide(u32 format) { return format == T_U64 || format == T_S64 || format == T_F64; }

// imm: source format | destination format << 8 | round to integral << 16.
static void f_cvt(Ctx *x, const Op *o, u32 m) {
    u32 from = o->imm & 255, to = o->imm >> 8 & 255;
    int whole = (int)(o->imm >> 16 & 1);
    u64 in[LANES], out[LANES];
    if (wide(from)) memcpy(in, R(x, o->a), sizeof in);
    else if (from == T_S32) for (int i = 0; i < LANES; i++) in[i] = (u64)(i64)((i32 *)R(x, o->a))[i];
    else for (int i = 0; i < LANES; i++) in[i] = ((u32 *)R(x, o->a))[i];
    for (int i = 0; i < LANES; i++) out[i] = m >> i & 1 ? convert(in[i], from, to, o->mod, whole) : 0;
    if (wide(to)) { V64 r; memcpy(&r, out, sizeof r); put64(x, o->d, r, m); }
    else { V32 r; for (int i = 0; i < LANES; i++) r[i] = (u32)out[i]; put32(x, o->d, r, m); }
}

// cvt with a second operand: imm bits 24-31 random bits in it, or bits 32-33 a scale, which 1 multiplies, 2 divides.
static void f_cvt_with(Ctx *x, const Op *o, u32 m) {
    u32 from = o->imm & 255, to = o->imm >> 8 & 255, bits = o->imm >> 24 & 255, scaled = o->imm >> 32 & 3;
    V32 in = ROW(V32, x, o->a), other = ROW(V32, x, o->b), r = 0;
    for (int i = 0; i < LANES; i++) {
        if (!(m >> i & 1)) continue;
        double v = widen(in[i], from);
        u32 scale = other[i] & 255;
        if (scaled) v = scale == 255 ? NAN : ldexp(v, scaled == 1 ? (int)scale - 127 : 127 - (int)scale);
        if (to == T_S2F6) { r[i] = (u32)to_fixed(v, o->mod); continue; }
        u64 code = round_with(v, to, o->mod, (Random){bits, other[i]});
        r[i] = (u32)(o->mod & M_PZO ? without_minus(code, to) : code);
    }
    put32(x, o->d, r, m);
}

// Common conversions, rounding to nearest.
static void f_cvt_f32_s32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, (V32)__builtin_convertvector(ROW(S32, x, o->a), F32), m); }
static void f_cvt_f32_u32(Ctx *x, const Op *o, u32 m) { put32(x, o->d, (V32)__builtin_convertvector(ROW(V32, x, o->a), F32), m); }
static void f_cvt_f32_f16(Ctx *x, const Op *o, u32 m) {
    V32 h = ROW(V32, x, o->a), s = (h & 0x8000) << 16, mag = h & 0x7fff;
    V32 normal = (mag << 13) + 0x38000000, sub = (V32)(__builtin_convertvector(mag, F32) * 0x1p-24f);
    V32 r = mag < 0x400 ? sub : mag < 0x7c00 ? normal : mag == 0x7c00 ? (V32)0x7f800000 : (V32)0x7fffffff;
    put32(x, o->d, (S32)(mag > 0x7c00) != 0 ? r : r | s, m);
}
static void f_cvt_f32_bf16(Ctx *x, const Op *o, u32 m) {
    V32 r = ROW(V32, x, o->a) << 16;
    put32(x, o->d, (r & 0x7fffffff) > 0x7f800000 ? (V32)0x7fffffff : r, m);
}
static void f_cvt_bf16_f32(Ctx *x, const Op *o, u32 m) {
    V32 u = ROW(V32, x, o->a), r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    put32(x, o->d, (u & 0x7fffffff) > 0x7f800000 ? (V32)0x7fff : r, m);
}
static void f_cvt_f16_f32(Ctx *x, const Op *o, u32 m) {                 // magic addition rounds subnormal results
    V32 u = ROW(V32, x, o->a), s = u >> 16 & 0x8000, mag = u & 0x7fffffff;
    V32 normal = (mag - 0x38000000 + 0xfff + (mag >> 13 & 1)) >> 13;
    V32 sub = (V32)((F32)mag + (F32)(V32)0x3f000000) - 0x3f000000;
    V32 r = mag < 0x38800000 ? sub : mag >= 0x477ff000 ? (V32)0x7c00 : normal;
    put32(x, o->d, mag > 0x7f800000 ? (V32)0x7fff : r | s, m);
}

#define E(n) {#n, f_##n}
const Entry convert_ops[] = {E(cvt), E(cvt_with), E(cvt_f32_s32), E(cvt_f32_u32), E(cvt_f32_f16), E(cvt_f32_bf16), E(cvt_bf16_f32),
                             E(cvt_f16_f32), {0, 0}};
