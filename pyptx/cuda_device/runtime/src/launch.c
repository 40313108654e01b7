// Launches of kernels, and the configuration that <<<...>>> passes to the stub of a kernel.

#include "runtime.h"

int cuLaunchKernel(u64, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, u64, void **, void **);
int cuLaunchCooperativeKernel(u64, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, u64, void **);
int cuLaunchKernelEx(const void *, u64, void **, void **);
int cuFuncGetAttribute(int *, int, u64);
int cuFuncSetAttribute(u64, int, int);
int cuFuncSetCacheConfig(u64, int);
int cuFuncSetSharedMemConfig(u64, int);
int cuFuncGetName(const char **, u64);
int cuFuncGetParamInfo(u64, size_t, size_t *, size_t *);
int cuFuncGetParamCount(u64, size_t *);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, u64, int, size_t, unsigned);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t *, u64, int, int);
int cuOccupancyMaxPotentialClusterSize(int *, u64, const void *);
int cuOccupancyMaxActiveClusters(int *, u64, const void *);

struct configuration { struct dim3 grid, block; size_t shared_bytes; u64 stream; };
struct launch_config { struct dim3 grid, block; size_t shared_bytes; u64 stream; void *attributes; unsigned count; };

enum { DEEPEST = 16 };      // launches nest only in the arguments of a launch
static __thread struct configuration pushed[DEEPEST];
static __thread int depth;

EXPORT unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes, u64 stream) {
    if (depth == DEEPEST) return INVALID_CONFIGURATION;
    pushed[depth++] = (struct configuration){ grid, block, shared_bytes, stream };
    return SUCCESS;
}

EXPORT int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, void *stream) {
    if (!depth) return left(INVALID_CONFIGURATION);
    const struct configuration *c = &pushed[--depth];
    *grid = c->grid;
    *block = c->block;
    *shared_bytes = c->shared_bytes;
    memcpy(stream, &c->stream, sizeof c->stream);
    return SUCCESS;
}

// The largest block and grid of a device: threads of a block, then the sizes of block and grid. Read once, as each query is
// a call to another process.
enum { LIMITS = 7 };
static struct { int known, values[LIMITS]; } limits_of[DEVICES];
static pthread_mutex_t limits_lock = PTHREAD_MUTEX_INITIALIZER;

static int device_limits(const int **limits) {
    int device = current_device(), status = SUCCESS;
    pthread_mutex_lock(&limits_lock);
    for (int k = 0; k < LIMITS && !limits_of[device].known && !status; k++)
        status = cuDeviceGetAttribute(&limits_of[device].values[k], k + 1, device);     // CUdevice_attribute 1 to 7
    if (!status) limits_of[device].known = 1;
    pthread_mutex_unlock(&limits_lock);
    *limits = limits_of[device].values;
    return status;
}

// The runtime reports grids and blocks that no device takes as an error of their own.
static int check_configuration(struct dim3 grid, struct dim3 block) {
    const int *limits;
    int status = device_limits(&limits);
    if (status) return status;
    const unsigned given[LIMITS] = { 0, block.x, block.y, block.z, grid.x, grid.y, grid.z };
    for (int k = 1; k < LIMITS; k++) if (!given[k] || given[k] > (unsigned)limits[k]) return INVALID_CONFIGURATION;
    return (u64)block.x * block.y * block.z > (u64)limits[0] ? INVALID_CONFIGURATION : SUCCESS;
}

static int launch(u64 function, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream,
                  int cooperative) {
    if (shared_bytes > UINT32_MAX) return INVALID_VALUE;
    unsigned shared = (unsigned)shared_bytes;
    int status = check_configuration(grid, block);
    if (status) {       // the driver has a code for it that is less precise, and a diagnosis
        int refused = cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, params, NULL);
        return refused ? status : refused;
    }
    if (cooperative)
        return cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, params);
    return cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, params, NULL);
}

static int launch_host(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes,
                       u64 stream, int cooperative) {
    u64 function;
    int status = enter();
    if (!status) status = function_of(host, &function);
    return left(status ? status : launch(function, grid, block, params, shared_bytes, stream, cooperative));
}

EXPORT int cudaLaunchKernel(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream) {
    return launch_host(host, grid, block, params, shared_bytes, stream, 0);
}

EXPORT int cudaLaunchKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream) {
    return launch_host(host, grid, block, params, shared_bytes, stream ? stream : PER_THREAD_STREAM, 0);
}

EXPORT int cudaLaunchCooperativeKernel(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream) {
    return launch_host(host, grid, block, params, shared_bytes, stream, 1);
}

EXPORT int cudaLaunchCooperativeKernel_ptsz(const void *host, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream) {
    return launch_host(host, grid, block, params, shared_bytes, stream ? stream : PER_THREAD_STREAM, 1);
}

