// A libcudart.so.13 of pyptx, over the driver API.
//
// stubs.inc is generated from functions.txt by build_runtime.py: functions that are passed on as they are or refused,
// variants for per-thread default streams, and the names of errors.

#include "runtime.h"

#include "errors.c"
#include "devices.c"
#include "registration.c"
#include "launch.c"
#include "memory.c"
#include "arrays.c"
#include "textures.c"
#include "graphs.c"
#include "graph_nodes.c"
#include "streams.c"
#include "execution_contexts.c"
#include "stubs.inc"
