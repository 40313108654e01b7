#include "check.h"

__global__ void sum(int *out) {
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        int total = 0;
        for (int i = 0; i < 64; i++) total += values[i];        // there is no __syncthreads()
        *out = total;
    }
}

int main() {
    int *out, host;
    CHECK(cudaMalloc(&out, sizeof host));
    sum<<<1, 64>>>(out);
    CHECK(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("%d\n", host);
}
