// Nodes of graphs whose parameters differ from the driver's: kernels, copies, memsets.

#include "runtime.h"

int cuGraphAddKernelNode_v2(u64 *, u64, const u64 *, size_t, const void *);
int cuGraphKernelNodeSetParams_v2(u64, const void *);
int cuGraphExecKernelNodeSetParams_v2(u64, u64, const void *);
int cuGraphAddMemcpyNode(u64 *, u64, const u64 *, size_t, const void *, u64);
int cuGraphMemcpyNodeSetParams(u64, const void *);
int cuGraphExecMemcpyNodeSetParams(u64, u64, const void *, u64);
int cuGraphAddMemsetNode(u64 *, u64, const u64 *, size_t, const void *, u64);
int cuGraphExecMemsetNodeSetParams(u64, u64, const void *, u64);
int cuGraphInstantiateWithFlags(u64 *, u64, u64);
int cuGraphKernelNodeGetParams_v2(u64, void *);
int cuGraphMemcpyNodeGetParams(u64, void *);

struct kernel_node { const void *host; struct dim3 grid, block; unsigned shared_bytes; void **params, **extra; };
struct driver_kernel_node { u64 function; struct dim3 grid, block; unsigned shared_bytes; void **params, **extra; u64 kernel, context; };

static int driver_kernel_node(const struct kernel_node *given, struct driver_kernel_node *made) {
    int status = enter();
    if (!status && !given) status = INVALID_VALUE;
    if (!status) status = check_configuration(given->grid, given->block);
    if (status) return status;
    *made = (struct driver_kernel_node){ 0, given->grid, given->block, given->shared_bytes, given->params, given->extra, 0, 0 };
    return function_of(given->host, &made->function);
}

EXPORT int cudaGraphAddKernelNode(u64 *node, u64 graph, const u64 *after, size_t count, const struct kernel_node *given) {
    struct driver_kernel_node made;
    int status = driver_kernel_node(given, &made);
    return left(status ? status : cuGraphAddKernelNode_v2(node, graph, after, count, &made));
}

EXPORT int cudaGraphKernelNodeSetParams(u64 node, const struct kernel_node *given) {
    struct driver_kernel_node made;
    int status = driver_kernel_node(given, &made);
    return left(status ? status : cuGraphKernelNodeSetParams_v2(node, &made));
}

EXPORT int cudaGraphExecKernelNodeSetParams(u64 exec, u64 node, const struct kernel_node *given) {
    struct driver_kernel_node made;
    int status = driver_kernel_node(given, &made);
    return left(status ? status : cuGraphExecKernelNodeSetParams_v2(exec, node, &made));
}

static int context_of_thread(u64 *context) {
    int status = enter();
    return status ? status : cuCtxGetCurrent(context);
}

EXPORT int cudaGraphAddMemcpyNode(u64 *node, u64 graph, const u64 *after, size_t count, const struct copy_parameters *given) {
    struct box_copy box;
    u64 context;
    int status = context_of_thread(&context);
    if (!status) status = box_of(given, &box);
    return left(status ? status : cuGraphAddMemcpyNode(node, graph, after, count, &box, context));
}

EXPORT int cudaGraphMemcpyNodeSetParams(u64 node, const struct copy_parameters *given) {
    struct box_copy box;
    int status = enter();
    if (!status) status = box_of(given, &box);
    return left(status ? status : cuGraphMemcpyNodeSetParams(node, &box));
}

EXPORT int cudaGraphExecMemcpyNodeSetParams(u64 exec, u64 node, const struct copy_parameters *given) {
    struct box_copy box;
    u64 context;
    int status = context_of_thread(&context);
    if (!status) status = box_of(given, &box);
    return left(status ? status : cuGraphExecMemcpyNodeSetParams(exec, node, &box, context));
}

static struct box_copy line(void *to, const void *from, size_t size, int kind) {
    return (struct box_copy){ memory_side(from, size, 1, memory_type(kind, 0)), memory_side(to, size, 1, memory_type(kind, 1)), size, 1, 1 };
}

EXPORT int cudaGraphAddMemcpyNode1D(u64 *node, u64 graph, const u64 *after, size_t count, void *to, const void *from, size_t size, int kind) {
    u64 context;
    int status = context_of_thread(&context);
    struct box_copy box = line(to, from, size, kind);
    return left(status ? status : cuGraphAddMemcpyNode(node, graph, after, count, &box, context));
}

EXPORT int cudaGraphMemcpyNodeSetParams1D(u64 node, void *to, const void *from, size_t size, int kind) {
    int status = enter();
    struct box_copy box = line(to, from, size, kind);
    return left(status ? status : cuGraphMemcpyNodeSetParams(node, &box));
}

EXPORT int cudaGraphExecMemcpyNodeSetParams1D(u64 exec, u64 node, void *to, const void *from, size_t size, int kind) {
    u64 context;
    int status = context_of_thread(&context);
    struct box_copy box = line(to, from, size, kind);
    return left(status ? status : cuGraphExecMemcpyNodeSetParams(exec, node, &box, context));
}

EXPORT int cudaGraphAddMemsetNode(u64 *node, u64 graph, const u64 *after, size_t count, const void *given) {
    u64 context;
    int status = context_of_thread(&context);
    return left(status ? status : cuGraphAddMemsetNode(node, graph, after, count, given, context));
}

