"""Kernels that show how arguments arrive."""

import triton
import triton.language as tl


@triton.jit
def twice_plus_one(x):
    return x * 2 + 1


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, twice_plus_one(x) + y, mask=inside)


@triton.jit
def scalars(out_ptr, a, b: tl.float16, c: tl.bfloat16, d: tl.float64, e, flag, wide, nothing):
    value = a + b.to(tl.float64) + c.to(tl.float64) + d + e + wide
    if flag:
        value += 1000
    if nothing is None:
        value += 10000
    tl.store(out_ptr, value.to(tl.float64))


@triton.jit
def tuples(out_ptr, pairs, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    (x_ptr, scale), bias = pairs
    tl.store(out_ptr + at, tl.load(x_ptr + at) * scale + bias)


@triton.jit
def copy_by_descriptor(source, target, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row, column]) + 1)


@triton.jit
def copy_by_device_descriptor(x_ptr, y_ptr, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [M, N])
    target = tl.make_tensor_descriptor(y_ptr, [rows, columns], [columns, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row, column]) + 1)


@triton.jit
def prints_and_asserts(x_ptr, limit, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("x is", x)
    tl.device_assert(x < limit, "x is too large")


@triton.jit
def racy(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + (at + 1) % BLOCK) + 1)


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def doubled_with_heuristics(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(x_ptr + at, tl.load(x_ptr + at) * 2)
    else:
        tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 1024}, num_warps=4)],
    key=["n"],
    restore_value=["x_ptr"],
)
@triton.jit
def doubled_with_autotuning(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@triton.jit
def all_but_the_first_write(x_ptr):
    if tl.program_id(0) > 0:
        tl.store(x_ptr + tl.program_id(0), 1)
