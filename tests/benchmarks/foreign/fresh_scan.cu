// Prefix sums: the passes of a textbook that add the element a power of two before, trees in place with a launch for each level (by all
// threads, of which few have work, or by those with work), and scans of CTAs in shared memory. Written for this repository after the
// descriptions of the measured kernels.
#define KERNEL(name) extern "C" __global__ void name

KERNEL(pass)(int n, int offset, int *out, const int *in) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    if (k >= offset)
        out[k] = in[k - offset] + in[k];
    else
        out[k] = in[k];
}

KERNEL(shift)(int n, int *out, const int *in) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) out[k] = k == 0 ? 0 : in[k - 1];
}

__device__ void raise(int *data, int k, int level) { data[k + (1 << (level + 1)) - 1] += data[k + (1 << level) - 1]; }

__device__ void lower(int *data, int k, int level) {
    int left = k + (1 << level) - 1, right = k + (1 << (level + 1)) - 1, value = data[left];
    data[left] = data[right];
    data[right] += value;
}

KERNEL(up_all)(int n, int level, int *data) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n && k % (1 << (level + 1)) == 0) raise(data, k, level);
}

KERNEL(down_all)(int n, int level, int *data) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n && k % (1 << (level + 1)) == 0) lower(data, k, level);
}

KERNEL(up)(int n, int level, int *data) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n >> (level + 1)) raise(data, k << (level + 1), level);
}

KERNEL(down)(int n, int level, int *data) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n >> (level + 1)) lower(data, k << (level + 1), level);
}

// two elements for each thread, with a word between each 32 of them
KERNEL(block_scan)(int n, int *out, const int *in, int *totals) {
    extern __shared__ int part[];
    int tid = threadIdx.x, threads = blockDim.x, first = blockIdx.x * threads * 2, offset = 1;
    int near = tid, far = tid + threads;
    part[near + (near >> 5)] = first + near < n ? in[first + near] : 0;
    part[far + (far >> 5)] = first + far < n ? in[first + far] : 0;
    for (int d = threads; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            part[b + (b >> 5)] += part[a + (a >> 5)];
        }
        offset *= 2;
    }
    if (tid == 0) {
        int last = 2 * threads - 1;
        last += last >> 5;
        totals[blockIdx.x] = part[last];
        part[last] = 0;
    }
    for (int d = 1; d < 2 * threads; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            a += a >> 5, b += b >> 5;
            int value = part[a];
            part[a] = part[b];
            part[b] += value;
        }
    }
    __syncthreads();
    if (first + near < n) out[first + near] = part[near + (near >> 5)];
    if (first + far < n) out[first + far] = part[far + (far >> 5)];
}

KERNEL(add_sums)(int n, int *data, const int *sums) {
    int first = blockIdx.x * blockDim.x * 2 + threadIdx.x, sum = sums[blockIdx.x];
    if (first < n) data[first] += sum;
    if (first + blockDim.x < n) data[first + blockDim.x] += sum;
}
