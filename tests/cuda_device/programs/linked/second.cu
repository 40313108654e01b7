#include "../check.h"
#include "parts.h"

__device__ int calls;
__device__ float twice(float x) { return 2 * x; }
static __global__ void again(float *x, int n) {
    if (threadIdx.x < n) x[threadIdx.x] = twice(x[threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&calls, 1);
}
void run_second(float *x, int n) { again<<<1, 32>>>(x, n); }
