// Execution contexts: the primary context of a device, and green contexts. Each is a context of the driver.

#include "runtime.h"

int cuGreenCtxCreate(u64 *, u64, int, unsigned);
int cuGreenCtxDestroy(u64);
int cuCtxFromGreenCtx(u64 *, u64);
int cuGreenCtxStreamCreate(u64 *, u64, unsigned, int);
int cuCtxGetDevResource(u64, void *, int);
int cuCtxGetDevice_v2(int *, u64);
int cuCtxGetId(u64, u64 *);
int cuCtxSynchronize_v2(u64);
int cuCtxRecordEvent(u64, u64);
int cuCtxWaitEvent(u64, u64);
int cuCtxPushCurrent_v2(u64);
int cuCtxPopCurrent_v2(u64 *);
int cuStreamCreateWithPriority(u64 *, unsigned, int);

enum { NON_BLOCKING_STREAM = 1 };

// Green contexts that the program has made, by the contexts of the driver that represent them.
struct green { u64 context, green; struct green *next; };
static struct green *all_green;
static pthread_mutex_t green_lock = PTHREAD_MUTEX_INITIALIZER;

static u64 green_of(u64 context, int remove) {
    u64 found = 0;
    pthread_mutex_lock(&green_lock);
    for (struct green **at = &all_green; *at && !found; at = &(*at)->next) {
        if ((*at)->context != context) continue;
        struct green *one = *at;
        found = one->green;
        if (!remove) break;
        *at = one->next;
        free(one);
        break;
    }
    pthread_mutex_unlock(&green_lock);
    return found;
}

EXPORT int cudaGreenCtxCreate(u64 *context, u64 description, int number, unsigned flags) {
    u64 green;
    int status = enter();
    if (!status && (!context || flags)) status = INVALID_VALUE;
    if (!status) status = cuGreenCtxCreate(&green, description, number, 0);
    if (status) return left(status);
    struct green *made = malloc(sizeof *made);
    status = made ? cuCtxFromGreenCtx(context, green) : MEMORY_ALLOCATION;
    if (status) {
        free(made);
        cuGreenCtxDestroy(green);
        return left(status);
    }
    pthread_mutex_lock(&green_lock);
    *made = (struct green){ *context, green, all_green };
    all_green = made;
    pthread_mutex_unlock(&green_lock);
    return left(SUCCESS);
}

EXPORT int cudaExecutionCtxDestroy(u64 context) {
    int status = enter();
    if (status) return left(status);
    u64 green = green_of(context, 1);
    return left(green ? cuGreenCtxDestroy(green) : INVALID_VALUE);
}

EXPORT int cudaDeviceGetExecutionCtx(u64 *context, int number) {
    int status = enter();
    if (!status && !context) status = INVALID_VALUE;
    if (!status && (number < 0 || number >= device_count || number >= DEVICES)) status = INVALID_DEVICE;
    return left(status ? status : primary(number, context));
}

EXPORT int cudaExecutionCtxStreamCreate(u64 *stream, u64 context, unsigned flags, int priority) {
    int status = enter();
    if (!status && (!stream || !context || flags & ~(unsigned)NON_BLOCKING_STREAM)) status = INVALID_VALUE;
    if (status) return left(status);
    u64 green = green_of(context, 0);
    if (green) return left(cuGreenCtxStreamCreate(stream, green, NON_BLOCKING_STREAM, priority));
    status = cuCtxPushCurrent_v2(context);
    if (status) return left(status);
    status = cuStreamCreateWithPriority(stream, flags, priority);
    cuCtxPopCurrent_v2(&context);
    return left(status);
}

// The driver takes no context for the current one; the runtime needs one.
#define ON_CONTEXT(context, call) \
    int status = enter(); \
    return left(status ? status : (context) ? (call) : INVALID_VALUE)

EXPORT int cudaExecutionCtxGetDevResource(u64 context, void *resource, int type) {
    ON_CONTEXT(context, cuCtxGetDevResource(context, resource, type));
}
EXPORT int cudaExecutionCtxGetDevice(int *number, u64 context) { ON_CONTEXT(context, cuCtxGetDevice_v2(number, context)); }
EXPORT int cudaExecutionCtxGetId(u64 context, u64 *number) { ON_CONTEXT(context, cuCtxGetId(context, number)); }
EXPORT int cudaExecutionCtxSynchronize(u64 context) { ON_CONTEXT(context, cuCtxSynchronize_v2(context)); }
EXPORT int cudaExecutionCtxRecordEvent(u64 context, u64 event) { ON_CONTEXT(context, cuCtxRecordEvent(context, event)); }
EXPORT int cudaExecutionCtxWaitEvent(u64 context, u64 event) { ON_CONTEXT(context, cuCtxWaitEvent(context, event)); }
