// A libcuda.so.1 whose device is pyptx's simulator: the calls are forwarded to a server process.
//
// stubs.inc is generated from entry_points.txt by build_client.py: a function for each entry point that the server
// handles or that is refused, and the tables of procedures and errors.

#include "client.h"

#include "connection.c"
#include "context.c"
#include "image.c"
#include "launch.c"
#include "lookup.c"
#include "stubs.inc"
