#include "check.h"
#include <thread>
#include <vector>

__device__ int step = 3;

__global__ void bump(int *x) { atomicAdd(x, step); }

static int read(const int *x) {
    int value;
    CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static int *make_zero() {
    int *x;
    CHECK(cudaMalloc(&x, sizeof *x));
    CHECK(cudaMemset(x, 0, sizeof *x));
    return x;
}

int main() {
    int *x = make_zero();
    bump<<<1, 1>>>(x);
    EXPECT(read(x) == 3);
    CHECK(cudaDeviceReset());
    x = make_zero();
    bump<<<1, 1>>>(x);
    EXPECT(read(x) == 3);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([x] {
            for (int k = 0; k < 125; k++) bump<<<1, 1>>>(x);
            CHECK(cudaGetLastError());
            CHECK(cudaDeviceSynchronize());
        });
    for (auto &thread : threads) thread.join();
    EXPECT(read(x) == 3003);
    size_t left, whole;
    CHECK(cudaMemGetInfo(&left, &whole));
    EXPECT(left <= whole && whole > 1ull << 30);
    std::puts("1000 launches from eight threads");
}
