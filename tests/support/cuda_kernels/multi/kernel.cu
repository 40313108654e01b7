#include "shared.h"

__global__ void apply_all(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = activate(x[i]) * scale_by;
    if (i == 0) calls += 1;
}
