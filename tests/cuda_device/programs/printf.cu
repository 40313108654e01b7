#include "check.h"

__global__ void hello(int n, double x) {
    if (threadIdx.x < n) printf("thread %d of block %d: %.2f %s\n", threadIdx.x, blockIdx.x, x, "text");
}

int main() {
    std::puts("before");
    std::fflush(stdout);
    hello<<<1, 32>>>(2, 1.5);
    CHECK(cudaDeviceSynchronize());
    std::puts("after");
}
