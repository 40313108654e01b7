// Products of f32 matrices: elements along rows and along columns, 32 x 32 tiles, tiles of 64 x 64 with 8 and 8 x 8 elements for each
// thread, and tiles of 128 x 128 with vectors, with one and two buffers. Written for this repository after the descriptions of the
// measured kernels.
#define KERNEL(name) extern "C" __global__ void name
#define GEMM int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c

// warps along the rows of C
KERNEL(down_rows)(GEMM) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

KERNEL(along_rows)(GEMM) {
    int row = blockIdx.x * blockDim.x + threadIdx.y, column = blockIdx.y * blockDim.y + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

KERNEL(shared_tiles)(GEMM) {
    __shared__ float sa[32 * 32], sb[32 * 32];
    unsigned y = threadIdx.x / 32, x = threadIdx.x % 32, row = blockIdx.x * 32 + y, column = blockIdx.y * 32 + x;
    float sum = 0;
    for (int from = 0; from < k; from += 32) {
        sa[y * 32 + x] = a[row * k + from + x];
        sb[y * 32 + x] = b[(from + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 32; i++) sum += sa[y * 32 + i] * sb[i * 32 + x];
        __syncthreads();
    }
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

KERNEL(square_tiles)(GEMM) {
    const int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8, THREADS = 64;
    __shared__ float sa[BM * BK], sb[BK * BN];
    int tid = threadIdx.x, down = tid / (BN / TN) * TM, across = tid % (BN / TN) * TN;
    float sums[TM * TN] = {}, ra[TM] = {}, rb[TN] = {};
    a += blockIdx.x * BM * k, b += blockIdx.y * BN, c += blockIdx.x * BM * n + blockIdx.y * BN;
    for (int from = 0; from < k; from += BK) {
        for (int i = 0; i < BM; i += THREADS / BK) sa[(tid / BK + i) * BK + tid % BK] = a[(tid / BK + i) * k + tid % BK];
        for (int i = 0; i < BK; i += THREADS / BN) sb[(tid / BN + i) * BN + tid % BN] = b[(tid / BN + i) * n + tid % BN];
        __syncthreads();
        for (int i = 0; i < BK; i++) {
            for (int y = 0; y < TM; y++) ra[y] = sa[(down + y) * BK + i];
            for (int x = 0; x < TN; x++) rb[x] = sb[i * BN + across + x];
            for (int y = 0; y < TM; y++)
                for (int x = 0; x < TN; x++) sums[y * TN + x] += ra[y] * rb[x];
        }
        __syncthreads();
        a += BK, b += BK * n;
    }
    for (int y = 0; y < TM; y++)
        for (int x = 0; x < TN; x++) {
            float *to = c + (down + y) * n + across + x;
            *to = alpha * sums[y * TN + x] + beta * *to;
        }
}

// eight elements of a column of C for each thread, with bounds
KERNEL(column_tiles)(GEMM) {
    const int BM = 64, BN = 64, BK = 8, TM = 8, THREADS = 512;
    __shared__ float sa[BM][BK], sb[BK][BN];
    int tid = threadIdx.x, x = tid % BN, down = tid / BN * TM;
    float sums[TM] = {};
    for (int from = 0; from < k; from += BK) {
#pragma unroll
        for (int i = 0; i < BM; i += THREADS / BK) {
            int row = tid / BK + i, at = blockIdx.y * BM + row, column = from + tid % BK;
            if (row < BM) sa[row][tid % BK] = at < m && column < k ? a[at * k + column] : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < BK; i += THREADS / BN) {
            int row = tid / BN + i, at = from + row, column = blockIdx.x * BN + tid % BN;
            if (row < BK) sb[row][tid % BN] = at < k && column < n ? b[at * n + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float value = sb[i][x];
#pragma unroll
            for (int y = 0; y < TM; y++) sums[y] += sa[down + y][i] * value;
        }
        __syncthreads();
    }
#pragma unroll
    for (int y = 0; y < TM; y++) {
        int row = blockIdx.y * BM + down + y, column = blockIdx.x * BN + x;
        if (row < m && column < n) c[row * n + column] = alpha * sums[y] + beta * c[row * n + column];
    }
}

__device__ float4 &four(float *at) { return *reinterpret_cast<float4 *>(at); }
__device__ float4 four(const float *at) { return *reinterpret_cast<const float4 *>(at); }

__device__ void transposed(float (*sa)[128], float4 v, int row, int column) {
    sa[column][row] = v.x, sa[column + 1][row] = v.y, sa[column + 2][row] = v.z, sa[column + 3][row] = v.w;
}

__device__ void written(float *c, int n, float alpha, float beta, float (*sums)[8]) {
#pragma unroll
    for (int y = 0; y < 8; y++)
#pragma unroll
        for (int x = 0; x < 8; x += 4) {
            float4 v = four(c + y * n + x);
            v.x = alpha * sums[y][x] + beta * v.x, v.y = alpha * sums[y][x + 1] + beta * v.y;
            v.z = alpha * sums[y][x + 2] + beta * v.z, v.w = alpha * sums[y][x + 3] + beta * v.w;
            four(c + y * n + x) = v;
        }
}

// A transposed on its way to shared memory; TWO: two buffers, with fragments in two sets
template <bool TWO> __device__ void vectors(int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    const int B = 128, BK = 8;
    __shared__ float sa[TWO ? 2 : 1][BK][B], sb[TWO ? 2 : 1][BK][B];
    int tid = threadIdx.x, across = tid % 16 * 8, down = tid / 16 * 8, row = tid / 2, column = tid % 2 * 4, level = tid / 32, x = tid % 32 * 4;
    float sums[8][8] = {}, ra[2][8], rb[2][8];
    a += blockIdx.y * B * k, b += blockIdx.x * B, c += (blockIdx.y * B + down) * n + blockIdx.x * B + across;
    auto fragments = [&](int set, int buffer, int at) {
#pragma unroll
        for (int i = 0; i < 8; i += 4) four(ra[set] + i) = four(&sa[buffer][at][down + i]);
#pragma unroll
        for (int i = 0; i < 8; i += 4) four(rb[set] + i) = four(&sb[buffer][at][across + i]);
    };
    auto multiply = [&](int set) {
#pragma unroll
        for (int i = 0; i < 64; i++) sums[i / 8][i % 8] += ra[set][i / 8] * rb[set][i % 8];
    };
    if (!TWO) {
        for (int from = 0; from < k; from += BK) {
            transposed(sa[0], four(a + row * k + from + column), row, column);
            four(&sb[0][level][x]) = four(b + (from + level) * n + x);
            __syncthreads();
#pragma unroll
            for (int i = 0; i < BK; i++) {
                fragments(0, 0, i);
                multiply(0);
            }
            __syncthreads();
        }
    } else {
        a += row * k + column, b += level * n + x;
        transposed(sa[0], four(a), row, column);
        four(&sb[0][level][x]) = four(b);
        __syncthreads();
        int now = 0;
        for (int next = BK; next <= k; next += BK) {
            float4 va, vb;
            a += BK, b += BK * n;
            if (next < k) va = four(a), vb = four(b);
            fragments(0, now, 0);
#pragma unroll
            for (int i = 0; i < BK - 1; i++) {
                fragments((i + 1) % 2, now, i + 1);
                multiply(i % 2);
            }
            multiply((BK - 1) % 2);
            if (next < k) {
                now ^= 1;
                transposed(sa[now], va, row, column);
                four(&sb[now][level][x]) = vb;
            }
            __syncthreads();
        }
    }
    written(c, n, alpha, beta, sums);
}
KERNEL(vector_tiles)(GEMM) { vectors<false>(n, k, alpha, a, b, beta, c); }
KERNEL(buffered_tiles)(GEMM) { vectors<true>(n, k, alpha, a, b, beta, c); }

KERNEL(elements)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, unsigned m, unsigned n, unsigned k) {
    int column = blockDim.x * blockIdx.x + threadIdx.x, row = blockDim.y * blockIdx.y + threadIdx.y;
    if (column >= n || row >= m) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[k * row + i] * b[i * n + column];
    c[row * n + column] = sum;
}
