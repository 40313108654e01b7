// What nvcc's host code registers when a program starts: fat binaries, their kernels and variables.
//
// A fat binary is loaded when the first of its kernels or variables is used, so that a program that never uses the device
// does not start one, and errors are those of the call that needs the code.

#include "runtime.h"

int cuLibraryLoadData(u64 *, const void *, void *, void *, unsigned, void *, void *, unsigned);
int cuLibraryGetKernel(u64 *, u64, const char *);
int cuLibraryGetGlobal(u64 *, size_t *, u64, const char *);
int cuLibraryGetManaged(u64 *, size_t *, u64, const char *);
int cuLibraryUnload(u64);
int cuKernelGetFunction(u64 *, u64);
int cuLinkCreate_v2(unsigned, void *, void *, u64 *);
int cuLinkAddData_v2(u64, int, void *, size_t, const char *, unsigned, void *, void *);
int cuLinkComplete(u64, void **, size_t *);
int cuLinkDestroy(u64);

enum { LINKED = 2, FAT_BINARY = 2 };        // version of a wrapper; CUjitInputType

struct wrapper { int magic, version; const void *data; const void **prelinked; };
struct image { const struct wrapper *wrapper; u64 library; int loaded, status; struct symbol *managed; };
struct symbol {
    const void *host;       // what the program passes: the stub of a kernel, the shadow of a variable
    struct image *image;
    const char *name;
    int is_kernel;
    u64 kernel, function, address;
    size_t size;
    void **pointer;         // of a managed variable: set to its address
    struct symbol *next;    // in the same place of the table; of managed variables, in the same image
};

enum { PLACES = 4096 };
static struct symbol *symbols[PLACES];
static pthread_mutex_t images_lock = PTHREAD_MUTEX_INITIALIZER;

static struct symbol **place_of(const void *host) { return &symbols[((uintptr_t)host >> 3) % PLACES]; }

static pthread_mutex_t symbols_lock = PTHREAD_MUTEX_INITIALIZER;       // libraries may be loaded while kernels are launched

static struct symbol *find_symbol(const void *host) {
    pthread_mutex_lock(&symbols_lock);
    struct symbol *s = *place_of(host);
    while (s && s->host != host) s = s->next;
    pthread_mutex_unlock(&symbols_lock);
    return s;
}

static struct symbol *make_symbol(void **handle, const void *host, const char *name, int is_kernel) {
    struct symbol *made = calloc(1, sizeof *made);
    if (!made) abort();
    *made = (struct symbol){ .host = host, .image = (struct image *)handle, .name = name, .is_kernel = is_kernel };
    return made;
}

static void add_symbol(struct symbol *made) {
    pthread_mutex_lock(&symbols_lock);
    made->next = *place_of(made->host);
    *place_of(made->host) = made;
    pthread_mutex_unlock(&symbols_lock);
}

EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
    struct image *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->wrapper = wrapper;
    return (void **)made;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int threads,
                                   void *tid, void *bid, void *block, void *grid, int *warp) {
    (void)device; (void)threads; (void)tid; (void)bid; (void)block; (void)grid; (void)warp;
    add_symbol(make_symbol(handle, host, name, 1));
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                              int constant, int global) {
    (void)device; (void)external; (void)constant; (void)global; (void)size;
    add_symbol(make_symbol(handle, host, name, 0));
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int external,
                                     size_t size, int constant, int global) {
    (void)device; (void)external; (void)constant; (void)global; (void)size;
    struct symbol *made = make_symbol(handle, pointer, name, 0);
    struct image *image = made->image;
    made->pointer = pointer;
    made->next = image->managed;
    image->managed = made;
}

EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) {
    (void)handle; (void)name; (void)host; (void)size;
}

EXPORT void __cudaUnregisterFatBinary(void **handle) {
    // at exit the driver may have ended already: the process gives everything back
    (void)handle;
}

// Separately compiled code without machine code for any device: its parts are linked by the driver.
static int load_linked(struct image *image) {
    u64 linking;
    void *made;
    size_t size;
    int status = cuLinkCreate_v2(0, NULL, NULL, &linking);
    if (status) return status;
    for (const void **part = image->wrapper->prelinked; *part && !status; part++) {
        const unsigned char *bytes = *part;
        uint16_t header;
        uint64_t rest;
        memcpy(&header, bytes + 6, sizeof header);
        memcpy(&rest, bytes + 8, sizeof rest);
        status = cuLinkAddData_v2(linking, FAT_BINARY, (void *)bytes, header + rest, "part of the program", 0, NULL, NULL);
    }
    if (!status) status = cuLinkComplete(linking, &made, &size);
    if (!status) status = cuLibraryLoadData(&image->library, made, NULL, NULL, 0, NULL, NULL, 0);
    cuLinkDestroy(linking);
    return status;
}

