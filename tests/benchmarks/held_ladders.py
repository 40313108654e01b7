"""Published ladders on which the model is only reported: chosen by a rule, before any of them was modeled.

The rule, of 2026-11-24, after the ladders of `vector_ladders.py` were opened:

1. Sources: public repositories, reports and logs with times or rates of hand-written CUDA kernels in text, whose code or text says
   GPU, sizes, tiles, threads and launches, by authors of none of the development ladders, found by searching for kinds of
   kernels: attention, scans, sums, products in f32, f16, bf16 and int8, transposes, softmax and norms, stencils, sparse matrices,
   sorts, histograms, N-body and convolutions.
2. Of a source all rows of own kernels, a ladder for each GPU, or for each operation where one table has several.
3. Left out, for reasons that do not depend on the model:
   - libraries, and numbers that are published in pictures only;
   - sources that leave the threads of a CTA or the tiles open;
   - kernels of development ladders measured on other GPUs.

The kernels are written for this repository after the descriptions (nothing is copied); ladder_data/fresh_*.json has the times,
with source, author, date and method.
"""

from __future__ import annotations

from collections.abc import Iterator

from rungs import Ladder


def ladders() -> Iterator[Ladder]:
    """Yield the held-out ladders."""
    yield from ()
