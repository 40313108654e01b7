// Products of a matrix of f16, 8-bit or 4-bit integers with a vector of f16, several threads for each row. Written for this repository
// after the description of the measured kernels: eight or 16 elements at a time, of which the integers are read by pairs, since the
// structures that hold them are no more aligned than these.
#include <cstdint>
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name
struct Pairs8 {
    uint16_t pair[4];
};
struct Pairs4 {
    uint8_t pair[4];
};

// adds over the threads of a row, and then over its warps
__device__ float some_lanes(float v, unsigned threads) {
    if (threads >= 32) v += __shfl_down_sync(~0u, v, 16);
    if (threads >= 16) v += __shfl_down_sync(~0u, v, 8);
    if (threads >= 8) v += __shfl_down_sync(~0u, v, 4);
    if (threads >= 4) v += __shfl_down_sync(~0u, v, 2);
    if (threads >= 2) v += __shfl_down_sync(~0u, v, 1);
    return v;
}

__device__ void finish(float sum, half *out, unsigned row) {
    __shared__ float part[64][32];
    sum = some_lanes(sum, blockDim.x);
    if (blockDim.x <= 32) {
        if (threadIdx.x == 0) out[row] = __float2half(sum);
        return;
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) part[threadIdx.y][warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.y][lane] : 0.0f;
    if (warp == 0) sum = some_lanes(sum, blockDim.x / 32);
    if (threadIdx.x == 0) out[row] = __float2half(sum);
}

__device__ float2 pair_of(const float4 &eight, int i) { return __half22float2(reinterpret_cast<const half2 *>(&eight)[i]); }

KERNEL(of_f16)(const half *matrix, const half *vector, half *out, unsigned n, unsigned each) {
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const float4 *m = reinterpret_cast<const float4 *>(matrix), *v = reinterpret_cast<const float4 *>(vector);
    float sum = 0;
#pragma unroll
    for (int step = 0; step < each >> 3; step++) {
        unsigned j = threadIdx.x + step * blockDim.x;
        if (j < n >> 3) {
            float4 b = v[j], a = m[row * (n >> 3) + j];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float2 x = pair_of(b, i), y = pair_of(a, i);
                sum += x.x * y.x;
                sum += x.y * y.y;
            }
        }
    }
    finish(sum, out, row);
}

KERNEL(of_8_bits)(const int8_t *matrix, const half *vector, half *out, unsigned n, half scale, half zero, unsigned each) {
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const Pairs8 *m = reinterpret_cast<const Pairs8 *>(matrix);
    const float4 *v = reinterpret_cast<const float4 *>(vector);
    float sum = 0, origin = __half2float(zero);
#pragma unroll
    for (int step = 0; step < each >> 3; step++) {
        unsigned j = threadIdx.x + step * blockDim.x;
        if (j < n >> 3) {
            float4 b = v[j];
            Pairs8 a = m[row * (n >> 3) + j];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float2 x = pair_of(b, i);
                sum += x.x * (static_cast<float>(static_cast<int8_t>(a.pair[i] & 0xff)) - origin);
                sum += x.y * (static_cast<float>(static_cast<int8_t>(a.pair[i] >> 8)) - origin);
            }
        }
    }
    finish(sum * __half2float(scale), out, row);
}

KERNEL(of_4_bits)(const uint8_t *matrix, const half *vector, half *out, unsigned n, half scale, half zero, unsigned each) {
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const Pairs4 *m = reinterpret_cast<const Pairs4 *>(matrix);
    const float4 *v = reinterpret_cast<const float4 *>(vector);
    float sum = 0, origin = __half2float(zero);
#pragma unroll
    for (int step = 0; step < each >> 4; step++) {
        unsigned j = 2 * (threadIdx.x + step * blockDim.x);
        if (j < n >> 3) {
            float4 b[2] = {v[j], v[j + 1]};
            Pairs4 a[2] = {m[row * (n >> 3) + j], m[row * (n >> 3) + j + 1]};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float2 x = pair_of(b[i / 4], i % 4);
                uint8_t pair = a[i / 4].pair[i % 4];
                sum += x.x * (static_cast<float>(pair & 15) - origin);
                sum += x.y * (static_cast<float>(pair >> 4) - origin);
            }
        }
    }
    finish(sum * __half2float(scale), out, row);
}
