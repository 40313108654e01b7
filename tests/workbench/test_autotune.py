"""Autotuned kernels: the configuration of a call before, after and without tuning."""

from __future__ import annotations

import numpy as np
import pytest
from tune.kernels import double, twice

from pyptx.kernel import Kernel
from pyptx.tune import Space, SpaceError, restrict
from pyptx.workbench.autotune import autotune

pytestmark = pytest.mark.usefixtures("own_store")

X = np.arange(512, dtype=np.float32)


def tuned(**options):
    return autotune(Space(PER=[2, 4, 8]), reference=twice, **options)(double())


def test_a_call_never_tunes_and_runs_the_defaults_until_somebody_does(own_store):
    kernel = tuned()
    np.testing.assert_array_equal(kernel(X), 2 * X)
    assert kernel.best(X) is None
    assert kernel.last_specialization.params["PER"] == 1
    assert own_store.read(lambda c: c.execute("SELECT count(*) FROM trials").fetchone()[0]) == 0


def test_after_tuning_a_call_takes_the_best_for_its_shapes():
    kernel = tuned()
    study = kernel.tune(X)
    assert kernel.best(X) == study.best.config
    np.testing.assert_array_equal(kernel(X), 2 * X)
    assert kernel.last_specialization.params["PER"] == study.best.config["PER"]
    other = np.arange(1024, dtype=np.float32)
    assert kernel.best(other) is None, "another shape is another problem"
    kernel(other)
    assert kernel.last_specialization.params["PER"] == 1
    assert tuned().best(X) == study.best.config, "another process would find it too"


@pytest.mark.slow
@pytest.mark.parametrize("package", ["torch", "jax"])
def test_calls_that_torch_and_jax_record_take_it_too(package: str):
    pytest.importorskip(package)
    kernel = tuned()
    study = kernel.tune(X)
    if package == "torch":
        import torch

        y = kernel(torch.from_numpy(X).requires_grad_()).detach().numpy()
    else:
        import jax

        y = np.asarray(jax.jit(lambda x: kernel(x))(X))
    np.testing.assert_array_equal(y, 2 * X)
    assert kernel.last_specialization.params["PER"] == study.best.config["PER"]


def test_parameters_of_the_call_win():
    kernel = tuned()
    kernel.tune(X)
    kernel(X, PER=8)
    assert kernel.last_specialization.params["PER"] == 8


def test_only_configurations_of_the_space_are_taken(own_store):
    study = tuned().tune(X)
    rest = [value for value in (2, 4, 8) if value != study.best.config["PER"]]
    assert autotune(PER=rest)(double()).best(X)["PER"] in rest
    never = restrict(lambda PER: False)
    assert autotune(Space(never, PER=[2, 4, 8]))(double()).best(X) is None


def test_another_kernel_source_finds_nothing():
    tuned().tune(X)
    changed = double(reqntid=(64, 1, 1))
    assert autotune(PER=[2, 4, 8])(changed).best(X) is None


def test_it_is_still_a_kernel():
    kernel = tuned()
    assert isinstance(kernel, Kernel) and kernel.name == "double"
    assert kernel.compile(N=512, PER=2).resources["double"].registers
    assert "tuned over PER" in repr(kernel)


def test_what_does_not_fit_is_refused():
    with pytest.raises(SpaceError, match="no template parameter BM"):
        autotune(BM=[1])(double())
    with pytest.raises(TypeError, match="@autotune decorates a kernel"):
        autotune(PER=[1])(twice)
