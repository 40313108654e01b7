// Streams, events and entry points of the driver, where the runtime's arguments differ from the driver's.

#include "runtime.h"

int cuStreamCreate(u64 *, unsigned);
int cuStreamAddCallback(u64, void *, void *, unsigned);
int cuEventCreate(u64 *, unsigned);
int cuEventRecord(u64, u64);
int cuGetProcAddress_v2(const char *, void **, int, u64, int *);

EXPORT int cudaStreamCreate(u64 *stream) {
    int status = enter();
    return left(status ? status : !stream ? INVALID_VALUE : cuStreamCreate(stream, 0));
}

EXPORT int cudaEventCreate(u64 *event) {
    int status = enter();
    return left(status ? status : !event ? INVALID_VALUE : cuEventCreate(event, 0));
}

EXPORT int cudaStreamAddCallback(u64 stream, void *callback, void *data, unsigned flags) {
    int status = enter();      // cudaError_t and CUresult are the same numbers
    return left(status ? status : !callback ? INVALID_VALUE : cuStreamAddCallback(stream, callback, data, flags));
}

EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, u64 flags, int *found) {
    int result;
    if (!name || !function) return left(INVALID_VALUE);
    int status = cuGetProcAddress_v2(name, function, (int)version, flags, &result);
    if (found) *found = result;
    return left(status);
}

EXPORT int cudaGetDriverEntryPoint(const char *name, void **function, u64 flags, int *found) {
    return cudaGetDriverEntryPointByVersion(name, function, VERSION, flags, found);
}

EXPORT int cudaGetDriverEntryPoint_ptsz(const char *name, void **function, u64 flags, int *found) {
    return cudaGetDriverEntryPointByVersion(name, function, VERSION, flags & 1 ? flags : flags | PER_THREAD_STREAM, found);
}

EXPORT int cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **function, unsigned version, u64 flags, int *found) {
    return cudaGetDriverEntryPointByVersion(name, function, version, flags & 1 ? flags : flags | PER_THREAD_STREAM, found);
}

// Handles of other processes, which are passed by value.

struct process_handle { char bytes[64]; };

EXPORT int cudaIpcOpenMemHandle(u64 *pointer, struct process_handle handle, unsigned flags) {
    int cuIpcOpenMemHandle_v2(u64 *, struct process_handle, unsigned);
    int status = enter();
    return left(status ? status : cuIpcOpenMemHandle_v2(pointer, handle, flags));
}

EXPORT int cudaIpcOpenEventHandle(u64 *event, struct process_handle handle) {
    int cuIpcOpenEventHandle(u64 *, struct process_handle);
    int status = enter();
    return left(status ? status : cuIpcOpenEventHandle(event, handle));
}

EXPORT int cudaMallocAsync(u64 *pointer, size_t size, u64 stream) {
    int cuMemAllocAsync(u64 *, size_t, u64);
    int status = enter();
    if (status || !pointer) return left(status ? status : INVALID_VALUE);
    *pointer = 0;
    return left(size ? cuMemAllocAsync(pointer, size, stream) : SUCCESS);
}

EXPORT int cudaFreeAsync(u64 pointer, u64 stream) {
    int cuMemFreeAsync(u64, u64);
    int status = enter();
    return left(status || !pointer ? status : cuMemFreeAsync(pointer, stream));
}
