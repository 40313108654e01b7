// Intrinsics of halves and of formats of eight bits and less. Launch: a thread an element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void half_pairs(int n, const __half2 *a, const __half2 *b, const __half2 *c, __half2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = __hfma2_relu(a[i], b[i], c[i]);
    y[n + i] = __hmin2_nan(__hmul2_sat(a[i], b[i]), __hneg2(c[i]));
    y[2 * n + i] = __h2div(a[i], __hadd2(b[i], __float2half2_rn(3.0f)));
    y[3 * n + i] = __hle2(a[i], b[i]);
    y[4 * n + i] = __lowhigh2highlow(__hmax2(__habs2(a[i]), c[i]));
}

extern "C" __global__ void brain_pairs(int n, const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *y,
                                       float *dots, unsigned *masks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = __hfma2(a[i], b[i], __floats2bfloat162_rn(0.5f, -0.25f));
    y[n + i] = __hmax2_nan(a[i], b[i]);
    y[2 * n + i] = __hsub2(h2rint(a[i]), h2floor(b[i]));
    float2 p = __bfloat1622float2(a[i]), q = __bfloat1622float2(b[i]);
    dots[i] = p.x * q.x + p.y * q.y;
    masks[i] = __hgt2_mask(a[i], b[i]);
}

// Four numbers to fp8, fp6 and fp4 and back.
extern "C" __global__ void around_small_formats(int n, const float4 *x, unsigned *fp8, unsigned *fp6, unsigned short *fp4,
                                                float4 *back) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_fp8x4_e5m2 a(x[i]);
    __nv_fp6x4_e3m2 b(x[i]);
    __nv_fp4x4_e2m1 c(x[i]);
    fp8[i] = a.__x, fp6[i] = b.__x, fp4[i] = c.__x;
    float4 u = (float4)a, v = (float4)b, w = (float4)c;
    back[i] = make_float4(u.x + v.x + w.x, u.y + v.y + w.y, u.z - v.z * w.z, u.w * v.w);
}

// Blocks of 32 numbers as fp8 with one power of two for all.
extern "C" __global__ void block_scaled(const float *x, unsigned char *codes, unsigned char *scales) {
    float v = x[blockIdx.x * 32 + threadIdx.x], most = fabsf(v);
    for (int k = 16; k; k >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    __nv_fp8_storage_t scale = __nv_cvt_float_to_e8m0(most / 448.0f, __NV_SATFINITE, cudaRoundPosInf);
    float inverse = exp2f(127.0f - scale);
    codes[blockIdx.x * 32 + threadIdx.x] = __nv_cvt_float_to_fp8(v * inverse, __NV_SATFINITE, __NV_E4M3);
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
}
