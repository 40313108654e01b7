/* The handler of `pyptx_launch` on GPUs: XLA calls it for each execution, and it launches without asking Python.

   Python makes a record of each launch once (initialize, or the first execution); after that the record is found by the
   attribute `cubin_handle` and the number of the GPU, buffers are written into a copy of the parameter block, and
   cuLaunchKernelEx is called on XLA's stream. Tensor maps hold addresses, so Python encodes them once for each set of
   buffers; XLA uses few. Structures that start with `pyptx_` are mirrored in shim.py.

   Sources: xla/ffi/api/c_api.h of jaxlib; cuda.h, CUlaunchConfig and CUlaunchAttribute. */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xla/ffi/api/c_api.h"

enum { MAP_BYTES = 128, MESSAGE = 1024, BUCKETS = 1024, KEPT_MAPS = 256, CLUSTER_DIMENSION = 4 };
enum kind { BUFFER = 0, VALUE = 1, MAP_POINTER = 2, MAP_VALUE = 3 };

struct pyptx_slot {                     /* a parameter: offset in the block; `index` of a buffer or a map */
    uint32_t kind, index, offset, size;
};

struct pyptx_record {
    void *kernel;                       /* CUkernel */
    uint32_t grid[3], block[3], cluster[3], smem_bytes;
    uint32_t slots, buffers, maps, block_bytes;
    const struct pyptx_slot *slot;
    const unsigned char *values;        /* the parameter block with all constant values */
    const char *name;
};

typedef int pyptx_launch_fn(const void *config, void *kernel, void **params, void **extra);
/* Both return 0, or write a message. `prepare` returns the record of the call with this handle and description; `encode` writes MAP_BYTES for each map: the map itself,
   or the address of its copy in the first eight of them. */
typedef int pyptx_prepare_fn(int64_t handle, int32_t device, const char *description, size_t size,
                             const struct pyptx_record **record, char *message);
typedef int pyptx_encode_fn(int64_t handle, int32_t device, const uint64_t *buffers, unsigned char *maps, char *message);

struct config {                         /* CUlaunchConfig */
    uint32_t grid[3], block[3], smem_bytes;
    void *stream;
    struct attribute *attributes;
    uint32_t count;
};

struct attribute {                      /* CUlaunchAttribute */
    uint32_t id, pad;
    union { uint32_t size[3]; unsigned char bytes[64]; } value;
};

struct maps {                           /* encoded maps of one set of buffers */
    struct maps *next;
    uint64_t *buffers;
    unsigned char *bytes;
};

struct node {                           /* a record on a GPU; nodes are never freed, so they can be read without a lock */
    struct node *next;
    int64_t handle;
    int32_t device;
    const struct pyptx_record *record;
    atomic_flag busy;                   /* guards the maps */
    struct maps *maps;
    int kept;
};

static _Atomic(struct node *) table[BUCKETS];
static pyptx_launch_fn *launch;
static pyptx_prepare_fn *prepare;
static pyptx_encode_fn *encode;
static int on_gpu;

/* on_gpu: XLA passes a stream and a device; on the CPU (in tests) they are null and 0. */
void pyptx_shim_start(pyptx_launch_fn *launch_with, pyptx_prepare_fn *prepare_with, pyptx_encode_fn *encode_with,
                      int gpu) {
    launch = launch_with, prepare = prepare_with, encode = encode_with, on_gpu = gpu;
}

static XLA_FFI_Error *fail(const XLA_FFI_CallFrame *frame, const char *message) {
    XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, NULL, message, XLA_FFI_Error_Code_INTERNAL};
    return frame->api->XLA_FFI_Error_Create(&args);
}

static int answers_metadata(XLA_FFI_CallFrame *frame) {
    for (__typeof__(frame->extension_start) e = frame->extension_start; e; e = e->next)     /* renamed in jaxlib 0.11 */
        if (e->type == XLA_FFI_Extension_Metadata) {
            XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)e)->metadata;
            metadata->api_version.major_version = XLA_FFI_API_MAJOR;
            metadata->api_version.minor_version = XLA_FFI_API_MINOR;
            metadata->traits = 0;
            return 1;
        }
    return 0;
}

