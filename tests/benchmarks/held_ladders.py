"""Published ladders on which the model is only reported: chosen by a rule, before any of them was modeled.

The rule, of 2026-11-24, after the ladders of `tile_ladders.py` and `sum_ladders.py` were opened:

1. Sources: public repositories, articles, reports and logs with times or rates of hand-written CUDA kernels in text, whose code or
   text says GPU, sizes, tiles, threads and launches, by authors of none of the development ladders, found by searching for kinds
   of kernels: products in f32, f16 and bf16, attention, softmax and norms, sums and scans, transposes, stencils, histograms,
   convolutions, sparse matrices, N-body, Black-Scholes, dequantization, elementwise kernels and products with a vector.
2. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several.
3. Left out, for reasons that do not depend on the model:
   - libraries, generated kernels (Triton, TVM, TileLang, CUTLASS), and numbers that are published in pictures only;
   - sources that leave the threads of a CTA, the tiles, the sizes or the GPU open, or that contradict themselves: rates that do
     not fit the operations they count, sizes of the text that are not those of the code;
   - kernels of development ladders measured on other GPUs, such as the followers of github.com/siboehm/SGEMM_CUDA;
   - GPUs whose target the table lacks, or whose clock and memory no data sheet says;
   - launches of less than 10 us of which the time of the host or of the launch is most, and rows of sizes that a kernel refuses;
   - times that include copies between host and device, or compilation.
"""

from __future__ import annotations

from collections.abc import Iterator

from rungs import Ladder


def ladders() -> Iterator[Ladder]:
    """Yield the held-out ladders."""
    yield from ()
