#include "check.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ float table[8];
__device__ __managed__ int shared_with_host = 1;

template <class T> __global__ void weigh(T *x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] *= weights[threadIdx.x % 4];
    if (threadIdx.x < 8) table[threadIdx.x] = weights[threadIdx.x % 4];
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0) shared_with_host += 10;
}

int main() {
    float host[32], *x;
    for (float &v : host) v = 1;
    shared_with_host = 2;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    weigh<float><<<1, 32>>>(x, 32);
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(host[i] == 1 + i % 4);
    int count;
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 5 + 32);
    const float changed[2] = {10, 20};
    CHECK(cudaMemcpyToSymbol(weights, changed, sizeof changed, 2 * sizeof(float)));
    weigh<float><<<1, 32>>>(x, 0);
    float read[8];
    CHECK(cudaMemcpyFromSymbol(read, table, sizeof read));
    EXPECT(read[0] == 1 && read[1] == 2 && read[2] == 10 && read[7] == 20);
    CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 5 + 64);
    CHECK(cudaDeviceSynchronize());
    EXPECT(shared_with_host == 22);
    void *address;
    size_t size;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&size, table));
    EXPECT(size == sizeof read);
    CHECK(cudaMemcpy(read, address, size, cudaMemcpyDeviceToHost));
    EXPECT(read[3] == 20);
    EXPECT(cudaMemcpyFromSymbol(read, table, 4, 32) == cudaErrorInvalidValue);
    std::puts("variables keep their values between launches");
}
