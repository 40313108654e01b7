// Kernels access registered memory of the host at its addresses: whole pages, parts of pages, again after it was unregistered.
#include "check.h"

#include <cstring>
#include <sys/mman.h>
#include <vector>

__global__ void increment(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i]++;
}

static void use(int *x, int n, int expected) {
    int *seen;
    CHECK(cudaHostGetDevicePointer(&seen, x, 0));
    EXPECT(seen == x);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, x));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.devicePointer == x);
    increment<<<(n + 255) / 256, 256>>>(seen, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(x[i] == i + expected);
}

int main() {
    int can = 0;
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCanUseHostPointerForRegisteredMem, 0));
    EXPECT(can);
    const int sizes[] = {10, 300, 1024, 5000, 1 << 20};
    std::vector<std::vector<int>> all;
    for (int size : sizes) all.emplace_back(size);
    for (int turn = 0; turn < 2; turn++) {
        for (auto &one : all) {
            for (size_t i = 0; i < one.size(); i++) one[i] = (int)i;
            CHECK(cudaHostRegister(one.data(), one.size() * sizeof(int), cudaHostRegisterMapped));
            EXPECT(cudaHostRegister(one.data(), 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
        }
        for (auto &one : all) use(one.data(), (int)one.size(), 1);
        for (auto &one : all) {
            int *device;
            size_t bytes = one.size() * sizeof(int);
            CHECK(cudaMalloc(&device, bytes));
            CHECK(cudaMemcpyAsync(device, one.data(), bytes, cudaMemcpyDefault, 0));
            CHECK(cudaMemset(one.data(), 0, bytes));  // by its address on the device
            CHECK(cudaMemcpyAsync(one.data(), device, bytes, cudaMemcpyDefault, 0));
            CHECK(cudaFree(device));
            use(one.data(), (int)one.size(), 2);
        }
        for (auto &one : all) {
            CHECK(cudaHostUnregister(one.data()));
            for (size_t i = 0; i < one.size(); i++) EXPECT(one[i] == (int)i + 2);
            std::vector<int>(one).swap(one);
        }
    }
    EXPECT(cudaHostUnregister(all[0].data()) == cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaHostRegister((void *)4096, 4096, 0) == cudaErrorInvalidValue);
    void *shared = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), *none;
    CHECK(cudaHostRegister(shared, 8192, 0));  // copies work; kernels cannot access it
    EXPECT(cudaHostGetDevicePointer(&none, shared, 0) == cudaErrorNotSupported);
    CHECK(cudaHostUnregister(shared));
    std::puts("kernels access registered memory");
}
