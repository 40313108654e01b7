// Attention of heads of 128 numbers: unfused, by scores and by patches in f32, and by mma in bf16 without and with cp.async. Written for
// this repository after the descriptions of the measured kernels.
#include <cuda_bf16.h>
#include <math_constants.h>
#define KERNEL(name) extern "C" __global__ void name

typedef __nv_bfloat16 bf16;

const int HEAD = 128, TILE = 64, THREADS = 128;  // numbers of a head, queries and keys of a tile
const float LN2 = 0.6931471805599453f;

// a product by tiles of 16 x 16, an element of a thread: the second matrix is given by its columns or by its rows
template <bool COLUMNS>
__device__ __forceinline__ void by_tiles(const float *a, long long row_a, const float *b, long long row_b, float *c, long long row_c, int m,
                                         int n, int k) {
    __shared__ float left[16][17], right[16][17];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int from = 0; from < k; from += 16) {
        left[y][x] = row < m && from + x < k ? a[row * row_a + from + x] : 0;
        if (COLUMNS) {
            const int own = blockIdx.x * 16 + y;
            right[x][y] = own < n && from + x < k ? b[own * row_b + from + x] : 0;
        } else {
            right[y][x] = from + y < k && column < n ? b[(from + y) * row_b + column] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * row_c + column] = sum;
}

// where the rows of a head begin, of arrays by sequences, rows, heads and numbers
__device__ __forceinline__ long long begin(int sequence, int head, int heads, int length) {
    return ((long long)sequence * length * heads + head) * HEAD;
}

extern "C" __global__ void __launch_bounds__(256) plain_scores(const float *q, const float *k, float *scores, int heads, int length) {
    const long long from = begin(blockIdx.z / heads, blockIdx.z % heads, heads, length), row = (long long)heads * HEAD;
    by_tiles<true>(q + from, row, k + from, row, scores + (long long)blockIdx.z * length * length, length, length, length, HEAD);
}

KERNEL(plain_mask)(float *scores, long long count, int length, float scale, int causal) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int key = int(i % length), row = int(i / length % length);
    scores[i] = causal && key > row ? -CUDART_INF_F : scores[i] * scale;
}

template <bool LARGEST> __device__ __forceinline__ float of_block(float x, float *shared) {
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
        const float other = __shfl_xor_sync(~0u, x, apart);
        x = LARGEST ? fmaxf(x, other) : x + other;
    }
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
    __syncthreads();
    x = LARGEST ? -CUDART_INF_F : 0;
    for (int warp = 0; warp < 8; warp++) x = LARGEST ? fmaxf(x, shared[warp]) : x + shared[warp];
    __syncthreads();
    return x;
}

extern "C" __global__ void __launch_bounds__(256) plain_softmax(float *scores, float *logs, int length) {
    __shared__ float shared[8];
    float *row = scores + (long long)blockIdx.x * length, largest = -CUDART_INF_F, sum = 0;
    for (int i = threadIdx.x; i < length; i += 256) largest = fmaxf(largest, row[i]);
    largest = of_block<true>(largest, shared);
    if (largest == -CUDART_INF_F) {
        for (int i = threadIdx.x; i < length; i += 256) row[i] = 0;
        if (threadIdx.x == 0) logs[blockIdx.x] = -CUDART_INF_F;
        return;
    }
    for (int i = threadIdx.x; i < length; i += 256) sum += expf(row[i] - largest);
    sum = of_block<false>(sum, shared);
    const float inverse = 1 / sum;
    for (int i = threadIdx.x; i < length; i += 256) row[i] = expf(row[i] - largest) * inverse;
    if (threadIdx.x == 0) logs[blockIdx.x] = largest + logf(sum);
}

extern "C" __global__ void __launch_bounds__(256) plain_values(const float *weights, const float *v, float *out, int heads, int length) {
    const long long from = begin(blockIdx.z / heads, blockIdx.z % heads, heads, length), row = (long long)heads * HEAD;
    by_tiles<false>(weights + (long long)blockIdx.z * length * length, length, v + from, row, out + from, row, length, HEAD, length);
}

