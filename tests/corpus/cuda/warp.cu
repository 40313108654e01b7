// What the threads of a warp tell each other. Launch: one warp, or blocks of 32.
extern "C" __global__ void shuffles(const int *x, int *y) {
    int t = threadIdx.x, v = x[t];
    y[t] = __shfl_sync(~0u, v, 5) + __shfl_up_sync(~0u, v, 2, 8) + __shfl_down_sync(~0u, v, 3, 16);
    y[t] += __shfl_xor_sync(~0u, v, 9) + __shfl_sync(~0u, v, t + 7, 8);
    long long w = __shfl_xor_sync(~0u, (long long)v << 33, 1);
    y[t] += (int)(w >> 30);
}

extern "C" __global__ void votes(const int *x, unsigned *y) {
    int t = threadIdx.x, v = x[t];
    y[t] = __ballot_sync(~0u, v > 3) + __all_sync(~0u, v < 100) + 2 * __any_sync(~0u, v == 7);
    if (v & 1) y[t] ^= __activemask();
    __syncwarp();
    if (t < 16) y[t] += __ballot_sync(0xFFFF, v & 2);
}

extern "C" __global__ void matches(const int *x, unsigned *any, unsigned *all) {
    int same;
    any[threadIdx.x] = __match_any_sync(~0u, x[threadIdx.x]);
    all[threadIdx.x] = __match_all_sync(~0u, (long long)x[threadIdx.x / 32], &same) + same;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reduces(const int *x, int *y) {
    int v = x[threadIdx.x];
    y[threadIdx.x] = __reduce_add_sync(~0u, v) + __reduce_min_sync(~0u, v) - __reduce_max_sync(~0u, (unsigned)v) +
                     __reduce_xor_sync(~0u, (unsigned)v);
}
#endif

extern "C" __global__ void places(unsigned *y) {
    unsigned lane, warp, sm, less;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
    y[threadIdx.x] = lane + 100 * (warp * 0 + sm * 0) + __popc(less) * 1000;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void elected(int *y) {
    asm volatile("{\n.reg .pred p;\n.reg .b32 r;\nelect.sync r|p, 0xFFFFFFFF;\n@p st.global.u32 [%0], r;\n}" ::"l"(y) : "memory");
}
#endif
