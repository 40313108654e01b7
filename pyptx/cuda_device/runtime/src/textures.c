// Texture and surface objects.

#include "runtime.h"

int cuTexObjectCreate(u64 *, const void *, const void *, const void *);
int cuTexObjectGetResourceDesc(void *, u64);
int cuTexObjectGetTextureDesc(void *, u64);
int cuSurfObjectCreate(u64 *, const void *);
int cuSurfObjectGetResourceDesc(void *, u64);
int cuDeviceGetTexture1DLinearMaxWidth(size_t *, int, unsigned, int);

enum { OF_ARRAY, OF_MIPMAPPED, OF_LINEAR, OF_PITCHED };      // cudaResourceType, CUresourcetype
struct resource {
    int type;
    union {
        u64 array;
        struct { u64 pointer; struct channels channels; size_t width, height, pitch; } memory;      // width: bytes if linear
    };
};
struct driver_resource {
    int type;
    union {
        u64 array;
        struct { u64 pointer; int format; unsigned channels; size_t width, height, pitch; } memory;
        int reserved[32];
    };
    unsigned flags;
};
struct texture {
    int address[3], filter, read_mode, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int mipmap_filter;
    float bias, least_level, most_level;
    int no_trilinear, seamless;
};
struct driver_texture {
    int address[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float bias, least_level, most_level, border[4];
    int reserved[12];
};
enum { READ_AS_INTEGER = 1, NORMALIZED_COORDINATES = 2, SRGB = 0x10, NO_TRILINEAR = 0x20, SEAMLESS = 0x40 };

static int driver_resource(const struct resource *given, struct driver_resource *made) {
    *made = (struct driver_resource){ .type = given->type };
    if (given->type == OF_ARRAY || given->type == OF_MIPMAPPED) {
        made->array = given->array;
        return SUCCESS;
    }
    made->memory.pointer = given->memory.pointer;
    made->memory.width = given->memory.width;
    if (given->type == OF_PITCHED) {
        made->memory.height = given->memory.height;
        made->memory.pitch = given->memory.pitch;
    }
    return format_of(&given->memory.channels, &made->memory.format, &made->memory.channels);
}

EXPORT int cudaCreateTextureObject(u64 *texture, const struct resource *resource, const struct texture *t, const void *view) {
    struct driver_resource r;
    int status = enter();
    if (!status && (!texture || !resource || !t)) status = INVALID_VALUE;
    if (!status) status = driver_resource(resource, &r);
    if (status) return left(status);
    struct driver_texture made = {
        .address = { t->address[0], t->address[1], t->address[2] }, .filter = t->filter, .anisotropy = t->anisotropy,
        .mipmap_filter = t->mipmap_filter, .bias = t->bias, .least_level = t->least_level, .most_level = t->most_level,
        .border = { t->border[0], t->border[1], t->border[2], t->border[3] },
        .flags = (t->read_mode ? 0 : READ_AS_INTEGER) | (t->normalized ? NORMALIZED_COORDINATES : 0) |
            (t->srgb ? SRGB : 0) | (t->no_trilinear ? NO_TRILINEAR : 0) | (t->seamless ? SEAMLESS : 0),
    };
    return left(cuTexObjectCreate(texture, &r, &made, view));
}

EXPORT int cudaCreateSurfaceObject(u64 *surface, const struct resource *resource) {
    struct driver_resource r;
    int status = enter();
    if (!status && (!surface || !resource)) status = INVALID_VALUE;
    if (!status) status = driver_resource(resource, &r);
    return left(status ? status : cuSurfObjectCreate(surface, &r));
}

// queries -------------------------------------------------------------------------------------------------------------

static int resource_of(struct resource *made, u64 object, int (*query)(void *, u64)) {
    struct driver_resource found;
    int status = enter();
    if (!status) status = made ? query(&found, object) : INVALID_VALUE;
    if (status) return status;
    memset(made, 0, sizeof *made);
    made->type = found.type;
    if (found.type == OF_ARRAY || found.type == OF_MIPMAPPED) {
        made->array = found.array;
        return SUCCESS;
    }
    made->memory.pointer = found.memory.pointer;
    made->memory.channels = channels_of(found.memory.format, found.memory.channels);
    made->memory.width = found.memory.width;
    if (found.type == OF_PITCHED) {
        made->memory.height = found.memory.height;
        made->memory.pitch = found.memory.pitch;
    }
    return SUCCESS;
}

EXPORT int cudaGetTextureObjectResourceDesc(struct resource *made, u64 texture) {
    return left(resource_of(made, texture, cuTexObjectGetResourceDesc));
}

EXPORT int cudaGetSurfaceObjectResourceDesc(struct resource *made, u64 surface) {
    return left(resource_of(made, surface, cuSurfObjectGetResourceDesc));
}

EXPORT int cudaGetTextureObjectTextureDesc(struct texture *made, u64 texture) {
    struct driver_texture t;
    int status = enter();
    if (!status) status = made ? cuTexObjectGetTextureDesc(&t, texture) : INVALID_VALUE;
    if (status) return left(status);
    *made = (struct texture){
        .address = { t.address[0], t.address[1], t.address[2] }, .filter = t.filter,
        .read_mode = !(t.flags & READ_AS_INTEGER), .srgb = !!(t.flags & SRGB),
        .border = { t.border[0], t.border[1], t.border[2], t.border[3] }, .normalized = !!(t.flags & NORMALIZED_COORDINATES),
        .anisotropy = t.anisotropy, .mipmap_filter = t.mipmap_filter, .bias = t.bias, .least_level = t.least_level,
        .most_level = t.most_level, .no_trilinear = !!(t.flags & NO_TRILINEAR), .seamless = !!(t.flags & SEAMLESS),
    };
    return left(SUCCESS);
}

EXPORT int cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct channels *channels, int number) {
    int format;
    unsigned count;
    int status = enter();
    if (!status) status = width && channels ? format_of(channels, &format, &count) : INVALID_VALUE;
    return left(status ? status : cuDeviceGetTexture1DLinearMaxWidth(width, format, count, number));
}
