#include "check.h"
#include <cstring>

__global__ void touch(int *x, int at) { x[at] = 1; }
__global__ void trap(int *x) { if (*x >= 0) __trap(); }

int main(int count, char **arguments) {
    const bool crash = count > 1 && !std::strcmp(arguments[1], "crash");
    int *x, unused;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    touch<<<1, 2048>>>(x, 0);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
    touch<<<0, 1>>>(x, 0);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice);
    EXPECT(cudaMemcpy(x, &unused, 4, static_cast<cudaMemcpyKind>(9)) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaFree(reinterpret_cast<void *>(0x1234567)) == cudaErrorInvalidValue);
    EXPECT(cudaMalloc(&x, 1ull << 60) == cudaErrorMemoryAllocation);
    EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"));
    EXPECT(!std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"));
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    int *y;
    CHECK(cudaMalloc(&y, 4096));
    if (crash) {
        trap<<<1, 1>>>(y);
        EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure || cudaPeekAtLastError() == cudaErrorLaunchFailure);
        return 0;
    }
    touch<<<1, 1>>>(y, 1 << 28);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&x, 16) == cudaErrorIllegalAddress);
    EXPECT(cudaMemcpy(&unused, y, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    std::puts("errors are the runtime's, and sticky");
}
