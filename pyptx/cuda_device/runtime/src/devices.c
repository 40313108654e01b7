// Initialization, the device of each thread, and its primary context.

#include "runtime.h"

int cuInit(unsigned);
int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuDeviceGetName(char *, int, int);
int cuDeviceGetUuid_v2(void *, int);
int cuDeviceTotalMem_v2(size_t *, int);
int cuDeviceGetAttribute(int *, int, int);
int cuDevicePrimaryCtxRetain(u64 *, int);
int cuDevicePrimaryCtxReset_v2(int);
int cuCtxGetCurrent(u64 *);
int cuCtxSetCurrent(u64);
int cuCtxSynchronize(void);
int cuMemGetInfo_v2(size_t *, size_t *);

enum { VERSION = 13000, DEVICES = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static u64 contexts[DEVICES];       // primary contexts that the runtime has retained
static int initialized, device_count;
static __thread int device;

static void initialize(void) {
    initialized = cuInit(0);
    if (!initialized) initialized = cuDeviceGetCount(&device_count);
    if (!initialized && !device_count) initialized = NO_DEVICE;
}

static int current_device(void) { return device; }

static int primary(int number, u64 *context) {
    pthread_mutex_lock(&contexts_lock);
    int status = contexts[number] ? SUCCESS : cuDevicePrimaryCtxRetain(&contexts[number], number);
    *context = contexts[number];
    pthread_mutex_unlock(&contexts_lock);
    return status;
}

// Initialize, and make the primary context of the thread's device current unless the program made a context of its own.
static int enter(void) {
    u64 context;
    pthread_once(&once, initialize);
    if (initialized) return initialized;
    int status = cuCtxGetCurrent(&context);
    if (status || context) return status;
    status = primary(device, &context);
    return status ? status : cuCtxSetCurrent(context);
}

EXPORT int cudaGetDeviceCount(int *count) {
    pthread_once(&once, initialize);
    if (!count) return left(INVALID_VALUE);
    *count = initialized ? 0 : device_count;
    return left(initialized);
}

EXPORT int cudaGetDevice(int *number) {
    int status = enter();
    if (!status && !number) status = INVALID_VALUE;
    if (!status) *number = device;
    return left(status);
}

EXPORT int cudaSetDevice(int number) {
    u64 context;
    pthread_once(&once, initialize);
    if (initialized) return left(initialized);
    if (number < 0 || number >= device_count || number >= DEVICES) return left(INVALID_DEVICE);
    int status = primary(number, &context);
    if (!status) status = cuCtxSetCurrent(context);
    if (!status) device = number;
    return left(status);
}

EXPORT int cudaInitDevice(int number, unsigned flags, unsigned which) {
    (void)flags; (void)which;
    int before = device, status = cudaSetDevice(number);
    return status ? status : cudaSetDevice(before);
}

EXPORT int cudaSetValidDevices(int *numbers, int count) {
    for (int k = 0; k < count; k++) if (numbers[k] < 0 || numbers[k] >= device_count) return left(INVALID_DEVICE);
    return left(SUCCESS);
}

enum { MAP_HOST = 8 };      // cudaDeviceMapHost, which unified addressing implies

EXPORT int cudaSetDeviceFlags(unsigned flags) {
    int cuDevicePrimaryCtxSetFlags_v2(int, unsigned);
    pthread_once(&once, initialize);
    return left(initialized ? initialized : cuDevicePrimaryCtxSetFlags_v2(device, flags));
}

EXPORT int cudaGetDeviceFlags(unsigned *flags) {
    int cuCtxGetFlags(unsigned *);
    int status = enter();
    if (!status) status = flags ? cuCtxGetFlags(flags) : INVALID_VALUE;
    if (!status) *flags |= MAP_HOST;
    return left(status);
}

EXPORT int cudaChooseDevice(int *number, const void *wanted) {
    pthread_once(&once, initialize);
    if (!initialized && number && wanted) *number = 0;      // there is one
    return left(initialized ? initialized : number && wanted ? SUCCESS : INVALID_VALUE);
}

// Peers: a device is none of its own, and there is one device.

EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    int status = enter();
    (void)peer;
    return left(status ? status : flags ? INVALID_VALUE : INVALID_DEVICE);
}

EXPORT int cudaDeviceDisablePeerAccess(int peer) {
    int status = enter();
    return left(status ? status : peer == device ? PEER_ACCESS_NOT_ENABLED : INVALID_DEVICE);
}

EXPORT int cudaDeviceReset(void) {
    int status = enter();
    if (status) return left(status);
    pthread_mutex_lock(&contexts_lock);
    contexts[device] = 0;
    pthread_mutex_unlock(&contexts_lock);
    status = cuDevicePrimaryCtxReset_v2(device);
    if (!status) status = cuCtxSetCurrent(0);
    return left(status);
}

EXPORT int cudaDriverGetVersion(int *version) { return left(version ? cuDriverGetVersion(version) : INVALID_VALUE); }

EXPORT int cudaRuntimeGetVersion(int *version) {
    if (!version) return left(INVALID_VALUE);
    *version = VERSION;
    return left(SUCCESS);
}

EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int number) {
    pthread_once(&once, initialize);
    return left(initialized ? initialized : !value ? INVALID_VALUE : cuDeviceGetAttribute(value, attribute, number));
}

// Reading cudaDeviceProp: its fields in their order, each from a device attribute.
struct reader { char *at; int device, status; };

static void put(struct reader *r, int attribute) {
    int value = 0;
    int status = cuDeviceGetAttribute(&value, attribute, r->device);
    if (status && !r->status) r->status = status;
    memcpy(r->at, &value, sizeof value);
    r->at += sizeof value;
}

static void put_size(struct reader *r, int attribute) {
    int value = 0;
    r->at += -(intptr_t)r->at & 7;
    int status = cuDeviceGetAttribute(&value, attribute, r->device);
    if (status && !r->status) r->status = status;
    size_t size = (unsigned)value;
    memcpy(r->at, &size, sizeof size);
    r->at += sizeof size;
}

enum { NAME = 256, PROPERTIES = 1008 };     // bytes of the name, and of cudaDeviceProp in CUDA 13

EXPORT int cudaGetDeviceProperties(char *properties, int number) {
    // CUdevice_attribute of each field; 1000 more: the field is a size_t
    static const short fields[] = {
        1008, 12, 10, 1011, 1, 2, 3, 4, 5, 6, 7, 1009, 75, 76, 1014, 1051, 16, 18, 19,
        21, 77, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54,
        55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68,
        1030, 31, 32, 33, 34, 50, 35, 40, 41, 37, 38, 108, 39, 78, 79, 80, 1081, 82, 83, 84, 85, 86, 88, 89, 90, 91, 95,
        1097, 100, 101, 106, 109, 1111, 99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125,
        120, 129, 130, 131, 133, 134, 139, 140, 143,
    };
    pthread_once(&once, initialize);
    if (initialized) return left(initialized);
    if (!properties) return left(INVALID_VALUE);
    memset(properties, 0, PROPERTIES);
    size_t memory = 0;
    int status = cuDeviceGetName(properties, NAME, number);
    if (!status) status = cuDeviceGetUuid_v2(properties + NAME, number);
    if (!status) status = cuDeviceTotalMem_v2(&memory, number);
    memcpy(properties + 288, &memory, sizeof memory);
    struct reader r = { properties + 296, number, status };
    for (size_t k = 0; k < sizeof fields / sizeof *fields && !r.status; k++) {
        if (fields[k] > 1000) put_size(&r, fields[k] - 1000);
        else put(&r, fields[k]);
    }
    return left(r.status);
}
