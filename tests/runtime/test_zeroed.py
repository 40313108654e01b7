"""Outputs that a kernel accumulates into: `Tile(..., zeroed=True)`."""

import numpy as np
import pytest
from runtime.kernels import counts

from pyptx import Tile, kernel
from pyptx.tune import Space, tune
from pyptx.types import u32

X = np.random.default_rng(0).integers(0, 8, 300).astype(np.uint32)
WANTED = np.bincount(X, minlength=8)


def test_a_new_array_is_all_zeros_at_every_call():
    assert all((counts(X) == WANTED).all() for _ in range(3))
    assert counts.check(X).ok and counts.check(X, out=np.ones(8, np.uint32)).ok


def test_an_array_that_is_given_stays_as_it_is():
    out = np.ones(8, np.uint32)
    assert counts(X, out=out) is out and (out == WANTED + 1).all()


def test_without_it_a_check_says_what_would_do():
    plain = kernel(
        counts.declaration.function,
        in_specs=counts.in_specs,
        out_specs=[Tile(8, u32)],
        block=64,
        grid=lambda N: -(-N // 64),
        arch="sm_80",
    )
    (found,) = plain.check(X, schedules=("eager",), random=0).findings
    assert found.rule == "uninitialized-memory" and "zeroed=True" in found.fix


def test_an_input_is_not_zeroed():
    with pytest.raises(TypeError, match="x is an input; zeroed=True is for outputs"):
        kernel(lambda x, y: None, in_specs=[Tile("N", u32, zeroed=True)], out_specs=[Tile("N", u32)])


@pytest.mark.slow
def test_tuning_starts_from_zeros(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    study = tune(counts, Space(PER=[1, 2]), (X,), reference=lambda x: WANTED.astype(np.uint32), workers=1)
    assert {trial.state for trial in study.trials} == {"modeled"}


def test_a_session_starts_from_zeros():
    with counts.debug(X) as session:
        assert session.evaluate("out[3]") == 0
