// Atomic operations. Launch: any grid, blocks of 256 threads.
#include <cuda_fp16.h>

extern "C" __global__ void histogram(int n, const unsigned char *x, unsigned *bins) {
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

// out: 12 words: add, sub, min, max, and, or, xor, inc, dec, exch, cas, last ticket
extern "C" __global__ void every_atomic(int n, const int *x, int *out, unsigned *wide) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&out[0], x[i]), atomicSub(&out[1], x[i]), atomicMin(&out[2], x[i]), atomicMax(&out[3], x[i]);
    atomicAnd(&out[4], x[i]), atomicOr(&out[5], x[i]), atomicXor(&out[6], x[i]);
    atomicInc(&wide[0], 1000u), atomicDec(&wide[1], 1000u), atomicMin(&wide[2], (unsigned)x[i]);
    int old = atomicExch(&out[9], x[i]);
    if (atomicCAS(&out[10], 0, old + 1) == 0) out[11] = i;
}

extern "C" __global__ void wide_atomics(int n, const double *x, double *most, unsigned long long *sum) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    atomicAdd(sum, (unsigned long long)x[i]);
    unsigned long long *at = (unsigned long long *)most, seen = *at, assumed;
    do {
        assumed = seen;
        if (__longlong_as_double(assumed) >= x[i]) break;
        seen = atomicCAS(at, assumed, __double_as_longlong(x[i]));
    } while (seen != assumed);
}

extern "C" __global__ void half_atomics(int n, const half2 *x, half2 *total, float *f) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    atomicAdd(total, x[i]);
    atomicAdd_block(f, __low2float(x[i]));
    atomicAdd_system(f + 1, __high2float(x[i]));
}

__device__ int lock;
extern "C" __global__ void locked_count(int *count) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int *)count = *(volatile int *)count + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}
