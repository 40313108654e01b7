"""Published times of products, a forward pass, attention, vectors, transposes, sums and charges: held out until 2026-11-29.

They were chosen by a rule, before any of them was modeled. `query_ladders.py` and `move_ladders.py` have some of them.

The rule is that of `held_ladders.py`; it dates from 2026-11-29, after the ladders of `training_ladders.py` were opened and before a source was looked for.

What that came to, with what had to be made more exact: a source is a repository, and its rows are counted over all of its tables; a
result that only we see to be wrong is a wrong one, too. Of the products in stages the two largest of three sizes, which are 24 rows
without two of attention; of small matrices the squares that take 10 us or more; of the forward pass all rows; of the RTX 5090 the
products in f32 of the two largest shapes and the largest gated activation, which leaves products by tensor cores, and attention by
tensor maps and CTAs that stay, which alone are more than fit; of attention on an H100 SXM the largest size, and the table of a query by
parts; of attention by length the forward passes of the three largest lengths; of the RTX A6000 the largest vectors, transposes and
sums, without three sums that read those of another warp without a barrier, and without products, which follow SGEMM_CUDA; of the
convolution the kernel with weights in global memory, as the times of the others include a copy.

Left out are also: on the RTX 5090 norms, softmax and copies, whose code was not at hand; transposes on an A100 and an RTX 2080 Ti that
exceed DRAM; products with a vector on a T4 whose shares of DRAM do not fit their times; kernels of training without a GPU, that
exceed DRAM, or on an RTX 3070 Laptop; kernels on an RTX 2000 Ada Laptop, an RTX 2050, an RTX 5060 Laptop and an RTX 5070 Ti Laptop whose
clock is not stated; products on an RTX 4060 Ti that follow SGEMM_CUDA, on an RTX 3050 with rounded rates and no method, and on an L4
whose code was not at hand; stencils on an RTX 3090 that Taichi generates; a study on an H100 SXM5 by CuTe without a method; attention of
which only shares of a library's speed are stated; transposes and products without a GPU; and changes of vLLM, SGLang, PyTorch and
llama.cpp whose tables were at hand in parts only. A relaxation on an A100 and an H100 PCIe turned out to be the steps of Jacobi of a development ladder, before it was opened.

Inferred: that the code at hand of the divided products (RTX 5090), of the query by parts and
of the script of attention by length does what earlier versions did that were measured: it is of later commits, and the script of an
earlier one, without the last kernel and length; the clearing of the divided tiles is not counted; grids and CTAs where they are
in the code only; that the RTX 3060 has the clock of its data sheet; and that the data, which are zeros here, do not matter. Doubtful
are: the T4 of the products in stages, whose clock sinks at the largest size (a library loses a third of its rate), and whose result by
wmma was checked on the RTX 4090 only; the RTX A5000, on whose host other GPUs were busy; rates of attention in the forward pass, which
have two digits; and the convolution of 3 x 3 numbers with an image of 1024, which takes 0.102 ms in one table and 0.122 ms in another.

They were opened on 2026-11-29 with version 15 of the model.

The kernels are written for this repository after the code or the descriptions (nothing is copied); ladder_data/hidden_*.json has the
times, with source, author, date and method. Attention by length and forces by tiles were compiled with fast math, for which these
kernels name the fast functions. Few sources state registers: 254 of attention by patches (214 here; shared memory admits one CTA of an SM
in both), of the divided products 128 and about 245 (128 and 247, two and one CTA in both), and 34 of forces of pairs (35).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import ml_dtypes
import numpy as np
from rungs import Ladder, Rung, data_of, source_ladder, zeros

BF16 = np.dtype(ml_dtypes.bfloat16)


def stages() -> Iterator[Ladder]:
    """Products of matrices in stages on two GPUs; ms."""
    data, file = data_of("hidden_stages"), "hidden_stages.ptx"
    for on, values in data["values"].items():
        rungs = []
        for entry, by_size in values.items():
            for name, ms in by_size.items():

                def args(
                    size: int = int(name), of: str = "float16" if entry == "stage_wmma" else "float32"
                ) -> Sequence[Any]:
                    square = (size, size)
                    return [*zeros(square, square, dtype=of)(), np.zeros(square, np.float32), size, size, size]

                side, block = (
                    (32, (32, 32)) if entry in ("stage_rows", "stage_columns", "stage_tiles") else (64, (16, 16))
                )
                grid, block = (int(name) // side,) * 2, (32, 16) if entry == "stage_wmma" else block
                rungs.append(Rung(f"{entry} {name}", on, ms / 1e3, file, entry, grid, block, args, repeated=True))
        yield source_ladder("products in stages", data, rungs)


def products() -> Ladder:
    """Products of small f32 matrices by elements and by tiles; ms."""
    data, rungs, file = data_of("hidden_products"), [], "hidden_products.ptx"
    for entry, by_size in data["values"].items():
        for name, ms in by_size.items():

            def args(size: int = int(name)) -> Sequence[Any]:
                square = (size, size)
                return [size, size, size, *zeros(square, square, square)()]

            side, named, on = 32 if entry == "product_32" else 16, f"{entry} {name}", data["gpu"]
            grid, block = (int(name) // side,) * 2, (side, side)
            rungs.append(Rung(named, on, ms / 1e3, file, entry, grid, block, args, isolated=True, repeated=True))
    return source_ladder("products of small matrices", data, rungs)


def forward() -> Ladder:
    """Kernels of a forward pass in f32; GB/s, and TFLOP/s of attention."""
    data, rungs, file = data_of("hidden_forward"), [], "hidden_forward.ptx"
    count, rows, width, heads, length, wide = 1 << 26, 32768, 4096, 32, 2048, 64

    def activated() -> Sequence[Any]:
        return [*zeros(count, count)(), count]

    def activated_fours() -> Sequence[Any]:
        return [*zeros(count, count)(), count // 4]

    def normed() -> Sequence[Any]:
        return [*zeros((rows, width), width, (rows, width))(), width, 1e-5]

    def normed_fours() -> Sequence[Any]:
        return [*zeros((rows, width), width, (rows, width))(), width // 4, 1e-5]

    def layer_normed() -> Sequence[Any]:
        return [*zeros((rows, width), width, width, (rows, width))(), width, 1e-5]

    def attended() -> Sequence[Any]:
        shape = (heads, length, wide)
        return [*zeros(shape, shape, shape, shape)(), length, wide**-0.5]

    elements, norms, products_of_scores = 8e-9 * count, 8e-9 * rows * width, 2e-12 * heads * length**2 * wide
    launches = {
        "silu_each": (activated, (count // 256,), 256, elements),
        "silu_fours": (activated_fours, (count // 1024,), 256, elements),
        "rms_tree": (normed, (rows,), 256, norms),
        "rms_shuffles": (normed_fours, (rows,), 256, norms),
        "layer_tree": (layer_normed, (rows,), 256, norms),
        "attend_each": (attended, (length // 128, heads), 128, products_of_scores),
        "attend_tiles": (attended, (length // 64, heads), 64, products_of_scores),
    }
    for entry, rate in data["values"].items():
        args, grid, threads, amount = launches[entry]
        rungs.append(Rung(entry, data["gpu"], amount / rate, file, entry, grid, (threads,), args, repeated=True))
    return source_ladder("kernels of a forward pass", data, rungs)


def steps() -> Ladder:
    """Products of f32 matrices in steps; ms."""
    data, rungs, file = data_of("hidden_ladder"), [], "hidden_ladder.ptx"
    for entry, by_shape in data["values"].items():
        for name, ms in by_shape.items():
            m, n, k = map(int, name.split("x"))
            extra, block = (), (256,)
            if entry == "ladder_tiles":
                grid, block = (n // 32, m // 32), (32, 32)
            elif entry in ("ladder_patches", "ladder_stages"):
                grid = (n // 128, m // 128)
            else:  # whole rounds of the CTAs that the SMs hold, and tiles that several CTAs divide
                tall, across = entry == "ladder_tall", n // 128
                tiles, resident = m // (256 if tall else 128) * across, 170 * (1 if tall else 2)
                whole, parts = tiles // resident * resident, 85 if n == 4096 else 10
                grid, extra = (whole + (tiles - whole) * parts,), (across, whole, parts)

            def args(m: int = m, n: int = n, k: int = k, extra: tuple[int, ...] = extra) -> Sequence[Any]:
                return [*zeros((m, k), (k, n), (m, n))(), m, n, k, *extra]

            named, on = f"{entry} {name}", data["gpu"]
            rungs.append(Rung(named, on, ms / 1e3, file, entry, grid, block, args, isolated=True, repeated=True))
    return source_ladder("products in steps", data, rungs)


def gates() -> Ladder:
    """A gated activation by elements and by vectors; ms."""
    data, rungs, count, file = data_of("hidden_gate"), [], 4096 * 14336, "hidden_ladder.ptx"
    for entry, ms in data["values"].items():
        of = BF16 if entry.endswith("bf16") else np.float32

        def args(of: Any = of) -> Sequence[Any]:
            return [*zeros(count, count, count, dtype=of)(), count]

        grid, on = (170 * 8 if "vectors" in entry else count // 256,), data["gpu"]
        rungs.append(Rung(entry, on, ms / 1e3, file, entry, grid, (256,), args, isolated=True, repeated=True))
    return source_ladder("a gated activation", data, rungs)


def charges() -> Ladder:
    """Forces between charges by a matrix of all pairs and its sums, and by tiles; us."""
    data, rungs, file = data_of("hidden_charges"), [], "hidden_charges.ptx"
    for entry, by_count in data["values"].items():
        for name, us in by_count.items():
            count, grid, block, shared = int(name), (int(name) // 256,), (256,), 0
            if entry == "charge_pairs":
                grid, block = (count // 16, count // 16), (16, 16)
            elif entry == "charge_sums":
                grid, shared = (count,), 16 * 256

            def args(entry: str = entry, count: int = count) -> Sequence[Any]:
                states, (matrix, sums) = zeros(*[count] * 7)(), zeros((count, count, 4), (count, 4))()
                if entry == "charge_sums":
                    return [matrix, sums, count]
                return [*states, matrix if entry == "charge_pairs" else sums, count]

            named, on = f"{entry} {name}", data["gpu"]
            rungs.append(Rung(named, on, us / 1e6, file, entry, grid, block, args, shared))
    return source_ladder("forces between charges", data, rungs)


def ladders() -> Iterator[Ladder]:
    """Yield these ladders."""
    yield from chain(stages(), [products(), forward(), steps(), gates(), charges()])
