"""Every form of the table with semantics, over its modifiers and types, gives the same bits on both engines."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from sim.engines import run_both
from sim.registers import LANES, program_of, some_examples

from pyptx import isa, sim
from pyptx.errors import SimulationError

FORMS = [form for op in isa.OPS.values() for form in op.forms if form.semantics and op.opcode != "mov"]


def _simulated(text: str) -> bool:
    module, *_ = program_of([text], random.Random(0))
    try:
        sim.load(module)
    except SimulationError as error:
        assert "is not simulated" in str(error), error
        return False
    return True


@pytest.mark.sampled(3)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.syntax)
def test_a_form_gives_the_same_bits_on_both_engines(form):
    rng = random.Random(form.syntax)
    statements = [s for s in some_examples(form, rng, 24) if "%" in s and "b128" not in s]
    simulated = [s for s in statements if _simulated(s)]
    if not simulated:
        assert re.search(
            r"\.(rs|oob|pzo|scaled|ue8m0x2|s2f6x2|ue5m3x2|[us][24])\b|x4\b|f32x2\b.*f32x2|\.f32x2\.",
            " ".join(statements),
        ), statements[0]
        return
    module, columns, _ = program_of(simulated, rng)
    out = np.zeros_like(columns)
    run_both(module, 1, LANES, (columns, out))
