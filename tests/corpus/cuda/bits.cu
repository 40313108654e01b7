// Bits, bytes and integer arithmetic. Launch: a thread an element.
extern "C" __global__ void bit_counts(int n, const unsigned *x, unsigned *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    y[i] = __popc(v) + 100 * __clz(v) + 10000 * __ffs(v) + (__brev(v) >> 8) + __byte_perm(v, i, 0x4321);
}

extern "C" __global__ void fields(int n, const unsigned long long *x, unsigned long long *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = x[i];
    unsigned field, merged;
    asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"((unsigned)v));
    asm("bfi.b32 %0, %1, %2, 20, 9;" : "=r"(merged) : "r"(field), "r"((unsigned)(v >> 32)));
    y[i] = (__brevll(v) ^ __popcll(v)) + merged + __funnelshift_l((unsigned)v, field, 7) + __funnelshift_r(field, merged, i);
}

extern "C" __global__ void divide(int n, const int *a, const int *b, int *q, long long *r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    q[i] = a[i] / b[i] + a[i] % 7 + (unsigned)a[i] / 10u;
    r[i] = ((long long)a[i] << 20) / b[i] + ((unsigned long long)a[i] * 12345) % (unsigned)b[i];
}

extern "C" __global__ void wide_product(int n, const unsigned long long *a, const unsigned long long *b,
                                        unsigned long long *low, unsigned long long *high) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned __int128 p = (unsigned __int128)a[i] * b[i] + a[i];
    low[i] = (unsigned long long)p, high[i] = (unsigned long long)(p >> 64);
}

extern "C" __global__ void dot4(int n, const int *a, const int *b, int *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __dp4a(a[i], b[i], c[i]) + __dp2a_lo(a[i], b[i], 1) + __sad(a[i], b[i], 2u) + __mulhi(a[i], b[i]);
}

extern "C" __global__ void video(int n, const unsigned *a, const unsigned *b, unsigned *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    c[i] = __vadd4(a[i], b[i]) ^ __vabsdiffu4(a[i], b[i]) ^ __vmaxs2(a[i], b[i]) ^ __vcmpgtu4(a[i], b[i]) ^ __vavgu2(a[i], b[i]);
}

extern "C" __global__ void narrow(int n, const short *a, const unsigned char *b, signed char *c, unsigned short *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = (signed char)(a[i] >> 3) - b[i], d[i] = (unsigned short)(a[i] * b[i]);
}
