// Microbenchmarks of rates: memory against arithmetic, L2, units of an SM, stencils that reuse L1. Written for this
// repository after the descriptions of the measured kernels.
#include <cuda_fp16.h>

// two streams of f32, FMAS operations on each pair, two pairs at a time; PAIRS pairs per thread of CTAs of 256
template <int FMAS, int PAIRS> __device__ void fma_loop_of(const float *A, const float *B, float *to) {
    const int THREADS = 256;
    A += threadIdx.x + blockIdx.x * THREADS * PAIRS;
    B += threadIdx.x + blockIdx.x * THREADS * PAIRS;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < PAIRS; i += 2) {
        float a = A[i * THREADS], b = B[i * THREADS], c = A[(i + 1) * THREADS], d = B[(i + 1) * THREADS];
        float v = a - b, w = c - d;
        for (int j = 0; j < FMAS; ++j) {
            v = v * a - b;
            w = w * c - d;
        }
        sum += v + w;
    }
    if (threadIdx.x == 0) to[blockIdx.x] = sum;
}
#define FMA_LOOP(n) \
    extern "C" __global__ void fma_loop_##n(const float *A, const float *B, float *to) { fma_loop_of<n, 400>(A, B, to); }
FMA_LOOP(0)
FMA_LOOP(24)
FMA_LOOP(48)
FMA_LOOP(72)
FMA_LOOP(96)
FMA_LOOP(128)
FMA_LOOP(160)
FMA_LOOP(256)
FMA_LOOP(368)
FMA_LOOP(488)

// each CTA of 1024 sums 64 x 1024 f64, CTAs in turn the `distinct` parts of an array
extern "C" __global__ void __launch_bounds__(1024) l2_read(double *to, const double *from, int distinct) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += from[1024 * distinct * i + (blockIdx.x % distinct) * 1024 + threadIdx.x];
    sum *= 1.3;
    if (sum == 23.12) to[threadIdx.x] += sum;
}

// stencils of f64 in one dimension, a point per thread
extern "C" __global__ void stencil_3(double *A, const double *B, size_t count) {
    size_t i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= count - 1 || i == 0) return;
    A[i] = 0.5 * B[i - 1] - 1.0 * B[i] + 0.5 * B[i + 1];
}
extern "C" __global__ void stencil_5(double *A, const double *B, size_t count) {
    size_t i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= count - 2 || i < 2) return;
    A[i] = 0.25 * B[i - 2] + 0.25 * B[i - 1] - 1.0 * B[i] + 0.5 * B[i + 1] + 0.5 * B[i + 2];
}

// dependent multiply-adds of each thread; 2^24 threads in CTAs of 64
#define PEAK(name, type, iterations, step) \
    extern "C" __global__ void name(float *to) { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        type x = first<type>(i), y = first<type>(threadIdx.x); \
        _Pragma("unroll 32") for (int j = 0; j < iterations; ++j) { step } \
        to[i] = result(y); \
    }
template <typename T> __device__ T first(int i) { return (T)i; }
template <> __device__ __half2 first<__half2>(int i) { return __floats2half2_rn(i, threadIdx.x); }
template <typename T> __device__ float result(T y) { return (float)y; }
__device__ float result(__half2 y) { return __low2float(y) + __high2float(y); }
PEAK(peak_f64, double, 128, x = fma(y, x, y); y = fma(x, y, x);)
PEAK(peak_f32, float, 512, x = fmaf(y, x, y); y = fmaf(x, y, x);)
PEAK(peak_f16, __half2, 512, x = __hfma2(y, x, y); y = __hfma2(x, y, x);)
PEAK(peak_i32, int, 512, x = y * x + y; y = x * y + x;)
PEAK(peak_dp4a, int, 64, x = __dp4a(y, x, y); y = __dp4a(x, y, x);)

// 16 words per thread: neighbors in each step, or a row of their own
const int THREADS = 1 << 24;
extern "C" __global__ void write_coalesced(float *data) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 16; ++i) data[i * THREADS + n] = __int_as_float(n);
}
extern "C" __global__ void read_coalesced(float *data) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0;
    for (int i = 0; i < 16; ++i) x += data[i * THREADS + n];
    data[n] = x;
}
extern "C" __global__ void write_strided(float *data) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 16; ++i) data[n * 16 + i] = __int_as_float(n);
}
extern "C" __global__ void read_strided(float *data) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0;
    for (int i = 0; i < 16; ++i) x += data[n * 16 + i];
    data[n] = x;
}

// the D3Q19 lattice of memory.cu with f16 in memory: the hardware converts, a factor of 2^15 keeps numbers normal
extern "C" __global__ void lattice_f16(const __half *from, __half *to, const unsigned char *flags) {
    const int X = 256, CELLS = X * X * X;
    const int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0};
    const int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 1, -1};
    const int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, -1, 1, -1, 1};
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % X, y = i / X % X, z = i / (X * X);
    if (flags[i]) return;
    float f[19], rho = 0, u = 0, v = 0, w = 0;
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        int a = (x - cx[k] + X) % X, b = (y - cy[k] + X) % X, c = (z - cz[k] + X) % X;
        f[k] = __half2float(from[(size_t)k * CELLS + (c * X + b) * X + a]) * (1 / 32768.0f);
    }
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        rho += f[k];
        u += cx[k] * f[k];
        v += cy[k] * f[k];
        w += cz[k] * f[k];
    }
    float inverse = 1 / rho, square;
    u *= inverse;
    v *= inverse;
    w *= inverse;
    square = 1 - 1.5f * (u * u + v * v + w * w);
#pragma unroll
    for (int k = 0; k < 19; ++k) {
        float weight = k == 0 ? 1 / 3.0f : k < 7 ? 1 / 18.0f : 1 / 36.0f, c = 3 * (cx[k] * u + cy[k] * v + cz[k] * w);
        float next = f[k] + 1.6f * (weight * rho * (square + c + 0.5f * c * c) - f[k]);
        to[(size_t)k * CELLS + i] = __float2half_rn(next * 32768.0f);
    }
}
