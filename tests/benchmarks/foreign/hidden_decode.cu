// Attention of one query to a cache of keys that several CTAs divide, heads of 128 bf16, and the kernel that combines their parts.
// Written for this repository after the descriptions of the measured kernels.
#include <cuda_bf16.h>
#include <math_constants.h>

typedef __nv_bfloat16 bf16;

const int HEAD = 128, WARPS = 4, CHUNK = 32, TEAM = 8, EACH = HEAD / TEAM, COLUMNS = HEAD / 32;  // lanes of a key, numbers of a lane
const float LN2 = 0.6931471805599453f;

// numbers as f32, by the widest accesses of up to 16 bytes
template <int COUNT> __device__ __forceinline__ void numbers(float (&to)[COUNT], const bf16 *from) {
    const int BYTES = COUNT * 2 < 16 ? COUNT * 2 : 16, PART = BYTES / 2;
    struct __align__(BYTES) Vector {
        bf16 values[PART];
    };
#pragma unroll
    for (int i = 0; i < COUNT / PART; i++) {
        const Vector part = reinterpret_cast<const Vector *>(from)[i];
#pragma unroll
        for (int j = 0; j < PART; j++) to[i * PART + j] = __bfloat162float(part.values[j]);
    }
}

// a head of a sequence and a part of its keys: chunks of 32 keys of each of four warps
extern "C" __global__ void __launch_bounds__(WARPS * 32)
    decode_part(const bf16 *q, const bf16 *k, const bf16 *v, const int *lengths, bf16 *out, float *logs, float *partial, float *largests,
                int heads, int capacity, int parts, float scale2) {
    __shared__ float weights[WARPS][CHUNK], found[WARPS][HEAD], warp_largest[WARPS], warp_total[WARPS];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, sequence = blockIdx.x / heads, head = blockIdx.x % heads;
    const int part = blockIdx.y, length = lengths[sequence];
    const int each = ((length + parts - 1) / parts + CHUNK - 1) / CHUNK * CHUNK, begin = part * each, end = min(length, begin + each);
    const long long row = (long long)heads * HEAD;
    const bf16 *keys = k + sequence * capacity * row + head * HEAD, *values = v + sequence * capacity * row + head * HEAD;
    float query[EACH], sums[COLUMNS] = {}, largest = -CUDART_INF_F, total = 0;
    numbers<EACH>(query, q + sequence * row + head * HEAD + lane % TEAM * EACH);
#pragma unroll
    for (int i = 0; i < EACH; i++) query[i] *= scale2;
    const int chunks = end > begin ? (end - begin + CHUNK - 1) / CHUNK : 0;
    for (int chunk = warp; chunk < chunks; chunk += WARPS) {
        const int first = begin + chunk * CHUNK;
#pragma unroll
        for (int step = 0; step < CHUNK / (32 / TEAM); step++) {
            const int at = step * (32 / TEAM) + lane / TEAM;
            const bool valid = first + at < end;
            float key[EACH], sum = 0;
            if (valid) {
                numbers<EACH>(key, keys + (first + at) * row + lane % TEAM * EACH);
            } else {
#pragma unroll
                for (int i = 0; i < EACH; i++) key[i] = 0;
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) sum += query[i] * key[i];
#pragma unroll
            for (int apart = 1; apart < TEAM; apart *= 2) sum += __shfl_xor_sync(~0u, sum, apart);
            if (lane % TEAM == 0) weights[warp][at] = valid ? sum : -CUDART_INF_F;
        }
        __syncwarp();
        const float score = weights[warp][lane];
        float here = score;
#pragma unroll
        for (int apart = 16; apart > 0; apart /= 2) here = fmaxf(here, __shfl_xor_sync(~0u, here, apart));
        const float next = fmaxf(largest, here), origin = next == -CUDART_INF_F ? 0 : next;
        const float factor = exp2f(largest - origin), weight = exp2f(score - origin);
        total = factor * total + weight;
#pragma unroll
        for (int i = 0; i < COLUMNS; i++) sums[i] *= factor;
        largest = next;
        weights[warp][lane] = weight;
        __syncwarp();
        const int count = min(CHUNK, end - first);
#pragma unroll
        for (int at = 0; at < CHUNK; at++)
            if (at < count) {
                float value[COLUMNS];
                numbers<COLUMNS>(value, values + (first + at) * row + lane * COLUMNS);
                const float own = weights[warp][at];
#pragma unroll
                for (int i = 0; i < COLUMNS; i++) sums[i] += own * value[i];
            }
        __syncwarp();
    }
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) total += __shfl_xor_sync(~0u, total, apart);
    if (lane == 0) warp_largest[warp] = largest, warp_total[warp] = total;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) found[warp][lane * COLUMNS + i] = sums[i];
    __syncthreads();
    for (int i = thread; i < HEAD; i += WARPS * 32) {
        float all = -CUDART_INF_F, sum = 0, weight = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++) all = fmaxf(all, warp_largest[w]);
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            if (warp_largest[w] != -CUDART_INF_F) {
                const float factor = exp2f(warp_largest[w] - all);
                sum += found[w][i] * factor;
                weight += warp_total[w] * factor;
            }
        if (parts == 1) {
            out[sequence * row + head * HEAD + i] = __float2bfloat16_rn(weight > 0 ? sum / weight : 0);
            if (i == 0) logs[blockIdx.x] = weight > 0 ? all * LN2 + logf(weight) : -CUDART_INF_F;
        } else {
            const long long slot = (long long)blockIdx.x * parts + part;
            partial[slot * HEAD + i] = sum;
            if (i == 0) largests[2 * slot] = all, largests[2 * slot + 1] = weight;
        }
    }
}

// a column of a head of a thread
extern "C" __global__ void decode_merge(const float *partial, const float *largests, bf16 *out, float *logs, int heads, int parts) {
    const int own = blockIdx.x, column = threadIdx.x;
    const long long first = (long long)own * parts;
    float all = -CUDART_INF_F, sum = 0, weight = 0;
    for (int i = 0; i < parts; i++) all = fmaxf(all, largests[2 * (first + i)]);
    for (int i = 0; i < parts; i++) {
        const float here = largests[2 * (first + i)];
        if (here != -CUDART_INF_F) {
            const float factor = exp2f(here - all);
            sum += partial[(first + i) * HEAD + column] * factor;
            weight += largests[2 * (first + i) + 1] * factor;
        }
    }
    out[((long long)(own / heads) * heads + own % heads) * HEAD + column] = __float2bfloat16_rn(weight > 0 ? sum / weight : 0);
    if (column == 0) logs[own] = weight > 0 ? all * LN2 + logf(weight) : -CUDART_INF_F;
}
