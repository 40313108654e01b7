// Arrays, and copies of rectangles and boxes. All copies become one structure of the driver.

#include "runtime.h"

int cuMemcpy3D_v2(const void *);
int cuMemcpy3DAsync_v2(const void *, u64);
int cuArray3DCreate_v2(u64 *, const void *);
int cuArray3DGetDescriptor_v2(void *, u64);
int cuMipmappedArrayCreate(u64 *, const void *, unsigned);

struct channels { int x, y, z, w, kind; };      // bits of each channel; SIGNED, UNSIGNED, FLOAT
enum { SIGNED, UNSIGNED, FLOAT, NONE };
struct array_descriptor { size_t width, height, depth; int format; unsigned channels, flags; };

static int format_of(const struct channels *given, int *format, unsigned *count) {
    const int bits[] = { given->x, given->y, given->z, given->w };
    *count = 0;
    while (*count < 4 && bits[*count]) (*count)++;
    for (unsigned k = 1; k < *count; k++) if (bits[k] != bits[0]) return 20;     // cudaErrorInvalidChannelDescriptor
    static const int formats[3][3] = { { 0x08, 0x09, 0x0a }, { 0x01, 0x02, 0x03 }, { 0, 0x10, 0x20 } };
    int width = given->x == 8 ? 0 : given->x == 16 ? 1 : given->x == 32 ? 2 : -1;
    if (given->kind < 0 || given->kind > FLOAT || width < 0 || *count == 3) return 20;
    *format = formats[given->kind][width];
    return *format ? SUCCESS : 20;
}

static struct channels channels_of(int format, unsigned count) {
    int bits = format == 0x08 || format == 0x01 ? 8 : format == 0x0a || format == 0x03 || format == 0x20 ? 32 : 16;
    int kind = format >= 0x10 ? FLOAT : format >= 0x08 ? SIGNED : UNSIGNED;
    return (struct channels){ bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind };
}

EXPORT struct channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct channels){ x, y, z, w, kind };
}

static int make_array(u64 *array, const struct channels *channels, struct extent extent, unsigned flags, int levels) {
    struct array_descriptor made = { extent.width, extent.height, extent.depth, 0, 0, flags };
    int status = enter();
    if (!status && (!array || !channels)) status = INVALID_VALUE;
    if (!status) status = format_of(channels, &made.format, &made.channels);
    if (status) return left(status);
    return left(levels ? cuMipmappedArrayCreate(array, &made, (unsigned)levels) : cuArray3DCreate_v2(array, &made));
}

EXPORT int cudaMallocArray(u64 *array, const struct channels *channels, size_t width, size_t height, unsigned flags) {
    return make_array(array, channels, (struct extent){ width, height, 0 }, flags, 0);
}

EXPORT int cudaMalloc3DArray(u64 *array, const struct channels *channels, struct extent extent, unsigned flags) {
    return make_array(array, channels, extent, flags, 0);
}

EXPORT int cudaMallocMipmappedArray(u64 *array, const struct channels *channels, struct extent extent, unsigned levels, unsigned flags) {
    return make_array(array, channels, extent, flags, levels ? (int)levels : 1);
}

EXPORT int cudaArrayGetInfo(struct channels *channels, struct extent *extent, unsigned *flags, u64 array) {
    struct array_descriptor found;
    int status = enter();
    if (!status) status = cuArray3DGetDescriptor_v2(&found, array);
    if (status) return left(status);
    if (channels) *channels = channels_of(found.format, found.channels);
    if (extent) *extent = (struct extent){ found.width, found.height, found.depth };
    if (flags) *flags = found.flags;
    return left(SUCCESS);
}

EXPORT int cudaFreeArray(u64 array) {
    int cuArrayDestroy(u64);
    int status = enter();
    return left(status || !array ? status : cuArrayDestroy(array));
}

EXPORT int cudaFreeMipmappedArray(u64 array) {
    int cuMipmappedArrayDestroy(u64);
    int status = enter();
    return left(status || !array ? status : cuMipmappedArrayDestroy(array));
}

EXPORT int cudaGetChannelDesc(struct channels *channels, u64 array) { return cudaArrayGetInfo(channels, NULL, NULL, array); }

// copies --------------------------------------------------------------------------------------------------------------

enum { MEMORY_HOST = 1, MEMORY_DEVICE, MEMORY_ARRAY, MEMORY_UNIFIED };      // CUmemorytype
struct side { size_t x, y, z, level; int type; const void *host; u64 device, array; void *reserved; size_t pitch, height; };
struct box_copy { struct side from, to; size_t width, height, depth; };     // CUDA_MEMCPY3D; x and width in bytes
struct copy_parameters {
    u64 from_array; struct position from_position; struct pitched from;
    u64 to_array; struct position to_position; struct pitched to;
    struct extent extent;
    int kind;
};

static struct side memory_side(const void *pointer, size_t pitch, size_t height, int type) {
    struct side made = { .type = type, .pitch = pitch, .height = height };
    if (type == MEMORY_HOST) made.host = pointer;
    else made.device = (uintptr_t)pointer;
    return made;
}

