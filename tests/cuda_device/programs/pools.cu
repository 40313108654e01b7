#include "check.h"

__global__ void fill(int *x, int value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int host[256], sum = 0;
    for (int round = 0; round < 20; round++) {
        int *x;
        CHECK(cudaMallocAsync(&x, sizeof host, stream));
        fill<<<1, 256, 0, stream>>>(x, round);
        CHECK(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(x, stream));
        CHECK(cudaStreamSynchronize(stream));
        sum += host[255];
    }
    EXPECT(sum == 190);
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = ~0ull, used = 1;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    EXPECT(used == 0);
    std::puts("stream-ordered allocation");
}
