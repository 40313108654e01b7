// Causal attention: three kernels by rows, and tiles of 32 queries and 32 keys by a thread, 8 threads or wmma, with fast math. Written
// for this repository after the descriptions of the measured kernels.
#include <cuda_fp16.h>
#include <math_constants.h>
#include <mma.h>
#define KERNEL(name) extern "C" __global__ void name

const int TILE = 32, HEAD = 64, PART = 8, TEAM = HEAD / PART;  // queries and keys, numbers of a head, of a thread, threads of a query

// scores of all keys, a row of a thread
KERNEL(row_scores)(const float *__restrict__ q, const float *__restrict__ k, float *__restrict__ scores, int length, int width, float scale) {
    const int head = blockIdx.x, row = threadIdx.x;
    if (row >= length) return;
    const float *query = q + head * length * width + row * width, *keys = k + head * length * width;
    float *to = scores + head * length * length + row * length;
    for (int key = 0; key < length; key++) {
        if (key > row) {
            to[key] = -CUDART_INF_F;
        } else {
            float sum = 0;
            for (int i = 0; i < width; i++) sum += query[i] * keys[key * width + i];
            to[key] = sum * scale;
        }
    }
}

KERNEL(row_softmax)(float *__restrict__ scores, int length) {
    const int head = blockIdx.x, row = threadIdx.x;
    if (row >= length) return;
    float *from = scores + head * length * length + row * length, largest = -CUDART_INF_F, sum = 0;
    for (int i = 0; i < length; i++) largest = fmaxf(largest, from[i]);
    for (int i = 0; i < length; i++) {
        from[i] = __expf(from[i] - largest);
        sum += from[i];
    }
    for (int i = 0; i < length; i++) from[i] = __fdividef(from[i], sum);
}

KERNEL(row_values)(const float *__restrict__ weights, const float *__restrict__ v, float *__restrict__ out, int length, int width) {
    const int head = blockIdx.x, row = threadIdx.x;
    if (row >= length) return;
    const float *from = weights + head * length * length + row * length, *values = v + head * length * width;
    float *to = out + head * length * width + row * width;
    for (int i = 0; i < width; i++) {
        float sum = 0;
        for (int key = 0; key < length; key++) sum += from[key] * values[key * width + i];
        to[i] = sum;
    }
}

// a query of a thread, whose weighted values are an array of 128 that the width at run time indexes
KERNEL(tile_threads)(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v, float *__restrict__ out,
                     float *__restrict__ logs, int length, int width, float scale) {
    extern __shared__ float shared[];
    float *query = shared, *keys = query + TILE * width, *values = keys + TILE * width, *scores = values + TILE * width;
    const int head = blockIdx.x * gridDim.y + blockIdx.y, thread = threadIdx.x, row = blockIdx.z * TILE + thread;
    if (row >= length) return;
    const float *from_q = q + head * length * width, *from_k = k + head * length * width, *from_v = v + head * length * width;
    for (int i = 0; i < width; i++) query[thread * width + i] = from_q[row * width + i];
    float largest = 0, total = 0, sums[128];
    for (int i = 0; i < width; i++) sums[i] = 0;
    const int tiles = (length + TILE - 1) / TILE, end = row / TILE + 1;
    for (int tile = 0; tile < end && tile < tiles; tile++) {
        const int first = tile * TILE, key = first + thread;
        if (key < length) {
            for (int i = 0; i < width; i++) {
                keys[thread * width + i] = from_k[key * width + i];
                values[thread * width + i] = from_v[key * width + i];
            }
        } else {
            for (int i = 0; i < width; i++) keys[thread * width + i] = values[thread * width + i] = 0;
        }
        __syncthreads();
        for (int at = 0; at < TILE; at++) {
            if (first + at > row || first + at >= length) {
                scores[thread * TILE + at] = -CUDART_INF_F;
            } else {
                float sum = 0;
                for (int i = 0; i < width; i++) sum += query[thread * width + i] * keys[at * width + i];
                scores[thread * TILE + at] = sum * scale;
            }
        }
        float here = -CUDART_INF_F;
        for (int at = 0; at < TILE; at++) here = fmaxf(here, scores[thread * TILE + at]);
        const float next = fmaxf(largest, here), before = __expf(largest - next);
        total *= before;
        for (int i = 0; i < width; i++) sums[i] *= before;
        float added = 0;
        for (int at = 0; at < TILE; at++) {
            const float weight = __expf(scores[thread * TILE + at] - next);
            added += weight;
            for (int i = 0; i < width; i++) sums[i] += weight * values[at * width + i];
        }
        largest = next, total += added;
        __syncthreads();
    }
    for (int i = 0; i < width; i++) out[(head * length + row) * width + i] = __fdividef(sums[i], total);
    logs[head * length + row] = largest + __logf(total);
}

