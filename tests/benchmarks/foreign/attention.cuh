// Attention forward with mma.sync and heads of 128: what attention_f16.cu and attention_bf16.cu share.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
#define FULL 0xffffffff

const int D = 128;  // rows of 256 bytes, 16 vectors of 16 bytes
__device__ void copy_16(unsigned to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int COUNT> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory"); }
__device__ void load_2(unsigned *to, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at));
}
__device__ void load_4(unsigned *to, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}
__device__ void load_2_turned(unsigned *to, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at));
}
__device__ void load_4_turned(unsigned *to, unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at));
}
__device__ void multiply(float *c, const unsigned *a, const unsigned *b, __half) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void multiply(float *c, const unsigned *a, const unsigned *b, __nv_bfloat16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ unsigned pair(float low, float high, __half) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
__device__ unsigned pair(float low, float high, __nv_bfloat16) {
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
__device__ float power(float x) {
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
// bytes from the start of a tile; swizzled: a vector of each of eight rows in other banks
template <bool SWIZZLED> __device__ unsigned place(int row, int column) {
    return row * 256 + (column / 8 ^ (SWIZZLED ? row & 7 : 0)) * 16;
}
template <int ROWS, int THREADS, bool SWIZZLED, typename T> __device__ void load(unsigned to, const T *from) {
#pragma unroll
    for (int i = 0; i < ROWS * 16 / THREADS; ++i) {
        int at = i * THREADS + threadIdx.x, row = at / 16, column = at % 16 * 8;
        copy_16(to + place<SWIZZLED>(row, column), from + row * D + column);
    }
}
