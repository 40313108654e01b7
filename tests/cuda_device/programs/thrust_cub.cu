#include "check.h"
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

int main() {
    thrust::device_vector<int> v(3000);
    for (int i = 0; i < 10; i++) v[i] = i + 1;
    thrust::transform(v.begin(), v.end(), v.begin(), Square());
    EXPECT(thrust::reduce(v.begin(), v.end()) == 385);
    int *out, result;
    void *storage = nullptr;
    size_t bytes = 0;
    CHECK(cudaMalloc(&out, sizeof(int)));
    CHECK(cub::DeviceReduce::Max(storage, bytes, thrust::raw_pointer_cast(v.data()), out, 3000));
    CHECK(cudaMalloc(&storage, bytes));
    CHECK(cub::DeviceReduce::Max(storage, bytes, thrust::raw_pointer_cast(v.data()), out, 3000));
    CHECK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    EXPECT(result == 100);
    std::puts("Thrust and CUB");
}
