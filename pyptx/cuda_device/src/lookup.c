// cuGetProcAddress and the names of errors.

#include "client.h"

struct procedure { const char *name; int since; void *function, *variant; };
struct error { int code; const char *name, *text; };

static const struct procedure procedures[];
static const struct error errors[];

enum { FOUND, SYMBOL_NOT_FOUND, VERSION_NOT_SUFFICIENT };
#define PER_THREAD_STREAM 2

static void *find_procedure(const char *name, int version, uint64_t flags, int *result) {
    const struct procedure *best = NULL;
    *result = SYMBOL_NOT_FOUND;
    for (const struct procedure *p = procedures; p->name; p++) {
        if (strcmp(p->name, name)) continue;
        if (*result == SYMBOL_NOT_FOUND) *result = VERSION_NOT_SUFFICIENT;
        if (p->since <= version && (!best || p->since > best->since)) best = p;
    }
    if (!best) return NULL;
    *result = FOUND;
    return flags & PER_THREAD_STREAM && best->variant ? best->variant : best->function;
}

EXPORT int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    int result;
    if (!name || !function) return INVALID_VALUE;
    *function = find_procedure(name, version, flags, &result);
    return *function ? SUCCESS : NOT_FOUND;
}

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *found) {
    int result;
    if (!name || !function) return INVALID_VALUE;
    *function = find_procedure(name, version, flags, &result);
    if (found) *found = result;
    return *function || found ? SUCCESS : NOT_FOUND;
}

EXPORT int cuDriverGetVersion(int *version) {
    if (!version) return INVALID_VALUE;
    *version = DRIVER_VERSION;
    return SUCCESS;
}

static const struct error *find_error(int code) {
    for (const struct error *e = errors; e->name; e++) if (e->code == code) return e;
    return NULL;
}

EXPORT int cuGetErrorName(int code, const char **text) {
    const struct error *found = find_error(code);
    if (!text) return INVALID_VALUE;
    *text = found ? found->name : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuGetErrorString(int code, const char **text) {
    const struct error *found = find_error(code);
    if (!text) return INVALID_VALUE;
    *text = found ? found->text : NULL;
    return found ? SUCCESS : INVALID_VALUE;
}

// Texts that were returned to the program, each kept once and for ever.
static const char *keep_text(const unsigned char *bytes, size_t size) {
    static struct kept { struct kept *next; char text[]; } *all;
    for (struct kept *k = all; k; k = k->next)
        if (strlen(k->text) == size && !memcmp(k->text, bytes, size)) return k->text;
    struct kept *made = malloc(sizeof *made + size + 1);
    if (!made) return NULL;
    memcpy(made->text, bytes, size);
    made->text[size] = 0;
    made->next = all;
    all = made;
    return made->text;
}

// The runtime library tells of errors that the program has not read when it ends.
static int remote_pyptxUnread(unsigned count);
EXPORT int pyptxUnreadErrors(unsigned count) { return remote_pyptxUnread(count); }

// A function that is refused: say so once.
static int refuse(const char *name, const char *reason, atomic_int *said) {
    if (!atomic_exchange(said, 1)) fprintf(stderr, "pyptx: %s is not supported by the simulated device: %s\n", name, reason);
    return NOT_SUPPORTED;
}
