/* A libcuda.so.1 for machines without a GPU: enough of the driver for cuda.bindings to load, and one "kernel", which
   does on the CPU what runtime/kernels.py's `scale` does. Built by tests/runtime/test_bindings.py with the driver's own
   header, so that what cuda.bindings passes is read as the driver would read it. */

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MORE_FUNCTIONS                                   /* of launch_libcuda.c, which includes this file */
#define MORE_FUNCTIONS
#define OTHERWISE NULL
#define KNOWN(s) (!strcmp(s, "scale") || !strcmp(s, "copy"))
#endif

static CUcontext current;

static CUresult init(unsigned f) { return CUDA_SUCCESS; }
static CUresult version(int *v) { return *v = 13040, CUDA_SUCCESS; }
static CUresult count(int *n) { return *n = 1, CUDA_SUCCESS; }
static CUresult get(CUdevice *d, int k) { return *d = k, CUDA_SUCCESS; }
static CUresult name(char *s, int n, CUdevice d) { return snprintf(s, n, "Fake GPU"), CUDA_SUCCESS; }
static CUresult attribute(int *v, CUdevice_attribute a, CUdevice d) {
    *v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0 :
         a == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448 : 65536;
    return CUDA_SUCCESS;
}
static CUresult retain(CUcontext *c, CUdevice d) { return *c = (CUcontext)0x100, CUDA_SUCCESS; }
static CUresult get_current(CUcontext *c) { return *c = current, CUDA_SUCCESS; }
static CUresult push(CUcontext c) { return current = c, CUDA_SUCCESS; }
static CUresult pop(CUcontext *c) { return *c = current, current = NULL, CUDA_SUCCESS; }
static CUresult nothing(void) { return CUDA_SUCCESS; }
static CUresult alloc(CUdeviceptr *p, size_t n) { return *p = (CUdeviceptr)aligned_alloc(256, (n + 255) / 256 * 256), CUDA_SUCCESS; }
static CUresult release(CUdeviceptr p) { return free((void *)p), CUDA_SUCCESS; }
static CUresult to_device(CUdeviceptr d, const void *s, size_t n) { return memcpy((void *)d, s, n), CUDA_SUCCESS; }
static CUresult to_device_async(CUdeviceptr d, const void *s, size_t n, CUstream t) { return to_device(d, s, n); }
static CUresult to_host(void *d, CUdeviceptr s, size_t n) { return memcpy(d, (void *)s, n), CUDA_SUCCESS; }
static CUresult stream(CUstream *s, unsigned flags) { return *s = (CUstream)(uintptr_t)(0x700 + flags), CUDA_SUCCESS; }
static CUresult capturing(CUstream s, CUstreamCaptureStatus *c) { return *c = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS; }
static CUresult event(CUevent *e, unsigned f) { return *e = (CUevent)1, CUDA_SUCCESS; }
static CUresult elapsed(float *ms, CUevent a, CUevent b) { return *ms = 2.5f, CUDA_SUCCESS; }
static CUresult words(CUresult r, const char **s) { return *s = "words of the driver", CUDA_SUCCESS; }
static CUresult load(CUlibrary *l, const void *code, CUjit_option *o, void **v, unsigned n, CUlibraryOption *p, void **w,
                     unsigned m) {
    return *l = (CUlibrary)2, n || m || memcmp(code, "\177ELF", 4) ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}
