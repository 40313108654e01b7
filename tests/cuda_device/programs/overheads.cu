// Times of calls, launches and copies, as the host measures them: tests/benchmarks/cuda_device.py.
#include "check.h"
#include <chrono>
#include <cstring>

__global__ void empty(int *x) {
    if (x && threadIdx.x == 99) *x = 1;
}

__global__ void saxpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class F> static double best(int runs, F once) {
    double least = 1e9;
    for (int k = 0; k < runs; k++) {
        double start = seconds();
        once();
        double taken = seconds() - start;
        if (taken < least) least = taken;
    }
    return least;
}

int main() {
    const int calls = 1000, n = 1 << 20;
    const size_t bytes = 256 << 20;
    int *x;
    float *a, *b;
    char *device, *host = static_cast<char *>(std::malloc(bytes)), *other = static_cast<char *>(std::malloc(bytes));
    std::memset(host, 1, bytes);
    std::memset(other, 1, bytes);
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    CHECK(cudaMalloc(&b, n * sizeof(float)));
    empty<<<1, 32>>>(x);
    saxpy<<<n / 256, 256>>>(a, b, 2, n);
    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    std::printf("a call, us: %.1f\n", 1e6 / calls * best(5, [&] {
                    for (int k = 0; k < calls; k++) CHECK(cudaStreamQuery(0));
                }));
    std::printf("a launch, us: %.1f\n", 1e6 / calls * best(5, [&] {
                    for (int k = 0; k < calls; k++) empty<<<1, 32>>>(x);
                    CHECK(cudaDeviceSynchronize());
                }));
    std::printf("copy to the device, GB/s: %.1f\n", bytes / 1e9 / best(5, [&] { CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); }));
    std::printf("copy to the host, GB/s: %.1f\n", bytes / 1e9 / best(5, [&] { CHECK(cudaMemcpy(other, device, bytes, cudaMemcpyDeviceToHost)); }));
    std::printf("memcpy, GB/s: %.1f\n", bytes / 1e9 / best(5, [&] { std::memcpy(other, host, bytes); }));
    std::printf("saxpy of 2^20 elements, ms: %.1f\n", 1e3 * best(5, [&] {
                    saxpy<<<n / 256, 256>>>(a, b, 2, n);
                    CHECK(cudaDeviceSynchronize());
                }));
}