// 32 queries and 8 keys at a time, a score of each of 256 threads; the weighted values in shared memory
extern "C" __global__ void __launch_bounds__(256)
    fused_scores(const float *q, const float *k, const float *v, float *out, float *logs, int heads, int length, float scale, int causal) {
    const int ROWS = 32, KEYS = 8;
    __shared__ float query[ROWS][HEAD + 1], keys[KEYS][HEAD + 1], values[KEYS][HEAD + 1], sums[ROWS][HEAD + 1], scores[ROWS][KEYS];
    __shared__ float largest[ROWS], totals[ROWS], before[ROWS];
    const int thread = threadIdx.x, first = blockIdx.x * ROWS, sequence = blockIdx.y / heads, head = blockIdx.y % heads;
    const long long from = begin(sequence, head, heads, length), row = (long long)heads * HEAD;
    for (int i = thread; i < ROWS * HEAD; i += 256) {
        const int at = i / HEAD, column = i % HEAD;
        query[at][column] = first + at < length ? q[from + (first + at) * row + column] : 0;
        sums[at][column] = 0;
    }
    if (thread < ROWS) largest[thread] = -CUDART_INF_F, totals[thread] = 0;
    __syncthreads();
    int end = length;
    if (causal) end = min(end, min(first + ROWS, length));
    const int tiles = end > 0 ? (end + KEYS - 1) / KEYS : 0, own = thread / KEYS, key = thread % KEYS;
    for (int tile = 0; tile < tiles; tile++) {
        const int start = tile * KEYS;
        for (int i = thread; i < KEYS * HEAD; i += 256) {
            const int at = i / HEAD, column = i % HEAD;
            const bool valid = start + at < length;
            keys[at][column] = valid ? k[from + (start + at) * row + column] : 0;
            values[at][column] = valid ? v[from + (start + at) * row + column] : 0;
        }
        __syncthreads();
        float score = 0;
        for (int i = 0; i < HEAD; i++) score += query[own][i] * keys[key][i];
        const bool hidden = start + key >= length || (causal && start + key > first + own);
        scores[own][key] = hidden ? -CUDART_INF_F : score * scale;
        __syncthreads();
        if (thread < ROWS) {
            const float previous = largest[thread];
            float next = previous, added = 0;
            for (int i = 0; i < KEYS; i++) next = fmaxf(next, scores[thread][i]);
            const float origin = next == -CUDART_INF_F ? 0 : next;
            for (int i = 0; i < KEYS; i++) {
                const float weight = expf(scores[thread][i] - origin);
                scores[thread][i] = weight;
                added += weight;
            }
            const float factor = expf(previous - origin);
            before[thread] = factor;
            totals[thread] = factor * totals[thread] + added;
            largest[thread] = next;
        }
        __syncthreads();
        for (int i = thread; i < ROWS * HEAD; i += 256) {
            const int at = i / HEAD, column = i % HEAD;
            float sum = before[at] * sums[at][column];
            for (int j = 0; j < KEYS; j++) sum += scores[at][j] * values[j][column];
            sums[at][column] = sum;
        }
        __syncthreads();
    }
    for (int i = thread; i < ROWS * HEAD; i += 256) {
        const int at = i / HEAD, column = i % HEAD;
        if (first + at < length) out[from + (first + at) * row + column] = totals[at] > 0 ? sums[at][column] / totals[at] : 0;
    }
    if (thread < ROWS && first + thread < length)
        logs[(long long)blockIdx.y * length + first + thread] = totals[thread] > 0 ? largest[thread] + logf(totals[thread]) : -CUDART_INF_F;
}

const int APART = HEAD + 4;  // numbers from row to row of a tile in f32

__device__ __forceinline__ void load_rows(float *to, const float *from, long long row, int first, int valid, int thread) {
#pragma unroll
    for (int i = thread; i < TILE * HEAD / 4; i += THREADS) {
        const int at = i / (HEAD / 4), column = i % (HEAD / 4) * 4;
        float4 four = make_float4(0, 0, 0, 0);
        if (at < valid) four = *reinterpret_cast<const float4 *>(from + (first + at) * row + column);
        *reinterpret_cast<float4 *>(to + at * APART + column) = four;
    }
}

