// Launches: the arguments are gathered into the parameter block of the kernel, whose layout the server tells once.

#include "client.h"

struct layout { uint64_t function; uint32_t count, bytes; uint32_t places[]; };     // offset and size of each parameter
struct attributes { const unsigned char *data; unsigned count; };
struct config {
    unsigned grid[3], block[3], shared_bytes;
    uint64_t stream;
    const void *attributes;
    unsigned count;
};

#define ATTRIBUTE_BYTES 72
#define MOST_ATTRIBUTES 256
#define END ((void *)0)
#define BUFFER_POINTER ((void *)1)
#define BUFFER_SIZE ((void *)2)

static int remote_pyptxParameters(uint64_t function, void *places, uint64_t capacity);
static int remote_pyptxLaunch(uint64_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared_bytes, uint64_t stream, unsigned cooperative,
                              const void *attributes, unsigned count, const void *params, uint64_t bytes);

static struct layout **layouts;     // a hash table, never shrunk: handles are not reused
static size_t places, used;
static pthread_mutex_t layouts_lock = PTHREAD_MUTEX_INITIALIZER;

static void insert(struct layout *layout) {
    size_t k = layout->function / 16 % places;
    while (layouts[k]) k = (k + 1) % places;
    layouts[k] = layout;
}

static struct layout *find(uint64_t function) {
    if (!places) return NULL;
    for (size_t k = function / 16 % places; layouts[k]; k = (k + 1) % places)
        if (layouts[k]->function == function) return layouts[k];
    return NULL;
}

static void remember(struct layout *layout) {
    if (2 * (used + 1) > places) {
        struct layout **before = layouts;
        size_t count = places;
        places = 2 * places + 61;
        layouts = calloc(places, sizeof *layouts);
        if (!layouts) abort();
        for (size_t k = 0; k < count; k++) if (before[k]) insert(before[k]);
        free(before);
    }
    insert(layout);
    used++;
}

static int layout_of(uint64_t function, struct layout **found) {
    pthread_mutex_lock(&layouts_lock);
    *found = find(function);
    if (*found) {
        pthread_mutex_unlock(&layouts_lock);
        return SUCCESS;
    }
    pthread_mutex_unlock(&layouts_lock);
    static __thread uint32_t received[2 + 2 * 8192];
    int status = remote_pyptxParameters(function, received, sizeof received);
    if (status) return status;
    size_t bytes = received[0] * 2 * sizeof(uint32_t);
    struct layout *made = malloc(sizeof *made + bytes);
    if (!made) return OUT_OF_MEMORY;
    made->function = function;
    made->count = received[0];
    made->bytes = received[1];
    memcpy(made->places, received + 2, bytes);
    pthread_mutex_lock(&layouts_lock);
    if (!(*found = find(function))) remember(*found = made);
    else free(made);
    pthread_mutex_unlock(&layouts_lock);
    return SUCCESS;
}

static int launch(uint64_t function, const unsigned *grid, const unsigned *block, unsigned shared_bytes,
                  uint64_t stream, int cooperative, const void *attributes, unsigned count, void **params, void **extra) {
    struct layout *layout;
    int status = layout_of(function, &layout);
    if (status) return status;
    static __thread unsigned char gathered[32768];
    const unsigned char *packed = gathered;
    uint64_t bytes = layout->bytes;
    if (extra) {
        if (params) return INVALID_VALUE;
        for (; *extra != END; extra += 2) {
            if (*extra == BUFFER_POINTER) packed = extra[1];
            else if (*extra == BUFFER_SIZE) bytes = *(const size_t *)extra[1];
            else return INVALID_VALUE;
        }
    } else {
        if (layout->count && !params) return INVALID_VALUE;
        for (uint32_t k = 0; k < layout->count; k++) {
            if (!params[k]) return INVALID_VALUE;
            memcpy(gathered + layout->places[2 * k], params[k], layout->places[2 * k + 1]);
        }
    }
    return remote_pyptxLaunch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes, stream,
                              (unsigned)cooperative, attributes, count * ATTRIBUTE_BYTES, packed, bytes);
}

EXPORT int cuLaunchKernel(uint64_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared_bytes, uint64_t stream, void **params, void **extra) {
    unsigned grid[] = { gx, gy, gz }, block[] = { bx, by, bz };
    return launch(function, grid, block, shared_bytes, stream, 0, NULL, 0, params, extra);
}

EXPORT int cuLaunchCooperativeKernel(uint64_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared_bytes, uint64_t stream, void **params) {
    unsigned grid[] = { gx, gy, gz }, block[] = { bx, by, bz };
    return launch(function, grid, block, shared_bytes, stream, 1, NULL, 0, params, NULL);
}

EXPORT int cuLaunchKernelEx(const struct config *config, uint64_t function, void **params, void **extra) {
    if (!config || config->count > MOST_ATTRIBUTES || (config->count && !config->attributes)) return INVALID_VALUE;
    return launch(function, config->grid, config->block, config->shared_bytes, config->stream, 0, config->attributes,
                  config->count, params, extra);
}
