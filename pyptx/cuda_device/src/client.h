// Common declarations of the client library. All files are compiled as one unit, libcuda.c.
#ifndef PYPTX_CLIENT_H
#define PYPTX_CLIENT_H

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201, OPERATING_SYSTEM = 304, NOT_FOUND = 500, NOT_SUPPORTED = 801, UNKNOWN = 999
};

// A call: begin, put_word for every argument, put_bytes for every blob, call, get_word for every result, end.
static int begin(uint32_t function);
static void put_word(uint64_t word);
static void put_bytes(const void *bytes, size_t size);
static int call(void);
static uint64_t get_word(void);
static const unsigned char *get_bytes(size_t size);
static void end_call(void);

static const uint64_t NOTHING = ~0ull;      // length of a blob whose pointer is null

static atomic_ulong calls;      // that were made
static void start_progress(void);
static void watch_host(void);
static __thread void *fault_at;

// A pointer of the program as this library accesses it while it holds the lock: pages of the device may be protected.
static void *own(uint64_t address);
#define OWN(pointer) ((__typeof__(pointer))own((uint64_t)(uintptr_t)(pointer)))

static uint64_t current_context(void);
static size_t size_of_image(const void *image);
static const char *keep_text(const unsigned char *bytes, size_t size);

#endif
