// Rows of a tensor copy, for tensor_map.c and tensor_copy_rows.c.
#ifndef PYPTX_TENSOR_ROWS_H
#define PYPTX_TENSOR_ROWS_H
#include "access.h"
#include "tensor_map.h"

enum { TP_STOP = 255 };                                                 // returned by a visit: stop without a problem
typedef u32 (*Visit)(void *job, u32 row, const i64 *at);                // a problem, or 0
u32 tensor_rows(const TensorMap *m, const TensorCopy *c, const Geometry *g, Visit visit, void *job, u64 *about);
#endif
