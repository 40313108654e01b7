"""Cells that the panel inserts: valid Python, with the sizes of the last version."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from tune.kernels import double

import pyptx
from pyptx import kernel
from pyptx.jupyter.cell_templates import cell_templates


def test_a_cell_checks_the_kernel_on_arrays_of_the_last_versions_sizes():
    own = double()
    found = cell_templates(
        own, "own", [SimpleNamespace(params={"N": 128}), SimpleNamespace(params={"N": 256, "PER": 2})]
    )
    names = {"own": own, "np": np}
    source = found["check"].splitlines()
    assert source[-1] == "own.check(*inputs, PER=2)"
    exec("\n".join([*source[:-1], f"report = {source[-1]}"]), names)
    assert names["inputs"][0].shape == (256,) and names["report"].ok


def test_a_cell_sweeps_parameters_that_have_neighbours():
    source = cell_templates(double(), "own")["sweep"]
    assert "dict(PER=[1, 2, 4])" in source, "FAULT is a word, UNUSED is 0"
    assert "dict(N=1024)" in source
    names = {"own": double()}
    exec(source, names)
    assert len(names["own_sweep"].study.trials) == 3
    assert pyptx.sweep


def test_a_kernel_that_is_launched_by_hand_starts_nothing():
    assert cell_templates(kernel(lambda: None, name="bare"), "bare") == {}
