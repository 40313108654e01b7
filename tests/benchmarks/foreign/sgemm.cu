// Single-precision matrix products C = alpha A B + beta C in the steps that tutorials take, row-major, sizes divisible by
// the tiles. Written for this repository; tile sizes and thread layouts as published for the measured kernels.
#define SIZES int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C

// one output per thread, threads of a warp in one column: no coalescing
extern "C" __global__ void naive(SIZES) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && column < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
        C[row * N + column] = alpha * sum + beta * C[row * N + column];
    }
}

// one output per thread, threads of a warp in one row
extern "C" __global__ void coalesced(SIZES) {
    int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    if (row < M && column < N) {
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
        C[row * N + column] = alpha * sum + beta * C[row * N + column];
    }
}

// tiles of 32 x 32 in shared memory
extern "C" __global__ void shared_tile(SIZES) {
    __shared__ float a[32 * 32], b[32 * 32];
    int y = threadIdx.x / 32, x = threadIdx.x % 32;
    A += blockIdx.x * 32 * K;
    B += blockIdx.y * 32;
    C += blockIdx.x * 32 * N + blockIdx.y * 32;
    float sum = 0;
    for (int k = 0; k < K; k += 32) {
        a[y * 32 + x] = A[y * K + x];
        b[y * 32 + x] = B[y * N + x];
        __syncthreads();
        A += 32;
        B += 32 * N;
        for (int i = 0; i < 32; ++i) sum += a[y * 32 + i] * b[i * 32 + x];
        __syncthreads();
    }
    C[y * N + x] = alpha * sum + beta * C[y * N + x];
}

// 64 x 64 x 8 tiles, a column of 8 outputs per thread, 512 threads
extern "C" __global__ void __launch_bounds__(512) thread_column(SIZES) {
    const int BM = 64, BN = 64, BK = 8, TM = 8;
    __shared__ float a[BM * BK], b[BK * BN];
    int x = threadIdx.x % BN, y = threadIdx.x / BN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    int ax = threadIdx.x % BK, ay = threadIdx.x / BK;
    float sums[TM] = {0};
    for (int k = 0; k < K; k += BK) {
        a[ay * BK + ax] = A[ay * K + ax];
        b[y * BN + x] = B[y * N + x];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int i = 0; i < BK; ++i) {
            float value = b[i * BN + x];
            for (int m = 0; m < TM; ++m) sums[m] += a[(y * TM + m) * BK + i] * value;
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m) C[(y * TM + m) * N + x] = alpha * sums[m] + beta * C[(y * TM + m) * N + x];
}

