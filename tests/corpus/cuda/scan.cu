// Prefix sums. Launch: blocks of 256 threads, one for 256 numbers; chained_scan: any number of blocks, state zeroed.
__device__ int inclusive(int v, int *totals) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; w++) v += totals[w];
    return v;
}

extern "C" __global__ void block_scan(const int *x, int *y) {
    __shared__ int totals[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = inclusive(x[i], totals);
}

// Blocks wait for the one before them: state[i] is 0, then its running total plus one.
extern "C" __global__ void chained_scan(const int *x, int *y, unsigned long long *state, unsigned *ticket) {
    __shared__ int totals[8];
    __shared__ unsigned block;
    __shared__ int before;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = block * 256 + threadIdx.x;
    int v = inclusive(x[i], totals);
    if (threadIdx.x == 255) {
        unsigned long long previous = 1;
        if (block > 0)
            while ((previous = *(volatile unsigned long long *)&state[block - 1]) == 0) __nanosleep(20);
        __threadfence();
        before = (int)(previous - 1);
        *(volatile unsigned long long *)&state[block] = previous + (unsigned)v;
    }
    __syncthreads();
    y[i] = v + before;
}