static int has_code(const void *fat_binary) {
    uint64_t size;
    memcpy(&size, (const char *)fat_binary + 8, sizeof size);
    return size > 0;
}

static int load_image(struct image *image) {
    pthread_mutex_lock(&images_lock);
    if (!image->loaded) {
        const struct wrapper *w = image->wrapper;
        int linked = w->version == LINKED && w->prelinked && *w->prelinked && !has_code(w->data);
        image->status = linked ? load_linked(image) : cuLibraryLoadData(&image->library, w->data, NULL, NULL, 0, NULL, NULL, 0);
        for (struct symbol *s = image->managed; s && !image->status; s = s->next) {
            image->status = cuLibraryGetManaged(&s->address, &s->size, image->library, s->name);
            if (!image->status) *s->pointer = (void *)(uintptr_t)s->address;
        }
        image->loaded = 1;
    }
    pthread_mutex_unlock(&images_lock);
    return image->status;
}

// Called before the first access to a managed variable.
EXPORT char __cudaInitModule(void **handle) {
    int status = enter();
    return (char)left(status ? status : load_image((struct image *)handle));
}

static int find_kernel(const void *host, struct symbol **found) {
    struct symbol *s = find_symbol(host);
    if (!s || !s->is_kernel) return INVALID_DEVICE_FUNCTION;
    *found = s;
    if (s->function) return SUCCESS;
    int status = load_image(s->image);
    if (!status) status = cuLibraryGetKernel(&s->kernel, s->image->library, s->name);
    if (!status) status = cuKernelGetFunction(&s->function, s->kernel);
    return status;
}

// The function of a kernel that the program names by its stub, or by a handle from cudaGetKernel or cudaLibraryGetKernel.
static int function_of(const void *host, u64 *function) {
    struct symbol *s;
    int status = find_kernel(host, &s);
    if (!status) *function = s->function;
    else if (status == INVALID_DEVICE_FUNCTION && host)
        status = cuKernelGetFunction(function, (uintptr_t)host) ? INVALID_DEVICE_FUNCTION : SUCCESS;
    return status;
}

// What a program knows a function by: the stub of its kernel, else its handle.
static const void *host_of(u64 function) {
    const void *found = (const void *)(uintptr_t)function;
    pthread_mutex_lock(&symbols_lock);
    for (int k = 0; k < PLACES; k++)
        for (struct symbol *s = symbols[k]; s; s = s->next) if (s->is_kernel && s->function == function) found = s->host;
    pthread_mutex_unlock(&symbols_lock);
    return found;
}

static int variable_of(const void *host, u64 *address, size_t *size) {
    struct symbol *s = find_symbol(host);
    if (!s || s->is_kernel) return INVALID_SYMBOL;
    int status = load_image(s->image);
    if (!status && !s->address) status = cuLibraryGetGlobal(&s->address, &s->size, s->image->library, s->name);
    if (status) return status;
    *address = s->address;
    *size = s->size;
    return SUCCESS;
}

EXPORT int cudaGetSymbolAddress(u64 *address, const void *symbol) {
    size_t size;
    int status = enter();
    return left(status ? status : !address ? INVALID_VALUE : variable_of(symbol, address, &size));
}

EXPORT int cudaGetSymbolSize(size_t *size, const void *symbol) {
    u64 address;
    int status = enter();
    return left(status ? status : !size ? INVALID_VALUE : variable_of(symbol, &address, size));
}

EXPORT int cudaGetFuncBySymbol(u64 *function, const void *symbol) {
    int status = enter();
    return left(status ? status : !function ? INVALID_VALUE : function_of(symbol, function));
}

EXPORT int cudaGetKernel(u64 *kernel, const void *host) {
    struct symbol *s;
    int status = enter();
    if (!status && !kernel) status = INVALID_VALUE;
    if (!status) status = find_kernel(host, &s);
    if (!status) *kernel = s->kernel;
    return left(status);
}

// The handle that a kernel's stub gets once, for __cudaLaunchKernel: the stub itself, so that each launch reports the error
// of a fat binary that cannot be loaded.
EXPORT int __cudaGetKernel(const void **kernel, const void *host) {
    *kernel = host;
    return SUCCESS;
}
