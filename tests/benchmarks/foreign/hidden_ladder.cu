// A ladder of products of f32 matrices, and a gated activation. Written for this repository after the descriptions of the measured
// kernels.
#include <cuda_bf16.h>
#define KERNEL(name) extern "C" __global__ void name

typedef __nv_bfloat16 bf16;

// a tile of 32 x 32 by as many threads
KERNEL(ladder_tiles)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
    __shared__ float left[32][32], right[32][32];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x, steps = (k + 31) / 32;
    float sum = 0;
    for (int step = 0; step < steps; step++) {
        const int along = step * 32 + x, down = step * 32 + y;
        left[y][x] = row < m && along < k ? a[size_t(row) * k + along] : 0;
        right[y][x] = down < k && column < n ? b[size_t(down) * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; i++) sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[size_t(row) * n + column] = sum;
}

// four numbers of a row, by one access where they are inside of a matrix whose rows are multiples of four
__device__ __forceinline__ void fetch(const float *__restrict__ from, int rows, int columns, int row, int column, float (&to)[4]) {
    if (row < rows && column + 3 < columns && (columns & 3) == 0) {
        const float4 four = *reinterpret_cast<const float4 *>(from + size_t(row) * columns + column);
        to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) to[i] = row < rows && column + i < columns ? from[size_t(row) * columns + column + i] : 0;
    }
}

__device__ __forceinline__ void put(float *__restrict__ to, int rows, int columns, int row, int column, const float *from) {
    if (row >= rows) return;
    if (column + 3 < columns && (columns & 3) == 0) {
        *reinterpret_cast<float4 *>(to + size_t(row) * columns + column) = make_float4(from[0], from[1], from[2], from[3]);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (column + i < columns) to[size_t(row) * columns + column + i] = from[i];
    }
}

__device__ __forceinline__ void read_four(float *to, const float *from) {
    const float4 four = *reinterpret_cast<const float4 *>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// sums of DOWN x 8 of a thread: rows in groups of four that lie TALL apart, columns in two of 64 apart; 16 x 16 threads
template <int TALL, int DOWN> struct Patch {
    float sums[DOWN][8] = {};
    __device__ __forceinline__ static int row(int y, int i) { return i / 4 * TALL + y * 4 + i % 4; }
    __device__ __forceinline__ void add(const float *p, const float *q) {
#pragma unroll
        for (int i = 0; i < DOWN; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) sums[i][j] = fmaf(p[i], q[j], sums[i][j]);
    }
    __device__ __forceinline__ void store(float *__restrict__ c, int m, int n, int top, int start, int y, int x) const {
#pragma unroll
        for (int i = 0; i < DOWN; i++) {
            put(c, m, n, top + row(y, i), start + x * 4, sums[i]);
            put(c, m, n, top + row(y, i), start + 64 + x * 4, sums[i] + 4);
        }
    }
};

// 128 x 128 in steps of 8, the left tile transposed
KERNEL(ladder_patches)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
    __shared__ __align__(16) float left[8][128], right[8][128];
    const int thread = threadIdx.x, y = thread / 16, x = thread % 16, top = blockIdx.y * 128, start = blockIdx.x * 128;
    const int row = thread / 2, along = thread % 2 * 4, down = thread / 32, column = thread % 32 * 4, steps = (k + 7) / 8;
    Patch<64, 8> patch;
    for (int step = 0; step < steps; step++) {
        float p[8], q[8], from_a[4], from_b[4];
        fetch(a, m, k, top + row, step * 8 + along, from_a);
        fetch(b, k, n, step * 8 + down, start + column, from_b);
#pragma unroll
        for (int i = 0; i < 4; i++) left[along + i][row] = from_a[i];
        *reinterpret_cast<float4 *>(&right[down][column]) = make_float4(from_b[0], from_b[1], from_b[2], from_b[3]);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            read_four(p, &left[i][y * 4]), read_four(p + 4, &left[i][64 + y * 4]);
            read_four(q, &right[i][x * 4]), read_four(q + 4, &right[i][64 + x * 4]);
            patch.add(p, q);
        }
        __syncthreads();
    }
    patch.store(c, m, n, top, start, y, x);
}