template <bool LARGEST> __device__ __forceinline__ float of_team(float x) {
#pragma unroll
    for (int apart = TEAM / 2; apart > 0; apart /= 2) {
        const float other = __shfl_xor_sync(~0u, x, apart);
        x = LARGEST ? fmaxf(x, other) : x + other;
    }
    return x;
}

// eight threads of a query, each with eight of its numbers
KERNEL(tile_teams)(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v, float *__restrict__ out,
                   float *__restrict__ logs, int length, float scale) {
    extern __shared__ float shared[];
    float *keys = shared, *values = keys + TILE * HEAD, *scores = values + TILE * HEAD;
    const int head = blockIdx.x * gridDim.y + blockIdx.y, thread = threadIdx.x, own = thread / TEAM, lane = thread % TEAM;
    const int row = blockIdx.z * TILE + own, tiles = (length + TILE - 1) / TILE;
    const float *from_q = q + head * length * HEAD, *from_k = k + head * length * HEAD, *from_v = v + head * length * HEAD;
    float query[PART] = {}, sums[PART] = {}, largest = -CUDART_INF_F, total = 0;
    if (row < length) {
        const float4 *from = reinterpret_cast<const float4 *>(&from_q[row * HEAD + lane * PART]), x = from[0], y = from[1];
        query[0] = x.x, query[1] = x.y, query[2] = x.z, query[3] = x.w, query[4] = y.x, query[5] = y.y, query[6] = y.z, query[7] = y.w;
    }
    const int end = min(min(blockIdx.z * TILE + TILE - 1, length - 1) / TILE + 1, tiles);
    for (int tile = 0; tile < end; tile++) {
        const int first = tile * TILE;
#pragma unroll
        for (int i = 0; i < TILE * HEAD / 4 / 256; i++) {
            const int at = (thread + i * 256) * 4, key = first + at / HEAD;
            float4 x = make_float4(0, 0, 0, 0), y = x;
            if (key < length) {
                x = *reinterpret_cast<const float4 *>(&from_k[key * HEAD + at % HEAD]);
                y = *reinterpret_cast<const float4 *>(&from_v[key * HEAD + at % HEAD]);
            }
            *reinterpret_cast<float4 *>(&keys[at]) = x;
            *reinterpret_cast<float4 *>(&values[at]) = y;
        }
        __syncthreads();
#pragma unroll
        for (int at = 0; at < TILE; at++) {
            float sum = 0;
#pragma unroll
            for (int i = 0; i < PART; i++) sum += query[i] * keys[at * HEAD + lane * PART + i];
            sum = of_team<false>(sum);
            const int key = first + at;
            if (lane == 0) scores[own * TILE + at] = key > row || key >= length || row >= length ? -CUDART_INF_F : sum * scale;
        }
        __syncthreads();
        float here = -CUDART_INF_F, added = 0;
#pragma unroll
        for (int at = lane; at < TILE; at += TEAM) here = fmaxf(here, scores[own * TILE + at]);
        const float next = fmaxf(largest, of_team<true>(here)), before = __expf(largest - next);
        total *= before;
#pragma unroll
        for (int i = 0; i < PART; i++) sums[i] *= before;
#pragma unroll
        for (int at = lane; at < TILE; at += TEAM) {
            const float weight = __expf(scores[own * TILE + at] - next);
            scores[own * TILE + at] = weight;
            added += weight;
        }
        total += of_team<false>(added);
        largest = next;
        __syncthreads();
#pragma unroll
        for (int at = 0; at < TILE; at++) {
            const float weight = scores[own * TILE + at];
#pragma unroll
            for (int i = 0; i < PART; i++) sums[i] += weight * values[at * HEAD + lane * PART + i];
        }
        __syncthreads();
    }
    if (row >= length) return;
    const float inverse = __fdividef(1.0f, total);
    float4 *to = reinterpret_cast<float4 *>(&out[(head * length + row) * HEAD + lane * PART]);
    to[0] = make_float4(sums[0] * inverse, sums[1] * inverse, sums[2] * inverse, sums[3] * inverse);
    to[1] = make_float4(sums[4] * inverse, sums[5] * inverse, sums[6] * inverse, sums[7] * inverse);
    if (lane == 0) logs[head * length + row] = largest + __logf(total);
}