static struct side array_side(u64 array, size_t x, size_t y) {
    return (struct side){ .type = MEMORY_ARRAY, .array = array, .x = x, .y = y };
}

// The memory on one side of a copy: 0 for the source, 1 for the destination.
static int memory_type(int kind, int side) {
    if (kind == DEFAULT) return MEMORY_UNIFIED;
    if (side) return kind == DEVICE_TO_HOST || kind == HOST_TO_HOST ? MEMORY_HOST : MEMORY_DEVICE;
    return kind == HOST_TO_DEVICE || kind == HOST_TO_HOST ? MEMORY_HOST : MEMORY_DEVICE;
}

static int element_bytes(u64 array, size_t *bytes) {
    struct array_descriptor found;
    int status = cuArray3DGetDescriptor_v2(&found, array);
    if (status) return status;
    *bytes = (size_t)channels_of(found.format, found.channels).x / 8 * found.channels;
    return SUCCESS;
}

static int box_of(const struct copy_parameters *p, struct box_copy *made) {
    size_t from_bytes = 1, to_bytes = 1;
    int status = SUCCESS;
    if (!p) return INVALID_VALUE;
    if (p->kind < HOST_TO_HOST || p->kind > DEFAULT) return INVALID_COPY_DIRECTION;
    if (p->from_array) status = element_bytes(p->from_array, &from_bytes);
    if (!status && p->to_array) status = element_bytes(p->to_array, &to_bytes);
    if (status) return status;
    struct side from = p->from_array ? array_side(p->from_array, 0, 0)
        : memory_side(p->from.pointer, p->from.pitch, p->from.height, memory_type(p->kind, 0));
    struct side to = p->to_array ? array_side(p->to_array, 0, 0)
        : memory_side(p->to.pointer, p->to.pitch, p->to.height, memory_type(p->kind, 1));
    from.x = p->from_position.x * from_bytes; from.y = p->from_position.y; from.z = p->from_position.z;
    to.x = p->to_position.x * to_bytes; to.y = p->to_position.y; to.z = p->to_position.z;
    size_t element = p->from_array ? from_bytes : to_bytes;     // the extent counts elements if an array takes part
    *made = (struct box_copy){ from, to, p->extent.width * element, p->extent.height, p->extent.depth };
    return SUCCESS;
}

static int copy_box(const struct box_copy *box) {
    return box->width && box->height && box->depth ? cuMemcpy3D_v2(box) : SUCCESS;
}

static int copy_box_async(const struct box_copy *box, u64 stream) {
    return box->width && box->height && box->depth ? cuMemcpy3DAsync_v2(box, stream) : SUCCESS;
}

EXPORT int cudaMemcpy3D(const struct copy_parameters *p) {
    struct box_copy box;
    int status = enter();
    if (!status) status = box_of(p, &box);
    return left(status ? status : copy_box(&box));
}

EXPORT int cudaMemcpy3DAsync(const struct copy_parameters *p, u64 stream) {
    struct box_copy box;
    int status = enter();
    if (!status) status = box_of(p, &box);
    return left(status ? status : copy_box_async(&box, stream));
}

static int check_rectangle(const struct box_copy *box, int kind) {
    if (kind < HOST_TO_HOST || kind > DEFAULT) return INVALID_COPY_DIRECTION;
    int fits = (box->from.array || box->width <= box->from.pitch) && (box->to.array || box->width <= box->to.pitch);
    return fits ? SUCCESS : INVALID_PITCH;
}

// A copy of a rectangle, and its form on a stream.
#define RECTANGLE(name, parameters, from_side, to_side) \
    EXPORT int name parameters { \
        int status = enter(); \
        struct box_copy box = { from_side, to_side, width, height, 1 }; \
        if (!status) status = check_rectangle(&box, kind); \
        return left(status ? status : copy_box(&box)); \
    }
#define RECTANGLE_ASYNC(name, parameters, from_side, to_side) \
    EXPORT int name parameters { \
        int status = enter(); \
        struct box_copy box = { from_side, to_side, width, height, 1 }; \
        if (!status) status = check_rectangle(&box, kind); \
        return left(status ? status : copy_box_async(&box, stream)); \
    }
#define FROM_MEMORY memory_side(from, from_pitch, height, memory_type(kind, 0))
#define TO_MEMORY memory_side(to, to_pitch, height, memory_type(kind, 1))

RECTANGLE(cudaMemcpy2D, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind),
          FROM_MEMORY, TO_MEMORY)
RECTANGLE_ASYNC(cudaMemcpy2DAsync, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                size_t height, int kind, u64 stream), FROM_MEMORY, TO_MEMORY)
RECTANGLE(cudaMemcpy2DToArray, (u64 to, size_t x, size_t y, const void *from, size_t from_pitch, size_t width, size_t height, int kind),
          FROM_MEMORY, array_side(to, x, y))
