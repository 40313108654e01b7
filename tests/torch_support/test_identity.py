"""Kernel identities in torch graphs, caches and exports: the right kernel in every process, or a clear error."""

from __future__ import annotations

import copy
import pickle
import shutil
import textwrap
from pathlib import Path

import pytest
import torch
from runtime.kernels import scale
from support.processes import python
from support.two_kernels import KERNELS

from pyptx.errors import LaunchError
from pyptx.jit import JitKernel
from pyptx.runtime.identity import KernelIdentity, resolve

X = torch.arange(100, dtype=torch.float32)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that calls a kernel, exported by a process of its own; torch takes seconds for it."""
    folder = tmp_path_factory.mktemp("exported")
    assert not script_in(folder)(EXPORT)
    return folder / "model.pt2"


@pytest.fixture
def run(tmp_path: Path):
    return script_in(tmp_path)


def script_in(tmp_path: Path):
    """Return a function that writes the module `kernels` and runs a script beside it in a new process."""

    def script(body: str, *, factor: float = 2.0, size: str = '"N"', **env: str) -> str:
        (tmp_path / "kernels.py").write_text(KERNELS.format(factor=factor, size=size), encoding="utf-8")
        path = tmp_path / "script.py"
        header = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport torch\n"
        path.write_text(header + textwrap.dedent(body), encoding="utf-8")
        done = python(str(path), cwd=tmp_path, env={"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), **env})
        return done.stdout + done.stderr

    return script


COMPILED = """
    import kernels
    compiled = torch.compile(lambda x: kernels.{name}(x + 0) + 0, fullgraph=True)
    print(compiled(torch.ones(4)).tolist())
"""


@pytest.mark.transform("PyTorch", "Inductor's caches on disk", "supported: entries are keyed by the kernel's content")
@pytest.mark.slow
def test_the_disk_cache_of_inductor_never_confuses_kernels(run):
    assert "[2.0, 2.0, 2.0, 2.0]" in run(COMPILED.format(name="scaled"))
    again = run(COMPILED.format(name="scaled") + COMPILED.format(name="negated"))
    assert "[2.0, 2.0, 2.0, 2.0]" in again, "the same kernel again, from the cache"
    assert "[-1.0, -1.0, -1.0, -1.0]" in again
    assert "[3.0, 3.0, 3.0, 3.0]" in run(COMPILED.format(name="scaled"), factor=3.0)


EXPORT = """
    import kernels
    class Model(torch.nn.Module):
        def forward(self, x):
            return kernels.scaled(x) + 0
    torch.export.save(torch.export.export(Model(), (torch.ones(4),)), "model.pt2")
"""
LOAD = """
    import pyptx
    print(torch.export.load("model.pt2").module()(torch.ones(4)).tolist())
