// Sums of u32 in the seven steps of the classic tutorial on parallel reduction: each CTA of 512 threads writes a partial sum.
// Written for this repository after the descriptions of the measured kernels.
#define SUM(name) extern "C" __global__ void name(const unsigned *from, unsigned count, unsigned *to)
#define AT(i) ((i) < count ? from[i] : 0)
extern __shared__ unsigned sums[];

// neighbors first, threads of a warp diverge: a division by the distance selects the active ones
SUM(sum_divergent) {
    unsigned t = threadIdx.x;
    sums[t] = AT(blockIdx.x * blockDim.x + t);
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        if (t % (2 * distance) == 0) sums[t] += t + distance < count ? sums[t + distance] : 0;
        __syncthreads();
    }
    if (t == 0) to[blockIdx.x] = sums[0];
}

// the first threads are the active ones, their distance grows: bank conflicts
SUM(sum_conflicts) {
    unsigned t = threadIdx.x;
    sums[t] = AT(blockIdx.x * blockDim.x + t);
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        unsigned at = 2 * distance * t;
        if (at < blockDim.x) sums[at] += at + distance < count ? sums[at + distance] : 0;
        __syncthreads();
    }
    if (t == 0) to[blockIdx.x] = sums[0];
}

// the distance shrinks: no conflicts
SUM(sum_sequential) {
    unsigned t = threadIdx.x;
    sums[t] = AT(blockIdx.x * blockDim.x + t);
    __syncthreads();
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (t < distance) sums[t] += t + distance < count ? sums[t + distance] : 0;
        __syncthreads();
    }
    if (t == 0) to[blockIdx.x] = sums[0];
}

// two loads per thread
SUM(sum_two_loads) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    sums[t] = AT(i);
    sums[t] += AT(i + blockDim.x);
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (t < distance) sums[t] += sums[t + distance];
        __syncthreads();
    }
    if (t == 0) to[blockIdx.x] = sums[0];
}

__device__ void last_warp(volatile unsigned *own, unsigned t, unsigned threads) {
    if (threads >= 64) own[t] += own[t + 32];
    if (threads >= 32) own[t] += own[t + 16];
    if (threads >= 16) own[t] += own[t + 8];
    if (threads >= 8) own[t] += own[t + 4];
    if (threads >= 4) own[t] += own[t + 2];
    if (threads >= 2) own[t] += own[t + 1];
}

// no barriers in the last warp
SUM(sum_last_warp) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    sums[t] = AT(i);
    sums[t] += AT(i + blockDim.x);
    for (unsigned distance = blockDim.x / 2; distance > 32; distance /= 2) {
        if (t < distance) sums[t] += sums[t + distance];
        __syncthreads();
    }
    if (t < 32) last_warp(sums, t, blockDim.x);
    if (t == 0) to[blockIdx.x] = sums[0];
}

__device__ void unrolled(unsigned t) {
    if (blockDim.x >= 512 && t < 256) sums[t] += sums[t + 256];
    __syncthreads();
    if (blockDim.x >= 256 && t < 128) sums[t] += sums[t + 128];
    __syncthreads();
    if (blockDim.x >= 128 && t < 64) sums[t] += sums[t + 64];
    __syncthreads();
    if (t < 32) last_warp(sums, t, blockDim.x);
}

SUM(sum_unrolled) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    sums[t] = AT(i);
    sums[t] += AT(i + blockDim.x);
    __syncthreads();
    unrolled(t);
    if (t == 0) to[blockIdx.x] = sums[0];
}

// a loop over the array, here of one iteration: the grid covers it
SUM(sum_many_loads) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t, step = gridDim.x * blockDim.x * 2;
    sums[t] = 0;
    for (; i < count; i += step) {
        sums[t] += from[i];
        sums[t] += AT(i + blockDim.x);
    }
    __syncthreads();
    unrolled(t);
    if (t == 0) to[blockIdx.x] = sums[0];
}