EXPORT int cudaGraphExecMemsetNodeSetParams(u64 exec, u64 node, const void *given) {
    u64 context;
    int status = context_of_thread(&context);
    return left(status ? status : cuGraphExecMemsetNodeSetParams(exec, node, given, context));
}

EXPORT int cudaGraphInstantiate(u64 *exec, u64 graph, u64 flags) {
    int status = enter();
    return left(status ? status : cuGraphInstantiateWithFlags(exec, graph, flags));
}

// copies from and to variables ----------------------------------------------------------------------------------------

// A copy between a variable and memory: the address of the variable is where the copy's other side would be.
#define OF_VARIABLE(name, before, given, after, is_to) \
    EXPORT int name before { \
        u64 variable, context; \
        int status = context_of_thread(&context); \
        if (!status && (kind == HOST_TO_HOST || kind == (is_to ? DEVICE_TO_HOST : HOST_TO_DEVICE) || kind < 0 || kind > DEFAULT)) \
            status = INVALID_COPY_DIRECTION; \
        if (!status) status = part_of_variable(symbol, offset, size, &variable); \
        if (status) return left(status); \
        void *at = (void *)(uintptr_t)variable; \
        struct box_copy box = is_to ? line(at, memory, size, kind) : line((void *)memory, at, size, kind); \
        (void)context; \
        return left(given after); \
    }
#define TO const void *symbol, const void *memory, size_t size, size_t offset, int kind
#define FROM void *memory, const void *symbol, size_t size, size_t offset, int kind

OF_VARIABLE(cudaGraphAddMemcpyNodeToSymbol, (u64 *node, u64 graph, const u64 *nodes, size_t count, TO),
            cuGraphAddMemcpyNode, (node, graph, nodes, count, &box, context), 1)
OF_VARIABLE(cudaGraphAddMemcpyNodeFromSymbol, (u64 *node, u64 graph, const u64 *nodes, size_t count, FROM),
            cuGraphAddMemcpyNode, (node, graph, nodes, count, &box, context), 0)
OF_VARIABLE(cudaGraphMemcpyNodeSetParamsToSymbol, (u64 node, TO), cuGraphMemcpyNodeSetParams, (node, &box), 1)
OF_VARIABLE(cudaGraphMemcpyNodeSetParamsFromSymbol, (u64 node, FROM), cuGraphMemcpyNodeSetParams, (node, &box), 0)
OF_VARIABLE(cudaGraphExecMemcpyNodeSetParamsToSymbol, (u64 exec, u64 node, TO),
            cuGraphExecMemcpyNodeSetParams, (exec, node, &box, context), 1)
OF_VARIABLE(cudaGraphExecMemcpyNodeSetParamsFromSymbol, (u64 exec, u64 node, FROM),
            cuGraphExecMemcpyNodeSetParams, (exec, node, &box, context), 0)

// queries -------------------------------------------------------------------------------------------------------------

static void kernel_node(const struct driver_kernel_node *found, struct kernel_node *made) {
    *made = (struct kernel_node){
        host_of(found->function), found->grid, found->block, found->shared_bytes, found->params, found->extra
    };
}

EXPORT int cudaGraphKernelNodeGetParams(u64 node, struct kernel_node *made) {
    struct driver_kernel_node found;
    int status = enter();
    if (!status) status = made ? cuGraphKernelNodeGetParams_v2(node, &found) : INVALID_VALUE;
    if (!status) kernel_node(&found, made);
    return left(status);
}

// Return one side of a copy as the runtime has it, and its pointer or array.
static struct pitched pitched_side(const struct side *s, u64 *array, struct position *at, size_t element) {
    *array = s->type == MEMORY_ARRAY ? s->array : 0;
    *at = (struct position){ s->x / element, s->y, s->z };
    if (*array) return (struct pitched){ 0 };
    char *pointer = s->type == MEMORY_HOST ? (char *)(uintptr_t)s->host : (char *)(uintptr_t)s->device;
    return (struct pitched){ pointer, s->pitch, s->pitch, s->height };
}

static int copy_node(const struct box_copy *box, struct copy_parameters *made) {
    size_t from_bytes = 1, to_bytes = 1;
    int status = SUCCESS;
    if (box->from.type == MEMORY_ARRAY) status = element_bytes(box->from.array, &from_bytes);
    if (!status && box->to.type == MEMORY_ARRAY) status = element_bytes(box->to.array, &to_bytes);
    if (status) return status;
    memset(made, 0, sizeof *made);
    made->from = pitched_side(&box->from, &made->from_array, &made->from_position, from_bytes);
    made->to = pitched_side(&box->to, &made->to_array, &made->to_position, to_bytes);
    size_t element = made->from_array ? from_bytes : to_bytes;
    made->extent = (struct extent){ box->width / element, box->height, box->depth };
    int from_host = box->from.type == MEMORY_HOST, to_host = box->to.type == MEMORY_HOST;
    int unified = box->from.type == MEMORY_UNIFIED || box->to.type == MEMORY_UNIFIED;
    made->kind = unified ? DEFAULT : from_host ? (to_host ? HOST_TO_HOST : HOST_TO_DEVICE) : to_host ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;
    return SUCCESS;
}

EXPORT int cudaGraphMemcpyNodeGetParams(u64 node, struct copy_parameters *made) {
    struct box_copy box;
    int status = enter();
    if (!status) status = made ? cuGraphMemcpyNodeGetParams(node, &box) : INVALID_VALUE;
    return left(status ? status : copy_node(&box, made));
}
