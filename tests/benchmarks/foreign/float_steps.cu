// Matrix products of f32 in the steps of a published ladder on Ada: tiles of shared memory, of threads and of warps, vectors,
// one operand transposed. Written for this repository; tiles as published for the measured kernels.
#define SIZES const float *A, const float *B, float *C, int M, int N, int K

extern "C" __global__ void ada_dot(SIZES) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
    C[row * N + column] = sum;
}

extern "C" __global__ void ada_block(SIZES) {
    const int T = 32;
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * T, left = blockIdx.x * T;
    float sum = 0;
    for (int k = 0; k < K; k += T) {
        a[y][x] = top + y < M && k + x < K ? A[(top + y) * K + k + x] : 0;
        b[y][x] = k + y < K && left + x < N ? B[(k + y) * N + left + x] : 0;
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (top + y < M && left + x < N) C[(top + y) * N + left + x] = sum;
}

template <int ROWS, int COLUMNS> __device__ void fill(float *tile, const float *from, int stride, int rows, int columns) {
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += 256) {
        int row = i / COLUMNS, column = i % COLUMNS;
        tile[i] = row < rows && column < columns ? from[row * stride + column] : 0;
    }
}

// a thread has elements of a column of the tile
extern "C" __global__ void ada_coarse(SIZES) {
    const int BM = 128, BN = 128, BK = 32;
    __shared__ float a[BM * BK], b[BK * BN];
    int across = (N + BN - 1) / BN, top = blockIdx.x / across * BM, left = blockIdx.x % across * BN, t = threadIdx.x;
    float sums[BM * BN / 256] = {};
    for (int k = 0; k < K; k += BK) {
        fill<BM, BK>(a, A + top * K + k, K, M - top, K - k);
        fill<BK, BN>(b, B + k * N + left, N, K - k, N - left);
        __syncthreads();
        for (int i = t; i < BM * BN; i += 256)
            for (int j = 0; j < BK; ++j) sums[i / 256] += a[i / BN * BK + j] * b[j * BN + i % BN];
        __syncthreads();
    }
    for (int i = t; i < BM * BN; i += 256) {
        int row = i / BN, column = i % BN;
        if (row < M - top && column < N - left) C[(top + row) * N + left + column] = sums[i / 256];
    }
}

extern "C" __global__ void ada_thread(SIZES) {
    const int BM = 128, BN = 128, BK = 32, T = 8;
    __shared__ float a[BM * BK], b[BK * BN];
    int across = (N + BN - 1) / BN, top = blockIdx.x / across * BM, left = blockIdx.x % across * BN;
    int y = threadIdx.x / (BN / T) * T, x = threadIdx.x % (BN / T) * T;
    float sums[T][T] = {};
    for (int k = 0; k < K; k += BK) {
        fill<BM, BK>(a, A + top * K + k, K, M - top, K - k);
        fill<BK, BN>(b, B + k * N + left, N, K - k, N - left);
        __syncthreads();
        for (int j = 0; j < BK; ++j) {
            float fa[T], fb[T];
            for (int m = 0; m < T; ++m) fa[m] = a[(y + m) * BK + j];
            for (int n = 0; n < T; ++n) fb[n] = b[j * BN + x + n];
            for (int m = 0; m < T; ++m)
                for (int n = 0; n < T; ++n) sums[m][n] += fa[m] * fb[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < T; ++m)
        for (int n = 0; n < T; ++n)
            if (y + m < M - top && x + n < N - left) C[(top + y + m) * N + left + x + n] = sums[m][n];
}

template <int ROWS, int COLUMNS, bool TURNED> __device__ void fill_4(float *tile, const float *from, int stride) {
    for (int begin = 0; begin < ROWS * COLUMNS; begin += 1024) {
        int i = begin + threadIdx.x * 4, row = i / COLUMNS, column = i % COLUMNS;
        float4 four = *reinterpret_cast<const float4 *>(from + row * stride + column);
        if (TURNED) {
            tile[column * ROWS + row] = four.x;
            tile[(column + 1) * ROWS + row] = four.y;
            tile[(column + 2) * ROWS + row] = four.z;
            tile[(column + 3) * ROWS + row] = four.w;
        } else
            *reinterpret_cast<float4 *>(tile + i) = four;
    }
}

// warps of 32 x WN outputs in parts of 16 x 32, of which a thread has 4 x 4
template <int BM, int BN, int BK, int WN, bool WIDE, bool TURNED> __device__ void warps(SIZES) {
    const int WM = BM * BN / 8 / WN, MS = WM / 16, NS = WN / 32, T = 4;
    __shared__ float a[BM * BK], b[BK * BN];
    int across = (N + BN - 1) / BN, top = blockIdx.x / across * BM, left = blockIdx.x % across * BN;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int y = warp / (BN / WN) * WM + lane / 8 * T, x = warp % (BN / WN) * WN + lane % 8 * T;
    float sums[MS][NS][T][T] = {};
    for (int k = 0; k < K; k += BK) {
        if (WIDE) {
            fill_4<BM, BK, TURNED>(a, A + top * K + k, K);
            fill_4<BK, BN, false>(b, B + k * N + left, N);
        } else {
            fill<BM, BK>(a, A + top * K + k, K, M - top, K - k);
            fill<BK, BN>(b, B + k * N + left, N, K - k, N - left);
        }
        __syncthreads();
        for (int j = 0; j < BK; ++j) {
            float fa[MS][T], fb[NS][T];
            for (int m = 0; m < MS; ++m)
                if (TURNED)
                    *reinterpret_cast<float4 *>(fa[m]) = *reinterpret_cast<float4 *>(a + j * BM + y + m * 16);
                else
                    for (int i = 0; i < T; ++i) fa[m][i] = a[(y + m * 16 + i) * BK + j];
            for (int n = 0; n < NS; ++n)
                if (WIDE)
                    *reinterpret_cast<float4 *>(fb[n]) = *reinterpret_cast<float4 *>(b + j * BN + x + n * 32);
                else
                    for (int i = 0; i < T; ++i) fb[n][i] = b[j * BN + x + n * 32 + i];
            for (int m = 0; m < MS; ++m)
                for (int n = 0; n < NS; ++n)
                    for (int i = 0; i < T; ++i)
                        for (int l = 0; l < T; ++l) sums[m][n][i][l] += fa[m][i] * fb[n][l];
        }
        __syncthreads();
    }
    for (int m = 0; m < MS; ++m)
        for (int n = 0; n < NS; ++n)
            for (int i = 0; i < T; ++i) {
                int row = y + m * 16 + i, column = x + n * 32;
                float *to = C + (top + row) * N + left + column;
                if (WIDE)
                    *reinterpret_cast<float4 *>(to) = *reinterpret_cast<float4 *>(sums[m][n][i]);
                else
                    for (int l = 0; l < T; ++l)
                        if (row < M - top && column + l < N - left) to[l] = sums[m][n][i][l];
            }
}
extern "C" __global__ void ada_warp(SIZES) { warps<128, 64, 64, 32, false, false>(A, B, C, M, N, K); }
extern "C" __global__ void ada_vector(SIZES) { warps<128, 64, 64, 32, true, false>(A, B, C, M, N, K); }
extern "C" __global__ void ada_turned(SIZES) { warps<128, 128, 16, 64, true, true>(A, B, C, M, N, K); }
