// The wmma interface. Launch: grid (n/16, m/16), one warp a block; row-major, sizes multiples of 16 (8 for wmma_f64).
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_f32(int n, int k, const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
    wmma::fill_fragment(s, 0.f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(x, a + blockIdx.y * 16 * k + i, k);
        wmma::load_matrix_sync(y, b + i * n + blockIdx.x * 16, n);
        wmma::mma_sync(s, x, y, s);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, s, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_s8(int n, int k, const signed char *a, const signed char *b, int *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> s;
    wmma::fill_fragment(s, 0);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(x, a + blockIdx.y * 16 * k + i, k);
        wmma::load_matrix_sync(y, b + blockIdx.x * 16 * k + i, k);
        wmma::mma_sync(s, x, y, s);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, s, n, wmma::mem_row_major);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void wmma_f64(int n, int k, const double *a, const double *b, double *c) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> s;
    wmma::fill_fragment(s, 0.);
    for (int i = 0; i < k; i += 4) {
        wmma::load_matrix_sync(x, a + blockIdx.y * 8 * k + i, k);
        wmma::load_matrix_sync(y, b + i * n + blockIdx.x * 8, n);
        wmma::mma_sync(s, x, y, s);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 8 * n + blockIdx.x * 8, s, n, wmma::mem_row_major);
}
#endif
