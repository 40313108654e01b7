"""The benchmark of work beside matrix products, run on the simulator."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from support.scripts import gpu_benchmark

beside = gpu_benchmark("beside")


def test_every_kind_is_measured_alone_and_together():
    found = beside.rows(np.ones(beside.LINES * 64, ml_dtypes.bfloat16), ctas=1, turns=2)
    assert list(found) == list(beside.KINDS)
    assert all(value > 0 for row in found.values() for value in row.values())


@pytest.mark.slow
def test_products_are_not_serialised():
    compiled = beside.beside.compile(N=beside.LINES * 64, CTAS=132, TURNS=4096, OTHERS=4096, KIND="softmax")
    opcodes = {line.opcode.partition(".")[0] for line in compiled.sass}
    assert not compiled.warnings and opcodes >= {"HGMMA", "MUFU", "FFMA", "FMNMX", "F2FP", "CS2R"}
