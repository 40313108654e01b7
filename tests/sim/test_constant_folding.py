"""Every statement that ptxas folds to a constant, computed by both engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sim.columns import over_columns

from pyptx import sim

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "data" / "folds.tsv").read_text().splitlines()
    if line[0] != "#"
]


def opcode_of(row: list[str]) -> str:
    return row[0].split(" ")[0].split(".")[0]


APPROXIMATE = ("ex2.", "lg2.", "sin.", "cos.", "rsqrt.approx", "rcp.approx", "sqrt.approx")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("opcode", sorted({opcode_of(row) for row in ROWS}))
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_statements_give_what_ptxas_folds_them_to(opcode, engine):
    wrong = [found for row in ROWS if opcode_of(row) == opcode and (found := difference(row, engine))]
    assert not wrong, "\n".join(wrong)


def difference(row: list[str], engine: str) -> str:
    """Return what a statement computes and ptxas folds it to; "" if they are equal."""
    stmt, types, dtype, _, cases = row
    dtype = "b32" if dtype == "f16x2" else dtype
    types, cases = types.split(), [case.split("=") for case in cases.split(" ")]
    inputs = [[int(x, 16) for x in case[0].split(",")] for case in cases]
    wanted = np.array([int(case[1], 16) for case in cases], np.uint64)
    columns = [np.array([v[i] for v in inputs], np.uint64) for i in range(len(types))]
    out = np.zeros(len(cases), np.uint64)
    sim.launch(sim.load(over_columns(stmt, types, dtype)), 1, len(cases), (*columns, out), engine=engine)
    if stmt.startswith(APPROXIMATE):
        far = (columns[0].astype(np.uint32) & 0x7FFFFFFF) > 0x48000000  # sin and cos mean nothing there
        keep = ~far if stmt.startswith(("sin", "cos")) else np.full(len(out), True)
        return far_apart(out[keep], wanted[keep], stmt)
    wrong = [f"{[hex(v) for v in inputs[i]]} -> {out[i]:#x}, not {wanted[i]:#x}" for i in np.flatnonzero(out != wanted)]
    return f"{stmt} {wrong[:5]}" if wrong else ""


def far_apart(out, wanted, stmt) -> str:
    got, want = (np.asarray(v, np.uint32).view(np.float32).astype(np.float64) for v in (out, wanted))
    both_nan = np.isnan(got) & np.isnan(want)
    same = both_nan | (got == want)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - want) <= np.maximum(np.abs(want) * 2.0**-20, 2.0**-20)
    return "" if (same | near).all() else f"{stmt} {out[~(same | near)]}, not {wanted[~(same | near)]}"
