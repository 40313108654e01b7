// Products of f32 matrices of any sizes: an element of a thread, and tiles of 16 x 16 and 32 x 32 without padding. Written for this
// repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

KERNEL(product_each)(int m, int n, int k, const float *a, const float *b, float *c) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int step = 0; step < k; step++) sum = fmaf(a[size_t(row) * k + step], b[size_t(step) * n + column], sum);
    c[size_t(row) * n + column] = sum;
}

template <int SIDE> __device__ __forceinline__ void by_tiles(int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE + x;
    float sum = 0;
    for (int from = 0; from < k; from += SIDE) {
        left[y][x] = row < m && from + x < k ? a[size_t(row) * k + from + x] : 0;
        right[y][x] = from + y < k && column < n ? b[size_t(from + y) * n + column] : 0;
        __syncthreads();
#pragma unroll
        for (int step = 0; step < SIDE; step++) sum = fmaf(left[y][step], right[step][x], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[size_t(row) * n + column] = sum;
}

KERNEL(product_16)(int m, int n, int k, const float *a, const float *b, float *c) { by_tiles<16>(m, n, k, a, b, c); }

KERNEL(product_32)(int m, int n, int k, const float *a, const float *b, float *c) { by_tiles<32>(m, n, k, a, b, c); }
