// Attention of one query to the keys and values of each head, in f32: all scores in shared memory, tiles of 128 keys with a running
// softmax, and those tiles by parts of the keys, which a second kernel merges. Written for this repository after the descriptions of
// the measured kernels.
#include <cfloat>
#define KERNEL(name) extern "C" __global__ void name
extern __shared__ float shared[];
const int KEYS = 128;

__device__ float of_warp(float v, bool sum) {
#pragma unroll
    for (int off = 16; off; off >>= 1) {
        float other = __shfl_xor_sync(~0u, v, off);
        v = sum ? v + other : fmaxf(v, other);
    }
    return v;
}

// the sum or the maximum of a CTA, for all of its threads
__device__ float of_cta(float v, float *part, bool sum) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = of_warp(v, sum);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float own = of_warp(lane < (blockDim.x + 31) / 32 ? part[lane] : sum ? 0.0f : -FLT_MAX, sum);
        if (lane == 0) part[0] = own;
    }
    __syncthreads();
    v = part[0];
    __syncthreads();
    return v;
}

KERNEL(all_scores)
(const float *__restrict__ q, const float *__restrict__ keys, const float *__restrict__ values, float *__restrict__ out, int heads,
 int length, int width, float scale) {
    float *scores = shared, *query = shared + length, *part = query + width;
    const float *own_keys = keys + static_cast<size_t>(blockIdx.x) * length * width;
    const float *own_values = values + static_cast<size_t>(blockIdx.x) * length * width;
    for (int d = threadIdx.x; d < width; d += blockDim.x) query[d] = q[static_cast<size_t>(blockIdx.x) * width + d];
    __syncthreads();
    for (int at = threadIdx.x; at < length; at += blockDim.x) {
        float sum = 0;
        const float *key = own_keys + static_cast<size_t>(at) * width;
        for (int d = 0; d < width; d++) sum += query[d] * key[d];
        scores[at] = sum * scale;
    }
    float most = -FLT_MAX, sum = 0;
    for (int at = threadIdx.x; at < length; at += blockDim.x) most = fmaxf(most, scores[at]);
    most = of_cta(most, part, false);
    for (int at = threadIdx.x; at < length; at += blockDim.x) {
        float e = expf(scores[at] - most);
        scores[at] = e;
        sum += e;
    }
    float inverse = 1.0f / of_cta(sum, part, true);
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        float result = 0;
        for (int at = 0; at < length; at++) result += scores[at] * own_values[static_cast<size_t>(at) * width + d];
        out[static_cast<size_t>(blockIdx.x) * width + d] = result * inverse;
    }
}

// attention of a head to the keys from first to last: its maximum, its sum, and the weighted values in shared memory
__device__ void attended(const float *q, const float *keys, const float *values, int first, int last, int length, int width, float scale,
                         float &most, float &sum, float *&result) {
    float *scores = shared, *query = scores + KEYS, *part;
    result = query + width, part = result + width;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float *own_keys = keys + static_cast<size_t>(blockIdx.x) * length * width;
    const float *own_values = values + static_cast<size_t>(blockIdx.x) * length * width;
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        query[d] = q[static_cast<size_t>(blockIdx.x) * width + d];
        result[d] = 0;
    }
    __syncthreads();
    most = -FLT_MAX, sum = 0;
    for (int start = first; start < last; start += KEYS) {
        int count = min(KEYS, last - start);
        for (int t = warp; t < count; t += blockDim.x / 32) {
            const float4 *key = reinterpret_cast<const float4 *>(own_keys + static_cast<size_t>(start + t) * width);
            float one = 0;
            for (int i = lane; i < width / 4; i += 32) {
                float4 a = key[i], b = reinterpret_cast<const float4 *>(query)[i];
                one += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
            }
            one = of_warp(one, true);
            if (lane == 0) scores[t] = one * scale;
        }
        __syncthreads();
        float own = -FLT_MAX, own_sum = 0;
        for (int t = threadIdx.x; t < count; t += blockDim.x) own = fmaxf(own, scores[t]);
        float both = fmaxf(most, of_cta(own, part, false)), before = expf(most - both);
        for (int t = threadIdx.x; t < count; t += blockDim.x) {
            float e = expf(scores[t] - both);
            scores[t] = e;
            own_sum += e;
        }
        sum = sum * before + of_cta(own_sum, part, true);
        most = both;
        for (int d = threadIdx.x; d < width; d += blockDim.x) {
            float total = result[d] * before;
            for (int t = 0; t < count; t++) total += scores[t] * own_values[static_cast<size_t>(start + t) * width + d];
            result[d] = total;
        }
        __syncthreads();
    }
}

KERNEL(tiles)
(const float *__restrict__ q, const float *__restrict__ keys, const float *__restrict__ values, float *__restrict__ out, int heads,
 int length, int width, float scale) {
    float most, sum, *result;
    attended(q, keys, values, 0, length, length, width, scale, most, sum, result);
    float inverse = 1.0f / sum;
    for (int d = threadIdx.x; d < width; d += blockDim.x) out[static_cast<size_t>(blockIdx.x) * width + d] = result[d] * inverse;
}

KERNEL(tiles_in_parts)
(const float *__restrict__ q, const float *__restrict__ keys, const float *__restrict__ values, float *__restrict__ mosts,
 float *__restrict__ sums, float *__restrict__ results, int heads, int length, int width, float scale, int parts) {
    size_t at = static_cast<size_t>(blockIdx.x) * parts + blockIdx.y;
    int each = (length + parts - 1) / parts, first = blockIdx.y * each, last = min(length, first + each);
    if (first >= last) {
        for (int d = threadIdx.x; d < width; d += blockDim.x) results[at * width + d] = 0;
        if (threadIdx.x == 0) mosts[at] = -FLT_MAX, sums[at] = 0;
        return;
    }
    float most, sum, *result;
    attended(q, keys, values, first, last, length, width, scale, most, sum, result);
    for (int d = threadIdx.x; d < width; d += blockDim.x) results[at * width + d] = result[d];
    if (threadIdx.x == 0) mosts[at] = most, sums[at] = sum;
}

KERNEL(merge_parts)
(const float *__restrict__ mosts, const float *__restrict__ sums, const float *__restrict__ results, float *__restrict__ out, int heads,
 int width, int parts) {
    size_t first = static_cast<size_t>(blockIdx.x) * parts;
    float most = -FLT_MAX, sum = 0;
    for (int i = 0; i < parts; i++) most = fmaxf(most, mosts[first + i]);
    for (int i = 0; i < parts; i++) sum += sums[first + i] * expf(mosts[first + i] - most);
    float inverse = 1.0f / sum;
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
        float total = 0;
        for (int i = 0; i < parts; i++) total += results[(first + i) * width + d] * expf(mosts[first + i] - most);
        out[static_cast<size_t>(blockIdx.x) * width + d] = total * inverse;
    }
}