__device__ __forceinline__ void copy_async(float *to, const float *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

// the same in two stages of cp.async, the left tile as it is with four columns of padding
KERNEL(ladder_stages)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k) {
    __shared__ __align__(16) float left[2][128][12], right[2][8][128];
    const int thread = threadIdx.x, y = thread / 16, x = thread % 16, top = blockIdx.y * 128, start = blockIdx.x * 128;
    const int row = thread / 2, along = thread % 2 * 4, down = thread / 32, column = thread % 32 * 4, steps = (k + 7) / 8;
    auto load = [&](int step, int stage) {
        const int from = step * 8;
        float *to = &left[stage][row][along];
        if (top + row < m && from + along + 3 < k && (k & 3) == 0) {
            copy_async(to, a + size_t(top + row) * k + from + along);
        } else {
            float four[4];
            fetch(a, m, k, top + row, from + along, four);
#pragma unroll
            for (int i = 0; i < 4; i++) to[i] = four[i];
        }
        to = &right[stage][down][column];
        if (from + down < k && start + column + 3 < n && (n & 3) == 0) {
            copy_async(to, b + size_t(from + down) * n + start + column);
        } else {
            float four[4];
            fetch(b, k, n, from + down, start + column, four);
#pragma unroll
            for (int i = 0; i < 4; i++) to[i] = four[i];
        }
    };
    Patch<64, 8> patch;
    load(0, 0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int step = 0; step < steps; step++) {
        const int stage = step & 1;
        if (step + 1 < steps) {
            load(step + 1, stage ^ 1);
            asm volatile("cp.async.commit_group;" ::: "memory");
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float p[8], q[8];
#pragma unroll
            for (int j = 0; j < 8; j++) p[j] = left[stage][patch.row(y, j)][i];
            read_four(q, &right[stage][i][x * 4]), read_four(q + 4, &right[stage][i][64 + x * 4]);
            patch.add(p, q);
        }
        __syncthreads();
    }
    patch.store(c, m, n, top, start, y, x);
}

