// Normalisation of rows. Launch: one block of 256 threads a row.
#include <cuda_bf16.h>

__device__ float block_total(float v) {
    __shared__ float parts[8];
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) v += __shfl_xor_sync(~0u, v, mask);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) total += parts[i];
    return total;
}

extern "C" __global__ void layer_norm(int columns, float eps, const float *x, const float *gain, const float *bias,
                                      float *y, float *mean_out, float *scale_out) {
    x += (size_t)blockIdx.x * columns, y += (size_t)blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += 256) sum += x[i];
    float mean = block_total(sum) / columns;
    for (int i = threadIdx.x; i < columns; i += 256) squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(block_total(squares) / columns + eps);
    for (int i = threadIdx.x; i < columns; i += 256) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
    if (threadIdx.x == 0) mean_out[blockIdx.x] = mean, scale_out[blockIdx.x] = scale;
}

extern "C" __global__ void layer_norm_backward(int columns, const float *dy, const float *x, const float *gain,
                                               const float *mean, const float *scale, float *dx) {
    size_t row = (size_t)blockIdx.x * columns;
    float m = mean[blockIdx.x], s = scale[blockIdx.x], a = 0, b = 0;
    for (int i = threadIdx.x; i < columns; i += 256) {
        float g = dy[row + i] * gain[i];
        a += g, b += g * (x[row + i] - m) * s;
    }
    a = block_total(a) / columns, b = block_total(b) / columns;
    for (int i = threadIdx.x; i < columns; i += 256)
        dx[row + i] = (dy[row + i] * gain[i] - a - (x[row + i] - m) * s * b) * s;
}

extern "C" __global__ void rms_norm(int columns, float eps, const float4 *x, const float4 *gain, float4 *y) {
    x += (size_t)blockIdx.x * (columns / 4), y += (size_t)blockIdx.x * (columns / 4);
    float squares = 0;
    for (int i = threadIdx.x; i < columns / 4; i += 256) {
        float4 v = x[i];
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float scale = rsqrtf(block_total(squares) / columns + eps);
    for (int i = threadIdx.x; i < columns / 4; i += 256) {
        float4 v = x[i], g = gain[i];
        y[i] = make_float4(v.x * scale * g.x, v.y * scale * g.y, v.z * scale * g.z, v.w * scale * g.w);
    }
}

extern "C" __global__ void rms_norm_bf16(int columns, float eps, const __nv_bfloat162 *x, const __nv_bfloat162 *gain,
                                         __nv_bfloat162 *y) {
    x += (size_t)blockIdx.x * (columns / 2), y += (size_t)blockIdx.x * (columns / 2);
    float squares = 0;
    for (int i = threadIdx.x; i < columns / 2; i += 256) {
        float2 v = __bfloat1622float2(x[i]);
        squares += v.x * v.x + v.y * v.y;
    }
    float scale = rsqrtf(block_total(squares) / columns + eps);
    for (int i = threadIdx.x; i < columns / 2; i += 256) {
        float2 v = __bfloat1622float2(x[i]), g = __bfloat1622float2(gain[i]);
        y[i] = __floats2bfloat162_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
}