__device__ __forceinline__ float of_lanes(float x, int lanes, bool largest) {
#pragma unroll
    for (int apart = 1; apart < lanes; apart *= 2) {
        const float other = __shfl_xor_sync(~0u, x, apart);
        x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
}

// 64 queries and 64 keys at a time, 16 queries of a warp, 4 x 8 scores of a lane in registers
extern "C" __global__ void __launch_bounds__(THREADS) fused_patches(const float *q, const float *k, const float *v, float *out, float *logs,
                                                                    int heads, int length, float scale, float scale2, int causal) {
    extern __shared__ __align__(16) float shared[];
    float *query = shared, *keys = query + TILE * APART, *values = keys + TILE * APART;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, down = lane / 8, across = lane % 8;
    float *weights = values + TILE * APART + warp * 16 * (TILE + 8);
    const int first = blockIdx.x * TILE, sequence = blockIdx.y / heads, head = blockIdx.y % heads, own = first + warp * 16;
    const long long from = begin(sequence, head, heads, length), row = (long long)heads * HEAD;
    load_rows(query, q + from, row, first, min(TILE, length - first), thread);
    float sums[4][HEAD / 8] = {}, largest[4], totals[4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++) largest[i] = -CUDART_INF_F;
    const float *own_query = query + warp * 16 * APART;
    int end = length;
    if (causal) end = min(end, min(first + TILE, length));
    const int tiles = end > 0 ? (end + TILE - 1) / TILE : 0;
    for (int tile = 0; tile < tiles; tile++) {
        const int start = tile * TILE, valid = min(TILE, length - start);
        __syncthreads();
        load_rows(keys, k + from, row, start, valid, thread);
        load_rows(values, v + from, row, start, valid, thread);
        __syncthreads();
        float scores[4][8] = {};
#pragma unroll 4
        for (int d = 0; d < HEAD; d += 4) {
            float4 x[4], y[8];
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = *reinterpret_cast<const float4 *>(own_query + (down + 4 * i) * APART + d);
#pragma unroll
            for (int j = 0; j < 8; j++) y[j] = *reinterpret_cast<const float4 *>(keys + (across + 8 * j) * APART + d);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    scores[i][j] += x[i].x * y[j].x;
                    scores[i][j] += x[i].y * y[j].y;
                    scores[i][j] += x[i].z * y[j].z;
                    scores[i][j] += x[i].w * y[j].w;
                }
        }
        const bool masked = valid < TILE || (causal && start + TILE - 1 > own);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int query_row = own + down + 4 * i;
            float here = -CUDART_INF_F, added = 0;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                scores[i][j] *= scale2;
                const int key = start + across + 8 * j;
                if (masked && (key >= length || (causal && key > query_row))) scores[i][j] = -CUDART_INF_F;
                here = fmaxf(here, scores[i][j]);
            }
            const float next = fmaxf(largest[i], of_lanes(here, 8, true)), origin = next == -CUDART_INF_F ? 0 : next;
            const float factor = exp2f(largest[i] - origin);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const float weight = exp2f(scores[i][j] - origin);
                added += weight;
                weights[(down + 4 * i) * (TILE + 8) + across + 8 * j] = weight;
            }
            totals[i] = factor * totals[i] + added;
            largest[i] = next;
#pragma unroll
            for (int d = 0; d < HEAD / 8; d++) sums[i][d] *= factor;
        }
        __syncwarp();
#pragma unroll 4
        for (int key = 0; key < TILE; key++) {
            float weight[4];
#pragma unroll
            for (int i = 0; i < 4; i++) weight[i] = weights[(down + 4 * i) * (TILE + 8) + key];
#pragma unroll
            for (int part = 0; part < HEAD / 32; part++) {
                const float4 value = *reinterpret_cast<const float4 *>(values + key * APART + 4 * across + 32 * part);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    sums[i][4 * part] += weight[i] * value.x;
                    sums[i][4 * part + 1] += weight[i] * value.y;
                    sums[i][4 * part + 2] += weight[i] * value.z;
                    sums[i][4 * part + 3] += weight[i] * value.w;
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float total = of_lanes(totals[i], 8, false), inverse = total > 0 ? 1 / total : 0;
        const int query_row = own + down + 4 * i;
        if (query_row >= length) continue;
        float *to = out + from + query_row * row;
#pragma unroll
        for (int part = 0; part < HEAD / 32; part++)
            *reinterpret_cast<float4 *>(to + 4 * across + 32 * part) =
                make_float4(sums[i][4 * part] * inverse, sums[i][4 * part + 1] * inverse, sums[i][4 * part + 2] * inverse,
                            sums[i][4 * part + 3] * inverse);
        if (across == 0)
            logs[(long long)blockIdx.y * length + query_row] = total > 0 ? largest[i] * LN2 + logf(total) : -CUDART_INF_F;
    }
}

const int WIDE = HEAD + 8;  // numbers from row to row of a tile in bf16

__device__ __forceinline__ unsigned place(const void *at) { return unsigned(__cvta_generic_to_shared(at)); }

template <bool TRANSPOSED> __device__ __forceinline__ void matrices(unsigned (&to)[4], const bf16 *from) {
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(place(from)));
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(place(from)));
}

__device__ __forceinline__ void mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned packed(float x, float y) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<const unsigned *>(&pair);
}

