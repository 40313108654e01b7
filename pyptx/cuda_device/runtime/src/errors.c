// Errors: numbers are those of the driver, also those that only the runtime reports.

#include "runtime.h"

int cuGetErrorString(int, const char **);

struct error { int code; const char *name, *text; };
static const struct error errors[];

static __thread int last_error;

static int left(int status) {
    if (status && status != NOT_READY) last_error = status;
    return status;
}

EXPORT int cudaGetLastError(void) {
    int error = last_error;
    last_error = SUCCESS;
    return error;
}

EXPORT int cudaPeekAtLastError(void) { return last_error; }

static const struct error *find_error(int code) {
    for (const struct error *e = errors; e->name; e++) if (e->code == code) return e;
    return NULL;
}

EXPORT const char *cudaGetErrorName(int code) {
    const struct error *found = find_error(code);
    return found ? found->name : "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(int code) {
    const struct error *found = find_error(code);
    const char *text = NULL;
    if (found && found->text) return found->text;
    return cuGetErrorString(code, &text) || !text ? "unrecognized error code" : text;
}

// A function that is refused: say so once.
static int refuse(const char *name, const char *reason, atomic_int *said) {
    if (!atomic_exchange(said, 1)) fprintf(stderr, "pyptx: %s is not supported by the simulated device: %s\n", name, reason);
    return left(NOT_SUPPORTED);
}
