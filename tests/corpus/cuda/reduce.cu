// Reductions. Launch: block_* with blocks of 256 threads, warp_sum with one warp.
extern "C" __global__ void warp_sum(const int *x, int *y) {
    int v = x[threadIdx.x];
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) v += __shfl_xor_sync(~0u, v, mask);
    if (threadIdx.x == 0) *y = v;
}

__device__ __forceinline__ float warp_total(float v) {
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) v += __shfl_xor_sync(~0u, v, mask);
    return v;
}

// One total for each block, in order: the same number every time.
extern "C" __global__ void block_sum(int n, const float *x, float *totals) {
    __shared__ float parts[8];
    float v = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
    v = warp_total(v);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_total(threadIdx.x < 8 ? parts[threadIdx.x] : 0.f);
        if (threadIdx.x == 0) totals[blockIdx.x] = v;
    }
}

extern "C" __global__ void tree_sum(const float *x, float *totals) {
    __shared__ float s[256];
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = s[0];
}

extern "C" __global__ void atomic_dot(int n, const double *x, const double *y, double *total) {
    double v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i] * y[i];
#pragma unroll
    for (int offset = 16; offset; offset /= 2) v += __shfl_down_sync(~0u, v, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

// Value and place of the largest of each row; the first of equal ones. One block of 256 threads a row.
extern "C" __global__ void argmax(int columns, const float *x, float *values, int *places) {
    __shared__ float best[256];
    __shared__ int where[256];
    const float *row = x + (long long)blockIdx.x * columns;
    float v = -__int_as_float(0x7f800000);
    int at = 0;
    for (int i = threadIdx.x; i < columns; i += 256)
        if (row[i] > v) v = row[i], at = i;
    best[threadIdx.x] = v, where[threadIdx.x] = at;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (threadIdx.x < half) {
            float other = best[threadIdx.x + half];
            int place = where[threadIdx.x + half];
            if (other > best[threadIdx.x] || (other == best[threadIdx.x] && place < where[threadIdx.x]))
                best[threadIdx.x] = other, where[threadIdx.x] = place;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) values[blockIdx.x] = best[0], places[blockIdx.x] = where[0];
}
