"""Instructions with the same shape are decoded once; each keeps its own operands and meaning."""

import numpy as np
import pytest

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.sim.program import templates
from pyptx.types import f32


@kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)])
def sums(x, y):
    source, target = ptx.global_ptrs(x, y)
    a, b, c = reg.array(f32, 3).regs()
    ptx.inst.ld.global_.f32(a, ptx.addr(source))
    ptx.inst.ld.global_.f32(b, ptx.addr(source, 4))
    ptx.inst.add.f32(a, a, b)  # the first of its shape has one register twice
    ptx.inst.add.f32(c, b, a)
    ptx.inst.add.f32(b, b, b)
    ptx.inst.fma.rn.f32(c, c, c, b)
    for i, value in enumerate((a, b, c)):
        ptx.inst.st.global_.f32(ptx.addr(target, 4 * i), value)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_the_first_of_a_shape_does_not_tie_the_registers_of_the_others(engine, monkeypatch):
    monkeypatch.setattr(templates, "_templates", {})
    sums._cache.clear()
    with pyptx.use("sim", engine=engine):
        assert sums(np.array([1, 2, 0], np.float32)).tolist() == [3, 4, 29]
