// Lessons of CUDA in f32: sums of vectors, copies with a stride, transposes, products, sums, a histogram and convolutions. Written
// for this repository after the descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

// one element of a thread
KERNEL(add)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = a[i] + b[i];
}

// threads of even elements add 128 terms to theirs
KERNEL(add_divergent)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (i % 2 == 0) {
        float extra = 0;
#pragma unroll 16
        for (int term = 0; term < 128; term++) extra += 0.0001f * term;
        out[i] = a[i] + b[i] + extra;
    } else {
        out[i] = a[i] + b[i];
    }
}

// every eighth element
KERNEL(copy_eighths)(const float *__restrict__ in, float *__restrict__ out, int count) {
    int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) out[i] = in[i];
}

// reads along rows, writes along columns
KERNEL(transpose_each)(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

// a tile of 32 x 32 by as many threads, with a column of padding
KERNEL(transpose_tile)(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    if (column < columns && row < rows) tile[threadIdx.y][threadIdx.x] = in[row * columns + column];
    __syncthreads();
    int to_column = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
    if (to_column < rows && to_row < columns) out[to_row * rows + to_column] = tile[threadIdx.x][threadIdx.y];
}

// an element of a thread
KERNEL(product_each)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// an element of a thread, tiles of 32 x 32 in shared memory
KERNEL(product_tiles)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float from_a[32][32], from_b[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 32) {
        from_a[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + (k + threadIdx.x)] : 0.0f;
        from_b[threadIdx.y][threadIdx.x] = k + threadIdx.y < n && column < n ? b[(k + threadIdx.y) * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; i++) sum += from_a[threadIdx.y][i] * from_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

// a tree over shared memory, which ends in a partial sum of the CTA
__device__ void tree(float *shared, float own, float *__restrict__ out) {
    int thread = threadIdx.x;
    shared[thread] = own;
    __syncthreads();
    for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
        if (thread < half) shared[thread] += shared[thread + half];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = shared[0];
}

// two elements of a thread
KERNEL(sum_tree)(const float *__restrict__ in, float *__restrict__ out, int count) {
    extern __shared__ float shared[];
    int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float own = 0;
    if (i < count) own += in[i];
    if (i + blockDim.x < count) own += in[i + blockDim.x];
    tree(shared, own, out);
}

KERNEL(dot_tree)(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int count) {
    extern __shared__ float shared[];
    int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float own = 0;
    if (i < count) own += a[i] * b[i];
    if (i + blockDim.x < count) own += a[i + blockDim.x] * b[i + blockDim.x];
    tree(shared, own, out);
}

// 256 bins of a CTA in shared memory, then of all
KERNEL(histogram)(const unsigned *__restrict__ in, int count, unsigned *__restrict__ bins) {
    extern __shared__ unsigned own[];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) atomicAdd(&own[in[i] & 255], 1);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}

// an output of a thread, image and weights in global memory
KERNEL(convolution_3)(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns - 2 || y >= rows - 2) return;
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 3; dy++)
#pragma unroll
        for (int dx = 0; dx < 3; dx++) sum += in[(y + dy) * columns + x + dx] * weights[dy * 3 + dx];
    out[y * columns + x] = sum;
}

KERNEL(convolution_7)(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns - 6 || y >= rows - 6) return;
    float sum = 0;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++) sum += in[(y + dy) * columns + x + dx] * weights[dy * 7 + dx];
    out[y * columns + x] = sum;
}
