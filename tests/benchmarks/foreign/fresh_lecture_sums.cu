// Sums of s32 by the steps of a well-known lecture: each CTA writes a sum of its own. Written for this repository after the
// descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name
extern __shared__ int shared[];

KERNEL(divergent)(const int *in, int *out) {
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[tid] = in[i];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

KERNEL(conflicting)(const int *in, int *out) {
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[tid] = in[i];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x) shared[index] += shared[index + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

KERNEL(sequential)(const int *in, int *out) {
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[tid] = in[i];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

KERNEL(first_add)(const int *in, int *out) {
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    shared[tid] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
}

// the warp runs without barriers on volatile words, as it did before Volta
__device__ void last_warp(volatile int *part, unsigned tid) {
    part[tid] += part[tid + 32];
    part[tid] += part[tid + 16];
    part[tid] += part[tid + 8];
    part[tid] += part[tid + 4];
    part[tid] += part[tid + 2];
    part[tid] += part[tid + 1];
}

KERNEL(unrolled_warp)(const int *in, int *out) {
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    shared[tid] = in[i] + in[i + blockDim.x];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid < 32) last_warp(shared, tid);
    if (tid == 0) out[blockIdx.x] = shared[0];
}

KERNEL(unrolled)(const int *in, int *out) {
    unsigned tid = threadIdx.x, i = blockIdx.x * 512 + threadIdx.x;
    shared[tid] = in[i] + in[i + 256];
    __syncthreads();
    if (tid < 128) shared[tid] += shared[tid + 128];
    __syncthreads();
    if (tid < 64) shared[tid] += shared[tid + 64];
    __syncthreads();
    if (tid < 32) last_warp(shared, tid);
    if (tid == 0) out[blockIdx.x] = shared[0];
}
