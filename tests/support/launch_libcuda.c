/* A libcuda.so.1 for the benchmark of launchers: that of fake_libcuda.c whose launches cost nothing, with the functions that
   cuda.core asks for, and the symbols that Triton's driver is linked with. Other functions do nothing and succeed. */

#include <cuda.h>

static CUcontext current;
static CUresult nothing(void);
static CUresult function_attribute(int *v, CUfunction_attribute a, CUfunction f);

static CUresult set_current(CUcontext c) { return current = c, CUDA_SUCCESS; }
static CUresult get_device(CUdevice *d) { return *d = 0, CUDA_SUCCESS; }
static CUresult pointer(void *data, CUpointer_attribute a, CUdeviceptr p) { return *(CUdeviceptr *)data = p, CUDA_SUCCESS; }
static CUresult module_load(CUmodule *m, const void *code) { return *m = (CUmodule)5, CUDA_SUCCESS; }
static CUresult module_function(CUfunction *f, CUmodule m, const char *s) { return *f = (CUfunction)4, CUDA_SUCCESS; }
static CUresult stream_device(CUstream s, CUdevice *d) { return *d = 0, CUDA_SUCCESS; }
static CUresult stream_context(CUstream s, CUcontext *c) { return *c = current, CUDA_SUCCESS; }

#define QUIET
#define OTHERWISE nothing
#define KNOWN(s) 1
#define MORE_FUNCTIONS \
    , {"cuCtxSetCurrent", set_current}, {"cuCtxGetDevice", get_device}, {"cuPointerGetAttribute", pointer}, \
    {"cuModuleLoadData", module_load}, {"cuModuleGetFunction", module_function}, {"cuStreamGetDevice", stream_device}, \
    {"cuStreamGetCtx", stream_context}, {"cuKernelGetAttribute", function_attribute}
#include "fake_libcuda.c"

#define SYMBOL(name, function) __asm__(".globl " #name "\n.set " #name ", " #function "\n");
SYMBOL(cuInit, init) SYMBOL(cuDeviceGet, get) SYMBOL(cuDeviceGetCount, count) SYMBOL(cuDeviceGetAttribute, attribute)
SYMBOL(cuDevicePrimaryCtxRetain, retain) SYMBOL(cuDriverGetVersion, version) SYMBOL(cuCtxGetCurrent, get_current)
SYMBOL(cuCtxSetCurrent, set_current) SYMBOL(cuCtxGetDevice, get_device) SYMBOL(cuCtxGetLimit, nothing)
SYMBOL(cuCtxSetLimit, nothing) SYMBOL(cuFuncGetAttribute, function_attribute) SYMBOL(cuFuncSetAttribute, nothing)
SYMBOL(cuFuncSetCacheConfig, nothing) SYMBOL(cuGetErrorString, words) SYMBOL(cuLaunchKernelEx, launch)
SYMBOL(cuModuleLoadData, module_load) SYMBOL(cuModuleGetFunction, module_function) SYMBOL(cuModuleUnload, nothing)
SYMBOL(cuOccupancyMaxActiveClusters, nothing) SYMBOL(cuPointerGetAttribute, pointer) SYMBOL(cuPointerGetAttributes, nothing)
SYMBOL(cuStreamIsCapturing, capturing) SYMBOL(cuTensorMapEncodeTiled, encode) SYMBOL(cuTensorMapEncodeIm2col, nothing)