// four warps by wmma in f16; the weighted values are kept in shared memory in f32
KERNEL(tile_wmma)(const half *__restrict__ q, const half *__restrict__ k, const half *__restrict__ v, half *__restrict__ out,
                  float *__restrict__ logs, int length, float scale) {
    using namespace nvcuda::wmma;
    extern __shared__ float shared[];
    half *query = reinterpret_cast<half *>(shared), *keys = query + TILE * HEAD, *values = keys + TILE * HEAD;
    float *scores = reinterpret_cast<float *>(values + TILE * HEAD);
    half *weights = reinterpret_cast<half *>(scores + TILE * TILE);
    float *largest = reinterpret_cast<float *>(weights + TILE * TILE), *totals = largest + TILE, *before = totals + TILE;
    float *sums = before + TILE;
    const int head = blockIdx.x * gridDim.y + blockIdx.y, thread = threadIdx.x, first_row = blockIdx.z * TILE;
    const int down = thread / 32 / 2 * 16, across = thread / 32 % 2;
    const half *from_q = q + head * length * HEAD, *from_k = k + head * length * HEAD, *from_v = v + head * length * HEAD;
    if (thread < TILE) largest[thread] = -CUDART_INF_F, totals[thread] = 0;
    for (int i = thread; i < TILE * HEAD; i += 128) sums[i] = 0;
    for (int i = thread; i < TILE * HEAD; i += 128) {
        const int row = first_row + i / HEAD;
        query[i] = row < length ? from_q[row * HEAD + i % HEAD] : __float2half(0);
    }
    __syncthreads();
    const int tiles = (length + TILE - 1) / TILE, last = min(first_row + TILE - 1, length - 1);
    const int end = last >= 0 ? min(last / TILE + 1, tiles) : 0;
    for (int tile = 0; tile < end; tile++) {
        const int first = tile * TILE;
        for (int i = thread; i < TILE * HEAD; i += 128) {
            const int key = first + i / HEAD;
            keys[i] = key < length ? from_k[key * HEAD + i % HEAD] : __float2half(0);
            values[i] = key < length ? from_v[key * HEAD + i % HEAD] : __float2half(0);
        }
        __syncthreads();
        {
            fragment<accumulator, 16, 16, 16, float> found;
            fill_fragment(found, 0.0f);
#pragma unroll
            for (int i = 0; i < HEAD; i += 16) {
                fragment<matrix_a, 16, 16, 16, half, row_major> a;
                fragment<matrix_b, 16, 16, 16, half, col_major> b;
                load_matrix_sync(a, query + down * HEAD + i, HEAD);
                load_matrix_sync(b, keys + across * 16 * HEAD + i, HEAD);
                mma_sync(found, a, b, found);
            }
#pragma unroll
            for (int i = 0; i < found.num_elements; i++) found.x[i] *= scale;
            store_matrix_sync(scores + down * TILE + across * 16, found, TILE, mem_row_major);
        }
        __syncthreads();
        for (int i = thread; i < TILE * TILE; i += 128) {
            const int row = first_row + i / TILE, key = first + i % TILE;
            if (key > row || key >= length || row >= length) scores[i] = -CUDART_INF_F;
        }
        __syncthreads();
        for (int at = thread; at < TILE; at += 128) {
            if (first_row + at >= length) {
                before[at] = 1;
                continue;
            }
            const float previous = largest[at];
            float here = -CUDART_INF_F, added = 0;
            for (int i = 0; i < TILE; i++) here = fmaxf(here, scores[at * TILE + i]);
            const float next = fmaxf(previous, here), factor = __expf(previous - next);
            for (int i = 0; i < TILE; i++) {
                const float weight = __expf(scores[at * TILE + i] - next);
                scores[at * TILE + i] = weight;
                added += weight;
            }
            largest[at] = next;
            totals[at] = totals[at] * factor + added;
            before[at] = factor;
        }
        __syncthreads();
        for (int i = thread; i < TILE * HEAD; i += 128) sums[i] *= before[i / HEAD];
        for (int i = thread; i < TILE * TILE; i += 128) weights[i] = __float2half(scores[i]);
        __syncthreads();
#pragma unroll
        for (int j = 0; j < HEAD / 16 / 2; j++) {
            const int column = (across * (HEAD / 16 / 2) + j) * 16;
            fragment<accumulator, 16, 16, 16, float> found;
            load_matrix_sync(found, sums + down * HEAD + column, HEAD, mem_row_major);
#pragma unroll
            for (int i = 0; i < TILE; i += 16) {
                fragment<matrix_a, 16, 16, 16, half, row_major> a;
                fragment<matrix_b, 16, 16, 16, half, row_major> b;
                load_matrix_sync(a, weights + down * TILE + i, TILE);
                load_matrix_sync(b, values + i * HEAD + column, HEAD);
                mma_sync(found, a, b, found);
            }
            store_matrix_sync(sums + down * HEAD + column, found, HEAD, mem_row_major);
        }
        __syncthreads();
    }
    for (int i = thread; i < TILE * HEAD; i += 128) {
        const int row = first_row + i / HEAD;
        if (row < length) out[(head * length + row) * HEAD + i % HEAD] = __float2half(sums[i] * __fdividef(1.0f, totals[i / HEAD]));
    }
    if (thread < TILE && first_row + thread < length) logs[head * length + first_row + thread] = largest[thread] + __logf(totals[thread]);
}
