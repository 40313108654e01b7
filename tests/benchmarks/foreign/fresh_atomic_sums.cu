// Sums of which all CTAs add to one word: with an atomic for each thread, CTA or warp. Written for this repository after the
// descriptions of the measured kernels.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define KERNEL(name) extern "C" __global__ void name

KERNEL(atomics)(const int *in, int *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(out, in[i]);
}

KERNEL(float_atomics)(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(out, in[i]);
}

KERNEL(tree_atomic)(const int *in, int *out, int count) {
    __shared__ int s[256];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    s[tid] = i < count ? in[i] : 0;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) s[tid] += s[tid + stride];
        __syncthreads();
    }
    if (tid == 0) atomicAdd(out, s[0]);
}

__device__ int warp_sum(int v) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

KERNEL(shuffled_atomic)(const int *in, int *out, int count) {
    __shared__ int sums[8];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    int v = warp_sum(i < count ? in[i] : 0);
    if (tid % 32 == 0) sums[tid / 32] = v;
    __syncthreads();
    if (tid < 32) {
        v = warp_sum(tid < 8 ? sums[tid] : 0);
        if (tid == 0) atomicAdd(out, v);
    }
}

KERNEL(strided_atomics)(const int *in, int *out, int count) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) v += in[i];
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(out, v);
}
