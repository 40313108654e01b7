#include <tables/squares.inc>
__device__ int lookup(int i) { return SQUARES[i % 8]; }
