// Whole numbers: SIMD in a word, funnel shifts, 128 bits, text. Launch: a thread an element.
#include <cstdint>
#include <cstdio>

extern "C" __global__ void bytes_of_words(int n, const unsigned *a, const unsigned *b, unsigned *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = __vaddus4(a[i], b[i]);
    y[n + i] = __vabsdiffu4(a[i], b[i]);
    y[2 * n + i] = __vmaxs2(a[i], b[i]) ^ __vcmpgtu4(a[i], b[i]);
    y[3 * n + i] = __vsads4(a[i], b[i]) + __vhaddu4(a[i], b[i]);
    y[4 * n + i] = __byte_perm(a[i], b[i], b[i] & 0x7777);
    y[5 * n + i] = __funnelshift_rc(a[i], b[i], a[i] & 63) + __funnelshift_l(a[i], b[i], b[i]);
    y[6 * n + i] = __viaddmax_s32_relu(a[i], b[i], -1000) ^ __vimin3_s16x2(a[i], b[i], 0x00050005);
    y[7 * n + i] = __dp4a(a[i], b[i], a[i]) + __dp2a_lo(a[i], b[i], b[i]) + __brev(a[i]) + __ffs(b[i]) + __uhadd(a[i], b[i]);
}

extern "C" __global__ void wide_numbers(int n, const uint64_t *a, const uint64_t *b, uint64_t *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned __int128 p = (unsigned __int128)a[i] * b[i] + ((unsigned __int128)b[i] << 64), q = p / (a[i] | 1);
    __int128 d = (__int128)(int64_t)a[i] - ((__int128)(int64_t)b[i] << 3);
    y[i] = (uint64_t)p, y[n + i] = (uint64_t)(p >> 64), y[2 * n + i] = (uint64_t)q, y[3 * n + i] = (uint64_t)(d >> 5);
    y[4 * n + i] = (uint64_t)(p % (b[i] | 3)), y[5 * n + i] = __umul64hi(a[i], b[i]) + __mul64hi(a[i], b[i]);
}

// Digits of pi by the spigot of Rabinowitz and Wagon, one thread.
extern "C" __global__ void digits(int n, char *out) {
    int a[128], held = 0, nines = 0, at = 0, len = n * 10 / 3;
    for (int i = 0; i < len; i++) a[i] = 2;
    for (int j = 0; j <= n; j++) {
        int q = 0;
        for (int i = len; i > 0; i--) {
            int v = 10 * a[i - 1] + q * i;
            a[i - 1] = v % (2 * i - 1), q = v / (2 * i - 1);
        }
        a[0] = q % 10, q /= 10;
        if (q == 9) nines++;
        else {
            int carry = q == 10;
            if (j) out[at++] = '0' + held + carry;
            for (; nines; nines--) out[at++] = carry ? '0' : '9';
            held = carry ? 0 : q;
        }
    }
    out[at] = 0;
}
