#pragma once
#include <cstdint>

namespace geo {
struct alignas(16) Vec {
    float x, y, z;
    std::int32_t tag;
    __host__ __device__ float dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
};
template <typename F> __device__ __forceinline__ void for_each(int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}
inline void report(const Vec &v) { (void)v; }
}  // namespace geo
