"""Published ladders on which the model is only reported: chosen by a rule, before any of them is modeled.

The rule, of 2026-11-29, after the ladders of `forward_ladders.py` were opened and before a source was looked for:

1. Sources: public repositories, articles, reports and logs with times or rates in text of hand-written CUDA kernels, by authors of
   none of the development ladders, found by searching for kinds of kernels: products in f32, f16, bf16 and int8, products with a
   vector, attention, norms, softmax, sums, scans, transposes, stencils, histograms, convolutions, sparse matrices, N-body,
   elementwise kernels and dequantization. Triton kernels count where their source is at hand.
2. A source counts when it has all of these, in itself and not by a guess of ours:
   - the product name of the GPU;
   - the code of the measured kernels, or a description that says tiles, threads, elements and vectors of a thread and shared memory;
   - sizes, types and launches;
   - the method: launches before the timed ones and how many are timed, or the duration that a profiler reports. A single launch
     that only a host clock times does not count;
   - agreement: times and rates fit each other, and no row exceeds the peak of the GPU, or its DRAM where the data exceeds L2.
3. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several. No ladder has fewer
   than three rungs. Of a source with more than 24 rows, those of the largest sizes, 24 at most, whole sizes, types
   or operations at a time.
4. Left out, for reasons that do not depend on the model:
   - libraries, generated kernels (TVM, TileLang, CUTLASS), and numbers that are published in pictures only;
   - kernels of development ladders measured on other GPUs, such as the followers of github.com/siboehm/SGEMM_CUDA;
   - GPUs whose target the table lacks, or whose clock and memory no data sheet says; laptop GPUs unless the source states the clock;
   - launches of less than 10 us, rows of sizes that a kernel refuses or does not cover, wrong results, and times that include
     copies between host and device, or compilation;
   - kernels whose time depends on data that the source does not say.
5. A source that was chosen stays, whatever its times; kernels are compared with it only by what it says of its own (registers,
   shared memory, CTAs of an SM, machine code).
"""

from __future__ import annotations

from collections.abc import Iterator

from rungs import Ladder


def ladders() -> Iterator[Ladder]:
    """Yield the held-out ladders."""
    yield from ()
