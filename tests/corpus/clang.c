// Written for the corpus; compiled for nvptx64 by clang, whose spelling differs from nvcc's.
#define kernel __attribute__((nvptx_kernel))
#define global __attribute__((address_space(1)))
#define shared __attribute__((address_space(3)))

typedef float float4 __attribute__((ext_vector_type(4)));

static global int lookup[5] = {5, 4, 3, 2, 1};
static shared float tile[64];

__attribute__((noinline)) static float horner(float x, const float *c, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum = sum * x + c[i];
    return sum;
}

kernel void polynomial(global float *y, const global float *x, const float *c, int n) {
    int i = __nvvm_read_ptx_sreg_tid_x();
    tile[i & 63] = x[i];
    __asm__ volatile("bar.sync 0;" ::: "memory");
    y[i] = horner(tile[63 - (i & 63)], c, n) + lookup[i % 5];
}

kernel void copy(global float4 *y, const global float4 *x, long n) {
    long i = __nvvm_read_ptx_sreg_tid_x() + (long)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
    if (i < n) y[i] = x[i] * 2.0f;
}
