#ifndef SHARED_H
#define SHARED_H
extern __constant__ float scale_by;
extern __device__ int calls;
__device__ float activate(float x);
#endif