static CUresult kernel(CUkernel *k, CUlibrary l, const char *s) {
    return *k = (CUkernel)3, KNOWN(s) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
static CUresult function(CUfunction *f, CUkernel k) { return *f = (CUfunction)4, CUDA_SUCCESS; }
static CUresult function_attribute(int *v, CUfunction_attribute a, CUfunction f) {
    return *v = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0, CUDA_SUCCESS;
}
static CUresult set_attribute(CUfunction f, CUfunction_attribute a, int v) {
#ifndef QUIET
    printf("attribute %d = %d\n", a, v);
#endif
    return CUDA_SUCCESS;
}
static CUresult encode(void *m, CUtensorMapDataType t, cuuint32_t rank, void *p, const cuuint64_t *dims,
                       const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave i,
                       CUtensorMapSwizzle s, CUtensorMapL2promotion l, CUtensorMapFloatOOBfill o) {
#ifndef QUIET
    printf("map type %d rank %u dims %lu %lu stride %lu box %u %u swizzle %d\n", t, rank, (unsigned long)dims[0],
           (unsigned long)dims[1], (unsigned long)strides[0], box[0], box[1], s);
#endif
    memset(m, 0xA5, sizeof(CUtensorMap));               /* not through its type: cuda.bindings does not align it to 64 bytes */
    return CUDA_SUCCESS;
}
static CUresult launch(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
#ifdef QUIET                                            /* launches cost nothing: for benchmarks of what is before them */
    return CUDA_SUCCESS;
#endif
    printf("launch grid %u %u %u block %u %u %u smem %u stream %p attributes %u", c->gridDimX, c->gridDimY, c->gridDimZ,
           c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes, (void *)c->hStream, c->numAttrs);
    for (unsigned k = 0; k < c->numAttrs; k++)
        printf(" id %d: %u %u %u", c->attrs[k].id, c->attrs[k].value.clusterDim.x, c->attrs[k].value.clusterDim.y,
               c->attrs[k].value.clusterDim.z);
    printf("\n");
    if (f != (CUfunction)3 || extra) return CUDA_ERROR_INVALID_HANDLE;
    if (c->blockDimX != 64) {                           /* copy: the maps are in memory that holds what was encoded */
        unsigned char *map = *(unsigned char **)params[2];
        printf("map bytes %02x %02x aligned %d\n", map[0], map[127], (int)((uintptr_t)map % 128));
        return CUDA_ERROR_LAUNCH_FAILED;
    }
    const float *x = *(float **)params[0], factor = *(float *)params[2];
    float *y = *(float **)params[1];
    for (uint32_t i = 0, n = *(uint32_t *)params[3]; i < n; i++) y[i] = factor * x[i];
    return CUDA_SUCCESS;
}

static const struct { const char *name; void *function; } TABLE[] = {
    {"cuInit", init}, {"cuDriverGetVersion", version}, {"cuDeviceGetCount", count}, {"cuDeviceGet", get},
    {"cuDeviceGetName", name}, {"cuDeviceGetAttribute", attribute}, {"cuDevicePrimaryCtxRetain", retain},
    {"cuCtxGetCurrent", get_current}, {"cuCtxPushCurrent", push}, {"cuCtxPopCurrent", pop},
    {"cuCtxSynchronize", nothing}, {"cuMemAlloc", alloc}, {"cuMemFree", release}, {"cuMemcpyHtoD", to_device},
    {"cuMemcpyHtoDAsync", to_device_async}, {"cuMemcpyDtoH", to_host}, {"cuStreamCreate", stream},
    {"cuStreamSynchronize", nothing}, {"cuStreamIsCapturing", capturing}, {"cuEventCreate", event},
    {"cuEventRecord", nothing}, {"cuEventSynchronize", nothing}, {"cuEventDestroy", nothing},
    {"cuEventElapsedTime", elapsed}, {"cuThreadExchangeStreamCaptureMode", nothing}, {"cuGetErrorString", words},
    {"cuLibraryLoadData", load}, {"cuLibraryGetKernel", kernel}, {"cuKernelGetFunction", function},
    {"cuFuncGetAttribute", function_attribute}, {"cuFuncSetAttribute", set_attribute},
    {"cuTensorMapEncodeTiled", encode}, {"cuLaunchKernelEx", launch} MORE_FUNCTIONS};

#undef cuGetProcAddress
CUresult cuGetProcAddress_v2(const char *symbol, void **found, int cuda, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    *found = OTHERWISE;
    if (!strcmp(symbol, "cuGetProcAddress")) *found = cuGetProcAddress_v2;
    for (size_t k = 0; k < sizeof TABLE / sizeof *TABLE; k++)
        if (!strcmp(symbol, TABLE[k].name)) *found = TABLE[k].function;
    if (status) *status = *found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **found, int cuda, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, found, cuda, flags, NULL);
}
