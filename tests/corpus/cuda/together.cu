// Cooperative groups. Launch: grid_* 4 blocks of 64 threads, cooperatively; the others one block of 128 threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// Every block reads what all wrote, twice.
extern "C" __global__ void grid_sums(int n, float *x, float *partial, float *total) {
    cg::grid_group grid = cg::this_grid();
    float sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) partial[grid.thread_rank() / 32] = sum;
    grid.sync();
    if (grid.thread_rank() == 0) {
        float all = 0;
        for (int i = 0; i < (int)grid.size() / 32; i++) all += partial[i];
        *total = all;
    }
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] /= *(volatile float *)total;
}

// Lanes that took a branch count themselves and write side by side.
extern "C" __global__ void compact(const int *x, int *y, int *count) {
    int v = x[threadIdx.x];
    if (v % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int at;
        if (active.thread_rank() == 0) at = atomicAdd(count, active.size());
        at = active.shfl(at, 0);
        y[at + active.thread_rank()] = v;
    }
}

// Lanes with the same label add up; scans of tiles of 16.
extern "C" __global__ void labelled(const int *labels, const int *x, int *sums, int *scanned, int *odd) {
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<16>(block);
    int v = x[threadIdx.x];
    auto same = cg::labeled_partition(warp, labels[threadIdx.x]);
    sums[threadIdx.x] = cg::reduce(same, v, cg::plus<int>());
    scanned[threadIdx.x] = cg::exclusive_scan(tile, v, cg::bit_xor<int>());
    auto half = cg::binary_partition(tile, v & 1);
    odd[threadIdx.x] = half.size() * 100 + half.thread_rank();
}

// Tiles of 64 threads meet and add through the shared memory that the system reserves. Launch: 256 threads.
extern "C" __global__ void wide_tiles(const int *x, int *sums, int *next) {
    __shared__ int s[256];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int v = x[threadIdx.x];
    sums[threadIdx.x] = cg::reduce(tile, v, cg::plus<int>());
    s[threadIdx.x] = v;
    tile.sync();
    next[threadIdx.x] = s[threadIdx.x / 64 * 64 + (threadIdx.x + 37) % 64] + tile.any(v > 98);
}