// 16 queries of a warp: their fragments, the largest scores, sums and weighted values of two rows of a lane
struct Warp {
    unsigned query[HEAD / 16][4];
    float sums[HEAD / 8][4] = {}, largest[2] = {-CUDART_INF_F, -CUDART_INF_F}, totals[2] = {};
    __device__ __forceinline__ void read(const bf16 *from, int warp, int lane) {
#pragma unroll
        for (int i = 0; i < HEAD / 16; i++) matrices<false>(query[i], from + (warp * 16 + lane % 16) * WIDE + i * 16 + lane / 16 * 8);
    }
    __device__ __forceinline__ void add(const bf16 *keys, const bf16 *values, bool masked, int own, int start, int length, int causal,
                                        float scale2, int lane) {
        float scores[8][4];
#pragma unroll
        for (int j = 0; j < 8; j++) scores[j][0] = scores[j][1] = scores[j][2] = scores[j][3] = 0;
#pragma unroll
        for (int i = 0; i < HEAD / 16; i++)
#pragma unroll
            for (int pair = 0; pair < 4; pair++) {
                unsigned b[4];
                matrices<false>(b, keys + (pair * 16 + lane % 8 + lane / 16 * 8) * WIDE + i * 16 + lane / 8 % 2 * 8);
                mma(scores[2 * pair], query[i], b[0], b[1]);
                mma(scores[2 * pair + 1], query[i], b[2], b[3]);
            }
        if (masked) {
#pragma unroll
            for (int j = 0; j < 32; j++) {
                const int row = own + lane / 4 + (j % 4 >= 2 ? 8 : 0), key = start + j / 4 * 8 + lane % 4 * 2 + (j & 1);
                if (key >= length || (causal && key > row)) scores[j / 4][j % 4] = -CUDART_INF_F;
            }
        }
        float here[2] = {-CUDART_INF_F, -CUDART_INF_F}, origin[2], factor[2], added[2] = {};
#pragma unroll
        for (int j = 0; j < 8; j++) {
            here[0] = fmaxf(here[0], fmaxf(scores[j][0], scores[j][1]));
            here[1] = fmaxf(here[1], fmaxf(scores[j][2], scores[j][3]));
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const float next = fmaxf(largest[i], of_lanes(here[i], 4, true));
            origin[i] = next == -CUDART_INF_F ? 0 : next * scale2;
            factor[i] = exp2f(fmaf(largest[i], scale2, -origin[i]));
            largest[i] = next;
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) scores[j][e] = exp2f(fmaf(scores[j][e], scale2, -origin[e / 2]));
            added[0] += scores[j][0] + scores[j][1];
            added[1] += scores[j][2] + scores[j][3];
        }
#pragma unroll
        for (int i = 0; i < 2; i++) totals[i] = factor[i] * totals[i] + added[i];
#pragma unroll
        for (int n = 0; n < HEAD / 8; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) sums[n][e] *= factor[e / 2];
#pragma unroll
        for (int i = 0; i < TILE / 16; i++) {
            const unsigned a[4] = {packed(scores[2 * i][0], scores[2 * i][1]), packed(scores[2 * i][2], scores[2 * i][3]),
                                   packed(scores[2 * i + 1][0], scores[2 * i + 1][1]), packed(scores[2 * i + 1][2], scores[2 * i + 1][3])};
#pragma unroll
            for (int pair = 0; pair < HEAD / 16; pair++) {
                unsigned b[4];
                matrices<true>(b, values + (i * 16 + lane % 16) * WIDE + pair * 16 + lane / 16 * 8);
                mma(sums[2 * pair], a, b[0], b[1]);
                mma(sums[2 * pair + 1], a, b[2], b[3]);
            }
        }
    }
    __device__ __forceinline__ void finish(float *inverse, float *logs, int own, int length, float scale, int lane) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            totals[i] = of_lanes(totals[i], 4, false);
            inverse[i] = totals[i] > 0 ? 1 / totals[i] : 0;
            const int row = own + lane / 4 + 8 * i;
            if (lane % 4 == 0 && row < length) logs[row] = totals[i] > 0 ? largest[i] * scale + logf(totals[i]) : -CUDART_INF_F;
        }
    }
};

__device__ __forceinline__ int tiles_of(int first, int length, int causal) {
    int end = length;
    if (causal) end = min(end, min(first + TILE, length));
    return end > 0 ? (end + TILE - 1) / TILE : 0;
}

