// Reductions, scans, histograms and sorting: shared memory, warp primitives, cooperative groups, CUB, atomics.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

namespace cg = cooperative_groups;

__global__ void sum_tree(const float *x, float *partial, int n) {
    extern __shared__ float s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}

template <typename T> __device__ T warp_sum(T v) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}
template <typename T, int THREADS> __global__ void sum_warps(const T *x, T *total, int n) {
    __shared__ T partial[THREADS / 32];
    T v = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) v += x[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum(threadIdx.x < THREADS / 32 ? partial[threadIdx.x] : T(0));
        if (threadIdx.x == 0) atomicAdd(total, v);
    }
}

__global__ void sum_groups(const int *x, int *total, int n) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = 0;
    for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) v += x[i];
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(total, v);
}

__global__ void row_softmax(const float *x, float *y, int columns) {
    __shared__ float scratch[32];
    const float *row = x + blockIdx.x * static_cast<size_t>(columns);
    auto all = [&](float v, bool maximum) {
        for (int o = 16; o; o /= 2) {
            float other = __shfl_xor_sync(~0u, v, o);
            v = maximum ? fmaxf(v, other) : v + other;
        }
        __syncthreads();
        if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
        __syncthreads();
        float result = maximum ? -INFINITY : 0.f;
        for (int w = 0; w < blockDim.x / 32; ++w) result = maximum ? fmaxf(result, scratch[w]) : result + scratch[w];
        return result;
    };
    float top = -INFINITY, sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
    top = all(top, true);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(row[c] - top);
    sum = all(sum, false);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[blockIdx.x * static_cast<size_t>(columns) + c] = expf(row[c] - top) / sum;
}

template <int THREADS> __global__ void cub_sum(const float *x, float *out) {
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    float total = Reduce(storage).Sum(x[blockIdx.x * THREADS + threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = total;
}

template <int THREADS, int ITEMS> __global__ void cub_scan(const int *x, int *y) {
    using Scan = cub::BlockScan<int, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    int items[ITEMS];
    for (int k = 0; k < ITEMS; ++k) items[k] = x[threadIdx.x * ITEMS + k];
    Scan(storage).ExclusiveSum(items, items);
    for (int k = 0; k < ITEMS; ++k) y[threadIdx.x * ITEMS + k] = items[k];
}

template <int THREADS, int ITEMS> __global__ void cub_sort(unsigned *keys) {
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    unsigned items[ITEMS];
    for (int k = 0; k < ITEMS; ++k) items[k] = keys[threadIdx.x * ITEMS + k];
    Sort(storage).Sort(items);
    for (int k = 0; k < ITEMS; ++k) keys[threadIdx.x * ITEMS + k] = items[k];
}

template <int BINS> __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned own[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}

__device__ unsigned tickets;
__global__ void compact(const int *x, int *kept, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && x[i] > 0;
    unsigned votes = __ballot_sync(~0u, keep);
    unsigned lane = threadIdx.x % 32, first = 0;
    if (lane == 0 && votes) first = atomicAdd(&tickets, __popc(votes));
    first = __shfl_sync(~0u, first, 0);
    if (keep) kept[first + __popc(votes & ((1u << lane) - 1))] = x[i];
}

__global__ void last_block(const float *x, float *partial, float *total, unsigned *done) {
    __shared__ bool last;
    float v = warp_sum(x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v;
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float sum = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += static_cast<volatile float *>(partial)[b];
        *total = sum;
    }
}
