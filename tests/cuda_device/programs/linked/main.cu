#include "../check.h"
#include "parts.h"

__global__ void first(float *x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] = twice(x[i]);
    if (i == 0) atomicAdd(&calls, 1);
}

int main() {
    float host[32], *x;
    for (int i = 0; i < 32; i++) host[i] = i;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    first<<<1, 32>>>(x, 32);
    CHECK(cudaGetLastError());
    run_second(x, 32);
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(host[i] == 4 * i);
    int count;
    CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
    EXPECT(count == 2);
    std::puts("separately compiled files are linked");
}
