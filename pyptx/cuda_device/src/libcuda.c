// A libcuda.so.1 whose device is pyptx's simulator: the calls are forwarded to a server process.
//
// stubs.inc is generated from entry_points.txt by build_client.py: a function for each entry point that the server
// handles or that is refused, and the tables of procedures and errors.

#include "client.h"

// Read from the file, by which a library of other sources is recognized.
__attribute__((visibility("default"), used)) const char pyptx_sources[] = "pyptx-sources:" SOURCE_HASH;

#include "memory.c"
#include "connection.c"
#include "context.c"
#include "host_access.c"
#include "image.c"
#include "launch.c"
#include "lookup.c"
#include "occupancy.c"
#include "progress.c"
#include "sharing.c"
#include "stubs.inc"
