// Errors: numbers are those of the driver, also those that only the runtime reports.

#include "runtime.h"

#include <dlfcn.h>

int cuGetErrorString(int, const char **);

struct error { int code; const char *name, *text; };
static const struct error errors[];

static __thread int last_error;

// Errors of launches by <<<...>>>, which are not returned: threads whose last one was not read.
static atomic_int unread;
static __thread int has_unread;

static void read_errors(void) {
    if (has_unread) atomic_fetch_sub(&unread, 1);
    has_unread = 0;
}

static int left(int status) {
    if (status && status != NOT_READY) {
        last_error = status;
        read_errors();
    }
    return status;
}

static int left_unread(int status) {
    if (left(status)) {
        has_unread = 1;
        atomic_fetch_add(&unread, 1);
    }
    return status;
}

__attribute__((destructor)) static void report_unread(void) {
    int (*report)(unsigned) = (int (*)(unsigned))dlsym(RTLD_DEFAULT, "pyptxUnreadErrors");     // no other driver has it
    if (report && atomic_load(&unread)) report((unsigned)atomic_load(&unread));
}

EXPORT int cudaGetLastError(void) {
    int error = last_error;
    read_errors();
    last_error = SUCCESS;
    return error;
}

EXPORT int cudaPeekAtLastError(void) {
    read_errors();
    return last_error;
}

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
