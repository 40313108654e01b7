// C (m x n) = A (m x k) B (k x n), row-major. Launch: sgemm grid (n/64, m/64), 256 threads, sizes multiples of 64, k of
// 16; sgemm_naive and dgemm grid (n/16, m/16), block (16, 16), any size.
extern "C" __global__ void sgemm_naive(int m, int n, int k, const float *a, const float *b, float *c) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

extern "C" __global__ void __launch_bounds__(256) sgemm(int m, int n, int k, const float *__restrict__ a,
                                                        const float *__restrict__ b, float *__restrict__ c) {
    __shared__ float as[16][64 + 4], bs[16][64];
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    a += blockIdx.y * 64 * k, b += blockIdx.x * 64;
    float sum[4][4] = {};
    for (int start = 0; start < k; start += 16) {
        float4 av = *(const float4 *)&a[(tid / 4) * k + start + tid % 4 * 4];
        as[tid % 4 * 4][tid / 4] = av.x, as[tid % 4 * 4 + 1][tid / 4] = av.y;
        as[tid % 4 * 4 + 2][tid / 4] = av.z, as[tid % 4 * 4 + 3][tid / 4] = av.w;
        *(float4 *)&bs[tid / 16][tid % 16 * 4] = *(const float4 *)&b[(start + tid / 16) * n + tid % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 16; kk++) {
            float4 x = *(const float4 *)&as[kk][ty * 4], y = *(const float4 *)&bs[kk][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *(float4 *)&c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

extern "C" __global__ void dgemm(int m, int n, int k, double alpha, double beta, const double *a, const double *b,
                                 double *c) {
    __shared__ double as[16][16], bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    double sum = 0;
    for (int start = 0; start < k; start += 16) {
        as[threadIdx.y][threadIdx.x] = row < m && start + threadIdx.x < k ? a[row * k + start + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = column < n && start + threadIdx.y < k ? b[(start + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