"""


@pytest.mark.slow
@pytest.mark.transform(
    "PyTorch", "`torch.export`, saved and loaded in another process", "supported: the kernel is found in its module"
)
def test_an_exported_program_calls_its_own_kernel_in_another_process(run, exported, tmp_path: Path):
    shutil.copy(exported, tmp_path)
    assert "[2.0, 2.0, 2.0, 2.0]" in run(LOAD)
    other = "from kernels import negated\nnegated(torch.ones(4))\n" + textwrap.dedent(LOAD)
    assert "[2.0, 2.0, 2.0, 2.0]" in run(other), "the kernel is not the first one that the process calls"


@pytest.mark.slow
@pytest.mark.transform(
    "PyTorch", "loading an export whose kernel has changed", "refused: the message names what changed"
)
@pytest.mark.parametrize(
    "change, reason",
    [
        ({"factor": 5.0}, "its source or a value that it captures"),
        ({"size": "8"}, "its Tiles or parameters"),
    ],
)
def test_an_exported_program_refuses_a_kernel_that_has_changed(run, exported, tmp_path: Path, change, reason):
    shutil.copy(exported, tmp_path)
    shown = run(LOAD, **change)
    assert f"kernel kernels.scaled has changed since this computation was compiled or exported: {reason}" in shown
    assert "hint: compile or export the computation again" in shown


@pytest.mark.slow
def test_an_exported_program_whose_kernel_is_missing_says_where_it_was(run, exported, tmp_path: Path):
    shutil.copy(exported, tmp_path)
    shown = run("import os, sys\nsys.modules['kernels'] = None\n" + textwrap.dedent(LOAD))
    assert "kernel kernels.scaled, which this computation calls, does not exist in this process" in shown


def test_an_identity_names_what_changed():
    identity = KernelIdentity.parse(scale.identity)
    assert (identity.module, identity.qualname) == (scale.__module__, scale.__qualname__)
    assert str(identity) == scale.identity and resolve(scale.recorded_identity()) is scale
    with pytest.raises(LaunchError, match="does not identify a kernel"):
        resolve("42")


def test_a_captured_value_is_part_of_the_identity():
    factors = [2.0]

    def build():
        from pyptx import Tile, kernel, ptx
        from pyptx.types import f32

        factor = factors[0]

        @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), block=32)
        def captures(x, y):
            ptx.inst.mul.f32(ptx.reg.scalar(f32), factor, factor)

        return captures

    first = build()
    assert first.identity == build().identity
    factors[0] = 3.0
    assert KernelIdentity.parse(first.identity).differences(KernelIdentity.parse(build().identity)) == (
        "its source or a value that it captures"
    )


def test_of_equal_kernels_the_one_that_was_called_runs():
    for kernel in (JitKernel(scale.declaration), JitKernel(scale.declaration)):
        kernel(torch.ones(64), factor=2.0)
        assert kernel.last_specialization is not None


# modes, tracers and the profiler ------------------------------------------------------------------------------------------


@pytest.mark.transform("PyTorch", "`make_fx`, `TorchDispatchMode`", "supported")
def test_dispatch_modes_and_make_fx_see_the_operator():
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Record():
        y = scale(X, factor=2.0)
    assert torch.equal(y, 2 * X) and "pyptx.launch.default" in seen
    graph = make_fx(lambda x: scale(x, factor=3.0))(X)
    assert "pyptx.launch" in graph.code and torch.equal(graph(X + 1), 3 * (X + 1))


@pytest.mark.transform("PyTorch", "fake and meta tensors", "supported: shapes without a launch")
def test_fake_and_meta_tensors_give_shapes_without_a_launch():
    from torch._subclasses.fake_tensor import FakeTensorMode

    before = scale.last_run
    with FakeTensorMode():
        y = scale(torch.empty(7), factor=2.0)
    assert y.shape == (7,) and y.dtype == torch.float32
    meta = scale(torch.empty(9, device="meta"), factor=2.0)
    assert meta.shape == (9,) and meta.is_meta
    assert scale.last_run is before


@pytest.mark.transform("PyTorch", "`torch.profiler`", "supported: an event with the kernel's name")
def test_the_profiler_shows_the_kernel():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        scale(X, factor=2.0)
    names = {event.key for event in profile.key_averages()}
    assert {"pyptx::launch", "pyptx::scale"} <= names


# copies and pickles -------------------------------------------------------------------------------------------------------


class Scaling(torch.nn.Module):
    """A module that holds a kernel."""

    def __init__(self):
        super().__init__()
        self.kernel, self.factor = scale, 2.0

    def forward(self, x):
        return self.kernel(x, factor=self.factor)


@pytest.mark.transform("PyTorch", "`copy`, `pickle`, `torch.save(module)`, `AveragedModel`", "supported: by identity")
def test_kernels_and_modules_that_hold_them_are_copied_and_pickled(tmp_path: Path):
    assert copy.deepcopy(scale) is scale and pickle.loads(pickle.dumps(scale)) is scale
    assert copy.copy(scale) is not scale and torch.equal(copy.copy(scale)(X, factor=2.0), 2 * X)
    averaged = torch.optim.swa_utils.AveragedModel(Scaling())
    assert torch.equal(averaged(X), 2 * X)
    torch.save(Scaling(), tmp_path / "module.pt")
    assert torch.equal(torch.load(tmp_path / "module.pt", weights_only=False)(X), 2 * X)
