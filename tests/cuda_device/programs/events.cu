// Prints the modeled times of two sizes of a kernel, and of a copy, in microseconds.
#include "check.h"

__global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
    const int n = 1 << 22;
    float *x, *y, *host, ms[3];
    cudaEvent_t events[4];
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMallocHost(&host, n * sizeof(float)));
    for (auto &event : events) CHECK(cudaEventCreate(&event));
    CHECK(cudaEventRecord(events[0]));
    saxpy<<<n / 256, 256>>>(x, y, 2, n);
    CHECK(cudaEventRecord(events[1]));
    saxpy<<<n / 4 / 256, 256>>>(x, y, 2, n / 4);
    CHECK(cudaEventRecord(events[2]));
    CHECK(cudaMemcpyAsync(x, host, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaEventRecord(events[3]));
    CHECK(cudaEventSynchronize(events[3]));
    for (int i = 0; i < 3; i++) CHECK(cudaEventElapsedTime(&ms[i], events[i], events[i + 1]));
    std::printf("%.2f %.2f %.2f\n", 1e3 * ms[0], 1e3 * ms[1], 1e3 * ms[2]);
}
