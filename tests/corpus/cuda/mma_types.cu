// One warp multiplies one tile, for each type mma takes. A row-major, B column-major (stored as n rows of k), D row-major.
// Launch: one warp. Tiles: tf32 16x8x8, s8 and fp8 16x8x32, f64 8x8x4, f16 accumulators 16x8x16, s4 16x8x64.
#include <cstdint>

extern "C" __global__ void mma_tf32(const float *a, const float *b, float *d) {
    int group = threadIdx.x / 4, lane = threadIdx.x % 4;
    uint32_t x[4], y[2];
    float s[4] = {};
    for (int i = 0; i < 4; i++)
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(a[(group + i % 2 * 8) * 8 + lane + i / 2 * 4]));
    for (int i = 0; i < 2; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(b[group * 8 + lane + i * 4]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; i++) d[(group + i / 2 * 8) * 8 + lane * 2 + i % 2] = s[i];
}

template <class D> __device__ void bytes(const uint32_t *a, const uint32_t *b, uint32_t (&x)[4], uint32_t (&y)[2]) {
    int group = threadIdx.x / 4, lane = threadIdx.x % 4;        // 8 words of 4 elements a row
    for (int i = 0; i < 4; i++) x[i] = a[(group + i % 2 * 8) * 8 + lane + i / 2 * 4];
    for (int i = 0; i < 2; i++) y[i] = b[group * 8 + lane + i * 4];
}
template <class D> __device__ void put(D *d, const D (&s)[4]) {
    for (int i = 0; i < 4; i++) d[(threadIdx.x / 4 + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2] = s[i];
}

extern "C" __global__ void mma_s8(const uint32_t *a, const uint32_t *b, int *d) {
    uint32_t x[4], y[2];
    int s[4] = {};
    bytes<int>(a, b, x, y);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    put(d, s);
}

extern "C" __global__ void mma_u8s8(const uint32_t *a, const uint32_t *b, int *d) {
    uint32_t x[4], y[2];
    int s[4] = {};
    bytes<int>(a, b, x, y);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    put(d, s);
}

extern "C" __global__ void mma_f64(const double *a, const double *b, double *d) {
    double s[2] = {};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(s[0]), "+d"(s[1]) : "d"(a[threadIdx.x]), "d"(b[threadIdx.x]));
    d[threadIdx.x / 4 * 8 + threadIdx.x % 4 * 2] = s[0], d[threadIdx.x / 4 * 8 + threadIdx.x % 4 * 2 + 1] = s[1];
}

extern "C" __global__ void mma_f16(const uint32_t *a, const uint32_t *b, uint32_t *d) {
    uint32_t x[4], y[2], s[2] = {};
    bytes<int>(a, b, x, y);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(s[0]), "+r"(s[1]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    d[threadIdx.x] = s[0], d[threadIdx.x + 32] = s[1];          // rows of 4 words: group * 4 + lane
}

// Sparse A: two of four stored, their places in `meta`.
extern "C" __global__ void mma_sparse(const uint32_t *a, const uint32_t *b, const uint32_t *meta, float *d) {
    float s[4] = {};
    int t = threadIdx.x;
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6, %7}, {%0, %1, %2, %3}, %8, 0x0;"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[t]), "r"(a[t + 32]), "r"(b[t]), "r"(b[t + 32]), "r"(meta[t]));
    put(d, s);
}

#if __CUDA_ARCH__ >= 890
extern "C" __global__ void mma_e4m3(const uint32_t *a, const uint32_t *b, float *d) {
    uint32_t x[4], y[2];
    float s[4] = {};
    bytes<int>(a, b, x, y);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    put(d, s);
}

extern "C" __global__ void mma_e5m2(const uint32_t *a, const uint32_t *b, float *d) {
    uint32_t x[4], y[2];
    float s[4] = {};
    bytes<int>(a, b, x, y);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    put(d, s);
}
#endif
