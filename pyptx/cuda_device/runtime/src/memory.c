// Memory: linear and pitched allocations, copies and memset, host memory, pointers.

#include "runtime.h"

int cuMemAlloc_v2(u64 *, size_t);
int cuMemAllocPitch_v2(u64 *, size_t *, size_t, size_t, unsigned);
int cuMemFree_v2(u64);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemcpy(u64, u64, size_t);
int cuMemcpyAsync(u64, u64, size_t, u64);
int cuMemcpyHtoD_v2(u64, const void *, size_t);
int cuMemcpyDtoH_v2(void *, u64, size_t);
int cuMemcpyDtoD_v2(u64, u64, size_t);
int cuMemcpyHtoDAsync_v2(u64, const void *, size_t, u64);
int cuMemcpyDtoHAsync_v2(void *, u64, size_t, u64);
int cuMemcpyDtoDAsync_v2(u64, u64, size_t, u64);
int cuMemsetD8_v2(u64, unsigned char, size_t);
int cuMemsetD8Async(u64, unsigned char, size_t, u64);
int cuMemsetD2D8_v2(u64, size_t, unsigned char, size_t, size_t);
int cuMemsetD2D8Async(u64, size_t, unsigned char, size_t, size_t, u64);
int cuStreamSynchronize(u64);
int cuPointerGetAttribute(void *, int, u64);
int cuMemAllocManaged(u64 *, size_t, unsigned);

EXPORT int cudaMalloc(u64 *pointer, size_t size) {
    int status = enter();
    if (status || !pointer) return left(status ? status : INVALID_VALUE);
    *pointer = 0;
    return left(size ? cuMemAlloc_v2(pointer, size) : SUCCESS);
}

EXPORT int cudaMallocPitch(u64 *pointer, size_t *pitch, size_t width, size_t height) {
    int status = enter();
    if (status || !pointer || !pitch) return left(status ? status : INVALID_VALUE);
    *pointer = *pitch = 0;
    return left(width && height ? cuMemAllocPitch_v2(pointer, pitch, width, height, 4) : SUCCESS);
}

EXPORT int cudaMalloc3D(struct pitched *made, struct extent extent) {
    u64 pointer;
    if (!made) return left(INVALID_VALUE);
    *made = (struct pitched){ NULL, 0, extent.width, extent.height };
    int status = cudaMallocPitch(&pointer, &made->pitch, extent.width, extent.height * extent.depth);
    if (!status) made->pointer = (char *)(uintptr_t)pointer;
    return status;
}

EXPORT int cudaMallocManaged(u64 *pointer, size_t size, unsigned flags) {
    int status = enter();
    if (status || !pointer || !size) return left(status ? status : INVALID_VALUE);
    return left(cuMemAllocManaged(pointer, size, flags));
}

EXPORT int cudaFree(u64 pointer) {
    int status = enter();
    return left(status || !pointer ? status : cuMemFree_v2(pointer));
}

EXPORT int cudaHostAlloc(void **pointer, size_t size, unsigned flags) {
    int status = enter();
    if (status || !pointer) return left(status ? status : INVALID_VALUE);
    *pointer = NULL;
    return left(size ? cuMemHostAlloc(pointer, size, flags) : SUCCESS);
}

EXPORT int cudaMallocHost(void **pointer, size_t size) { return cudaHostAlloc(pointer, size, 0); }

EXPORT int cudaFreeHost(void *pointer) {
    int status = enter();
    return left(status || !pointer ? status : cuMemFreeHost(pointer));
}

// copies --------------------------------------------------------------------------------------------------------------

static int copy(u64 to, u64 from, size_t size, int kind) {
    if (!size) return SUCCESS;
    switch (kind) {
    case HOST_TO_DEVICE: return cuMemcpyHtoD_v2(to, (const void *)(uintptr_t)from, size);
    case DEVICE_TO_HOST: return cuMemcpyDtoH_v2((void *)(uintptr_t)to, from, size);
    case DEVICE_TO_DEVICE: return cuMemcpyDtoD_v2(to, from, size);
    case HOST_TO_HOST: case DEFAULT: return cuMemcpy(to, from, size);
    default: return INVALID_COPY_DIRECTION;
    }
}

static int copy_async(u64 to, u64 from, size_t size, int kind, u64 stream) {
    if (!size) return SUCCESS;
    switch (kind) {
    case HOST_TO_DEVICE: return cuMemcpyHtoDAsync_v2(to, (const void *)(uintptr_t)from, size, stream);
    case DEVICE_TO_HOST: return cuMemcpyDtoHAsync_v2((void *)(uintptr_t)to, from, size, stream);
    case DEVICE_TO_DEVICE: return cuMemcpyDtoDAsync_v2(to, from, size, stream);
    case HOST_TO_HOST: case DEFAULT: return cuMemcpyAsync(to, from, size, stream);
    default: return INVALID_COPY_DIRECTION;
    }
}

EXPORT int cudaMemcpy(u64 to, u64 from, size_t size, int kind) {
    int status = enter();
    return left(status ? status : copy(to, from, size, kind));
}

EXPORT int cudaMemcpyAsync(u64 to, u64 from, size_t size, int kind, u64 stream) {
    int status = enter();
    return left(status ? status : copy_async(to, from, size, kind, stream));
}

EXPORT int cudaMemcpyPeer(u64 to, int to_device, u64 from, int from_device, size_t size) {
    int status = enter();
    if (!status && (to_device || from_device)) status = INVALID_DEVICE;
    return left(status ? status : copy(to, from, size, DEVICE_TO_DEVICE));
}