// BM x BN x BK tiles, 8 x 8 outputs per thread, scalar copies to shared memory
template <int BM, int BN, int BK> __device__ void thread_tile_of(SIZES) {
    const int T = 8, THREADS = BM * BN / (T * T);
    __shared__ float a[BM * BK], b[BK * BN];
    int x = threadIdx.x % (BN / T), y = threadIdx.x / (BN / T);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    int ax = threadIdx.x % BK, ay = threadIdx.x / BK, bx = threadIdx.x % BN, by = threadIdx.x / BN;
    float sums[T * T] = {0}, m[T], n[T];
    for (int k = 0; k < K; k += BK) {
        for (int i = 0; i < BM; i += THREADS / BK) a[(ay + i) * BK + ax] = A[(ay + i) * K + ax];
        for (int i = 0; i < BK; i += THREADS / BN) b[(by + i) * BN + bx] = B[(by + i) * N + bx];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int i = 0; i < BK; ++i) {
            for (int j = 0; j < T; ++j) m[j] = a[(y * T + j) * BK + i];
            for (int j = 0; j < T; ++j) n[j] = b[i * BN + x * T + j];
            for (int p = 0; p < T; ++p)
                for (int q = 0; q < T; ++q) sums[p * T + q] += m[p] * n[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < T; ++p)
        for (int q = 0; q < T; ++q) {
            float *to = &C[(y * T + p) * N + x * T + q];
            *to = alpha * sums[p * T + q] + beta * *to;
        }
}

extern "C" __global__ void __launch_bounds__(256) thread_tile(SIZES) {
    thread_tile_of<128, 128, 8>(M, N, K, alpha, A, B, beta, C);
}

// the same with copies of four words, and A transposed in shared memory
template <int BM, int BN, int BK> __device__ void vectorized_of(SIZES) {
    const int T = 8, THREADS = BM * BN / (T * T);
    __shared__ float a[BM * BK], b[BK * BN];
    int x = threadIdx.x % (BN / T), y = threadIdx.x / (BN / T);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    int ax = threadIdx.x % (BK / 4), ay = threadIdx.x / (BK / 4), bx = threadIdx.x % (BN / 4), by = threadIdx.x / (BN / 4);
    float sums[T * T] = {0}, m[T], n[T];
    for (int k = 0; k < K; k += BK) {
        for (int i = 0; i < BM; i += THREADS / (BK / 4)) {
            float4 four = reinterpret_cast<const float4 *>(&A[(ay + i) * K + ax * 4])[0];
            a[(ax * 4 + 0) * BM + ay + i] = four.x;
            a[(ax * 4 + 1) * BM + ay + i] = four.y;
            a[(ax * 4 + 2) * BM + ay + i] = four.z;
            a[(ax * 4 + 3) * BM + ay + i] = four.w;
        }
        for (int i = 0; i < BK; i += THREADS / (BN / 4))
            reinterpret_cast<float4 *>(&b[(by + i) * BN + bx * 4])[0] =
                reinterpret_cast<const float4 *>(&B[(by + i) * N + bx * 4])[0];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int i = 0; i < BK; ++i) {
            for (int j = 0; j < T; ++j) m[j] = a[i * BM + y * T + j];
            for (int j = 0; j < T; ++j) n[j] = b[i * BN + x * T + j];
            for (int p = 0; p < T; ++p)
                for (int q = 0; q < T; ++q) sums[p * T + q] += m[p] * n[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < T; ++p)
        for (int q = 0; q < T; q += 4) {
            float4 *to = reinterpret_cast<float4 *>(&C[(y * T + p) * N + x * T + q]), four = *to;
            four.x = alpha * sums[p * T + q + 0] + beta * four.x;
            four.y = alpha * sums[p * T + q + 1] + beta * four.y;
            four.z = alpha * sums[p * T + q + 2] + beta * four.z;
            four.w = alpha * sums[p * T + q + 3] + beta * four.w;
            *to = four;
        }
}

extern "C" __global__ void __launch_bounds__(256) vectorized(SIZES) {
    vectorized_of<128, 128, 8>(M, N, K, alpha, A, B, beta, C);
}

extern "C" __global__ void __launch_bounds__(256) vectorized_16(SIZES) {
    vectorized_of<128, 128, 16>(M, N, K, alpha, A, B, beta, C);
}

// 128 x 128 x 16 tiles, 4 warps of 64 x 64, each in 4 steps of 16 columns; 8 x 4 outputs of a thread at a time
extern "C" __global__ void __launch_bounds__(128) warp_tile(SIZES) {
    const int BM = 128, BN = 128, BK = 16, WM = 64, WN = 64, NITER = 4, TM = 8, TN = 4, THREADS = 128;
    const int MITER = WM * WN / (32 * TM * TN * NITER), SUBM = WM / MITER, SUBN = WN / NITER;
    __shared__ float a[BM * BK], b[BK * BN];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int wx = warp % (BN / WN), wy = warp / (BN / WN), lx = lane % (SUBN / TN), ly = lane / (SUBN / TN);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += (blockIdx.y * BM + wy * WM) * N + blockIdx.x * BN + wx * WN;
    int ax = threadIdx.x % (BK / 4), ay = threadIdx.x / (BK / 4), bx = threadIdx.x % (BN / 4), by = threadIdx.x / (BN / 4);
    float sums[MITER * TM * NITER * TN] = {0}, m[MITER * TM], n[NITER * TN];
    for (int k = 0; k < K; k += BK) {
        for (int i = 0; i < BM; i += THREADS / (BK / 4)) {
            float4 four = reinterpret_cast<const float4 *>(&A[(ay + i) * K + ax * 4])[0];
            a[(ax * 4 + 0) * BM + ay + i] = four.x;
            a[(ax * 4 + 1) * BM + ay + i] = four.y;
            a[(ax * 4 + 2) * BM + ay + i] = four.z;
            a[(ax * 4 + 3) * BM + ay + i] = four.w;
        }
        for (int i = 0; i < BK; i += THREADS / (BN / 4))
            reinterpret_cast<float4 *>(&b[(by + i) * BN + bx * 4])[0] =
                reinterpret_cast<const float4 *>(&B[(by + i) * N + bx * 4])[0];
        __syncthreads();
        for (int i = 0; i < BK; ++i) {
            for (int s = 0; s < MITER; ++s)
                for (int j = 0; j < TM; ++j) m[s * TM + j] = a[i * BM + wy * WM + s * SUBM + ly * TM + j];
            for (int s = 0; s < NITER; ++s)
                for (int j = 0; j < TN; ++j) n[s * TN + j] = b[i * BN + wx * WN + s * SUBN + lx * TN + j];
            for (int s = 0; s < MITER; ++s)
                for (int t = 0; t < NITER; ++t)
                    for (int p = 0; p < TM; ++p)
                        for (int q = 0; q < TN; ++q)
                            sums[(s * TM + p) * NITER * TN + t * TN + q] += m[s * TM + p] * n[t * TN + q];
        }
        A += BK;
        B += BK * N;
        __syncthreads();
    }
    for (int s = 0; s < MITER; ++s)
        for (int t = 0; t < NITER; ++t)
            for (int p = 0; p < TM; ++p) {
                float4 *to = reinterpret_cast<float4 *>(&C[(s * SUBM + ly * TM + p) * N + t * SUBN + lx * TN]), four = *to;
                float *own = &sums[(s * TM + p) * NITER * TN + t * TN];
                four.x = alpha * own[0] + beta * four.x;
                four.y = alpha * own[1] + beta * four.y;
                four.z = alpha * own[2] + beta * four.z;
                four.w = alpha * own[3] + beta * four.w;
                *to = four;
            }
}
