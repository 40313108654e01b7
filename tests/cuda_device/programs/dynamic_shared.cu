#include "check.h"

__global__ void reverse(int *x, int n) {
    extern __shared__ int tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = tile[n - 1 - i];
}

int main() {
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
