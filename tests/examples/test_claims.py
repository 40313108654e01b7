"""Resources of the examples: registers, CTAs per SM, machine instructions; all values of their tuning spaces work."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from pyptx.analysis.occupancy import occupancy

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = {"M": 4096, "N": 8192}
GEMM = {"M": 4096, "N": 4096, "K": 4096}
HEADS = {"B": 1, "H": 16, "S": 4096, "T": 4096, "D": 128}
BACK = HEADS | {"SP": 4096}
PAGED = {"B": 16, "H": 32, "HK": 8, "D": 128, "PAGES": 1024, "PAGE": 64, "T": 64, "SPLITS": 2}
SCAN = {"B": 8, "L": 2048, "D": 4096, "LC": 128}
CONV = {"N": 32, "H": 56, "W": 56, "C": 128, "R": 3, "S": 3, "F": 256, "P": 56, "Q": 56, "PAD": 1}
# Example, kernel, sizes, maximum registers, CTAs per SM, required instructions with their minimum counts.
COSTS = [
    ("vector_add", "vector_add", {"N": 1 << 24}, 32, 8, {"LDG": 8, "STG": 4}),
    ("reduce_sum", "reduce_sum", {"N": 1 << 24, "CTAS": 264}, 32, 8, {"LDG": 4, "SHFL": 5}),
    ("transpose", "transpose", {"M": 4096, "N": 4096}, 32, 16, {"LDG": 4, "STS": 4, "LDS": 16, "STG": 4}),
    ("softmax", "softmax", ROWS, 48, 5, {"LDG": 8, "MUFU": 33, "STG": 8}),
    ("rms_norm", "rms_norm", ROWS, 64, 4, {"LDG": 16, "FFMA": 32, "STG": 8}),
    ("rms_norm_fp8", "rms_norm_fp8", ROWS, 48, 5, {"LDG": 8, "F2FP": 16, "STG": 4}),
    (
        "rms_norm_backward",
        "rms_norm_backward",
        {"M": 4096, "N": 4096, "PARTS": 132},
        96,
        2,
        {"LDG": 6, "FFMA": 32, "STG": 6},
    ),
    ("layer_norm", "layer_norm", ROWS, 64, 4, {"LDG": 24, "FFMA": 64, "STG": 8}),
    ("cross_entropy", "cross_entropy", ROWS, 32, 8, {"LDG": 4, "MUFU": 10, "STG": 1}),
    ("selective_scan", "selective_scan", SCAN, 112, 5, {"LDGSTS": 24, "LDS": 8, "MUFU": 64, "FFMA": 128, "STG": 20}),
    ("moe_routing", "sort_by_expert", {"R": 32768, "E1": 65}, 40, 6, {"LDG": 16, "VOTE": 8, "POPC": 16, "STG": 18}),
    ("sampling", "sampling", {"M": 64, "N": 128256}, 64, 1, {"LDG": 48, "MUFU": 256, "FSETP": 400, "FADD": 600}),
    ("swiglu", "swiglu", ROWS, 32, 8, {"LDG": 4, "MUFU": 16, "STG": 2}),
    ("swiglu", "swiglu_backward", ROWS, 32, 8, {"LDG": 3, "MUFU": 8, "STG": 2}),
    ("sgemm", "sgemm", GEMM, 128, 2, {"LDG": 4, "STS": 10, "LDS": 64, "FFMA": 1024}),
    ("ampere/gemm", "gemm", GEMM, 255, 1, {"LDGSTS": 4, "LDSM": 8, "HMMA": 32}),
    ("ampere/attention", "attention", HEADS, 255, 2, {"LDGSTS": 16, "LDSM": 48, "HMMA": 128, "MUFU": 32}),
    ("ampere/paged_attention", "paged_attention", PAGED, 136, 1, {"LDGSTS": 16, "LDSM": 16, "HMMA": 32}),
    ("hopper/gemm", "gemm", GEMM, 168, 1, {"HGMMA": 8, "UTMALDG": 5, "STSM": 16, "UTMASTG": 4}),
    ("hopper/persistent_gemm", "persistent_gemm", GEMM, 168, 1, {"HGMMA": 8, "UTMALDG": 3, "STSM": 16, "UTMASTG": 4}),
    (
        "hopper/stream_k_gemm",
        "stream_k_gemm",
        GEMM | {"CTAS": 132, "W": 128 * 256},
        168,
        1,
        {"HGMMA": 8, "UTMALDG": 5, "LDG": 33, "STSM": 16, "UTMASTG": 4},
    ),
    (
        "hopper/moe_backward",
        "expert_gradients",
        {"R": 8192, "D": 4096, "N": 4096, "G": 8, "GP": 9},
        90,
        1,
        {"HGMMA": 4, "UTMALDG": 4, "STS": 8, "STG": 32},
    ),
    ("hopper/fp8_gemm", "fp8_gemm", GEMM | {"KB": 32, "NB": 32}, 168, 1, {"QGMMA": 8, "FFMA": 128, "LDSM": 4}),
    ("hopper/grouped_gemm", "grouped_gemm", GEMM | {"G": 8, "GP": 9}, 168, 1, {"HGMMA": 8, "UTMALDG": 3, "STSM": 16}),
    ("hopper/convolution", "convolution", CONV, 168, 1, {"HGMMA": 8, "UTMALDG": 3, "STSM": 16, "UTMASTG": 4}),
    ("hopper/attention", "attention", HEADS, 128, 1, {"HGMMA": 32, "MUFU": 128, "UTMALDG": 6, "UTMASTG": 2}),
    (
        "hopper/persistent_attention",
        "persistent_attention",
        {"B": 2, "H": 32, "HK": 8, "S": 4096, "D": 128},
        168,
        1,
        {"HGMMA": 32, "MUFU": 128, "UTMALDG": 6, "STSM": 8, "UTMASTG": 2},
    ),
    (
        "hopper/attention_backward",
        "attention_backward",
        BACK,
        168,
        1,
        {"HGMMA": 32, "MUFU": 32, "UTMALDG": 10, "STSM": 4, "UTMAREDG": 4, "UTMASTG": 8},
    ),
    ("blackwell/gemm", "gemm", GEMM, 128, 1, {"UTCHMMA": 4, "LDTM": 4, "UTMALDG": 5, "UTMASTG": 4}),
    ("blackwell/attention", "attention", HEADS, 200, 1, {"UTCHMMA": 24, "LDTM": 6, "STTM": 5, "MUFU": 64}),
    (
        "blackwell/nvfp4_gemm",
        "nvfp4_gemm",
        {"M": 4096, "N": 4096, "H": 2048, "KB": 256},
        138,
        1,
        {"OMMA": 64, "LDSM": 24, "LDS": 8, "UTMALDG": 4},
    ),
    ("blackwell/pair_gemm", "pair_gemm", GEMM, 128, 1, {"UTCHMMA": 4, "LDTM": 4, "UTMALDG": 3, "UTMASTG": 4}),
]


def cost(kernel, **params):
    """Resources, machine code, and occupancy of a kernel."""
    compiled, specialization = kernel.compile(**params), kernel.specialize(**params)
    used = compiled.resources[kernel.name]
    fits = occupancy(
        compiled.target,
        threads=kernel.block_of(specialization)[0],
        registers=used.registers,
        shared_bytes=used.shared_bytes,
        dynamic_shared_bytes=specialization.dynamic_bytes,
    )
    return used, compiled, fits


def once_for_each_thread(sass) -> set[str]:
    """Asynchronous instructions in loops that ptxas made: it did not see that only one thread comes there."""
    loops = [(line.target_address, line.address) for line in sass if line.opcode.startswith("BRA.U.ANY")]
    return {
        line.opcode
        for line in sass
        for first, last in loops
        if first <= line.address <= last and line.opcode.startswith(("UTC", "UTMALDG"))
    }


def marks(path: str):
    return pytest.mark.slow if "/" in path else ()  # ptxas takes seconds for them


WORDS = {"one": 1, "two": 2, "four": 4, "five": 5, "six": 6, "eight": 8}


def claimed(path: str) -> tuple[int, int, int]:
    """Return registers, KiB of shared memory (0 if not stated) and CTAs per SM, as the docstring states them."""
    text = (EXAMPLES / f"{path}.py").read_text().partition('"""')[2].partition('"""')[0]
    cost = " ".join(text[text.index("\nCost") :].split())
    ctas = re.search(r"(\w+)\s+CTAs? per SM", cost)[1]
    shared = re.search(r"(\d+) KiB", cost)
    return (
        int(re.search(r"(\d+) registers per thread", cost)[1]),
        int(shared[1]) if shared else 0,
        WORDS.get(ctas) or int(ctas),
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "path, name, sizes, registers, ctas, mix",
    [pytest.param(*one, id=f"{one[0]}:{one[1]}", marks=marks(one[0])) for one in COSTS],
)
def test_an_example_costs_what_it_claims(example, path: str, name: str, sizes, registers: int, ctas: int, mix):
    kernel = getattr(example(path), name)
    used, compiled, fits = cost(kernel, **sizes)
    assert used.spill_stores == used.spill_loads == used.stack_bytes == 0
    assert not once_for_each_thread(compiled.sass)
    opcodes = Counter(line.opcode.partition(".")[0] for line in compiled.sass)
    assert used.registers <= registers
    told, shared, on_an_sm = claimed(path)
    assert told - 8 <= used.registers <= told, "the docstring states another number"
    assert fits.blocks == ctas == on_an_sm, fits
    dynamic = kernel.specialize(**sizes).dynamic_bytes
    assert abs((used.shared_bytes + dynamic) / 1024 - shared) < 1
    assert all(opcodes[opcode] >= count for opcode, count in mix.items()), opcodes


@pytest.mark.parametrize(
    "path, name, sizes",
    [c[:3] for c in COSTS if c[0] in ("sgemm", "ampere/gemm", "blackwell/nvfp4_gemm")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_that_are_read_or_written_several_numbers_at_a_time_are_aligned(example, path: str, name: str, sizes):
    """A view that starts elsewhere is refused by name on a GPU, where it would fault; TMA asks for 16 bytes itself."""
    ptx = getattr(example(path), name).ptx(**sizes)
    assert all(f".align 16 {array}" in ptx or f"{array}_tma_desc" in ptx for array in ("a", "b"))
    assert re.search(r"\.align \d+ c\b", ptx)


@pytest.mark.slow
@pytest.mark.parametrize("path, name, sizes", [c[:3] for c in COSTS], ids=[f"{c[0]}:{c[1]}" for c in COSTS])
def test_the_extremes_of_the_tuning_space_work_or_are_refused_by_name(example, path: str, name: str, sizes):
    kernel, taken = getattr(example(path), name), 0
    for parameter, values in example(path).SPACE.items():
        for value in (values[0], values[-1]):
            try:
                used, _, fits = cost(kernel, **sizes | {parameter: value})
            except ValueError as refusal:
                assert name.removesuffix("_keys") in str(refusal)
                continue
            taken += 1
            assert used.spill_stores == used.spill_loads == 0, (parameter, value)
            assert fits.blocks >= 1, (parameter, value)
    assert taken >= len(example(path).SPACE)


def test_no_example_is_left_out():
    files = {
        path.relative_to(EXAMPLES).with_suffix("").as_posix()
        for path in EXAMPLES.rglob("*.py")
        if "def main(" in path.read_text()
    }
    assert files == {path for path, *_ in COSTS} | {"warp_image"}  # whose registers test_warp_image.py counts
    assert all("\nCost" in (EXAMPLES / f"{path}.py").read_text() for path in files)
