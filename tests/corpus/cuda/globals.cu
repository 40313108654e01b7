// Variables of a module, with what they start as. Launch: a thread an element.
struct Node {
    int value;
    const Node *next;
    float weights[3];
};
__device__ int table[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
__constant__ float scales[4] = {1.f, -2.5f};
__device__ const char *names[2] = {"abc", "def"};
__device__ Node last = {3, nullptr, {0.5f, -1.f, 2.f}}, first = {7, &last, {1.f, 2.f, 3.f}};
__managed__ unsigned long long counter;
__device__ double big[1 << 12];
__constant__ short primes[] = {2, 3, 5, 7, 11, 13};
__device__ int *inside = &table[2][1];
extern __shared__ float dynamic[];
extern __device__ int elsewhere;
extern __device__ float helper(float);

extern "C" __global__ void lookups(int n, const int *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Node *node = x[i] & 1 ? &first : &last;
    float v = node->value + node->weights[x[i] % 3] + table[x[i] & 3][x[i] % 3] + scales[x[i] & 3] + primes[x[i] % 6];
    if (node->next) v += node->next->value;
    y[i] = v + names[x[i] & 1][1] + *inside + (float)big[i & 4095];
    atomicAdd(&counter, 1ull);
}

// 4 * blockDim.x bytes of dynamic shared memory
extern "C" __global__ void reversed(const float *x, float *y) {
    dynamic[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}

#ifdef LINKED
extern "C" __global__ void other_files(int n, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = helper(y[i]) + elsewhere;
}
#endif