static int find_handle(const XLA_FFI_Attrs *attrs, int64_t *handle) {
    static const char name[] = "cubin_handle";
    for (int64_t k = 0; k < attrs->size; k++) {
        const XLA_FFI_ByteSpan *found = attrs->names[k];
        if (found->len == sizeof name - 1 && !memcmp(found->ptr, name, found->len) &&
            attrs->types[k] == XLA_FFI_AttrType_SCALAR) {
            const XLA_FFI_Scalar *scalar = attrs->attrs[k];
            if (scalar->dtype != XLA_FFI_DataType_S64) return 0;
            *handle = *(const int64_t *)scalar->value;
            return 1;
        }
    }
    return 0;
}

/* The attribute `kernel`: the description of the call, for processes that have not traced it. */
static const XLA_FFI_ByteSpan *find_description(const XLA_FFI_Attrs *attrs) {
    static const char name[] = "kernel";
    for (int64_t k = 0; k < attrs->size; k++) {
        const XLA_FFI_ByteSpan *found = attrs->names[k];
        if (found->len == sizeof name - 1 && !memcmp(found->ptr, name, found->len) &&
            attrs->types[k] == XLA_FFI_AttrType_STRING)
            return attrs->attrs[k];
    }
    return NULL;
}

static struct node *find_node(int64_t handle, int32_t device) {
    struct node *node = atomic_load_explicit(&table[(uint64_t)handle % BUCKETS], memory_order_acquire);
    while (node && (node->handle != handle || node->device != device)) node = node->next;
    return node;
}

static struct node *get_node(int64_t handle, int32_t device, const XLA_FFI_Attrs *attrs, char *message) {
    struct node *node = find_node(handle, device);
    if (node) return node;
    const struct pyptx_record *record = NULL;
    const XLA_FFI_ByteSpan *text = find_description(attrs);
    if (prepare(handle, device, text ? text->ptr : NULL, text ? text->len : 0, &record, message)) return NULL;
    node = calloc(1, sizeof *node);
    if (!node) {
        snprintf(message, MESSAGE, "out of memory");
        return NULL;
    }
    node->handle = handle, node->device = device, node->record = record;
    atomic_flag_clear(&node->busy);
    _Atomic(struct node *) *bucket = &table[(uint64_t)handle % BUCKETS];
    node->next = atomic_load(bucket);
    while (!atomic_compare_exchange_weak(bucket, &node->next, node)) {}
    return node;
}

static void lock(struct node *node) {
    while (atomic_flag_test_and_set_explicit(&node->busy, memory_order_acquire)) {}
}

static void unlock(struct node *node) {
    atomic_flag_clear_explicit(&node->busy, memory_order_release);
}

static void forget(struct maps *maps) {
    while (maps) {
        struct maps *next = maps->next;
        free(maps->buffers);
        free(maps->bytes);
        free(maps);
        maps = next;
    }
}

/* Write the maps for these buffers to `bytes`. */
static int get_maps(struct node *node, const uint64_t *buffers, unsigned char *bytes, char *message) {
    const struct pyptx_record *record = node->record;
    size_t key = record->buffers * sizeof *buffers, size = (size_t)record->maps * MAP_BYTES;
    int found = 0;
    lock(node);
    for (struct maps *m = node->maps; m && !found; m = m->next)
        if (!memcmp(m->buffers, buffers, key)) memcpy(bytes, m->bytes, size), found = 1;
    unlock(node);
    if (found) return 0;
    if (encode(node->handle, node->device, buffers, bytes, message)) return 1;
    struct maps *made = calloc(1, sizeof *made), *old = NULL;
    if (made) made->buffers = malloc(key), made->bytes = malloc(size);
    if (!made || !made->buffers || !made->bytes) {                      /* out of memory: encode again next time */
        forget(made);
        return 0;
    }
    memcpy(made->buffers, buffers, key);
    memcpy(made->bytes, bytes, size);
    lock(node);
    if (++node->kept > KEPT_MAPS) old = node->maps, node->maps = NULL, node->kept = 1;
    made->next = node->maps;
    node->maps = made;
    unlock(node);
    forget(old);
    return 0;
}

