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
int cuGraphAddNode_v3(u64 *, u64, const u64 *, const void *, size_t, void *);
int cuGraphConditionalHandleCreate(u64 *, u64, u64, unsigned, unsigned);

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

// Nodes of any type: parameters of kernels and copies differ from the driver's, those of other types are the same.

enum { KERNEL_NODE = 0, COPY_NODE = 1, UNION_BYTES = 232 };

struct any_node { int type, reserved[3]; unsigned char own[UNION_BYTES]; u64 end; };
struct any_kernel_node { struct kernel_node node; u64 context; int function_type; };
struct any_copy_node { int flags, reserved; u64 context; struct copy_parameters copy; };

EXPORT int cudaGraphAddNode(u64 *node, u64 graph, const u64 *after, const void *edges, size_t count, struct any_node *given) {
    int status = enter();
    if (status || !given) return left(status ? status : INVALID_VALUE);
    struct any_node made = *given;
    if (given->type == KERNEL_NODE) {
        struct any_kernel_node kernel;
        struct driver_kernel_node own;
        memcpy(&kernel, given->own, sizeof kernel);
        status = driver_kernel_node(&kernel.node, &own);
        memset(made.own, 0, sizeof made.own);
        memcpy(made.own, &own, sizeof own);
    } else if (given->type == COPY_NODE) {
        struct any_copy_node copy;
        struct box_copy box;
        memcpy(&copy, given->own, sizeof copy);
        status = box_of(&copy.copy, &box);
        memcpy(made.own + offsetof(struct any_copy_node, copy), &box, sizeof box);
    }
    if (!status) status = cuGraphAddNode_v3(node, graph, after, edges, count, &made);
    if (!status && given->type != KERNEL_NODE && given->type != COPY_NODE) memcpy(given->own, made.own, sizeof made.own);
    return left(status);
}

EXPORT int cudaGraphConditionalHandleCreate_v2(u64 *handle, u64 graph, u64 context, unsigned value, unsigned flags) {
    int status = enter();
    return left(status ? status : cuGraphConditionalHandleCreate(handle, graph, context, value, flags));
}

EXPORT int cudaGraphConditionalHandleCreate(u64 *handle, u64 graph, unsigned value, unsigned flags) {
    return cudaGraphConditionalHandleCreate_v2(handle, graph, 0, value, flags);
}
