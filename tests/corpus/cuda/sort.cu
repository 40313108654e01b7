// Sorting. Launch: bitonic one block of 512 threads for 1024 numbers; merge_sort one block of 256 threads for 256.
extern "C" __global__ void bitonic(int *x) {
    __shared__ int s[1024];
    x += blockIdx.x * 1024;
    s[threadIdx.x] = x[threadIdx.x], s[threadIdx.x + 512] = x[threadIdx.x + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int step = size / 2; step; step /= 2) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (step - 1)), high = low + step;
            bool up = (low & size) == 0;
            int a = s[low], b = s[high];
            if ((a > b) == up) s[low] = b, s[high] = a;
        }
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x], x[threadIdx.x + 512] = s[threadIdx.x + 512];
}

// Every thread finds the place of its number by binary search in the other half of a growing pair of runs.
extern "C" __global__ void merge_sort(float *x) {
    __shared__ float s[2][256];
    x += blockIdx.x * 256;
    int from = 0;
    s[0][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int run = 1; run < 256; run *= 2, from ^= 1) {
        int i = threadIdx.x, mine = i / run, first = (mine ^ 1) * run, low = 0, high = run;
        float v = s[from][i];
        while (low < high) {
            int middle = (low + high) / 2;
            float w = s[from][first + middle];
            if (w < v || (w == v && (mine & 1))) low = middle + 1;
            else high = middle;
        }
        s[from ^ 1][mine / 2 * 2 * run + i % run + low] = v;
        __syncthreads();
    }
    x[threadIdx.x] = s[from][threadIdx.x];
}

// Places of the numbers by their lowest 4 bits, stable within a block of 256.
extern "C" __global__ void radix_rank(const unsigned *x, unsigned *rank, unsigned *counts) {
    __shared__ unsigned warp_counts[8][16];
    unsigned digit = x[blockIdx.x * 256 + threadIdx.x] & 15, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned same = 0, mask = ~0u;
    for (int d = 0; d < 16; d++) {
        unsigned votes = __ballot_sync(mask, digit == d);
        if (digit == d) same = votes;
        if (lane == d) warp_counts[warp][d] = __popc(votes);
    }
    __syncthreads();
    unsigned before = __popc(same & ((1u << lane) - 1));
    for (unsigned w = 0; w < warp; w++) before += warp_counts[w][digit];
    rank[blockIdx.x * 256 + threadIdx.x] = before;
    if (threadIdx.x < 16) {
        unsigned total = 0;
        for (int w = 0; w < 8; w++) total += warp_counts[w][threadIdx.x];
        counts[blockIdx.x * 16 + threadIdx.x] = total;
    }
}
