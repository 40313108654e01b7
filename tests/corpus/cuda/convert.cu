// Conversions between number formats. Launch: a thread an element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void to_fp8(int n, const float *x, __nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = __nv_fp8_e4m3(x[i]), b[i] = __nv_fp8_e5m2(x[i]);
}

extern "C" __global__ void from_fp8(int n, const __nv_fp8x2_e4m3 *a, float2 *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (float2)a[i];
}

extern "C" __global__ void to_fp4(int n, const float2 *x, __nv_fp4x2_e2m1 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __nv_fp4x2_e2m1(x[i]);
}

extern "C" __global__ void to_integers(int n, const float *x, int *a, unsigned *b, long long *c, signed char *d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i] = __float2int_rn(x[i]), b[i] = __float2uint_ru(x[i]), c[i] = __float2ll_rd(x[i]);
    int v = a[i];
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(v) : "r"(v));
    d[i] = (signed char)v;
}

extern "C" __global__ void from_integers(int n, const int *a, const unsigned long long *b, float *x, double *y, half *z) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = __int2float_rz(a[i]), y[i] = (double)b[i], z[i] = __int2half_rn(a[i]);
}

extern "C" __global__ void quantize(int rows, int columns, const float *x, signed char *q, float *scales) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float most = 0;
    for (int i = lane; i < columns; i += 32) most = fmaxf(most, fabsf(x[row * columns + i]));
    for (int d = 16; d; d >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    float scale = most / 127.f;
    for (int i = lane; i < columns; i += 32)
        q[row * columns + i] = (signed char)max(-127, min(127, __float2int_rn(x[row * columns + i] / scale)));
    if (lane == 0) scales[row] = scale;
}

extern "C" __global__ void bf16_round(int n, const double *x, __nv_bfloat16 *a, half *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = __double2bfloat16(x[i]), b[i] = __double2half(x[i]), c[i] = __double2float_ru(x[i]);
}
