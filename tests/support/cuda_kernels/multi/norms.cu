#include "vec.cuh"

namespace geo {
__global__ void norms(const Vec *v, float *out, int *tags, int n) {
    for_each(n, [=](int i) {
        out[i] = sqrtf(v[i].dot(v[i]));
        tags[i] = v[i].tag;
    });
}
}  // namespace geo
