// Common declarations of the runtime library. All files are compiled as one unit, libcudart.c.
//
// It implements the public runtime API of CUDA 13 by calls of the public driver API, and nothing else: it runs on every
// libcuda.so.1. Handles are those of the driver. Structures have the layouts of driver_types.h, which a test compares.
#ifndef PYPTX_RUNTIME_H
#define PYPTX_RUNTIME_H

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t u64;       // handles, device pointers, and integer arguments that are passed on as they are

enum {
    SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_CONFIGURATION = 9, INVALID_SYMBOL = 13,
    INVALID_PITCH = 12, INVALID_COPY_DIRECTION = 21, INSUFFICIENT_DRIVER = 35, INVALID_DEVICE_FUNCTION = 98, NO_DEVICE = 100,
    INVALID_DEVICE = 101, NOT_READY = 600, PEER_ACCESS_NOT_ENABLED = 705, NOT_SUPPORTED = 801
};
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };      // cudaMemcpyKind
enum { PER_THREAD_STREAM = 2 };

struct dim3 { unsigned x, y, z; };
struct extent { size_t width, height, depth; };
struct position { size_t x, y, z; };
struct pitched { char *pointer; size_t pitch, width, height; };

// Each function begins with enter() and ends with left(status), which keeps the error for cudaGetLastError.
static int enter(void);
static int left(int status);
static int current_device(void);

#endif