EXPORT int cudaMemcpyPeerAsync(u64 to, int to_device, u64 from, int from_device, size_t size, u64 stream) {
    int status = enter();
    if (!status && (to_device || from_device)) status = INVALID_DEVICE;
    return left(status ? status : copy_async(to, from, size, DEVICE_TO_DEVICE, stream));
}

static int part_of_variable(const void *symbol, size_t offset, size_t size, u64 *address) {
    size_t whole;
    int status = variable_of(symbol, address, &whole);
    if (status) return status;
    if (offset > whole || size > whole - offset) return INVALID_VALUE;
    *address += offset;
    return SUCCESS;
}

EXPORT int cudaMemcpyToSymbol(const void *symbol, u64 from, size_t size, size_t offset, int kind) {
    u64 to;
    int status = enter();
    if (!status) status = part_of_variable(symbol, offset, size, &to);
    if (!status && (kind == HOST_TO_HOST || kind == DEVICE_TO_HOST)) status = INVALID_COPY_DIRECTION;
    return left(status ? status : copy(to, from, size, kind));
}

EXPORT int cudaMemcpyToSymbolAsync(const void *symbol, u64 from, size_t size, size_t offset, int kind, u64 stream) {
    u64 to;
    int status = enter();
    if (!status) status = part_of_variable(symbol, offset, size, &to);
    if (!status && (kind == HOST_TO_HOST || kind == DEVICE_TO_HOST)) status = INVALID_COPY_DIRECTION;
    return left(status ? status : copy_async(to, from, size, kind, stream));
}

EXPORT int cudaMemcpyFromSymbol(u64 to, const void *symbol, size_t size, size_t offset, int kind) {
    u64 from;
    int status = enter();
    if (!status) status = part_of_variable(symbol, offset, size, &from);
    if (!status && (kind == HOST_TO_HOST || kind == HOST_TO_DEVICE)) status = INVALID_COPY_DIRECTION;
    return left(status ? status : copy(to, from, size, kind));
}

EXPORT int cudaMemcpyFromSymbolAsync(u64 to, const void *symbol, size_t size, size_t offset, int kind, u64 stream) {
    u64 from;
    int status = enter();
    if (!status) status = part_of_variable(symbol, offset, size, &from);
    if (!status && (kind == HOST_TO_HOST || kind == HOST_TO_DEVICE)) status = INVALID_COPY_DIRECTION;
    return left(status ? status : copy_async(to, from, size, kind, stream));
}

// memset --------------------------------------------------------------------------------------------------------------

EXPORT int cudaMemset(u64 pointer, int value, size_t size) {
    int status = enter();
    return left(status || !size ? status : cuMemsetD8_v2(pointer, (unsigned char)value, size));
}

EXPORT int cudaMemsetAsync(u64 pointer, int value, size_t size, u64 stream) {
    int status = enter();
    return left(status || !size ? status : cuMemsetD8Async(pointer, (unsigned char)value, size, stream));
}

EXPORT int cudaMemset2D(u64 pointer, size_t pitch, int value, size_t width, size_t height) {
    int status = enter();
    return left(status || !width || !height ? status : cuMemsetD2D8_v2(pointer, pitch, (unsigned char)value, width, height));
}

EXPORT int cudaMemset2DAsync(u64 pointer, size_t pitch, int value, size_t width, size_t height, u64 stream) {
    int status = enter();
    if (status || !width || !height) return left(status);
    return left(cuMemsetD2D8Async(pointer, pitch, (unsigned char)value, width, height, stream));
}

// The slices of a pitched allocation follow each other, so those of full height are one rectangle.
EXPORT int cudaMemset3DAsync(struct pitched pitched, int value, struct extent extent, u64 stream) {
    int status = enter();
    for (size_t z = 0; z < extent.depth && extent.width && extent.height && !status; z++) {
        u64 slice = (uintptr_t)pitched.pointer + z * pitched.pitch * pitched.height;
        status = cuMemsetD2D8Async(slice, pitched.pitch, (unsigned char)value, extent.width, extent.height, stream);
    }
    return left(status);
}

EXPORT int cudaMemset3DAsync_ptsz(struct pitched pitched, int value, struct extent extent, u64 stream) {
    return cudaMemset3DAsync(pitched, value, extent, stream ? stream : PER_THREAD_STREAM);
}

EXPORT int cudaMemset3D(struct pitched pitched, int value, struct extent extent) {
    int status = cudaMemset3DAsync(pitched, value, extent, 0);
    return status ? status : left(cuStreamSynchronize(0));
}

// pointers ------------------------------------------------------------------------------------------------------------

enum { MEMORY_TYPE = 2, DEVICE_POINTER, HOST_POINTER, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };     // CUpointer_attribute
enum { UNREGISTERED, HOST, DEVICE, MANAGED };       // cudaMemoryType

struct pointer_attributes { int type, device; u64 device_pointer, host_pointer; long reserved[8]; };

EXPORT int cudaPointerGetAttributes(struct pointer_attributes *made, u64 pointer) {
    int status = enter(), type = 0, managed = 0;
    if (!status && !made) status = INVALID_VALUE;
    if (status) return left(status);
    *made = (struct pointer_attributes){ .type = UNREGISTERED, .device = -1, .host_pointer = pointer };
    if (cuPointerGetAttribute(&type, MEMORY_TYPE, pointer)) return left(SUCCESS);
    made->device = 0;
    cuPointerGetAttribute(&managed, IS_MANAGED, pointer);
    cuPointerGetAttribute(&made->device, DEVICE_ORDINAL, pointer);
    made->type = managed ? MANAGED : type == 1 ? HOST : DEVICE;
    made->host_pointer = made->type == DEVICE ? 0 : pointer;
    made->device_pointer = pointer;
    return left(SUCCESS);
}
