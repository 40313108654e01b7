// f16 products with f32 sums by mma.sync in six steps: eight warps in two rows of four, K by 16 or 32. Written for this
// repository after the descriptions of the measured kernels.
#include <cuda_fp16.h>
#define PRODUCT(name) extern "C" __global__ void __launch_bounds__(256) name(const half *a, const half *b, float *c, int m, int n, int k)

__device__ __forceinline__ void mma(const unsigned *a, const unsigned *b, float *d) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void store(float *c, int n, int row, int column, const float *d) {
    int lane = threadIdx.x % 32 + threadIdx.y % 2 * 16;
    row += lane / 4, column += lane % 4 * 2;
    c[row * n + column] = d[0], c[row * n + column + 1] = d[1];
    c[(row + 8) * n + column] = d[2], c[(row + 8) * n + column + 1] = d[3];
}

// loads of single values, B by rows; TILES x TILES products for each warp
template <int TILES>
__device__ __forceinline__ void by_values(const half *a, const half *b, float *c, int n, int k) {
    const int DEPTH = 16, EDGE = 32 * TILES;
    __shared__ half as[EDGE][DEPTH], bs[DEPTH][EDGE];
    int x = threadIdx.x, y = threadIdx.y, warp = y / 2, lane = y % 2 * 16 + x, group = lane / 4, pair = lane % 4 * 2;
    int top = blockIdx.y * EDGE, left = blockIdx.x * EDGE, row = warp / 4 * 16 * TILES, column = warp % 4 * 8 * TILES;
    float sums[TILES][TILES][4] = {};
    for (int at = 0; at < k; at += DEPTH) {
#pragma unroll
        for (int i = 0; i < 2 * TILES; ++i) {
            as[i * DEPTH + y][x] = a[(top + i * DEPTH + y) * k + at + x];
            bs[y][i * DEPTH + x] = b[(at + y) * n + left + i * DEPTH + x];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILES; ++i) {
            half own[8];
            int r = row + i * 16 + group;
            own[0] = as[r][pair], own[1] = as[r][pair + 1];
            own[2] = as[r + 8][pair], own[3] = as[r + 8][pair + 1];
            own[4] = as[r][pair + 8], own[5] = as[r][pair + 9];
            own[6] = as[r + 8][pair + 8], own[7] = as[r + 8][pair + 9];
#pragma unroll
            for (int j = 0; j < TILES; ++j) {
                half other[4];
                int s = column + j * 8 + group;
                other[0] = bs[pair][s], other[1] = bs[pair + 1][s];
                other[2] = bs[pair + 8][s], other[3] = bs[pair + 9][s];
                mma(reinterpret_cast<unsigned *>(own), reinterpret_cast<unsigned *>(other), sums[i][j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
        for (int j = 0; j < TILES; ++j) store(c, n, top + row + i * 16, left + column + j * 8, sums[i][j]);
}
PRODUCT(half_values) { by_values<1>(a, b, c, n, k); }
PRODUCT(half_values_tiled) { by_values<2>(a, b, c, n, k); }

// vectors of 16 bytes, two rows of four in 128 bytes, permuted so that the loads of fragments have no conflicts; B by columns
__device__ __forceinline__ int permuted(int row, int vector) { return row / 2 * 8 + ((row % 2 * 4 + vector) ^ (row / 2 % 4)); }
__device__ __forceinline__ void fragment_of_a(unsigned *to, const uint4 *from, int row, int vector) {
    int lane = threadIdx.y % 2 * 16 + threadIdx.x;
    unsigned at = __cvta_generic_to_shared(from + permuted(row + lane % 16, vector + lane / 16));
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}
__device__ __forceinline__ void fragment_of_b(unsigned *to, const uint4 *from, int row, int vector) {
    int lane = threadIdx.y % 2 * 16 + threadIdx.x;
    unsigned at = __cvta_generic_to_shared(from + permuted(row + lane % 8, vector + lane / 8 % 2));
    asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at));
}

// ONCE: fragments of A are loaded once, and not for each tile of B
template <bool ONCE>
__device__ __forceinline__ void by_vectors(const half *a, const half *b, float *c, int n, int k) {
    const int EDGE = 64;
    __shared__ uint4 as[EDGE * 4], bs[EDGE * 4];
    int t = threadIdx.y * 16 + threadIdx.x, warp = t / 32, top = blockIdx.y * EDGE, left = blockIdx.x * EDGE;
    int row = warp / 4 * 32, column = warp % 4 * 16;
    const uint4 *from_a = reinterpret_cast<const uint4 *>(a + (top + t / 4) * k) + t % 4;
    const uint4 *from_b = reinterpret_cast<const uint4 *>(b + (left + t / 4) * k) + t % 4;
    float sums[2][2][4] = {};
    for (int at = 0; at < k / 8; at += 4) {
        as[permuted(t / 4, t % 4)] = from_a[at];
        bs[permuted(t / 4, t % 4)] = from_b[at];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            unsigned own[2][4], other[2];
            if (ONCE) fragment_of_a(own[0], as, row + i * 16, 0), fragment_of_a(own[1], as, row + i * 16, 2);
#pragma unroll
            for (int j = 0; j < 2; ++j)
#pragma unroll
                for (int half_k = 0; half_k < 2; ++half_k) {
                    if (!ONCE) fragment_of_a(own[half_k], as, row + i * 16, half_k * 2);
                    fragment_of_b(other, bs, column + j * 8, half_k * 2);
                    mma(own[half_k], other, sums[i][j]);
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) store(c, n, top + row + i * 16, left + column + j * 8, sums[i][j]);
}
PRODUCT(half_permuted) { by_vectors<false>(a, b, c, n, k); }
PRODUCT(half_permuted_once) { by_vectors<true>(a, b, c, n, k); }

__device__ __forceinline__ void copy(uint4 *to, const uint4 *from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(at), "l"(from));
}

// three stages by asynchronous copies; TILES x TILES products for each warp
template <int TILES>
__device__ __forceinline__ void by_stages(const half *a, const half *b, float *c, int n, int k) {
    const int EDGE = 32 * TILES, STAGES = 3;
    __shared__ uint4 as[STAGES][EDGE * 4], bs[STAGES][EDGE * 4];
    int t = threadIdx.y * 16 + threadIdx.x, warp = t / 32, top = blockIdx.y * EDGE, left = blockIdx.x * EDGE;
    int row = warp / 4 * 16 * TILES, column = warp % 4 * 8 * TILES, steps = k / 32;
    float sums[TILES][TILES][4] = {};
    auto load = [&](int step, int stage) {
        step = step < steps ? step : steps - 1;
#pragma unroll
        for (int i = 0; i < EDGE; i += 64) {
            int r = i + t / 4;
            copy(&as[stage][permuted(r, t % 4)], reinterpret_cast<const uint4 *>(a + (top + r) * k) + step * 4 + t % 4);
            copy(&bs[stage][permuted(r, t % 4)], reinterpret_cast<const uint4 *>(b + (left + r) * k) + step * 4 + t % 4);
        }
        asm volatile("cp.async.commit_group;" ::);
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) load(stage, stage);
    for (int step = 0; step < steps; ++step) {
        int now = step % STAGES;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        unsigned own[TILES][2][4], other[TILES][2][2];
#pragma unroll
        for (int i = 0; i < TILES; ++i) {
            fragment_of_a(own[i][0], as[now], row + i * 16, 0);
            fragment_of_a(own[i][1], as[now], row + i * 16, 2);
        }
#pragma unroll
        for (int j = 0; j < TILES; ++j) {
            fragment_of_b(other[j][0], bs[now], column + j * 8, 0);
            fragment_of_b(other[j][1], bs[now], column + j * 8, 2);
        }
        load(step + STAGES - 1, (step + STAGES - 1) % STAGES);
#pragma unroll
        for (int i = 0; i < TILES; ++i)
#pragma unroll
            for (int j = 0; j < TILES; ++j) {
                mma(own[i][0], other[j][0], sums[i][j]);
                mma(own[i][1], other[j][1], sums[i][j]);
            }
    }
#pragma unroll
    for (int i = 0; i < TILES; ++i)
#pragma unroll
        for (int j = 0; j < TILES; ++j) store(c, n, top + row + i * 16, left + column + j * 8, sums[i][j]);
}
PRODUCT(half_stages) { by_stages<2>(a, b, c, n, k); }
PRODUCT(half_stages_tiled) { by_stages<4>(a, b, c, n, k); }