// a tile after the other
extern "C" __global__ void __launch_bounds__(THREADS) mma_tiles(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, float *logs, int heads,
                                                                int length, float scale, float scale2, int causal) {
    __shared__ __align__(16) bf16 keys[TILE * WIDE], values[TILE * WIDE];
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, first = blockIdx.x * TILE, own = first + warp * 16;
    const long long from = begin(blockIdx.y / heads, blockIdx.y % heads, heads, length), row = (long long)heads * HEAD;
    auto load = [&](bf16 *to, const bf16 *source, int start) {
        const int valid = min(TILE, length - start);
#pragma unroll
        for (int i = thread; i < TILE * HEAD / 8; i += THREADS) {
            const int at = i / (HEAD / 8), column = i % (HEAD / 8) * 8;
            uint4 eight = make_uint4(0, 0, 0, 0);
            if (at < valid) eight = *reinterpret_cast<const uint4 *>(source + from + (start + at) * row + column);
            *reinterpret_cast<uint4 *>(to + at * WIDE + column) = eight;
        }
    };
    load(keys, q, first);
    __syncthreads();
    Warp state;
    state.read(keys, warp, lane);
    const int tiles = tiles_of(first, length, causal);
    for (int tile = 0; tile < tiles; tile++) {
        const int start = tile * TILE;
        __syncthreads();
        load(keys, k, start);
        load(values, v, start);
        __syncthreads();
        const bool masked = start + TILE > length || (causal && start + TILE - 1 > own);
        state.add(keys, values, masked, own, start, length, causal, scale2, lane);
    }
    float inverse[2];
    state.finish(inverse, logs + (long long)blockIdx.y * length, own, length, scale, lane);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int query_row = own + lane / 4 + 8 * i;
        if (query_row >= length) continue;
        bf16 *to = out + from + query_row * row;
#pragma unroll
        for (int n = 0; n < HEAD / 8; n++)
            *reinterpret_cast<unsigned *>(to + 8 * n + lane % 4 * 2) =
                packed(state.sums[n][2 * i] * inverse[i], state.sums[n][2 * i + 1] * inverse[i]);
    }
}

// the next tile by cp.async while this one is computed; the last queries first where later keys are masked
extern "C" __global__ void __launch_bounds__(THREADS) mma_stages(const bf16 *q, const bf16 *k, const bf16 *v, bf16 *out, float *logs, int heads,
                                                                 int length, float scale, float scale2, int causal) {
    extern __shared__ __align__(16) unsigned char bytes[];
    bf16 *slots = reinterpret_cast<bf16 *>(bytes);
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, AREA = TILE * WIDE;
    const int first = (causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * TILE, own = first + warp * 16;
    const long long from = begin(blockIdx.y / heads, blockIdx.y % heads, heads, length), row = (long long)heads * HEAD;
    auto load = [&](bf16 *to, const bf16 *source, int start) {
        const int rows = min(TILE, length - start);
#pragma unroll
        for (int i = thread; i < TILE * HEAD / 8; i += THREADS) {
            const int at = i / (HEAD / 8), column = i % (HEAD / 8) * 8;
            const bool valid = at < rows;
            const bf16 *here = valid ? source + from + (start + at) * row + column : source + from;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place(to + at * WIDE + column)), "l"(here),
                         "r"(valid ? 16 : 0)
                         : "memory");
        }
    };
    auto issue = [&](int tile) {
        load(slots + tile % 2 * 2 * AREA, k, tile * TILE);
        load(slots + (tile % 2 * 2 + 1) * AREA, v, tile * TILE);
    };
    const int tiles = tiles_of(first, length, causal);
    load(slots + 2 * AREA, q, first);
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (tiles > 0) issue(0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    Warp state;
    state.read(slots + 2 * AREA, warp, lane);
    __syncthreads();
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) issue(tile + 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const int start = tile * TILE;
        const bool masked = start + TILE > length || (causal && start + TILE - 1 > own);
        state.add(slots + tile % 2 * 2 * AREA, slots + (tile % 2 * 2 + 1) * AREA, masked, own, start, length, causal, scale2, lane);
        __syncthreads();
    }
    float inverse[2];
    state.finish(inverse, logs + (long long)blockIdx.y * length, own, length, scale, lane);
    bf16 *rows = slots + warp * 16 * WIDE;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int n = 0; n < HEAD / 8; n++)
            *reinterpret_cast<unsigned *>(rows + (lane / 4 + 8 * i) * WIDE + 8 * n + lane % 4 * 2) =
                packed(state.sums[n][2 * i] * inverse[i], state.sums[n][2 * i + 1] * inverse[i]);
    __syncwarp();
#pragma unroll
    for (int i = lane; i < 16 * HEAD / 8; i += 32) {
        const int at = i / (HEAD / 8), column = i % (HEAD / 8) * 8;
        if (own + at < length)
            *reinterpret_cast<uint4 *>(out + from + (own + at) * row + column) = *reinterpret_cast<const uint4 *>(rows + at * WIDE + column);
    }
}
