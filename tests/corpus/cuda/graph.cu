// Irregular work. Launch: any grid, blocks of 128 threads.
extern "C" __global__ void csr_product(int rows, const int *starts, const int *columns, const float *values, const float *x,
                                       float *y) {
    int row = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

// One step of a search in breadth: neighbours of the frontier that were not seen yet make the next one.
extern "C" __global__ void breadth_first(int count, const int *frontier, const int *starts, const int *targets, int level,
                                         int *levels, int *next, int *next_count) {
    for (int i = blockIdx.x * 128 + threadIdx.x; i < count; i += gridDim.x * 128) {
        int node = frontier[i];
        for (int e = starts[node]; e < starts[node + 1]; e++) {
            int to = targets[e];
            if (atomicCAS(&levels[to], -1, level) != -1) continue;
            unsigned together = __activemask();
            int lane = threadIdx.x % 32, leader = __ffs(together) - 1, base = 0;
            if (lane == leader) base = atomicAdd(next_count, __popc(together));
            base = __shfl_sync(together, base, leader);
            next[base + __popc(together & ((1u << lane) - 1))] = to;
        }
    }
}

extern "C" __global__ void collatz(int n, unsigned long long *steps) {
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
        unsigned long long v = i + 1;
        unsigned count = 0;
        while (v != 1) {
            if (v & 1) v = 3 * v + 1;
            else v >>= 1;
            if (++count > 1000) break;
        }
        steps[i] = count;
    }
}

extern "C" __global__ void longest_common(int n, int m, const char *a, const char *b, int *table) {
    for (int diagonal = 0; diagonal < n + m - 1; diagonal++) {        // one block
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            int j = diagonal - i;
            if (j < 0 || j >= m) continue;
            int up = i ? table[(i - 1) * m + j] : 0, left = j ? table[i * m + j - 1] : 0;
            int corner = i && j ? table[(i - 1) * m + j - 1] : 0;
            table[i * m + j] = a[i] == b[j] ? corner + 1 : max(up, left);
        }
        __syncthreads();
    }
}
