// CUB on blocks and warps. Launch: one block a tile of 512 numbers, 128 threads; warp_* 128 threads, four warps.
#include <cub/cub.cuh>

// Exclusive sums of a tile, and its largest number so far.
extern "C" __global__ void block_scan(const int *x, int *sums, int *largest, int *totals) {
    using Scan = cub::BlockScan<int, 128>;
    __shared__ typename Scan::TempStorage a, b;
    x += blockIdx.x * 512, sums += blockIdx.x * 512, largest += blockIdx.x * 512;
    int v[4], s[4], m[4], total;
    for (int k = 0; k < 4; k++) v[k] = x[threadIdx.x * 4 + k];
    Scan(a).ExclusiveSum(v, s, total);
    Scan(b).InclusiveScan(v, m, cuda::maximum<>{});
    for (int k = 0; k < 4; k++) sums[threadIdx.x * 4 + k] = s[k], largest[threadIdx.x * 4 + k] = m[k];
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// Pairs sorted by key.
extern "C" __global__ void block_sort(unsigned *keys, int *values) {
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    __shared__ union { typename Load::TempStorage load; typename Sort::TempStorage sort; } s;
    unsigned k[4];
    int v[4];
    Load(s.load).Load(keys + blockIdx.x * 512, k);
    for (int i = 0; i < 4; i++) v[i] = threadIdx.x * 4 + i;
    __syncthreads();
    Sort(s.sort).SortBlockedToStriped(k, v);
    cub::StoreDirectStriped<128>(threadIdx.x, keys + blockIdx.x * 512, k);
    cub::StoreDirectStriped<128>(threadIdx.x, values + blockIdx.x * 512, v);
}

// Floats in descending order: the sign bits are twiddled.
extern "C" __global__ void block_sort_floats(float *x) {
    using Sort = cub::BlockRadixSort<float, 128, 4>;
    __shared__ typename Sort::TempStorage s;
    float v[4];
    for (int k = 0; k < 4; k++) v[k] = x[blockIdx.x * 512 + threadIdx.x * 4 + k];
    Sort(s).SortDescending(v);
    for (int k = 0; k < 4; k++) x[blockIdx.x * 512 + threadIdx.x * 4 + k] = v[k];
}

// Sum and product of complex numbers by warps of 32 and of 8.
extern "C" __global__ void warp_reduce(const float2 *x, float2 *sums, float *norms) {
    struct Add { __device__ float2 operator()(float2 a, float2 b) const { return make_float2(a.x + b.x, a.y + b.y); } };
    using Whole = cub::WarpReduce<float2>;
    using Eight = cub::WarpReduce<float, 8>;
    __shared__ typename Whole::TempStorage a[4];
    __shared__ typename Eight::TempStorage b[16];
    float2 v = x[blockIdx.x * 128 + threadIdx.x];
    float2 sum = Whole(a[threadIdx.x / 32]).Reduce(v, Add{});
    float norm = Eight(b[threadIdx.x / 8]).Reduce(v.x * v.x + v.y * v.y, cuda::maximum<>{});
    if (threadIdx.x % 32 == 0) sums[blockIdx.x * 4 + threadIdx.x / 32] = sum;
    if (threadIdx.x % 8 == 0) norms[blockIdx.x * 16 + threadIdx.x / 8] = norm;
}

// Runs of equal numbers: where each begins, and its length by a segmented scan.
extern "C" __global__ void block_runs(const int *x, int *first, int *place) {
    using Heads = cub::BlockDiscontinuity<int, 128>;
    using Scan = cub::BlockScan<int2, 128>;
    __shared__ typename Heads::TempStorage a;
    __shared__ typename Scan::TempStorage b;
    int v[2], head[2];
    for (int k = 0; k < 2; k++) v[k] = x[threadIdx.x * 2 + k];
    Heads(a).FlagHeads(head, v, cuda::std::not_equal_to<>{});
    int2 pairs[2], out[2];
    for (int k = 0; k < 2; k++) pairs[k] = make_int2(head[k], 1);
    Scan(b).InclusiveScan(pairs, out, [](int2 l, int2 r) { return make_int2(l.x + r.x, r.x ? r.y : l.y + r.y); });
    for (int k = 0; k < 2; k++) first[threadIdx.x * 2 + k] = out[k].x, place[threadIdx.x * 2 + k] = out[k].y;
}

extern "C" __global__ void block_histogram(const unsigned char *x, unsigned *bins) {
    using Count = cub::BlockHistogram<unsigned char, 128, 4, 64, cub::BLOCK_HISTO_SORT>;
    __shared__ typename Count::TempStorage s;
    __shared__ unsigned counts[64];
    unsigned char v[4];
    for (int k = 0; k < 4; k++) v[k] = x[blockIdx.x * 512 + threadIdx.x * 4 + k];
    Count(s).Histogram(v, counts);
    __syncthreads();
    if (threadIdx.x < 64) bins[blockIdx.x * 64 + threadIdx.x] = counts[threadIdx.x];
}

extern "C" __global__ void warp_merge_sort(short *x) {
    using Sort = cub::WarpMergeSort<short, 4, 32>;
    __shared__ typename Sort::TempStorage s[4];
    short v[4];
    for (int k = 0; k < 4; k++) v[k] = x[blockIdx.x * 512 + threadIdx.x * 4 + k];
    Sort(s[threadIdx.x / 32]).Sort(v, cuda::std::less<>{});
    for (int k = 0; k < 4; k++) x[blockIdx.x * 512 + threadIdx.x * 4 + k] = v[k];
}