// the next tile in registers while this one is multiplied, the left one transposed and swizzled; the tiles after the whole ones are
// divided along K by several CTAs, which add to the result
template <int ROWS, int DOWN>
__device__ __forceinline__ void prefetched(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n,
                                           int k, int across, int whole, int parts) {
    const int DEEP = 16, LOADS = ROWS * DEEP / 4 / 256, TALL = ROWS / (DOWN / 4);
    __shared__ __align__(16) float left[DEEP][ROWS], right[DEEP][128];
    const int thread = threadIdx.x, y = thread / 16, x = thread % 16, steps = (k + DEEP - 1) / DEEP;
    int tile = blockIdx.x, begin = 0, end = steps;
    if (tile >= whole) {
        const int rest = tile - whole, part = rest % parts;
        tile = whole + rest / parts;
        begin = int((long long)part * steps / parts), end = int((long long)(part + 1) * steps / parts);
    }
    const int top = tile / across * ROWS, start = tile % across * 128;
    float from_a[LOADS][4], from_b[2][4];
    auto swizzled = [](int step, int row) { return row ^ step / 4 * 8; };
    auto load = [&](int step) {
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int at = thread + i * 256;
            fetch(a, m, k, top + at / 4, step * DEEP + at % 4 * 4, from_a[i]);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = thread + i * 256;
            fetch(b, k, n, step * DEEP + at / 32, start + at % 32 * 4, from_b[i]);
        }
    };
    auto store = [&]() {
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int at = thread + i * 256, row = at / 4, along = at % 4 * 4;
#pragma unroll
            for (int j = 0; j < 4; j++) left[along + j][swizzled(along + j, row)] = from_a[i][j];
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const int at = thread + i * 256;
            *reinterpret_cast<float4 *>(&right[at / 32][at % 32 * 4]) = make_float4(from_b[i][0], from_b[i][1], from_b[i][2], from_b[i][3]);
        }
    };
    Patch<TALL, DOWN> patch;
    load(begin);
    store();
    __syncthreads();
    for (int step = begin; step < end; step++) {
        const bool more = step + 1 < end;
        if (more) load(step + 1);
#pragma unroll
        for (int i = 0; i < DEEP; i++) {
            float p[DOWN], q[8];
#pragma unroll
            for (int j = 0; j < DOWN / 4; j++) read_four(p + 4 * j, &left[i][swizzled(i, j * TALL + y * 4)]);
            read_four(q, &right[i][x * 4]), read_four(q + 4, &right[i][64 + x * 4]);
            patch.add(p, q);
        }
        __syncthreads();
        if (more) {
            store();
            __syncthreads();
        }
    }
    if (tile < whole) {
        patch.store(c, m, n, top, start, y, x);
        return;
    }
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
        const int row = top + patch.row(y, i);
        if (row >= m) continue;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int column = start + (j < 4 ? x * 4 + j : 64 + x * 4 + j - 4);
            if (column < n) atomicAdd(c + size_t(row) * n + column, patch.sums[i][j]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(256, 2) ladder_prefetch(const float *__restrict__ a, const float *__restrict__ b,
                                                                     float *__restrict__ c, int m, int n, int k, int across, int whole,
                                                                     int parts) {
    prefetched<128, 8>(a, b, c, m, n, k, across, whole, parts);
}

extern "C" __global__ void __launch_bounds__(256, 1) ladder_tall(const float *__restrict__ a, const float *__restrict__ b,
                                                                 float *__restrict__ c, int m, int n, int k, int across, int whole,
                                                                 int parts) {
    prefetched<256, 16>(a, b, c, m, n, k, across, whole, parts);
}

__device__ __forceinline__ float gated(float gate, float up) { return gate / (1 + __expf(-gate)) * up; }

// an element of a thread
KERNEL(gate_each)(const float *__restrict__ gate, const float *__restrict__ up, float *__restrict__ out, long long count) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = gated(gate[i], up[i]);
}

KERNEL(gate_each_bf16)(const bf16 *__restrict__ gate, const bf16 *__restrict__ up, bf16 *__restrict__ out, long long count) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = __float2bfloat16(gated(__bfloat162float(gate[i]), __bfloat162float(up[i])));
}

// 16 bytes at a time in strides of the grid
KERNEL(gate_vectors)(const float *__restrict__ gate, const float *__restrict__ up, float *__restrict__ out, long long count) {
    const long long vectors = count / 4, first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = first; i < vectors; i += stride) {
        const float4 g = reinterpret_cast<const float4 *>(gate)[i], u = reinterpret_cast<const float4 *>(up)[i];
        reinterpret_cast<float4 *>(out)[i] = make_float4(gated(g.x, u.x), gated(g.y, u.y), gated(g.z, u.z), gated(g.w, u.w));
    }
    for (long long i = vectors * 4 + first; i < count; i += stride) out[i] = gated(gate[i], up[i]);
}

struct __align__(16) Eight {
    __nv_bfloat162 pairs[4];
};

KERNEL(gate_vectors_bf16)(const bf16 *__restrict__ gate, const bf16 *__restrict__ up, bf16 *__restrict__ out, long long count) {
    const long long vectors = count / 8, first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = first; i < vectors; i += stride) {
        const Eight g = reinterpret_cast<const Eight *>(gate)[i], u = reinterpret_cast<const Eight *>(up)[i];
        Eight found;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float2 x = __bfloat1622float2(g.pairs[j]), y = __bfloat1622float2(u.pairs[j]);
            found.pairs[j] = __float22bfloat162_rn(make_float2(gated(x.x, y.x), gated(x.y, y.y)));
        }
        reinterpret_cast<Eight *>(out)[i] = found;
    }
    for (long long i = vectors * 8 + first; i < count; i += stride)
        out[i] = __float2bfloat16(gated(__bfloat162float(gate[i]), __bfloat162float(up[i])));
}
