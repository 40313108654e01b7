// The stack of contexts of each thread.

#include "client.h"

#define DEEPEST 64

static int remote_cuCtxCreate_v2(uint64_t *, unsigned, int);
static int remote_cuCtxCreate_v3(uint64_t *, uint64_t, int, unsigned, int);
static int remote_cuCtxCreate_v4(uint64_t *, uint64_t, unsigned, int);
static int remote_cuCtxDestroy(uint64_t);
static int remote_cuCtxDestroy_v2(uint64_t);

static __thread struct { uint64_t contexts[DEEPEST]; int depth; } stack;

static uint64_t current_context(void) { return stack.depth ? stack.contexts[stack.depth - 1] : 0; }

static int push(uint64_t context) {
    if (stack.depth == DEEPEST) return OUT_OF_MEMORY;
    stack.contexts[stack.depth++] = context;
    return SUCCESS;
}

EXPORT int cuCtxGetCurrent(uint64_t *context) {
    if (state != SUCCESS) return state;
    if (!context) return INVALID_VALUE;
    *context = current_context();
    return SUCCESS;
}

EXPORT int cuCtxSetCurrent(uint64_t context) {
    if (state != SUCCESS) return state;
    if (stack.depth) stack.depth--;
    return context ? push(context) : SUCCESS;
}

EXPORT int cuCtxPushCurrent_v2(uint64_t context) {
    if (state != SUCCESS) return state;
    return context ? push(context) : INVALID_CONTEXT;
}

EXPORT int cuCtxPopCurrent_v2(uint64_t *context) {
    if (state != SUCCESS) return state;
    if (!stack.depth) return INVALID_CONTEXT;
    stack.depth--;
    if (context) *context = stack.contexts[stack.depth];
    return SUCCESS;
}

static int created(int status, const uint64_t *context) { return status ? status : push(*context); }

EXPORT int cuCtxCreate_v2(uint64_t *context, unsigned flags, int device) {
    return created(remote_cuCtxCreate_v2(context, flags, device), context);
}

EXPORT int cuCtxCreate_v3(uint64_t *context, uint64_t params, int count, unsigned flags, int device) {
    return created(remote_cuCtxCreate_v3(context, params, count, flags, device), context);
}

EXPORT int cuCtxCreate_v4(uint64_t *context, uint64_t params, unsigned flags, int device) {
    return created(remote_cuCtxCreate_v4(context, params, flags, device), context);
}

// A destroyed context is no longer current.
static int destroyed(int status, uint64_t context) {
    if (!status && current_context() == context) stack.depth--;
    return status;
}
EXPORT int cuCtxDestroy_v2(uint64_t context) { return destroyed(remote_cuCtxDestroy_v2(context), context); }

// Before CUDA 4.0: the names by which some programs still find these functions.
EXPORT int cuCtxPushCurrent(uint64_t context) { return cuCtxPushCurrent_v2(context); }
EXPORT int cuCtxPopCurrent(uint64_t *context) { return cuCtxPopCurrent_v2(context); }
EXPORT int cuCtxDestroy(uint64_t context) { return destroyed(remote_cuCtxDestroy(context), context); }
