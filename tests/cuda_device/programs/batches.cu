// Copies in batches, advice about managed memory, and queries of arrays, textures and pools.
#include "check.h"

#include <cstdint>
#include <cstring>

static const int N = 1000;
static cudaStream_t stream;

static void copies() {
    float *a, *b, *host, back[N];
    CHECK(cudaMalloc(&a, sizeof back));
    CHECK(cudaMalloc(&b, sizeof back));
    CHECK(cudaMallocHost(&host, sizeof back));
    for (int i = 0; i < N; i++) host[i] = i;
    void *const to[] = { a, b };
    const void *const from[] = { host, host };
    size_t sizes[] = { sizeof back, sizeof back / 2 }, first = 0, second = 1;
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[499] == 499 && back[500] == 0);
    FAILS(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &second, 1, stream), cudaErrorInvalidValue);
    FAILS(cudaMemcpyBatchAsync(to, from, sizes, 0, &attributes, &first, 1, stream), cudaErrorInvalidValue);
    FAILS(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, nullptr), cudaErrorInvalidValue);

    cudaMemcpy3DBatchOp box = {};      // 2 layers of 10 rows of 40 bytes, into rows of 50
    box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
    box.src.op.ptr = { host, 40, 10, { cudaMemLocationTypeHost, 0 } };
    box.dst.op.ptr = { b, 50, 10, { cudaMemLocationTypeDevice, 0 } };
    box.extent = make_cudaExtent(40, 10, 2);
    box.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    CHECK(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
    CHECK(cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(!memcmp((char *)back + 50 * 13, (char *)host + 40 * 13, 40));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFreeHost(host));
}

static void advice() {
    const size_t bytes = 1 << 16;
    const cudaMemLocation device = { cudaMemLocationTypeDevice, 0 }, host = { cudaMemLocationTypeHost, 0 };
    char *managed;
    int value, users[2];
    CHECK(cudaMallocManaged(&managed, bytes));
    CHECK(cudaMemAdvise(managed, bytes, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemAdvise(managed, bytes / 2, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemAdvise(managed, bytes, cudaMemAdviseSetAccessedBy, device));
    CHECK(cudaMemPrefetchAsync(managed, bytes, host, 0, stream));
    CHECK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, managed, bytes));
    EXPECT(value == 1);
    CHECK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, managed, bytes / 2));
    EXPECT(value == 0);
    CHECK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, managed, bytes));
    EXPECT(value == cudaInvalidDeviceId);
    CHECK(cudaMemRangeGetAttribute(users, sizeof users, cudaMemRangeAttributeAccessedBy, managed, bytes));
    EXPECT(users[0] == 0 && users[1] == cudaInvalidDeviceId);
    CHECK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeLastPrefetchLocation, managed, bytes));
    EXPECT(value == cudaCpuDeviceId);
    void *linear;
    CHECK(cudaMalloc(&linear, bytes));
    FAILS(cudaMemPrefetchAsync(linear, bytes, device, 0, stream), cudaErrorInvalidValue);
    FAILS(cudaMemAdvise(linear, bytes, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue);
    CHECK(cudaFree(linear));
    CHECK(cudaFree(managed));
}

static void queries() {
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    float values[16], back[4];
    for (int i = 0; i < 16; i++) values[i] = i;
    CHECK(cudaMallocArray(&array, &channels, 4, 4));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values, 16, 16, 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(back, 8, array, 8, 1, 8, 2, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 6 && back[3] == 11);
    cudaResourceDesc resource = {}, found;
    cudaTextureDesc description = {}, read;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    description.addressMode[0] = cudaAddressModeClamp;
    description.borderColor[2] = 3;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    CHECK(cudaGetTextureObjectResourceDesc(&found, texture));
    EXPECT(found.resType == cudaResourceTypeArray && found.res.array.array == array);
    CHECK(cudaGetTextureObjectTextureDesc(&read, texture));
    EXPECT(read.addressMode[0] == cudaAddressModeClamp && read.borderColor[2] == 3);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));

    cudaMemPool_t pool;
    cudaMemPoolProps properties = {};
    uint64_t threshold = ~uint64_t(0), bytes;
    void *memory;
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = { cudaMemLocationTypeDevice, 0 };
    CHECK(cudaMemPoolCreate(&pool, &properties));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMallocFromPoolAsync(&memory, 4096, pool, stream));
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
    EXPECT(bytes >= 4096);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
    EXPECT(bytes == 0);
    CHECK(cudaMemPoolDestroy(pool));
}

int main() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    copies();
    advice();
    queries();
    CHECK(cudaStreamDestroy(stream));
    puts("batches, advice and queries");
}
