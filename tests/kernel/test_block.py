"""A block that depends on sizes and template parameters: in calls, views, checks, tuning, torch and JAX."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, tune
from pyptx.errors import LaunchError
from pyptx.types import f32, u32


@kernel(
    in_specs=[Tile("N", f32)],
    out_specs=[Tile("N", f32)],
    grid=lambda N, THREADS: -(-N // THREADS),
    block=lambda THREADS: THREADS,
    reqntid=lambda THREADS: THREADS,
)
def twice(x, y, *, THREADS=64):
    i = reg.from_(ptx.special.ctaid.x(), u32) * THREADS + reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i < x.shape[0]):
        (x_at, y_at), value = ptx.global_ptrs(x, y), reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
        ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), value + value)


@pytest.mark.parametrize("threads", [32, 128])
def test_a_block_depends_on_parameters(threads):
    x = np.arange(300, dtype=np.float32)
    assert (twice(x, THREADS=threads) == 2 * x).all()
    assert f".reqntid {threads}, 1, 1" in twice.ptx(N=300, THREADS=threads)
    assert twice.launcher.bind(x, THREADS=threads)[1].block == (threads, 1, 1)
    assert twice.check(x, THREADS=threads).ok
    assert twice.view(N=300, THREADS=threads).entries[0].occupancy["threads"] == threads


def test_a_block_depends_on_parameters_in_torch_jax_and_tuning(own_store):
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    x = np.arange(300, dtype=np.float32)
    assert (twice(torch.from_numpy(x), THREADS=32).numpy() == 2 * x).all()
    assert (np.asarray(jax.jit(lambda x: twice(x, THREADS=128))(x)) == 2 * x).all()
    study = tune.tune(twice, {"THREADS": [32, 256]}, (x,))
    assert [trial.config["THREADS"] for trial in study.trials] and all(trial.seconds for trial in study.trials)


def test_a_block_of_a_size_that_was_not_given():
    by_size = kernel(lambda x: ptx.ret(), name="by_size", in_specs=[Tile("N", f32)], block=lambda N: N)
    with pytest.raises(LaunchError, match="by_size: block depends on N, which was not given"):
        by_size.view()