static int run(struct node *node, const XLA_FFI_CallFrame *frame, void *stream, char *message) {
    const struct pyptx_record *record = node->record;
    int64_t inputs = frame->args.size;
    if (inputs + frame->rets.size != record->buffers) {
        snprintf(message, MESSAGE, "%s has %u arrays; XLA passed %lld", record->name, record->buffers,
                 (long long)(inputs + frame->rets.size));
        return 1;
    }
    uint64_t buffers[record->buffers + 1];
    for (uint32_t k = 0; k < record->buffers; k++) {
        XLA_FFI_Buffer *buffer = k < inputs ? frame->args.args[k] : frame->rets.rets[k - inputs];
        buffers[k] = (uint64_t)(uintptr_t)buffer->data;
    }
    unsigned char maps[(size_t)record->maps * MAP_BYTES + 1];
    if (record->maps && get_maps(node, buffers, maps, message)) return 1;
    _Alignas(64) unsigned char block[record->block_bytes + 1];
    void *params[record->slots + 1];
    memcpy(block, record->values, record->block_bytes);
    for (uint32_t k = 0; k < record->slots; k++) {
        const struct pyptx_slot *slot = &record->slot[k];
        params[k] = block + slot->offset;
        if (slot->kind == BUFFER) memcpy(params[k], &buffers[slot->index], sizeof *buffers);
        else if (slot->kind != VALUE) memcpy(params[k], maps + (size_t)slot->index * MAP_BYTES, slot->size);
    }
    struct attribute cluster = {.id = CLUSTER_DIMENSION};
    struct config config = {.smem_bytes = record->smem_bytes, .stream = stream, .attributes = &cluster};
    memcpy(config.grid, record->grid, sizeof config.grid);
    memcpy(config.block, record->block, sizeof config.block);
    memcpy(cluster.value.size, record->cluster, sizeof record->cluster);
    config.count = record->cluster[0] * record->cluster[1] * record->cluster[2] > 1;
    int status = launch(&config, record->kernel, params, NULL);
    if (status)
        snprintf(message, MESSAGE, "%s, grid (%u, %u, %u), block (%u, %u, %u), %u bytes of dynamic shared memory: "
                 "CUDA error %d", record->name, record->grid[0], record->grid[1], record->grid[2], record->block[0],
                 record->block[1], record->block[2], record->smem_bytes, status);
    return status != 0;
}

XLA_FFI_Error *PyptxLaunch(XLA_FFI_CallFrame *frame) {
    char message[MESSAGE] = "";
    int64_t handle;
    int32_t device = 0;
    void *stream = NULL;
    if (answers_metadata(frame)) return NULL;
    if (!find_handle(&frame->attrs, &handle)) return fail(frame, "pyptx_launch has no attribute cubin_handle");
    if (on_gpu) {
        XLA_FFI_DeviceOrdinal_Get_Args place = {XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE, NULL, frame->ctx, 0};
        XLA_FFI_Error *error = frame->api->XLA_FFI_DeviceOrdinal_Get(&place);
        if (error) return error;
        device = place.device_ordinal;
        if (device < 0 && frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return NULL;      /* known at execution */
    }
    struct node *node = get_node(handle, device, &frame->attrs, message);
    if (!node) return fail(frame, message);
    if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return NULL;
    if (on_gpu) {
        XLA_FFI_Stream_Get_Args args = {XLA_FFI_Stream_Get_Args_STRUCT_SIZE, NULL, frame->ctx, NULL};
        XLA_FFI_Error *error = frame->api->XLA_FFI_Stream_Get(&args);
        if (error) return error;
        stream = args.stream;
    }
    return run(node, frame, stream, message) ? fail(frame, message) : NULL;
}
