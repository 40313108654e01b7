// Products of f32 matrices: tiles of 64 x 64 and 64 x 128 for 128 threads with 8 x 4 sums of a thread, by steps, and tiles of 128 x 128
// with two stages, of which cp.async fills those of B. Written for this repository after the descriptions of the measured kernels.
#include <cuda_pipeline.h>
#define KERNEL(name) extern "C" __global__ void name
#define PRODUCT (int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c)
const int DEPTH = 8, DOWN = 8, ACROSS = 4;

__device__ float4 four(const float *p) { return *reinterpret_cast<const float4 *>(p); }
__device__ void put(float *p, float4 v) { *reinterpret_cast<float4 *>(p) = v; }

KERNEL(tiles_64) PRODUCT {
    __shared__ float as[64][DEPTH], bs[DEPTH][64];
    int tid = threadIdx.x + threadIdx.y * blockDim.x, top = blockIdx.y * 64, left = blockIdx.x * 64;
    int row = tid / 16 * DOWN, column = tid % 16 * ACROSS;
    float sums[ACROSS][DOWN] = {};
    for (int from = 0; from < k; from += DEPTH) {
        for (int load = 0; load < 4; load++) {
            int i = tid + load * 128, ar = i / DEPTH, ac = i % DEPTH, br = i / 64, bc = i % 64;
            as[ar][ac] = top + ar < m && from + ac < k ? a[(top + ar) * k + from + ac] : 0.0f;
            bs[br][bc] = from + br < k && left + bc < n ? b[(from + br) * n + left + bc] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float x[DOWN], y[ACROSS];
            for (int i = 0; i < DOWN; i++) x[i] = as[row + i][d];
            for (int j = 0; j < ACROSS; j++) y[j] = bs[d][column + j];
            for (int j = 0; j < ACROSS; j++)
                for (int i = 0; i < DOWN; i++) sums[j][i] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int j = 0; j < ACROSS; j++)
        for (int i = 0; i < DOWN; i++) {
            int r = top + row + i, s = left + column + j;
            if (r < m && s < n) c[r * n + s] = alpha * sums[j][i] + beta * c[r * n + s];
        }
}

KERNEL(vector_tiles_64) PRODUCT {
    __shared__ float as[DEPTH][64], bs[DEPTH][64];
    int tid = threadIdx.x + threadIdx.y * blockDim.x, top = blockIdx.y * 64, left = blockIdx.x * 64;
    int row = tid / 16 * DOWN, column = tid % 16 * ACROSS;
    float sums[ACROSS][DOWN] = {};
    for (int from = 0; from < k; from += DEPTH) {
        int ar = tid * 4 / DEPTH, ac = tid * 4 % DEPTH, br = tid * 4 / 64, bc = tid * 4 % 64;
        float4 v = four(a + (top + ar) * k + from + ac);
        as[ac][ar] = v.x, as[ac + 1][ar] = v.y, as[ac + 2][ar] = v.z, as[ac + 3][ar] = v.w;
        put(&bs[br][bc], four(b + (from + br) * n + left + bc));
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float x[DOWN], y[ACROSS];
            for (int i = 0; i < DOWN; i += 4) put(x + i, four(&as[d][row + i]));
            put(y, four(&bs[d][column]));
            for (int j = 0; j < ACROSS; j++)
                for (int i = 0; i < DOWN; i++) sums[j][i] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int j = 0; j < ACROSS; j++)
        for (int i = 0; i < DOWN; i++) {
            int r = top + row + i, s = left + column + j;
            if (r < m && s < n) c[r * n + s] = alpha * sums[j][i] + beta * c[r * n + s];
        }
}

// 2 x 2 warps of 32 x 64; with VECTORS those of A are read and written by fours, without them its rows are padded
template <bool VECTORS> __device__ void warps_of_32 PRODUCT {
    __shared__ float as[DEPTH][VECTORS ? 64 : 68], bs[DEPTH][128];
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, top = blockIdx.y * 64, left = blockIdx.x * 128;
    int row = warp / 2 * 32 + lane / 8 * DOWN, column = warp % 2 * 64 + lane % 8 * ACROSS;
    float sums[2][DOWN][ACROSS] = {};
    for (int from = 0; from < k; from += DEPTH) {
        if (VECTORS) {
            int ar = tid * 4 / DEPTH, ac = tid * 4 % DEPTH;
            float4 v = four(a + (top + ar) * k + from + ac);
            as[ac][ar] = v.x, as[ac + 1][ar] = v.y, as[ac + 2][ar] = v.z, as[ac + 3][ar] = v.w;
        } else
            for (int load = 0; load < 4; load++) {
                int i = tid + load * 128;
                as[i % DEPTH][i / DEPTH] = a[(top + i / DEPTH) * k + from + i % DEPTH];
            }
        for (int load = 0; load < 2; load++) {
            int i = (tid + load * 128) * 4;
            put(&bs[i / 128][i % 128], four(b + (from + i / 128) * n + left + i % 128));
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            float x[DOWN], y[2][ACROSS];
            if (VECTORS)
                for (int i = 0; i < DOWN; i += 4) put(x + i, four(&as[d][row + i]));
            else
                for (int i = 0; i < DOWN; i++) x[i] = as[d][row + i];
            for (int s = 0; s < 2; s++) put(y[s], four(&bs[d][column + s * 32]));
            for (int s = 0; s < 2; s++)
                for (int i = 0; i < DOWN; i++)
                    for (int j = 0; j < ACROSS; j++) sums[s][i][j] += x[i] * y[s][j];
        }
        __syncthreads();
    }
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < DOWN; i++)
            for (int j = 0; j < ACROSS; j++) {
                int r = top + row + i, t = left + column + s * 32 + j;
                if (r < m && t < n) c[r * n + t] = alpha * sums[s][i][j] + beta * c[r * n + t];
            }
}

