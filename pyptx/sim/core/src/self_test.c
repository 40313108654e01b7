// Self-test of the processor's arithmetic, and detection of its instruction set level.
#include <math.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include "core.h"

#ifndef CORE_IDENTITY
#define CORE_IDENTITY "unknown"
#endif

const char *core_identity(void) { return CORE_IDENTITY; }

// 1: the processor supports x86-64-v3.
int core_cpu_is_v3(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 12 & 1) || !(c >> 27 & 1)) return 0;              // FMA, OSXSAVE
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;                       // the system saves AVX state
    return (b >> 5 & 1) && (b >> 8 & 1);                                                            // AVX2, BMI2
#else
    return 0;
#endif
}

static int self_test(void) {
    volatile float a = 1.0f + 0x1p-12f, b = 1.0f + 0x1p-11f, one = 1.0f, three = 3.0f, tiny = 0x1p-140f;
    F32 x = (F32)a, z = (F32)-b, r = __builtin_elementwise_fma(x, x, z);
    if (r[0] != 0x1p-24f || r[31] != 0x1p-24f) return 1;                // one rounding
    if (a * a - b != 0.0f) return 2;                                   // no contraction
    if (tiny * one == 0.0f || tiny + tiny != 0x1p-139f) return 3;       // subnormals are kept
    set_rounding(RM);
    volatile float down = one / three;
    set_rounding(RP);
    volatile float up = one / three;
    set_rounding(RZ);
    volatile float cut = -one / three;
    set_rounding(RN);
    volatile float near = one / three;
    if (of_f32(up) != of_f32(down) + 1 || of_f32(cut) != (of_f32(down) | 0x80000000u) || near != up) return 4;
    volatile double third = 1.0;
    third /= 3.0;
    if (of_f64(third) != 0x3fd5555555555555ull) return 5;
    if (round_double(65520.0, T_F16, RN) != 0x7c00 || round_double(0x1p-25, T_F16, RN) != 0 || round_double(0x1.8p-25, T_F16, RN) != 1) return 6;
    return 0;
}

// 0: passed, else the number of the failed check.
int core_self_test(void) {
    u64 before = plain_arithmetic();
    int failed = self_test();
    restore_arithmetic(before);
    return failed;
}
