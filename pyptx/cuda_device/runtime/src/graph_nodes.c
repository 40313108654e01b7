// Nodes of graphs of any type: parameters of kernels and copies differ from the driver's, those of other types are the same.

#include "runtime.h"

int cuGraphAddNode_v3(u64 *, u64, const u64 *, const void *, size_t, void *);
int cuGraphNodeSetParams_v2(u64, void *);
int cuGraphExecNodeSetParams(u64, u64, void *);
int cuGraphNodeGetParams(u64, void *);
int cuGraphConditionalHandleCreate(u64 *, u64, u64, unsigned, unsigned);

enum { KERNEL_NODE = 0, COPY_NODE = 1, UNION_BYTES = 232 };

struct any_node { int type, reserved[3]; unsigned char own[UNION_BYTES]; u64 end; };
struct any_kernel_node { struct kernel_node node; u64 context; int function_type; };
struct any_copy_node { int flags, reserved; u64 context; struct copy_parameters copy; };

static int driver_node(const struct any_node *given, struct any_node *made) {
    int status = enter();
    if (status || !given) return status ? status : INVALID_VALUE;
    *made = *given;
    if (given->type == KERNEL_NODE) {
        struct any_kernel_node kernel;
        struct driver_kernel_node own;
        memcpy(&kernel, given->own, sizeof kernel);
        status = driver_kernel_node(&kernel.node, &own);
        memset(made->own, 0, sizeof made->own);
        if (!status) memcpy(made->own, &own, sizeof own);
    } else if (given->type == COPY_NODE) {
        struct any_copy_node copy;
        struct box_copy box;
        memcpy(&copy, given->own, sizeof copy);
        status = box_of(&copy.copy, &box);
        if (!status) memcpy(made->own + offsetof(struct any_copy_node, copy), &box, sizeof box);
    }
    return status;
}

EXPORT int cudaGraphAddNode(u64 *node, u64 graph, const u64 *after, const void *edges, size_t count, struct any_node *given) {
    struct any_node made;
    int status = driver_node(given, &made);
    if (!status) status = cuGraphAddNode_v3(node, graph, after, edges, count, &made);
    if (!status && given->type != KERNEL_NODE && given->type != COPY_NODE) memcpy(given->own, made.own, sizeof made.own);
    return left(status);
}

EXPORT int cudaGraphNodeSetParams(u64 node, const struct any_node *given) {
    struct any_node made;
    int status = driver_node(given, &made);
    return left(status ? status : cuGraphNodeSetParams_v2(node, &made));
}

EXPORT int cudaGraphExecNodeSetParams(u64 exec, u64 node, const struct any_node *given) {
    struct any_node made;
    int status = driver_node(given, &made);
    return left(status ? status : cuGraphExecNodeSetParams(exec, node, &made));
}

EXPORT int cudaGraphNodeGetParams(u64 node, struct any_node *made) {
    struct any_node found;
    int status = enter();
    if (!status) status = made ? cuGraphNodeGetParams(node, &found) : INVALID_VALUE;
    if (status) return left(status);
    *made = found;
    if (found.type == KERNEL_NODE) {
        struct driver_kernel_node own;
        struct any_kernel_node kernel = { .context = 0 };
        memcpy(&own, found.own, sizeof own);
        kernel_node(&own, &kernel.node);
        memset(made->own, 0, sizeof made->own);
        memcpy(made->own, &kernel, sizeof kernel);
    } else if (found.type == COPY_NODE) {
        struct box_copy box;
        struct any_copy_node copy = { .flags = 0 };
        memcpy(&box, found.own + offsetof(struct any_copy_node, copy), sizeof box);
        status = copy_node(&box, &copy.copy);
        memset(made->own, 0, sizeof made->own);
        memcpy(made->own, &copy, sizeof copy);
    }
    return left(status);
}

EXPORT int cudaGraphConditionalHandleCreate_v2(u64 *handle, u64 graph, u64 context, unsigned value, unsigned flags) {
    int status = enter();
    return left(status ? status : cuGraphConditionalHandleCreate(handle, graph, context, value, flags));
}

EXPORT int cudaGraphConditionalHandleCreate(u64 *handle, u64 graph, unsigned value, unsigned flags) {
    return cudaGraphConditionalHandleCreate_v2(handle, graph, 0, value, flags);
}
