"""Loads from tensor memory without tcgen05.wait::ld are reported; compiled kernels have the wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyptx import parser, sim
from pyptx.check.tmem_loads import unwaited_loads

CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"
FILES = ("triton/split_k.sm_100.ptx", "triton/matmul_f16.sm_100.ptx", "nvcc/tcgen05_gemm.sm_100a.ptx")
WAIT = "tcgen05.wait::ld.sync.aligned;"


@pytest.mark.parametrize("file", FILES)
def test_compiled_kernels_wait_for_every_load_and_a_dropped_wait_is_found(file):
    text = (CORPUS / file).read_text()
    module = parser.parse(text)
    assert [*unwaited_loads(sim.load(module))] == []
    program = sim.load(parser.parse(text.replace(WAIT, "")))
    found = [*unwaited_loads(program)]
    loads = [k for k, i in enumerate(program.instructions) if i.opcode == "tcgen05" and i.modifiers[0] == ".ld"]
    assert [load for load, _ in found] == loads