KERNEL(warp_vectors) PRODUCT { warps_of_32<true>(m, n, k, alpha, a, b, beta, c); }
KERNEL(warp_padded) PRODUCT { warps_of_32<false>(m, n, k, alpha, a, b, beta, c); }

// 2 x 2 warps of 64 x 64, a thread has 8 x 4 sums in each of four strips
extern "C" __global__ void __launch_bounds__(128) two_stages
(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int m, int n, int k, float alpha, float beta) {
    const int SIDE = 128, DEEP = 16;
    __shared__ float as[2][DEEP * SIDE], bs[2][DEEP * SIDE];
    unsigned tid = threadIdx.x, warp = tid / 32, lane = tid % 32, down = warp / 2 * 64, across = warp % 2 * 64;
    unsigned row = lane / 4, column = lane % 4;
    a += blockIdx.y * SIDE * k, b += blockIdx.x * SIDE;
    c += (blockIdx.y * SIDE + down) * n + blockIdx.x * SIDE + across;
    auto copy = [&](unsigned stage) {
        for (unsigned i = 0; i < SIDE; i += 32) {
            unsigned r = tid / 4 + i, s = tid % 4 * 4;
            float4 v = four(a + r * k + s);
            as[stage][s * SIDE + r] = v.x, as[stage][(s + 1) * SIDE + r] = v.y;
            as[stage][(s + 2) * SIDE + r] = v.z, as[stage][(s + 3) * SIDE + r] = v.w;
        }
        for (unsigned i = 0; i < DEEP; i += 4)
            __pipeline_memcpy_async(&bs[stage][(tid / 32 + i) * SIDE + lane * 4], b + (tid / 32 + i) * n + lane * 4, 16);
        __pipeline_commit();
    };
    float sums[DOWN][4][ACROSS] = {};
    auto multiply = [&](unsigned stage) {
        for (unsigned d = 0; d < DEEP; d++) {
            float x[DOWN], y[4][ACROSS];
            for (unsigned i = 0; i < DOWN; i++) x[i] = as[stage][d * SIDE + down + row * DOWN + i];
            for (unsigned s = 0; s < 4; s++)
                for (unsigned j = 0; j < ACROSS; j++) y[s][j] = bs[stage][d * SIDE + across + s * 16 + column * ACROSS + j];
            for (unsigned s = 0; s < 4; s++)
                for (unsigned i = 0; i < DOWN; i++)
                    for (unsigned j = 0; j < ACROSS; j++) sums[i][s][j] += x[i] * y[s][j];
        }
    };
    copy(0);
    __pipeline_wait_prior(0);
    __syncthreads();
    unsigned now = 0;
    for (unsigned from = DEEP; from < k; from += DEEP) {
        a += DEEP, b += DEEP * n;
        copy(now ^ 1);
        multiply(now);
        __pipeline_wait_prior(0);
        __syncthreads();
        now ^= 1;
    }
    multiply(now);
    for (unsigned s = 0; s < 4; s++)
        for (unsigned i = 0; i < DOWN; i++) {
            float *to = c + (row * DOWN + i) * n + s * 16 + column * ACROSS;
            float4 v = four(to);
            v.x = alpha * sums[i][s][0] + beta * v.x, v.y = alpha * sums[i][s][1] + beta * v.y;
            v.z = alpha * sums[i][s][2] + beta * v.z, v.w = alpha * sums[i][s][3] + beta * v.w;
            put(to, v);
        }
}
