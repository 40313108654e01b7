// f32 products in eight steps: CTAs of 16 x 16, or 128 x 128 sums by 8 x 8 for each thread. Written for this repository after the
// descriptions of the measured kernels.
#define PRODUCT(name) extern "C" __global__ void name(float *a, float *b, float *c, int m, int n, int k, float alpha, float beta)
const int EDGE = 16, DEPTH = 16, OWN = 8;

PRODUCT(tile_naive) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= m) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

PRODUCT(tile_shared) {
    __shared__ float as[EDGE][EDGE], bs[EDGE][EDGE];
    int x = threadIdx.x, y = threadIdx.y;
    a += blockIdx.y * EDGE * k;
    b += blockIdx.x * EDGE;
    c += blockIdx.y * EDGE * n + blockIdx.x * EDGE;
    float sum = 0;
    for (int at = 0; at < k; at += EDGE) {
        as[y][x] = a[y * k + x];
        bs[y][x] = b[y * n + x];
        __syncthreads();
        a += EDGE;
        b += EDGE * n;
#pragma unroll
        for (int i = 0; i < EDGE; ++i) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

// tiles loaded by words; PAD words after each row of A; COPY: operands copied to registers first
template <int PAD, bool COPY>
__device__ __forceinline__ void by_words(float *a, float *b, float *c, int n, int k, float alpha, float beta) {
    const int TILE = 128;
    __shared__ float as[TILE][DEPTH + PAD], bs[DEPTH][TILE];
    int left = threadIdx.x * OWN, top = threadIdx.y * OWN, t = threadIdx.y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * blockDim.y;
    a += blockIdx.y * TILE * k;
    b += blockIdx.x * TILE;
    c += blockIdx.y * TILE * n + blockIdx.x * TILE;
    float sums[OWN][OWN] = {};
    for (int at = 0; at < k; at += DEPTH) {
        for (int i = 0; i < TILE; i += threads / DEPTH)
            as[i + t / DEPTH][t % DEPTH] = a[(i + t / DEPTH) * k + t % DEPTH];
        for (int i = 0; i < DEPTH; i += threads / TILE) bs[i + t / TILE][t % TILE] = b[(i + t / TILE) * n + t % TILE];
        __syncthreads();
        a += DEPTH;
        b += DEPTH * n;
#pragma unroll
        for (int e = 0; e < DEPTH; ++e) {
            float left_of[OWN], top_of[OWN];
            if (COPY) {
#pragma unroll
                for (int i = 0; i < OWN; ++i) top_of[i] = as[top + i][e];
#pragma unroll
                for (int i = 0; i < OWN; ++i) left_of[i] = bs[e][left + i];
            }
#pragma unroll
            for (int i = 0; i < OWN; ++i)
#pragma unroll
                for (int j = 0; j < OWN; ++j)
                    sums[i][j] += COPY ? top_of[i] * left_of[j] : as[top + i][e] * bs[e][left + j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < OWN; ++i)
#pragma unroll
        for (int j = 0; j < OWN; ++j) {
            float &to = c[(top + i) * n + left + j];
            to = alpha * sums[i][j] + beta * to;
        }
}
PRODUCT(tile_words) { by_words<0, false>(a, b, c, n, k, alpha, beta); }
PRODUCT(tile_padded) { by_words<1, false>(a, b, c, n, k, alpha, beta); }
PRODUCT(tile_registers) { by_words<1, true>(a, b, c, n, k, alpha, beta); }

// tiles loaded by vectors, A transposed
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void load(float *a, float *b, int n, int k, int t, int threads, float (*as)[ROWS], float (*bs)[COLUMNS]) {
    int a_row = t / (DEPTH / 4), a_at = t % (DEPTH / 4) * 4, b_row = t / (COLUMNS / 4), b_at = t % (COLUMNS / 4) * 4;
#pragma unroll
    for (int i = 0; i < ROWS; i += threads / (DEPTH / 4)) {
        float4 some = *reinterpret_cast<float4 *>(&a[(i + a_row) * k + a_at]);
        as[a_at][i + a_row] = some.x;
        as[a_at + 1][i + a_row] = some.y;
        as[a_at + 2][i + a_row] = some.z;
        as[a_at + 3][i + a_row] = some.w;
    }
#pragma unroll
    for (int i = 0; i < DEPTH; i += threads / (COLUMNS / 4))
        *reinterpret_cast<float4 *>(&bs[i + b_row][b_at]) = *reinterpret_cast<float4 *>(&b[(i + b_row) * n + b_at]);
}
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void multiply(float (*as)[ROWS], float (*bs)[COLUMNS], int top, int left, float (&sums)[OWN][OWN]) {
#pragma unroll
    for (int e = 0; e < DEPTH; ++e) {
        float top_of[OWN], left_of[OWN];
#pragma unroll
        for (int i = 0; i < OWN; i += 4) {
            *reinterpret_cast<float4 *>(&top_of[i]) = *reinterpret_cast<float4 *>(&as[e][top + i]);
            *reinterpret_cast<float4 *>(&left_of[i]) = *reinterpret_cast<float4 *>(&bs[e][left + i]);
        }
#pragma unroll
        for (int i = 0; i < OWN; ++i)
#pragma unroll
            for (int j = 0; j < OWN; ++j) sums[i][j] += top_of[i] * left_of[j];
    }
}
__device__ __forceinline__ void store(float *c, int n, int top, int left, float alpha, float beta, float (&sums)[OWN][OWN]) {
#pragma unroll
    for (int i = 0; i < OWN; ++i)
#pragma unroll
        for (int j = 0; j < OWN; j += 4) {
            float4 &to = *reinterpret_cast<float4 *>(&c[(top + i) * n + left + j]), some = to;
            some.x = alpha * sums[i][j] + beta * some.x;
            some.y = alpha * sums[i][j + 1] + beta * some.y;
            some.z = alpha * sums[i][j + 2] + beta * some.z;
            some.w = alpha * sums[i][j + 3] + beta * some.w;
            to = some;
        }
}
template <int ROWS, int COLUMNS>
__device__ __forceinline__ void by_vectors(float *a, float *b, float *c, int n, int k, float alpha, float beta) {
    __shared__ float as[DEPTH][ROWS], bs[DEPTH][COLUMNS];
    int left = threadIdx.x * OWN, top = threadIdx.y * OWN, t = threadIdx.y * blockDim.x + threadIdx.x;
    a += blockIdx.y * ROWS * k;
    b += blockIdx.x * COLUMNS;
    c += blockIdx.y * ROWS * n + blockIdx.x * COLUMNS;
    float sums[OWN][OWN] = {};
    for (int at = 0; at < k; at += DEPTH) {
        load<ROWS, COLUMNS>(a, b, n, k, t, blockDim.x * blockDim.y, as, bs);
        __syncthreads();
        a += DEPTH;
        b += DEPTH * n;
        multiply<ROWS, COLUMNS>(as, bs, top, left, sums);
        __syncthreads();
    }
    store(c, n, top, left, alpha, beta, sums);
}
PRODUCT(tile_vectors) { by_vectors<128, 128>(a, b, c, n, k, alpha, beta); }
PRODUCT(tile_flat) { by_vectors<64, 128>(a, b, c, n, k, alpha, beta); }

// the next tiles are loaded into other buffers before the present ones are multiplied
PRODUCT(tile_ahead) {
    const int TILE = 128;
    __shared__ float as[2][DEPTH][TILE], bs[2][DEPTH][TILE];
    int left = threadIdx.x * OWN, top = threadIdx.y * OWN, t = threadIdx.y * blockDim.x + threadIdx.x, now = 0;
    a += blockIdx.y * TILE * k;
    b += blockIdx.x * TILE;
    c += blockIdx.y * TILE * n + blockIdx.x * TILE;
    float sums[OWN][OWN] = {};
    load<TILE, TILE>(a, b, n, k, t, blockDim.x * blockDim.y, as[0], bs[0]);
    __syncthreads();
    for (int at = DEPTH; at < k; at += DEPTH) {
        a += DEPTH;
        b += DEPTH * n;
        load<TILE, TILE>(a, b, n, k, t, blockDim.x * blockDim.y, as[1 - now], bs[1 - now]);
        multiply<TILE, TILE>(as[now], bs[now], top, left, sums);
        __syncthreads();
        now = 1 - now;
    }
    multiply<TILE, TILE>(as[now], bs[now], top, left, sums);
    store(c, n, top, left, alpha, beta, sums);
}