EXPORT int __cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream) {
    return left_unread(launch_host(kernel, grid, block, params, shared_bytes, stream, 0));
}

EXPORT int __cudaLaunchKernel_ptsz(const void *kernel, struct dim3 grid, struct dim3 block, void **params, size_t shared_bytes, u64 stream) {
    return left_unread(launch_host(kernel, grid, block, params, shared_bytes, stream ? stream : PER_THREAD_STREAM, 0));
}

static int launch_config(const struct launch_config *given, const void *host, void **params, u64 null_stream) {
    u64 function;
    int status = enter();
    if (!status && !given) status = INVALID_VALUE;
    if (!status) status = function_of(host, &function);
    if (!status) status = check_configuration(given->grid, given->block);
    if (!status && given->shared_bytes > UINT32_MAX) status = INVALID_VALUE;
    if (status) return left(status);
    struct launch_config config = *given;       // CUlaunchConfig, which has 32 bits of shared memory at the same place
    if (!config.stream) config.stream = null_stream;
    return left(cuLaunchKernelEx(&config, function, params, NULL));
}

EXPORT int cudaLaunchKernelExC(const struct launch_config *config, const void *host, void **params) {
    return launch_config(config, host, params, 0);
}

EXPORT int cudaLaunchKernelExC_ptsz(const struct launch_config *config, const void *host, void **params) {
    return launch_config(config, host, params, PER_THREAD_STREAM);
}

// attributes of kernels -----------------------------------------------------------------------------------------------

struct function_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout, cluster_must_be_set,
        cluster_width, cluster_height, cluster_depth, cluster_scheduling, non_portable_cluster, reserved[16];
};

EXPORT int cudaFuncGetAttributes(struct function_attributes *made, const void *host) {
    u64 function;
    int status = enter(), values[16];
    if (!status) status = made ? function_of(host, &function) : INVALID_VALUE;
    for (int k = 0; k < 16 && !status; k++) status = cuFuncGetAttribute(&values[k], k, function);
    if (status) return left(status);
    *made = (struct function_attributes){
        .max_threads = values[0], .shared_bytes = (size_t)values[1], .const_bytes = (size_t)values[2],
        .local_bytes = (size_t)values[3], .registers = values[4], .ptx_version = values[5], .binary_version = values[6],
        .cache_mode = values[7], .max_dynamic_shared = values[8], .carveout = values[9], .cluster_must_be_set = values[10],
        .cluster_width = values[11], .cluster_height = values[12], .cluster_depth = values[13],
        .non_portable_cluster = values[14], .cluster_scheduling = values[15],
    };
    return left(SUCCESS);
}

#define OF_FUNCTION(name, parameters, good, call) \
    EXPORT int name parameters { \
        u64 function; \
        int status = enter(); \
        if (!status) status = (good) ? function_of(host, &function) : INVALID_VALUE; \
        return left(status ? status : call); \
    }

OF_FUNCTION(cudaFuncSetAttribute, (const void *host, int attribute, int value), 1, cuFuncSetAttribute(function, attribute, value))
OF_FUNCTION(cudaFuncSetSharedMemConfig, (const void *host, int config), 1, cuFuncSetSharedMemConfig(function, config))
OF_FUNCTION(cudaFuncSetCacheConfig, (const void *host, int config), 1, cuFuncSetCacheConfig(function, config))
OF_FUNCTION(cudaFuncGetName, (const char **name, const void *host), name, cuFuncGetName(name, function))
OF_FUNCTION(cudaFuncGetParamCount, (const void *host, size_t *count), count, cuFuncGetParamCount(function, count))
OF_FUNCTION(cudaFuncGetParamInfo, (const void *host, size_t index, size_t *offset, size_t *size), offset,
            cuFuncGetParamInfo(function, index, offset, size))
OF_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int *blocks, const void *host, int threads, size_t shared_bytes, unsigned flags), blocks,
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, flags))
OF_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
            (int *blocks, const void *host, int threads, size_t shared_bytes), blocks,
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, 0))
OF_FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, const void *host, int blocks, int threads), bytes,
            cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads))
OF_FUNCTION(cudaOccupancyMaxPotentialClusterSize, (int *size, const void *host, const void *config), size && config,
            cuOccupancyMaxPotentialClusterSize(size, function, config))
OF_FUNCTION(cudaOccupancyMaxActiveClusters, (int *clusters, const void *host, const void *config), clusters && config,
            cuOccupancyMaxActiveClusters(clusters, function, config))

EXPORT int cudaKernelSetAttributeForDevice(u64 kernel, int attribute, int value, int device) {
    int cuKernelSetAttribute(int, int, u64, int);
    int status = enter();
    return left(status ? status : cuKernelSetAttribute(attribute, value, kernel, device));
}
