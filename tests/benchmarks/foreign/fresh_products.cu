// Products of f32 matrices, C = alpha A B + beta C: steps from one element for each thread to tiles of warps. Written for this
// repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name
#define SIZES unsigned m, unsigned n, unsigned k
#define GEMM SIZES, float alpha, const float *a, const float *b, float beta, float *c

// neighboring threads take neighboring rows
KERNEL(rows)(GEMM) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < m && y < n) {
        float sum = 0;
        for (int i = 0; i < k; i++) sum += a[x * k + i] * b[i * n + y];
        c[x * n + y] = alpha * sum + beta * c[x * n + y];
    }
}

KERNEL(columns)(GEMM) {
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < m && y < n) {
        float sum = 0;
        for (int i = 0; i < k; i++) sum += a[x * k + i] * b[i * n + y];
        c[x * n + y] = alpha * sum + beta * c[x * n + y];
    }
}

KERNEL(tile)(GEMM) {
    const int T = 32;
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, column = blockIdx.x * T + tx;
    float sum = 0;
    for (int from = 0; from < k; from += T) {
        as[ty][tx] = row < m && from + tx < k ? a[row * k + from + tx] : 0.0f;
        bs[ty][tx] = column < n && from + ty < k ? b[(from + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// eight rows of a column for each of 512 threads
KERNEL(column_tile)(GEMM) {
    const int BM = 64, BN = 64, BK = 8, TM = 8;
    __shared__ float as[BM * BK], bs[BK * BN];
    unsigned tid = threadIdx.x, column = tid % BN, row = tid / BN;
    int ax = tid % BK, ay = tid / BK, bx = tid % BN, by = tid / BN;
    a += blockIdx.y * BM * k, b += blockIdx.x * BN, c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM] = {};
    for (int from = 0; from < k; from += BK) {
        as[ay * BK + ax] = a[ay * k + ax];
        bs[by * BN + bx] = b[by * n + bx];
        __syncthreads();
        a += BK, b += BK * n;
        for (int i = 0; i < BK; i++) {
            float of = bs[i * BN + column];
            for (int r = 0; r < TM; r++) sums[r] += as[(row * TM + r) * BK + i] * of;
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++) c[(row * TM + r) * n + column] = alpha * sums[r] + beta * c[(row * TM + r) * n + column];
}

KERNEL(square_tile)(GEMM) {
    const int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8, THREADS = 256;
    __shared__ float as[BM * BK], bs[BK * BN];
    unsigned tid = threadIdx.x, column = tid % (BN / TN), row = tid / (BN / TN);
    int ax = tid % BK, ay = tid / BK, bx = tid % BN, by = tid / BN;
    a += blockIdx.y * BM * k, b += blockIdx.x * BN, c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM][TN] = {}, of_a[TM], of_b[TN];
    for (int from = 0; from < k; from += BK) {
        for (int r = 0; r < BM; r += THREADS / BK) as[(ay + r) * BK + ax] = a[(ay + r) * k + ax];
        for (int r = 0; r < BK; r += THREADS / BN) bs[(by + r) * BN + bx] = b[(by + r) * n + bx];
        __syncthreads();
        a += BK, b += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int r = 0; r < TM; r++) of_a[r] = as[(row * TM + r) * BK + i];
            for (int s = 0; s < TN; s++) of_b[s] = bs[i * BN + column * TN + s];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++) sums[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int s = 0; s < TN; s++) {
            float *at = c + (row * TM + r) * n + column * TN + s;
            *at = alpha * sums[r][s] + beta * *at;
        }
}

// A is transposed on its way to shared memory, and C leaves through it
KERNEL(staged)(GEMM) {
    const int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8, THREADS = 64;
    __shared__ float as[BK][BM], bs[BK][BN], cs[BM][BN];
    unsigned tid = threadIdx.x, column = tid % (BN / TN) * TN, row = tid / (BN / TN) * TM, top = blockIdx.y * BM, left = blockIdx.x * BN;
    float sums[TM][TN] = {}, of_a[TM], of_b[TN];
    for (int from = 0; from < k; from += BK) {
        for (int i = tid; i < BM * BK; i += THREADS) {
            int y = i / BK, x = i % BK;
            as[x][y] = top + y < m && from + x < k ? a[(top + y) * k + from + x] : 0.0f;
        }
        for (int i = tid; i < BK * BN; i += THREADS) {
            int y = i / BN, x = i % BN;
            bs[y][x] = from + y < k && left + x < n ? b[(from + y) * n + left + x] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < BK; i++) {
            for (int r = 0; r < TM; r++) of_a[r] = as[i][row + r];
            for (int s = 0; s < TN; s++) of_b[s] = bs[i][column + s];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++) sums[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int s = 0; s < TN; s++) cs[row + r][column + s] = sums[r][s];
    __syncthreads();
    for (int i = tid; i < BM * BN; i += THREADS) {
        int y = i / BN, x = i % BN;
        if (top + y < m && left + x < n) {
            float *at = c + (top + y) * n + left + x, value = alpha * cs[y][x];
            if (beta != 0.0f) value += beta * *at;
            *at = value;
        }
    }
}

__device__ float4 blended(float alpha, const float *sums, float beta, float4 old) {
    old.x = alpha * sums[0] + beta * old.x, old.y = alpha * sums[1] + beta * old.y;
    old.z = alpha * sums[2] + beta * old.z, old.w = alpha * sums[3] + beta * old.w;
    return old;
}

extern "C" __global__ void __launch_bounds__(256) vector_tile(GEMM) {
    const int BM = 64, BN = 64, BK = 16, TM = 4, TN = 4;
    __shared__ float as[BK * BM], bs[BK * BN];
    unsigned tid = threadIdx.x, column = tid % (BN / TN), row = tid / (BN / TN);
    int ax = tid % (BK / 4), ay = tid / (BK / 4), bx = tid % (BN / 4), by = tid / (BN / 4);
    a += blockIdx.y * BM * k, b += blockIdx.x * BN, c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM][TN] = {}, of_a[TM], of_b[TN];
    for (int from = 0; from < k; from += BK) {
        float4 v = *reinterpret_cast<const float4 *>(a + ay * k + ax * 4);
        as[(ax * 4 + 0) * BM + ay] = v.x, as[(ax * 4 + 1) * BM + ay] = v.y;
        as[(ax * 4 + 2) * BM + ay] = v.z, as[(ax * 4 + 3) * BM + ay] = v.w;
        *reinterpret_cast<float4 *>(bs + by * BN + bx * 4) = *reinterpret_cast<const float4 *>(b + by * n + bx * 4);
        __syncthreads();
        a += BK, b += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int r = 0; r < TM; r++) of_a[r] = as[i * BM + row * TM + r];
            for (int s = 0; s < TN; s++) of_b[s] = bs[i * BN + column * TN + s];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++) sums[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++) {
        float4 *at = reinterpret_cast<float4 *>(c + (row * TM + r) * n + column * TN);
        *at = blended(alpha, sums[r], beta, *at);
    }
}

// a warp has 64 x 64 of the 128 x 128 of its CTA, in four steps of columns; CTAs go in groups of 4 x 4. The measured kernel has 167
// registers, so that three CTAs fit
extern "C" __global__ void __launch_bounds__(128, 3) warp_tiles(GEMM) {
    const int BM = 128, BN = 128, BK = 16, WM = 64, WN = 64, STEPS_N = 4, TM = 8, TN = 4, THREADS = 128, GROUP = 4;
    const int STEPS_M = WM * WN / (32 * TM * TN * STEPS_N), SUB_M = WM / STEPS_M, SUB_N = WN / STEPS_N;
    __shared__ float as[BK * BM], bs[BK * BN];
    unsigned tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int groups = n / (BN * GROUP), group = blockIdx.x / (GROUP * GROUP), in = blockIdx.x % (GROUP * GROUP);
    int block_y = group / groups * GROUP + in / GROUP, block_x = group % groups * GROUP + in % GROUP;
    int warp_y = warp / (BN / WN), warp_x = warp % (BN / WN), y = lane / (SUB_N / TN), x = lane % (SUB_N / TN);
    int ax = tid % (BK / 4), ay = tid / (BK / 4), bx = tid % (BN / 4), by = tid / (BN / 4);
    const int STRIDE_A = THREADS / (BK / 4), STRIDE_B = THREADS / (BN / 4);
    a += block_y * BM * k, b += block_x * BN;
    c += (block_y * BM + warp_y * WM) * n + block_x * BN + warp_x * WN;
    float sums[STEPS_M * TM][STEPS_N * TN] = {}, of_a[STEPS_M * TM], of_b[STEPS_N * TN];
    for (int from = 0; from < k; from += BK) {
        for (int r = 0; r < BM; r += STRIDE_A) {
            float4 v = *reinterpret_cast<const float4 *>(a + (ay + r) * k + ax * 4);
            as[(ax * 4 + 0) * BM + ay + r] = v.x, as[(ax * 4 + 1) * BM + ay + r] = v.y;
            as[(ax * 4 + 2) * BM + ay + r] = v.z, as[(ax * 4 + 3) * BM + ay + r] = v.w;
        }
        for (int r = 0; r < BK; r += STRIDE_B)
            *reinterpret_cast<float4 *>(bs + (by + r) * BN + bx * 4) = *reinterpret_cast<const float4 *>(b + (by + r) * n + bx * 4);
        __syncthreads();
        a += BK, b += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int s = 0; s < STEPS_M; s++)
                for (int r = 0; r < TM; r++) of_a[s * TM + r] = as[i * BM + warp_y * WM + s * SUB_M + y * TM + r];
            for (int s = 0; s < STEPS_N; s++)
                for (int r = 0; r < TN; r++) of_b[s * TN + r] = bs[i * BN + warp_x * WN + s * SUB_N + x * TN + r];
            for (int r = 0; r < STEPS_M * TM; r++)
                for (int s = 0; s < STEPS_N * TN; s++) sums[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (int sm = 0; sm < STEPS_M; sm++)
        for (int sn = 0; sn < STEPS_N; sn++)
            for (int r = 0; r < TM; r++) {
                float4 *at = reinterpret_cast<float4 *>(c + (sm * SUB_M + y * TM + r) * n + sn * SUB_N + x * TN);
                *at = blended(alpha, sums[sm * TM + r] + sn * TN, beta, *at);
            }
}

// square products without alpha and beta
#define SQUARE const float *a, const float *b, float *c, int n
KERNEL(element)(SQUARE) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += a[row * n + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}

KERNEL(shared_32)(SQUARE) {
    const int T = 32;
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, column = blockIdx.x * T + tx;
    float sum = 0;
    for (int from = 0; from < n; from += T) {
        as[ty][tx] = row < n && from + tx < n ? a[row * n + from + tx] : 0.0f;
        bs[ty][tx] = from + ty < n && column < n ? b[(from + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++) sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

// two times two elements for each of 16 x 16 threads
KERNEL(coarse)(SQUARE) {
    const int T = 16, OF = 2, S = T * OF;
    __shared__ float as[S][S], bs[S][S];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * S, left = blockIdx.x * S;
    float sums[OF][OF] = {};
    for (int from = 0; from < n; from += S) {
        for (int i = 0; i < OF; i++)
            for (int j = 0; j < OF; j++) {
                as[ty + i * T][tx + j * T] = a[(top + ty + i * T) * n + from + tx + j * T];
                bs[ty + i * T][tx + j * T] = b[(from + ty + i * T) * n + left + tx + j * T];
            }
        __syncthreads();
        for (int i = 0; i < OF; i++)
            for (int j = 0; j < OF; j++)
                for (int s = 0; s < S; s++) sums[i][j] += as[ty + i * T][s] * bs[s][tx + j * T];
        __syncthreads();
    }
    for (int i = 0; i < OF; i++)
        for (int j = 0; j < OF; j++) c[(top + ty + i * T) * n + left + tx + j * T] = sums[i][j];
}
