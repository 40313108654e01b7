// Distributed shared memory. Launch: cluster_sum grid a multiple of 4; cluster_histogram a multiple of 2; 256 threads.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// One total for 4 blocks of 256 numbers.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const float *x, float *totals) {
    __shared__ float s[256];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float total = 0;
        for (unsigned i = 0; i < cluster.num_blocks(); i++) total += *cluster.map_shared_rank(s, i);
        totals[blockIdx.x / 4] = total;
    }
    cluster.sync();
}

// 512 bins, 256 in each block of a pair.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(int n, const unsigned *x, unsigned *bins) {
    __shared__ unsigned s[256];
    cg::cluster_group cluster = cg::this_cluster();
    s[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned bin = x[i] % 512;
        atomicAdd(cluster.map_shared_rank(&s[bin % 256], bin / 256), 1u);
    }
    cluster.sync();
    atomicAdd(&bins[cluster.block_rank() * 256 + threadIdx.x], s[threadIdx.x]);
}

// Each block writes into its neighbour, which waits on an mbarrier. Clusters of 2, 32 threads.
extern "C" __global__ void __cluster_dims__(2, 1, 1) neighbour(const int *x, int *y) {
    __shared__ int inbox[32];
    __shared__ __align__(8) unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), at = (unsigned)__cvta_generic_to_shared(&inbox[threadIdx.x]);
    unsigned rank, theirs, their_bar, done;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(b));
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(b));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(at), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(their_bar) : "r"(b), "r"(rank ^ 1));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 ::"r"(theirs), "r"(x[blockIdx.x * 32 + threadIdx.x]), "r"(their_bar) : "memory");
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
                    "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
    while (!done);
    y[blockIdx.x * 32 + threadIdx.x] = inbox[threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
