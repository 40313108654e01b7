#include "residual_norm.cuh"
extern "C" __global__ void residual_norm_wide(const longlong4_32a *x, const longlong4_32a *weight, const longlong4_32a *residual,
                                              longlong4_32a *out, int rows, int vectors, float eps) {
    norm_rows(x, weight, residual, out, rows, vectors, eps);
}
