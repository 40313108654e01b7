// Gradients of a bias from bf16: sums of columns that CTAs add to a buffer, and the buffer added to the bias. Written for this
// repository after the descriptions of the measured kernels.
#include <cuda_bf16.h>
#define KERNEL(name) extern "C" __global__ void name
using Bf16 = __nv_bfloat16;

struct alignas(16) Eight {
    Bf16 values[8];
};

__device__ Eight eight(const Bf16 *from) {
    int4 bits = *reinterpret_cast<const int4 *>(from);
    Eight found;
    memcpy(&found, &bits, sizeof bits);
    return found;
}

// eight columns of a lane, 256 of a CTA; its warps add up in shared memory, then to the buffer
KERNEL(bias_atomics)(float *buffer, const Bf16 *gradients, int batch, int time, int width, int threads) {
    extern __shared__ float shared[];
    int down = threads / 32, local = threadIdx.x * 8, column = blockIdx.x * 256 + local;
    float sums[8];
    for (int k = 0; k < 8; k++) sums[k] = 0;
    int thread = threadIdx.y * 32 + threadIdx.x;
    for (int i = thread; i < 256; i += threads) shared[i] = 0;
    __syncthreads();
    if (column < width) {
        for (int row = blockIdx.y * down + threadIdx.y; row < batch * time; row += gridDim.y * down) {
            Eight values = eight(gradients + column + row * width);
            for (int k = 0; k < 8; k++) sums[k] += __bfloat162float(values.values[k]);
        }
        for (int k = 0; k < 8; k++) atomicAdd(shared + threadIdx.x + k * 32, sums[k]);
    }
    if (threadIdx.y >= 8) return;
    __syncthreads();
    int i = threadIdx.x + threadIdx.y * 32;
    float sum = shared[i];
    __syncthreads();
    shared[local + threadIdx.y] = sum;
    __syncthreads();
    if (i + blockIdx.x * 256 < width) atomicAdd(buffer + i + blockIdx.x * 256, shared[i]);
}

// eight columns of a lane, 64 of a CTA: four lanes and the warps take rows in turn, shuffles add them up
KERNEL(bias_shuffles)(float *buffer, const Bf16 *gradients, int batch, int time, int width) {
    __shared__ float parts[8][32][8];
    int depth = threadIdx.x, group = threadIdx.y, warp = threadIdx.z;
    int column = blockIdx.x * 64 + group * 8, rows = 4 * blockDim.z;
    float sums[8];
    for (int k = 0; k < 8; k++) sums[k] = 0;
    if (column < width) {
        for (int row = blockIdx.y * rows + depth + 4 * warp; row < batch * time; row += gridDim.y * rows) {
            Eight values = eight(gradients + column + row * width);
            for (int k = 0; k < 8; k++) sums[k] += __bfloat162float(values.values[k]);
        }
    }
    for (int k = 0; k < 8; k++) {
        float v = sums[k];
        v += __shfl_down_sync(~0u, v, 1, 4);
        v += __shfl_down_sync(~0u, v, 2, 4);
        if (depth == 0) parts[k][warp][group] = v;
    }
    __syncthreads();
    for (int k = warp; k < 8; k += blockDim.z) {
        float sum = 0;
        for (int first = 0; first < blockDim.z; first += 4) {  // all lanes shuffle, also for one warp
            float v = first + depth < blockDim.z ? parts[k][first + depth][group] : 0;
            v += __shfl_down_sync(~0u, v, 1, 4);
            v += __shfl_down_sync(~0u, v, 2, 4);
            sum += v;
        }
        if (depth == 0 && column < width) atomicAdd(buffer + column + k, sum);
    }
}

KERNEL(bias_from_buffer)(Bf16 *bias, const float *buffer, size_t count) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) bias[i] = __float2bfloat16(__bfloat162float(bias[i]) + buffer[i]);
}
