#include "check.h"

__global__ void reverse(int *x, int n) {
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = tile[n - 1 - i];
}

// A read of an aligned vector whose last word is past the end, as compilers make of reads of three words.
__global__ void gap(int *out) {
    extern __shared__ int words[];
    for (int i = 0; i < 7; i++) words[i] = i;
    unsigned at = (unsigned)__cvta_generic_to_shared(words), unused;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4 + 16];" : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(unused) : "r"(at));
}

int main() {
    int *words;
    CHECK(cudaMallocManaged(&words, 12));
    gap<<<1, 1, 28>>>(words);
    CHECK(cudaDeviceSynchronize());
    EXPECT(words[0] == 4 && words[2] == 6);
    const int n = 25000, bytes = n * sizeof(int);
    static int host[n];
    int *x;
    for (int i = 0; i < n; i++) host[i] = i;
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice));
    reverse<<<1, 256, bytes>>>(x, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reverse));
    EXPECT(attributes.maxDynamicSharedSizeBytes == bytes && attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
    reverse<<<1, 256, bytes>>>(x, n);
    CHECK(cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(host[i] == n - 1 - i);
    std::puts("100 kB of dynamic shared memory");
}
