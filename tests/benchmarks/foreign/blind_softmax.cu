// Softmax of rows with a running maximum and sum. Rows of f32 by threads, by CTAs with a tree in shared memory, and by CTAs with
// shuffles; rows of f32, f16 and bf16 by CTAs, forward and backward, with the approximations that --use_fast_math stands for. Written
// for this repository after the descriptions of the measured kernels.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KERNEL(name) extern "C" __global__ void name
#define ROWS (const float *in, float *out, size_t columns, size_t count)
extern __shared__ float part[];

// adds another running maximum and sum to one
__device__ void merge(float &most, float &sum, float other, float other_sum) {
    float both = fmaxf(most, other);
    sum = sum * expf(most - both) + other_sum * expf(other - both);
    most = both;
}

__device__ void add_value(float &most, float &sum, float value) {
    float both = fmaxf(most, value);
    sum = sum * expf(most - both) + expf(value - both);
    most = both;
}

KERNEL(row_threads) ROWS {
    size_t first = (blockIdx.x * blockDim.x + threadIdx.x) * columns;
    if (first >= count) return;
    float most = in[first], sum = 1;
    for (int i = 1; i < columns; i++) add_value(most, sum, in[first + i]);
    for (int i = 0; i < columns; i++) out[first + i] = expf(in[first + i] - most) / sum;
}

__device__ void own_values(const float *in, size_t columns, float &most, float &sum) {
    size_t row = blockIdx.x, tid = threadIdx.x, threads = blockDim.x, each = (columns + threads - 1) / threads;
    most = in[row * columns + tid], sum = 1;
    for (int i = 1; i < each; i++) {
        int at = row * columns + i * threads + tid;
        if (at < (row + 1) * columns) add_value(most, sum, in[at]);
    }
}

__device__ void written(const float *in, float *out, size_t columns, const float &most, const float &sum) {
    size_t row = blockIdx.x, tid = threadIdx.x, threads = blockDim.x, each = (columns + threads - 1) / threads;
    for (int i = 0; i < each; i++) {
        int at = row * columns + i * threads + tid;
        if (at < (row + 1) * columns) out[at] = expf(in[at] - most) / sum;
    }
}

KERNEL(row_trees) ROWS {
    size_t tid = threadIdx.x, threads = blockDim.x;
    float most, sum;
    own_values(in, columns, most, sum);
    part[tid] = most, part[threads + tid] = sum;
    __syncthreads();
    for (int length = threads < columns ? threads : columns; length > 1;) {
        int before = length;
        length = (length + 1) / 2;
        int other = before - 1 - static_cast<int>(tid);
        if (tid < length && other > static_cast<int>(tid)) {
            float mine = part[tid], mine_sum = part[threads + tid];
            merge(mine, mine_sum, part[other], part[threads + other]);
            part[tid] = mine, part[threads + tid] = mine_sum;
        }
        __syncthreads();
    }
    written(in, out, columns, part[0], part[threads]);
}

__device__ void warp_merge(float &most, float &sum) {
    for (int offset = 16; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(0xffffffff, most, offset), other_sum = __shfl_down_sync(0xffffffff, sum, offset);
        merge(most, sum, other, other_sum);
    }
}

KERNEL(row_shuffles) ROWS {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float most, sum;
    own_values(in, columns, most, sum);
    warp_merge(most, sum);
    if (lane == 0) part[2 * warp] = most, part[2 * warp + 1] = sum;
    __syncthreads();
    most = -3.402823466e38f, sum = 0;
    if (lane < blockDim.x / 32) most = part[2 * lane], sum = part[2 * lane + 1];
    warp_merge(most, sum);
    most = __shfl_sync(0xffffffff, most, 0), sum = __shfl_sync(0xffffffff, sum, 0);
    written(in, out, columns, most, sum);
}

// exp, products and sums as with --use_fast_math, which flushes denormals
__device__ float fast_exp(float x) {
    float scaled, y;
    asm("mul.ftz.f32 %0, %1, 0f3FB8AA3B;" : "=f"(scaled) : "f"(x));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(scaled));
    return y;
}

__device__ void fast_merge(float &most, float &sum) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        float other = __shfl_down_sync(0xffffffff, most, offset), other_sum = __shfl_down_sync(0xffffffff, sum, offset);
        float both = fmaxf(most, other);
        sum = both > -INFINITY ? sum * fast_exp(most - both) + other_sum * fast_exp(other - both) : 0.0f;
        most = both;
    }
}

__device__ float warp_sum(float v) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

template <typename V> __device__ void forward(const V *in, V *out, int rows, int columns) {
    int row = blockIdx.x, warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize, warps = (blockDim.x + warpSize - 1) / warpSize;
    if (row >= rows) return;
    const V *x = in + static_cast<long long>(row) * columns;
    V *y = out + static_cast<long long>(row) * columns;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float value = static_cast<float>(x[i]), both = fmaxf(most, value);
        sum = sum * fast_exp(most - both) + fast_exp(value - both);
        most = both;
    }
    fast_merge(most, sum);
    if (lane == 0) part[warp] = most, part[warps + warp] = sum;
    __syncthreads();
    if (warp == 0) {
        most = lane < warps ? part[lane] : -INFINITY;
        sum = lane < warps ? part[warps + lane] : 0.0f;
        fast_merge(most, sum);
        if (lane == 0) part[0] = most, part[warps] = sum;
    }
    __syncthreads();
    most = part[0];
    float inverse = __fdividef(1.0f, part[warps]);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[i] = static_cast<V>(fast_exp(static_cast<float>(x[i]) - most) * inverse);
}

template <typename V> __device__ void backward(const V *gradients, const V *outputs, V *result, int rows, int columns) {
    int row = blockIdx.x, warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize, warps = (blockDim.x + warpSize - 1) / warpSize;
    if (row >= rows) return;
    const V *dy = gradients + static_cast<long long>(row) * columns, *y = outputs + static_cast<long long>(row) * columns;
    V *dx = result + static_cast<long long>(row) * columns;
    float dot = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) dot += static_cast<float>(y[i]) * static_cast<float>(dy[i]);
    dot = warp_sum(dot);
    if (lane == 0) part[warp] = dot;
    __syncthreads();
    if (warp == 0) {
        dot = warp_sum(lane < warps ? part[lane] : 0.0f);
        if (lane == 0) part[0] = dot;
    }
    __syncthreads();
    dot = part[0];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        dx[i] = static_cast<V>(static_cast<float>(y[i]) * (static_cast<float>(dy[i]) - dot));
}
#define BOTH(name, V)                                                                                                               \
    KERNEL(forward_##name)(const V *in, V *out, int rows, int columns) { forward(in, out, rows, columns); }                        \
    KERNEL(backward_##name)(const V *gradients, const V *outputs, V *result, int rows, int columns) {                               \
        backward(gradients, outputs, result, rows, columns);                                                                        \
    }
BOTH(f32, float)
BOTH(f16, half)
BOTH(bf16, __nv_bfloat16)