RECTANGLE_ASYNC(cudaMemcpy2DToArrayAsync, (u64 to, size_t x, size_t y, const void *from, size_t from_pitch, size_t width,
                size_t height, int kind, u64 stream), FROM_MEMORY, array_side(to, x, y))
RECTANGLE(cudaMemcpy2DFromArray, (void *to, size_t to_pitch, u64 from, size_t x, size_t y, size_t width, size_t height, int kind),
          array_side(from, x, y), TO_MEMORY)
RECTANGLE_ASYNC(cudaMemcpy2DFromArrayAsync, (void *to, size_t to_pitch, u64 from, size_t x, size_t y, size_t width,
                size_t height, int kind, u64 stream), array_side(from, x, y), TO_MEMORY)
RECTANGLE(cudaMemcpy2DArrayToArray, (u64 to, size_t to_x, size_t to_y, u64 from, size_t x, size_t y, size_t width, size_t height, int kind),
          array_side(from, x, y), array_side(to, to_x, to_y))

// rows of bytes of an array, which follow each other ------------------------------------------------------------------

int cuMemcpyAtoA_v2(u64, size_t, u64, size_t, size_t);
int cuMemcpyAtoD_v2(u64, u64, size_t, size_t);
int cuMemcpyAtoHAsync_v2(void *, u64, size_t, size_t, u64);
int cuMemcpyDtoA_v2(u64, size_t, u64, size_t);
int cuMemcpyHtoA_v2(u64, size_t, const void *, size_t);
int cuMemcpyHtoAAsync_v2(u64, size_t, const void *, size_t, u64);
int cuMemcpyAtoH_v2(void *, u64, size_t, size_t);

static int row_offset(u64 array, size_t x, size_t y, int kind, size_t *offset) {
    struct array_descriptor found;
    int status = enter();
    if (!status && (kind < HOST_TO_HOST || kind > DEFAULT)) status = INVALID_COPY_DIRECTION;
    if (!status) status = cuArray3DGetDescriptor_v2(&found, array);
    if (!status) *offset = x + y * found.width * (size_t)channels_of(found.format, found.channels).x / 8 * found.channels;
    return status;
}

EXPORT int cudaMemcpyToArray(u64 to, size_t x, size_t y, const void *from, size_t size, int kind) {
    size_t offset;
    int status = row_offset(to, x, y, kind, &offset);
    return left(status || !size ? status : cuMemcpyHtoA_v2(to, offset, from, size));    // takes memory of the device, too
}

EXPORT int cudaMemcpyToArrayAsync(u64 to, size_t x, size_t y, const void *from, size_t size, int kind, u64 stream) {
    size_t offset;
    int status = row_offset(to, x, y, kind, &offset);
    return left(status || !size ? status : cuMemcpyHtoAAsync_v2(to, offset, from, size, stream));
}

EXPORT int cudaMemcpyFromArray(void *to, u64 from, size_t x, size_t y, size_t size, int kind) {
    size_t offset;
    int status = row_offset(from, x, y, kind, &offset);
    return left(status || !size ? status : cuMemcpyAtoH_v2(to, from, offset, size));
}

EXPORT int cudaMemcpyFromArrayAsync(void *to, u64 from, size_t x, size_t y, size_t size, int kind, u64 stream) {
    size_t offset;
    int status = row_offset(from, x, y, kind, &offset);
    return left(status || !size ? status : cuMemcpyAtoHAsync_v2(to, from, offset, size, stream));
}

EXPORT int cudaMemcpyArrayToArray(u64 to, size_t to_x, size_t to_y, u64 from, size_t x, size_t y, size_t size, int kind) {
    size_t to_offset, offset;
    int status = row_offset(to, to_x, to_y, kind, &to_offset);
    if (!status) status = row_offset(from, x, y, kind, &offset);
    return left(status || !size ? status : cuMemcpyAtoA_v2(to, to_offset, from, offset, size));
}

// copies between devices, of which there is one -----------------------------------------------------------------------

struct peer_parameters {
    u64 from_array; struct position from_position; struct pitched from; int from_device;
    u64 to_array; struct position to_position; struct pitched to; int to_device;
    struct extent extent;
};

static int peer_box(const struct peer_parameters *p, struct box_copy *box) {
    int status = enter();
    if (status || !p) return status ? status : INVALID_VALUE;
    if (p->from_device || p->to_device) return INVALID_DEVICE;
    struct copy_parameters same = {
        p->from_array, p->from_position, p->from, p->to_array, p->to_position, p->to, p->extent, DEVICE_TO_DEVICE
    };
    return box_of(&same, box);
}

EXPORT int cudaMemcpy3DPeer(const struct peer_parameters *p) {
    struct box_copy box;
    int status = peer_box(p, &box);
    return left(status ? status : copy_box(&box));
}

EXPORT int cudaMemcpy3DPeerAsync(const struct peer_parameters *p, u64 stream) {
    struct box_copy box;
    int status = peer_box(p, &box);
    return left(status ? status : copy_box_async(&box, stream));
}
