// Elementary functions with the additions and multiplications of arithmetic/approximations.py, so that both engines agree bit for
// bit on every machine. In double, their error is far below one rounding to f32.
#ifndef PYPTX_APPROX_H
#define PYPTX_APPROX_H
#include <math.h>
#include "core.h"

// 2^t for |t| <= 1/2 in f32, as a polynomial whose relative error is 2^-28.9 and 0 at 0. With the roundings of its evaluation, a
// result is within 1.25 ulp (1.22 is the largest error found), where the PTX ISA allows 2.
#define EX2_F32_TERMS 7
static const float EX2_F32[EX2_F32_TERMS] = {0x1.41fbbcp-13f, 0x1.5f3e54p-10f, 0x1.3b2d4cp-7f, 0x1.c6aee8p-5f, 0x1.ebfbdcp-3f,
                                             0x1.62e43p-1f, 1.0f};

static inline double power_of_two(int n) { return as_f64((u64)(n + 1023) << 52); }

// The same in double, for f16, bf16 and tanh: the smallest relative error of its degree, 2^-39.7, and exact at 0.
#define EX2_TERMS 9
static const double EX2[EX2_TERMS] = {1.3344183651550012e-06, 1.5314209231429897e-05, 0.00015403098285999696,
                                      0.001333343415753163, 0.009618129558839315, 0.05550410959228833,
                                      0.2402265069474259, 0.6931471805412327, 1.0};

static inline double approx_ex2(double v) {
    if (v != v) return v;
    if (v > 1000.0) return INFINITY;
    if (v < -1000.0) return 0.0;
    double n = rint(v), t = v - n, p = EX2[0];
    for (int i = 1; i < EX2_TERMS; i++) p = p * t + EX2[i];
    return p * power_of_two((int)n);
}

static inline double approx_lg2(double v) {
    if (v != v || v < 0.0) return NAN;
    if (v == 0.0) return -INFINITY;
    if (v == INFINITY) return v;
    u64 u = of_f64(v);
    int e = (int)(u >> 52) - 1023;
    double m = as_f64((u & 0xfffffffffffffull) | 0x3ff0000000000000ull);
    if (m > 1.4142135623730951) { m = m * 0.5; e = e + 1; }
    double s = (m - 1.0) / (m + 1.0), q = s * s, p = 1.0 / 25.0;
    for (int i = 23; i > 0; i -= 2) p = p * q + 1.0 / i;
    return e + s * p * 2.8853900817779268;
}

static inline double approx_sincos(double v, int cosine) {
    if (v != v || v == INFINITY || v == -INFINITY) return NAN;
    if (v > 100000.0 || v < -100000.0) v = fmod(v, 6.283185307179586);
    double n = floor(v * 0.6366197723675814 + 0.5);
    double r = v - n * 1.5707963267341256 - n * 6.077100506303966e-11 - n * 2.0222662487959506e-21, q = r * r;
    int turn = ((int)n + cosine) & 3;
    double p;
    if (turn & 1) {
        p = 1.0 / 20922789888000.0;
        static const double k[8] = {-1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0, 1.0 / 40320.0, -1.0 / 720.0,
                                    1.0 / 24.0, -0.5, 1.0};
        for (int i = 0; i < 8; i++) p = p * q + k[i];
    } else {
        p = -1.0 / 1307674368000.0;
        static const double k[7] = {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0,
                                    -1.0 / 6.0, 1.0};
        for (int i = 0; i < 7; i++) p = p * q + k[i];
        p = p * r;
    }
    return turn & 2 ? -p : p;
}

static inline double approx_tanh(double v) {
    if (v != v) return v;
    if (v > 20.0) return 1.0;
    if (v < -20.0) return -1.0;
    double q = v * v;
    if (q < 0.00390625) return v * (((q * (-17.0 / 315.0) + 2.0 / 15.0) * q + -1.0 / 3.0) * q + 1.0);
    double e = approx_ex2(v * 2.8853900817779268);
    return (e - 1.0) / (e + 1.0);
}
#endif
