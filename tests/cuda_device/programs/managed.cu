#include "check.h"

__global__ void square(long long *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

int main() {
    const int n = 1000;
    long long *x;
    CHECK(cudaMallocManaged(&x, n * sizeof *x));
    for (int i = 0; i < n; i++) x[i] = i;
    square<<<8, 128>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(x[i] == 1ll * i * i);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, x + 5));
    EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == x + 5 && attributes.devicePointer == x + 5);
    CHECK(cudaPointerGetAttributes(&attributes, &attributes));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaFree(x));
    std::puts("managed memory is read by the host");
}
