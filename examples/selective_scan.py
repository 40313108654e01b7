"""Selective scan of Mamba, forward and backward: h = exp(delta A) h + delta B x, y = C h + skip x, over the length of a sequence.

    python examples/selective_scan.py
    pyptx view examples/selective_scan.py:selective_scan -p B=1 L=64 D=64 LC=4

Source of the function: Gu and Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces". With g the gradient of the
state h of a step, carried back from the next one:

    g = C d_y + exp(delta' A) g'        d_B = sum of g delta x, d_C = sum of d_y h, over the channels
    d_x = delta B g + skip d_y          d_delta = sum of g (A exp(delta A) h_before + B x), over the states

Techniques and their sources:

- A thread has a channel with its 16 states in registers and goes through the steps; neighbors have neighboring channels, so that
  accesses are coalesced (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory").
- Chunks of 16 steps arrive in a ring of STAGES in shared memory (PTX ISA, "cp.async"; `lib.copy_async`): a CTA's channels, and the
  rows of B and C, which all of its threads read.
- The states are stored only every STEPS steps; the backward kernel computes those between again, in shared memory (Chen et al.,
  "Training Deep Nets with Sublinear Memory Cost").
- The sums over the channels of a warp of d_B and d_C, 32 values, take 31 shuffles: in each of five rounds a lane keeps half of the
  values, and adds those that it gets for them. Every lane ends with one sum.

Autograd of torch: see `with_gradients`. Arithmetic is in f32.

Cost of the forward kernel: 112 registers per thread, 30 KiB of shared memory: five CTAs per SM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import pyptx
from pyptx import Tile, kernel, lib, ptx, reg, smem
from pyptx.kernel import Kernel
from pyptx.reg import Reg
from pyptx.testing import compare
from pyptx.types import PtxType, f32, u32

STATES = 16  # of a channel
STEPS = 16  # of a chunk: states are kept where one begins
THREADS = 64
LOG2_E = math.log2(math.e)
SPACE = {"UNROLL": (1, 2, 4), "STAGES": (2, 3, 4)}  # tuning space


def forward(x, delta, a, b, c, skip, y, states, *, UNROLL=4, STAGES=3):
    """Compute y (B x L x D) and the states (B x LC x 16 x D, f32) at the begin of each chunk of 16 steps.

    x and delta are B x L x D, a (D x 16, f32) has the rates of the states, b and c are B x L x 16, skip is D (f32). D is a multiple of
    64, LC = L / 16, rounded up; steps beyond L have delta 0.
    """
    (_, L, D), chunks = x.shape, states.shape[1]
    check_sizes(L, D, a.shape[1], chunks, UNROLL)
    tid, batch = reg.from_(ptx.tid.x, u32), reg.from_(ptx.ctaid.y, u32)
    channel = ptx.ctaid.x * THREADS + tid
    rates, factor = scaled_rates(a, channel), skip[channel]
    stream = Stream([x, delta], [b, c], batch, chunks, STAGES, tid)
    h = [reg.scalar(f32, 0.0) for _ in range(STATES)]
    for chunk in ptx.range_(0, chunks):
        steps = stream.next(chunk)
        for n, state in enumerate(h):
            states.store(batch, chunk, n, channel, state)
        for start in ptx.range_(0, STEPS, UNROLL):
            for i in range(UNROLL):
                inside = chunk * STEPS + start + i < L if L % STEPS else None
                (x_t, delta_t), (b_t, c_t) = steps.numbers(start, i), steps.rows(start, i)
                scaled, total = delta_t * x_t, factor * x_t
                for n, state in enumerate(h):
                    ptx.inst.fma.rn.f32(state, decay(delta_t, rates[n]), state, scaled * b_t[n])
                    ptx.inst.fma.rn.f32(total, c_t[n], state, total)
                y.store(batch, chunk * STEPS + start, channel, total.to(y.dtype), offset=(0, i, 0), pred=inside)


def backward(x, delta, a, b, c, skip, states, d_y, d_x, d_delta, d_a, d_bc, d_skip, *, STAGES=2):
    """Compute the gradients of x and delta (B x L x D); those of a (B x 16 x D), of b and c (B x L x DW x 32), and of skip (B x D) in
    f32, in parts that are to be summed: over the batch, and of b (the first 16) and c over the third dimension, DW = D / 32."""
    (_, L, D), chunks = x.shape, states.shape[1]
    check_sizes(L, D, a.shape[1], chunks, 1)
    tid, batch = reg.from_(ptx.tid.x, u32), reg.from_(ptx.ctaid.y, u32)
    channel, lane = ptx.ctaid.x * THREADS + tid, tid & 31
    rates, factor = scaled_rates(a, channel), skip[channel]
    stream = Stream([x, delta, d_y], [b, c], batch, chunks, STAGES, tid, reverse=True)
    kept = smem.alloc(f32, (STEPS, STATES, THREADS))  # the states before each step of a chunk
    h, g, of_a = ([reg.scalar(f32, 0.0) for _ in range(STATES)] for _ in range(3))
    of_skip = reg.scalar(f32, 0.0)
    for turn in ptx.range_(0, chunks):
        chunk = reg.scalar(u32, chunks - 1) - turn
        before = [states[batch, chunk, n, channel] for n in range(STATES)]
        steps = stream.next(turn)
        for state, value in zip(h, before, strict=True):
            ptx.inst.mov.f32(state, value)
        for step in ptx.range_(0, STEPS):
            (x_t, delta_t, _), (b_t, _) = steps.numbers(step), steps.rows(step)
            scaled = delta_t * x_t
            for n, state in enumerate(h):
                kept.store(step, n, tid, state)
                ptx.inst.fma.rn.f32(state, decay(delta_t, rates[n]), state, scaled * b_t[n])
        for back in ptx.range_(0, STEPS):
            step = reg.scalar(u32, STEPS - 1) - back
            t = chunk * STEPS + step
            inside = t < L if L % STEPS else None
            (x_t, delta_t, d_t), (b_t, c_t) = steps.numbers(step), steps.rows(step)
            scaled, of_x, of_delta = delta_t * x_t, reg.scalar(f32, 0.0), reg.scalar(f32, 0.0)
            of_b, of_c = [], []
            for n, state in enumerate(h):
                of_c.append(d_t * state)
                ptx.inst.mov.f32(state, kept.load(step, n, tid))  # the state before the step
                ptx.inst.fma.rn.f32(g[n], c_t[n], d_t, g[n])
                of_b.append(g[n] * scaled)
                ptx.inst.fma.rn.f32(of_x, g[n], b_t[n], of_x)
                ptx.inst.mul.f32(g[n], g[n], decay(delta_t, rates[n]))
                change = g[n] * state
                ptx.inst.fma.rn.f32(of_a[n], change, delta_t, of_a[n])
                ptx.inst.fma.rn.f32(of_delta, change, rates[n], of_delta)
            ptx.inst.fma.rn.f32(of_skip, d_t, x_t, of_skip)
            of_delta = ptx.fma(of_x, x_t, of_delta * (1 / LOG2_E))
            d_delta.store(batch, t, channel, of_delta.to(d_delta.dtype), pred=inside)
            d_x.store(batch, t, channel, ptx.fma(of_x, delta_t, factor * d_t).to(d_x.dtype), pred=inside)
            d_bc.store(batch, t, channel >> 5, lane, over_lanes([*of_b, *of_c], lane), pred=inside)
    for n, value in enumerate(of_a):
        d_a.store(batch, n, channel, value)
    d_skip[batch, channel] = of_skip


class Stream:
    """A ring of chunks in shared memory, filled by cp.async: this CTA's channels of some arrays, and rows of 16 of others.

    Steps beyond the length are zero. With `reverse`, the last chunk comes first.
    """

    def __init__(
        self, numbers: list, rows: list, batch: Reg, chunks: int, stages: int, tid: Reg, reverse: bool = False
    ):
        self.arrays = [array.row(batch) for array in (*numbers, *rows)]
        self.chunks, self.stages, self.tid, self.reverse, self.count = chunks, stages, tid, reverse, len(numbers)
        self.memory = [
            smem.alloc(array.dtype, (stages, STEPS, THREADS if i < self.count else STATES), align=16)
            for i, array in enumerate(self.arrays)
        ]
        self.fills, self.reads = ptx.pipeline(stages, cursor=reg.scalar(u32, stages - 1)), ptx.pipeline(stages)
        for turn in range(stages - 1):
            self.fill(turn, reg.scalar(u32, turn))

    def fill(self, slot: int | Reg, turn: Reg) -> None:
        """Start the copies of a chunk, committed as one group even if there is none."""
        with ptx.if_(turn < self.chunks):
            first = ((reg.scalar(u32, self.chunks - 1) - turn) if self.reverse else turn) * STEPS
            for i, (array, memory) in enumerate(zip(self.arrays, self.memory, strict=True)):
                column = ptx.ctaid.x * THREADS if i < self.count else 0
                part = lib.tile(array, (first, column), memory.shape[1:])
                lib.copy_async(part, memory[slot], threads=THREADS, tid=self.tid, end=array.shape)
        ptx.cp.async_.commit_group()

    def next(self, turn: Reg) -> Chunk:
        """Wait for the next chunk, and start the copies of a later one; called by all threads."""
        ptx.cp.async_.wait_group(self.stages - 2)
        ptx.bar.sync(0)  # the chunk has arrived, and no thread still reads the one before
        self.fill(self.fills.advance()[0], reg.from_(turn, u32) + (self.stages - 1))
        return Chunk(self, self.reads.advance()[0])


@dataclass(frozen=True)
class Chunk:
    """Steps in shared memory: a slot of a `Stream`."""

    stream: Stream
    slot: Reg

    def numbers(self, step: Reg, i: int = 0) -> list[Reg]:
        """Return this thread's elements of step + i, in f32."""
        return [
            memory.load(self.slot, step, self.stream.tid, offset=(0, i, 0)).to(f32)
            for memory in self.stream.memory[: self.stream.count]
        ]

    def rows(self, step: Reg, i: int = 0) -> list[list[Reg]]:
        """Return the rows of 16 of step + i, in f32."""
        return [
            [
                value
                for n in range(0, STATES, 128 // memory.dtype.bits)
                for value in memory.load(self.slot, step, n, vec=128 // memory.dtype.bits, offset=(0, i, 0)).to(f32)
            ]
            for memory in self.stream.memory[self.stream.count :]
        ]


def scaled_rates(a: Any, channel: Reg) -> list[Reg]:
    """Load the rates of a channel, times log2(e)."""
    return [rate * LOG2_E for i in range(0, STATES, 4) for rate in a.load(channel, i, vec=4)]


def decay(delta: Reg, rate: Reg) -> Reg:
    """Return 2**(delta * rate); without denormals, which would take three instructions more."""
    result = delta * rate
    ptx.inst.ex2.approx.ftz.f32(result, result)
    return result


def over_lanes(values: list[Reg], lane: Reg) -> Reg:
    """Return in lane i the sum over all lanes of value i, of 32 values: 31 shuffles."""
    distance = 16
    while distance:
        upper, half, sums = (lane & distance) != 0, len(values) // 2, []
        for low, high in zip(values[:half], values[half:], strict=True):
            keeps, gives, gets = ptx.select(upper, high, low), ptx.select(upper, low, high), reg.scalar(f32)
            ptx.inst.shfl.sync.bfly.b32(gets, gives, distance, 31, -1)
            sums.append(keeps + gets)
        values, distance = sums, distance // 2
    return values[0]


def check_sizes(L: int, D: int, N: int, chunks: int, UNROLL: int) -> None:
    """Raise ValueError for sizes that the kernels do not support."""
    if D % THREADS or N != STATES or chunks != -(-L // STEPS) or STEPS % UNROLL:
        raise ValueError(
            f"selective_scan: D={D}, {N} states, L={L}, LC={chunks}, UNROLL={UNROLL}; expected D a multiple of {THREADS}, {STATES} "
            f"states, LC = ceil(L / {STEPS}), and UNROLL a divisor of {STEPS}"
        )


def kernels_of(dtype: PtxType) -> tuple[Kernel, Kernel]:
    """Return the forward and backward kernels for x, delta, b and c of `dtype` (f32, bf16 or f16)."""
    long, rows = Tile("B", "L", "D", dtype), Tile("B", "L", STATES, dtype, align=16)
    rates, skip, states = Tile("D", STATES, f32, align=16), Tile("D", f32), Tile("B", "LC", STATES, "D", f32)
    inputs = [long, long, rates, rows, rows, skip]

    def made(body: Any, name: str, in_specs: list, out_specs: list) -> Kernel:
        return kernel(
            body,
            name=name,
            arch="sm_80",
            in_specs=in_specs,
            out_specs=out_specs,
            grid=lambda B, D: (D // THREADS, B, 1),
            block=(THREADS, 1, 1),
            reqntid=(THREADS, 1, 1),
        )

    gradients = [
        long,
        long,
        Tile("B", STATES, "D", f32),
        Tile("B", "L", "DW", 32, f32),
        Tile("B", "D", f32),
    ]
    return (
        made(forward, "selective_scan", inputs, [long, states]),
        made(backward, "selective_scan_backward", [*inputs, states, long], gradients),
    )


selective_scan, selective_scan_backward = kernels_of(f32)


def with_gradients(dtype: PtxType = f32):
    """Return the scan for torch tensors, y = f(x, delta, a, b, c, skip), with support for torch.autograd and torch.compile."""
    first, second = kernels_of(dtype)

    def run(x, *others):
        return first(x, *others, LC=-(-x.shape[1] // STEPS))

    def gradients(x, delta, a, b, c, skip, states, d_y, _):
        found = second(x, delta, a, b, c, skip, states, d_y.contiguous(), DW=x.shape[2] // 32)
        d_x, d_delta, of_rates, of_rows, of_skip = found
        rows = of_rows.sum(2).to(b.dtype)
        return d_x, d_delta, of_rates.sum(0).T.contiguous(), rows[..., :STATES], rows[..., STATES:], of_skip.sum(0)

    scan = pyptx.differentiable_kernel(run, gradients, save_for_backward=lambda inputs, outputs: (*inputs, outputs[1]))
    return lambda *inputs: scan(*inputs)[0]


def reference(x, delta, a, b, c, skip) -> np.ndarray:
    """Return the scan in NumPy, in f64."""
    x, delta, a, b, c, skip = (array.astype(np.float64) for array in (x, delta, a, b, c, skip))
    h, y = np.zeros((x.shape[0], *a.shape)), np.zeros_like(x)
    for t in range(x.shape[1]):
        d = delta[:, t, :, None]
        h = np.exp(d * a) * h + d * x[:, t, :, None] * b[:, t, None]
        y[:, t] = (h * c[:, t, None]).sum(2) + skip * x[:, t]
    return y


def inputs(B: int, L: int, D: int, dtype: type = np.float32) -> list[np.ndarray]:
    """Return random inputs: delta and the rates as a trained model has them, 0.001 to 0.1, and -1 to -16."""
    random = np.random.default_rng(0)
    x, b, c = (random.standard_normal(shape) for shape in ((B, L, D), (B, L, STATES), (B, L, STATES)))
    delta = np.exp(random.uniform(math.log(0.001), math.log(0.1), (B, L, D)))
    a = -np.tile(np.arange(1, STATES + 1, dtype=np.float32), (D, 1)) * random.uniform(0.5, 1, (D, 1))
    x, delta, b, c = (array.astype(dtype) for array in (x, delta, b, c))
    return [x, delta, a.astype(np.float32), b, c, random.standard_normal(D).astype(np.float32)]


def main() -> None:
    arrays = inputs(2, 100, 64)
    chunks = -(-arrays[0].shape[1] // STEPS)
    compare(
        selective_scan, arrays, reference(*arrays), rtol=1e-4, atol=1e-4,
        call=lambda *given: selective_scan(*given, LC=chunks)[0],
    )  # fmt: skip


if __name__ == "__main__":
    main()
