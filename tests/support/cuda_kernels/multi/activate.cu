#include "shared.h"

__constant__ float scale_by = 2.f;
__device__ int calls;
__device__ float activate(float x) { return x > 0 ? x : 0.5f * x; }
