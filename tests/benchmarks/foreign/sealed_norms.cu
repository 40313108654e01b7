// RMS norms of rows: by CTAs of 256 threads that read a row twice, and by two kernels, by one, and by one with vectors. Written for
// this repository after the descriptions of the measured kernels. Those of the `quarters` are compiled with --use_fast_math, whose
// division the mean takes.
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name

__device__ float down_warp(float v) {
#pragma unroll
    for (int off = 16; off; off /= 2) v += __shfl_down_sync(~0u, v, off);
    return v;
}

__device__ float number(float a) { return a; }
__device__ float number(half a) { return __half2float(a); }
__device__ void put(float &to, float a) { to = a; }
__device__ void put(half &to, float a) { to = __float2half(a); }

// four values of a row at a time: one access of f32, four of f16
template <class T> __device__ float4 quarter(const T *row, int i) {
    if constexpr (sizeof(T) == 4) return reinterpret_cast<const float4 *>(row)[i];
    const T *own = row + i * 4;
    return {number(own[0]), number(own[1]), number(own[2]), number(own[3])};
}

template <class T>
__device__ void quarters(const T *__restrict__ in, const T *__restrict__ weights, T *__restrict__ out, int columns, float tiny) {
    __shared__ float part[8];
    const T *row = in + blockIdx.x * columns;
    T *result = out + blockIdx.x * columns;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0;
    for (int i = threadIdx.x; i < columns / 4; i += 256) {
        float4 v = quarter(row, i);
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = down_warp(sum);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float own = lane < 8 ? part[lane] : 0.0f;
        own += __shfl_down_sync(~0u, own, 4), own += __shfl_down_sync(~0u, own, 2), own += __shfl_down_sync(~0u, own, 1);
        if (lane == 0) part[0] = rsqrtf(__fdividef(own, columns) + tiny);
    }
    __syncthreads();
    float inverse = part[0];
    for (int i = threadIdx.x; i < columns / 4; i += 256) {
        if constexpr (sizeof(T) == 4) {
            float4 v = quarter(row, i), w = quarter(weights, i);
            reinterpret_cast<float4 *>(result)[i] = {v.x * inverse * w.x, v.y * inverse * w.y, v.z * inverse * w.z, v.w * inverse * w.w};
        } else {
            for (int j = 0; j < 4; j++) put(result[i * 4 + j], number(row[i * 4 + j]) * inverse * number(weights[i * 4 + j]));
        }
    }
}

#define QUARTERS(T) (const T *__restrict__ in, const T *__restrict__ weights, T *__restrict__ out, int columns, float tiny)
KERNEL(quarters_f32) QUARTERS(float) { quarters(in, weights, out, columns, tiny); }
KERNEL(quarters_f16) QUARTERS(half) { quarters(in, weights, out, columns, tiny); }

// the sum of a CTA, for its first thread
__device__ float first_of_cta(float v) {
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = down_warp(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[lane] : 0.0f;
    if (warp == 0) v = down_warp(v);
    return v;
}

__device__ float squares(const float *row, size_t columns) {
    float sum = 0;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        float v = row[c];
        sum = fmaf(v, v, sum);
    }
    return first_of_cta(sum);
}

KERNEL(row_scales)(const float *in, float *scales, size_t columns, float tiny) {
    float sum = squares(in + blockIdx.x * columns, columns);
    if (threadIdx.x == 0) scales[blockIdx.x] = rsqrtf(sum / static_cast<float>(columns) + tiny);
}

KERNEL(scaled)(const float *in, const float *weights, const float *scales, float *out, size_t count, size_t columns) {
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        size_t row = i / columns, column = i - row * columns;
        out[i] = in[i] * scales[row] * weights[column];
    }
}

KERNEL(in_one)(const float *in, const float *weights, float *out, size_t columns, float tiny) {
    __shared__ float inverse;
    const float *row = in + blockIdx.x * columns;
    float *result = out + blockIdx.x * columns, sum = squares(row, columns);
    if (threadIdx.x == 0) inverse = rsqrtf(sum / static_cast<float>(columns) + tiny);
    __syncthreads();
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) result[c] = row[c] * inverse * weights[c];
}

KERNEL(in_one_fours)(const float4 *in, const float4 *weights, float4 *out, size_t fours, size_t columns, float tiny) {
    __shared__ float inverse;
    const float4 *row = in + blockIdx.x * fours;
    float4 *result = out + blockIdx.x * fours;
    float sum = 0;
    for (size_t c = threadIdx.x; c < fours; c += blockDim.x) {
        float4 v = row[c];
        sum = fmaf(v.x, v.x, sum), sum = fmaf(v.y, v.y, sum), sum = fmaf(v.z, v.z, sum), sum = fmaf(v.w, v.w, sum);
    }
    sum = first_of_cta(sum);
    if (threadIdx.x == 0) inverse = rsqrtf(sum / static_cast<float>(columns) + tiny);
    __syncthreads();
    for (size_t c = threadIdx.x; c < fours; c += blockDim.x) {
        float4 v = row[c], w = weights[c];
        result[c] = make_float4(v.x * inverse * w.x, v.y * inverse * w.y, v.z * inverse * w.z, v.w * inverse * w.w);
    }
}

KERNEL(in_one_f16)(const half2 *in, const half2 *weights, half2 *out, size_t pairs, size_t columns, float tiny) {
    __shared__ float inverse;
    const half2 *row = in + blockIdx.x * pairs;
    half2 *result = out + blockIdx.x * pairs;
    float sum = 0;
    for (size_t c = threadIdx.x; c < pairs; c += blockDim.x) {
        float2 v = __half22float2(row[c]);
        sum = fmaf(v.x, v.x, sum), sum = fmaf(v.y, v.y, sum);
    }
    sum = first_of_cta(sum);
    if (threadIdx.x == 0) inverse = rsqrtf(sum / static_cast<float>(columns) + tiny);
    __syncthreads();
    for (size_t c = threadIdx.x; c < pairs; c += blockDim.x) {
        float2 v = __half22float2(row[c]), w = __half22float2(weights[c]);
        result[c] = __floats2half2_rn(v.x * inverse * w.x, v.y * inverse * w.y);
    }
}
