// Handles of other processes, which are passed by value.

#include "client.h"

struct handle { unsigned char bytes[64]; };     // CUipcMemHandle, CUipcEventHandle

static int remote_cuIpcOpenMemHandle(uint64_t *, const void *, unsigned);
static int remote_cuIpcOpenMemHandle_v2(uint64_t *, const void *, unsigned);
static int remote_cuIpcOpenEventHandle(uint64_t *, const void *);

EXPORT int cuIpcOpenMemHandle(uint64_t *pointer, struct handle handle, unsigned flags) {
    return remote_cuIpcOpenMemHandle(pointer, &handle, flags);
}

EXPORT int cuIpcOpenMemHandle_v2(uint64_t *pointer, struct handle handle, unsigned flags) {
    return remote_cuIpcOpenMemHandle_v2(pointer, &handle, flags);
}

EXPORT int cuIpcOpenEventHandle(uint64_t *event, struct handle handle) { return remote_cuIpcOpenEventHandle(event, &handle); }
