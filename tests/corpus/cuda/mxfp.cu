// Block-scaled products of one warp (sm_120a): tiles in the registers of each thread, word i of thread t at [32 * i + t].
// Launch: one warp.
#include <cstdint>

extern "C" __global__ void mma_mxf8(const uint32_t *a, const uint32_t *b, const uint32_t *sa, const uint32_t *sb, float *d) {
    int t = threadIdx.x;
    float s[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]), "r"(b[t + 32]), "r"(sa[t]), "r"(sb[t]));
    for (int i = 0; i < 4; i++) d[32 * i + t] = s[i];
}

extern "C" __global__ void mma_mixed(const uint32_t *a, const uint32_t *b, float *d) {
    int t = threadIdx.x;
    float s[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m1.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]), "r"(b[t + 32]));
    for (int i = 0; i < 4; i++) d[32 * i + t] = s[i];
}

extern "C" __global__ void mma_nvf4(const uint32_t *a, const uint32_t *b, const uint32_t *sa, const uint32_t *sb, float *d) {
    int t = threadIdx.x;
    float s[4] = {};
    asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 0};"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a[t]), "r"(a[t + 32]), "r"(a[t + 64]), "r"(a[t + 96]), "r"(b[t]), "r"(b[t + 32]), "r"(sa[t]), "r"(sb[t]));
    for (int i = 0; i < 4; i++) d[32 * i + t] = s[i];
}
