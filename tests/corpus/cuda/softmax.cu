// Softmax of rows. Launch: softmax_block one block of 128 threads a row; the others one warp a row, blocks of 128.
#include <cuda_fp16.h>
#include <math_constants.h>

template <class F> __device__ float over_warp(float v, F f) {
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) v = f(v, __shfl_xor_sync(~0u, v, mask));
    return v;
}
__device__ float add(float a, float b) { return a + b; }

extern "C" __global__ void __launch_bounds__(128) softmax_block(int columns, const float *x, float *y) {
    __shared__ float parts[4];
    const float *row = x + (size_t)blockIdx.x * columns;
    float top = -CUDART_INF_F, sum = 0;
    for (int i = threadIdx.x; i < columns; i += 128) top = fmaxf(top, row[i]);
    top = over_warp(top, fmaxf);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = top;
    __syncthreads();
    top = fmaxf(fmaxf(parts[0], parts[1]), fmaxf(parts[2], parts[3]));
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += 128) sum += __expf(row[i] - top);
    sum = over_warp(sum, add);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 1.f / (parts[0] + parts[1] + parts[2] + parts[3]);
    for (int i = threadIdx.x; i < columns; i += 128) y[(size_t)blockIdx.x * columns + i] = __expf(row[i] - top) * sum;
}

// One pass over the row for maximum and sum.
extern "C" __global__ void softmax_online(int rows, int columns, const float *x, float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += (size_t)row * columns, y += (size_t)row * columns;
    float top = -CUDART_INF_F, sum = 0;
    for (int i = lane; i < columns; i += 32) {
        float v = x[i], higher = fmaxf(top, v);
        sum = sum * __expf(top - higher) + __expf(v - higher);
        top = higher;
    }
    float all = over_warp(top, fmaxf);
    sum = over_warp(top == all ? sum : sum * __expf(top - all), add);
    for (int i = lane; i < columns; i += 32) y[i] = __expf(x[i] - all) / sum;
}

extern "C" __global__ void softmax_half(int rows, int columns, const half *x, half *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float v[4], top = -CUDART_INF_F, sum = 0;                  // at most 128 columns
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = lane + 32 * k;
        v[k] = i < columns ? __half2float(x[(size_t)row * columns + i]) : -CUDART_INF_F;
        top = fmaxf(top, v[k]);
    }
    top = over_warp(top, fmaxf);
#pragma unroll
    for (int k = 0; k < 4; k++) sum += v[k] = exp2f((v[k] - top) * 1.44269504f);
    sum = over_warp(sum, add);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (lane + 32 * k < columns) y[(size_t)row * columns + lane + 32 * k] = __float2half(v[k] / sum);
}
