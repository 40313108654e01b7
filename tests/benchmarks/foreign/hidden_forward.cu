// Kernels of a forward pass in f32: an activation, norms of rows by 256 threads, and causal attention with a query of a thread.
// Written for this repository after the descriptions of the measured kernels.
#include <float.h>
#define KERNEL(name) extern "C" __global__ void name

const int THREADS = 256, WIDE = 64;  // of a row; numbers of a head

__device__ __forceinline__ float activated(float x) { return x / (1 + expf(-x)); }

KERNEL(silu_each)(const float *in, float *out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = activated(in[i]);
}

KERNEL(silu_fours)(const float4 *in, float4 *out, int fours) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fours) return;
    const float4 x = in[i];
    out[i] = make_float4(activated(x.x), activated(x.y), activated(x.z), activated(x.w));
}

// sums by a tree in shared memory
KERNEL(rms_tree)(const float *in, const float *weights, float *out, int width, float eps) {
    __shared__ float sums[THREADS];
    const int thread = threadIdx.x;
    const float *row = in + size_t(blockIdx.x) * width;
    float *to = out + size_t(blockIdx.x) * width, sum = 0;
    for (int i = thread; i < width; i += THREADS) sum += row[i] * row[i];
    sums[thread] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) sums[thread] += sums[thread + half];
        __syncthreads();
    }
    const float scale = rsqrtf(sums[0] / width + eps);
    for (int i = thread; i < width; i += THREADS) to[i] = row[i] * scale * weights[i];
}

__device__ __forceinline__ float warp_sum(float x) {
    for (int apart = 16; apart > 0; apart /= 2) x += __shfl_down_sync(~0u, x, apart);
    return x;
}

// sums by shuffles, four numbers at a time
KERNEL(rms_shuffles)(const float4 *in, const float4 *weights, float4 *out, int fours, float eps) {
    __shared__ float sums[THREADS / 32];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const float4 *row = in + size_t(blockIdx.x) * fours;
    float4 *to = out + size_t(blockIdx.x) * fours;
    float sum = 0;
    for (int i = thread; i < fours; i += THREADS) {
        const float4 x = row[i];
        sum += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < THREADS / 32 ? sums[lane] : 0);
        if (lane == 0) sums[0] = sum;
    }
    __syncthreads();
    const float scale = rsqrtf(sums[0] / (fours * 4) + eps);
    for (int i = thread; i < fours; i += THREADS) {
        const float4 x = row[i], w = weights[i];
        to[i] = make_float4(x.x * scale * w.x, x.y * scale * w.y, x.z * scale * w.z, x.w * scale * w.w);
    }
}

// sums and sums of squares by a tree
KERNEL(layer_tree)(const float *in, const float *weights, const float *biases, float *out, int width, float eps) {
    __shared__ float sums[THREADS], squares[THREADS];
    const int thread = threadIdx.x;
    const float *row = in + size_t(blockIdx.x) * width;
    float *to = out + size_t(blockIdx.x) * width, sum = 0, square = 0;
    for (int i = thread; i < width; i += THREADS) {
        const float x = row[i];
        sum += x, square += x * x;
    }
    sums[thread] = sum, squares[thread] = square;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) sums[thread] += sums[thread + half], squares[thread] += squares[thread + half];
        __syncthreads();
    }
    const float mean = sums[0] / width, scale = rsqrtf(squares[0] / width - mean * mean + eps);
    for (int i = thread; i < width; i += THREADS) to[i] = (row[i] - mean) * scale * weights[i] + biases[i];
}

struct Online {  // a query's weighted values so far, with their largest score and sum
    float sums[WIDE] = {}, largest = -FLT_MAX, total = 0;
    __device__ __forceinline__ void add(const float *query, const float *key, const float *value, float scale) {
        float score = 0;
#pragma unroll
        for (int i = 0; i < WIDE; i++) score += query[i] * key[i];
        score *= scale;
        const float next = fmaxf(largest, score), before = __expf(largest - next), now = __expf(score - next);
        total = total * before + now;
#pragma unroll
        for (int i = 0; i < WIDE; i++) sums[i] = sums[i] * before + now * value[i];
        largest = next;
    }
    __device__ __forceinline__ void store(float *out) const {
        const float inverse = 1 / total;
#pragma unroll
        for (int i = 0; i < WIDE; i++) out[i] = sums[i] * inverse;
    }
};

// keys and values from global memory
KERNEL(attend_each)(const float *q, const float *k, const float *v, float *out, int length, float scale) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y;
    if (row >= length) return;
    const float *query = q + (size_t(head) * length + row) * WIDE, *keys = k + size_t(head) * length * WIDE;
    const float *values = v + size_t(head) * length * WIDE;
    Online found;
    for (int key = 0; key <= row; key++) found.add(query, keys + size_t(key) * WIDE, values + size_t(key) * WIDE, scale);
    found.store(out + (size_t(head) * length + row) * WIDE);
}

// 64 queries of a CTA, 64 keys and values at a time in shared memory
KERNEL(attend_tiles)(const float *q, const float *k, const float *v, float *out, int length, float scale) {
    __shared__ float keys[64][WIDE], values[64][WIDE];
    const int head = blockIdx.y, first = blockIdx.x * 64, thread = threadIdx.x, row = first + thread;
    const bool valid = row < length;
    const float *from_k = k + size_t(head) * length * WIDE, *from_v = v + size_t(head) * length * WIDE;
    float query[WIDE];
    Online found;
    if (valid) {
        const float *from = q + (size_t(head) * length + row) * WIDE;
#pragma unroll
        for (int i = 0; i < WIDE; i++) query[i] = from[i];
    }
    const int end = min(length, first + 64);
    for (int start = 0; start < end; start += 64) {
        for (int i = thread; i < 64 * WIDE; i += 64) {
            const int at = i / WIDE, column = i % WIDE, key = start + at;
            keys[at][column] = key < length ? from_k[size_t(key) * WIDE + column] : 0;
            values[at][column] = key < length ? from_v[size_t(key) * WIDE + column] : 0;
        }
        __syncthreads();
        if (valid)
            for (int at = 0; at < 64; at++) {
                if (start + at > row) break;
                found.add(query, keys[at], values[at], scale);
            }
        __syncthreads();
    }
    if (valid) found.store(out + (size_t(head) * length + row) * WIDE);
}
