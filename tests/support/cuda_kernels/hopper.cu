// sm_90: TMA with a tensor map and cuda::ptx, bulk copies with cuda::barrier, clusters with distributed shared memory.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int ROWS = 16, COLUMNS = 32;

__global__ void tma_double(const __grid_constant__ CUtensorMap x_map, float *y, int width) {
    __shared__ alignas(128) float tile[ROWS][COLUMNS];
    __shared__ uint64_t full;
    int x = blockIdx.x * COLUMNS, row = blockIdx.y * ROWS;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const int32_t at[2] = {x, row};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &x_map, at, &full);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(tile));
    }
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
    }
    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x)
        y[(row + i / COLUMNS) * width + x + i % COLUMNS] = 2 * tile[i / COLUMNS][i % COLUMNS];
}

__global__ void bulk_scale(const float *x, float *y, float by) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(128) float data[256];
    __shared__ alignas(8) unsigned char storage[sizeof(barrier)];
    auto &bar = *reinterpret_cast<barrier *>(storage);
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data, x + blockIdx.x * 256, sizeof(data),
                           cuda::device::barrier_native_handle(bar));
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(data));
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 256; i += blockDim.x) data[i] *= by;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + blockIdx.x * 256, data, sizeof(data));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

__global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *x, unsigned *bins, int n) {
    extern __shared__ unsigned own[];  // 32 bins of this CTA; the cluster has 128
    auto cluster = cg::this_cluster();
    for (int b = threadIdx.x; b < 32; b += blockDim.x) own[b] = 0;
    cluster.sync();
    for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().size()) {
        int bin = x[i] & 127;
        atomicAdd(cluster.map_shared_rank(own, bin / 32) + bin % 32, 1u);
    }
    cluster.sync();
    for (int b = threadIdx.x; b < 32; b += blockDim.x) atomicAdd(&bins[cluster.block_rank() * 32 + b], own[b]);
}

__global__ void cluster_reduce(const float *x, float *y) {
    __shared__ float own;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = x[blockIdx.x];
    cluster.sync();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) sum += *cluster.map_shared_rank(&own, rank);
        y[blockIdx.x] = sum;
    }
    cluster.sync();
}
