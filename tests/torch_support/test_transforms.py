"""Differentiable kernels under torch.func, autograd and export; kernels in other processes; all on the CPU."""

from __future__ import annotations

import copy
import pickle
import textwrap
from pathlib import Path

import pytest
import torch
from runtime.kernels import scale
from support.processes import python

from pyptx.errors import LaunchError
from pyptx.torch_support import differentiable_kernel

X = torch.arange(8, dtype=torch.float32)
ROWS = torch.arange(24, dtype=torch.float32).reshape(3, 8)


def _scaled_gradient(x, gradient, factor=3.0):
    return scale(gradient, factor=factor)


PAIR = differentiable_kernel(scale, _scaled_gradient)
UNNAMED = differentiable_kernel(scale, lambda x, gradient, factor: scale(gradient, factor=factor))


def tripled(x):
    return PAIR(x, factor=3.0)


@pytest.mark.transform(
    "PyTorch", "`torch.func.grad`, `vjp`, `jacrev`, `functional_call`", "supported with `differentiable_kernel`"
)
def test_gradients_of_torch_func():
    assert torch.equal(torch.func.grad(lambda x: (tripled(x) * x).sum())(X), 6 * X)
    assert torch.equal(torch.func.jacrev(tripled)(X), 3 * torch.eye(8))
    assert torch.equal(torch.func.vjp(tripled, X)[1](X)[0], 3 * X)
    parameters = {"factor": torch.ones(8)}
    found = torch.func.grad(lambda p: (tripled(X * p["factor"])).sum())(parameters)
    assert torch.equal(found["factor"], 3 * X)


@pytest.mark.transform(
    "PyTorch", "`vmap` of `grad`, `grad` of `vmap`, compiled", "supported with `differentiable_kernel`"
)
def test_batches_and_gradients_nest():
    assert torch.equal(torch.vmap(tripled)(ROWS), 3 * ROWS)
    each = torch.vmap(torch.func.grad(lambda x: (tripled(x) * x).sum()))
    assert torch.equal(each(ROWS), 6 * ROWS)
    assert torch.equal(torch.func.grad(lambda x: (torch.vmap(tripled)(x) * x).sum())(ROWS), 6 * ROWS)
    compiled = torch.compile(each, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(ROWS), 6 * ROWS)


@pytest.mark.transform("PyTorch", "second derivatives, `jvp`, `jacfwd`", "refused by name")
def test_derivatives_that_do_not_exist_are_refused():
    with pytest.raises(LaunchError, match="kernel scale has no backward kernel"):
        torch.func.grad(lambda x: scale(x, factor=3.0).sum())(X)
    with pytest.raises(LaunchError, match="kernel scale has no backward kernel"):  # not zero for the inner gradient
        torch.func.grad(lambda x: torch.func.grad(lambda x: (tripled(x) * x).sum())(x).sum())(X)
    x = X.clone().requires_grad_()
    (gradient,) = torch.autograd.grad((tripled(x) * x).sum(), x, create_graph=True)
    with pytest.raises(LaunchError, match="kernel scale has no backward kernel"):
        gradient.sum().backward()
    with pytest.raises(LaunchError, match="kernel scale has no forward-mode derivative"):
        torch.func.jacfwd(tripled)(X)


class Model(torch.nn.Module):
    def __init__(self, pair=PAIR):
        super().__init__()
        self.weight, self.pair = torch.nn.Parameter(torch.ones(8)), pair

    def forward(self, x):
        return self.pair(x * self.weight, factor=3.0)


@pytest.mark.transform("PyTorch", "training an exported program", "supported with `differentiable_kernel`")
def test_an_exported_program_can_be_trained():
    program = torch.export.export(Model(), (X,)).module()
    program(X).sum().backward()
    assert torch.equal(program.weight.grad, 3 * X)


@pytest.mark.parametrize("pair", [PAIR, UNNAMED], ids=["function", "lambda"])
def test_differentiable_kernels_are_copied_and_pickled(pair):
    for same in (copy.copy(pair), copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert torch.equal(same(X, factor=2.0), 2 * X)
    model = pickle.loads(pickle.dumps(Model(pair)))
    model(X).sum().backward()
    assert torch.equal(model.weight.grad, 3 * X)


@pytest.mark.parametrize(
    "tensor, problem", [(torch.ones(4, dtype=torch.int32), "x has dtype int32"), (torch.ones(2, 2), "has rank 2")]
)
def test_wrong_tensors_are_named_when_a_graph_is_traced(tensor, problem):
    with pytest.raises(Exception, match=f"scale: x.*{problem}|scale: {problem}"):
        torch.compile(lambda x: scale(x, factor=1.0), fullgraph=True, backend="aot_eager")(tensor)


FACTORY = """
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32


def made(factor):
    @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: (N + 31) // 32, block=32)
    def multiplied(x, y):
        i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
        with ptx.if_(i < x.shape[0]):
            x_at, y_at = ptx.global_ptrs(x, y)
            value = reg.scalar(f32)
            ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
            ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), value * factor)

    return multiplied
"""
USER = """
import pyptx
from factory import made

doubled, tripled = made(2.0), made(3.0)
pair = pyptx.differentiable_kernel(tripled, lambda x, gradient: tripled(gradient))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a module that makes kernels with functions of another one."""
    (tmp_path / "factory.py").write_text(FACTORY, encoding="utf-8")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    return tmp_path


def run(folder: Path, text: str) -> str:
    script = folder / "script.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(folder)!r})\n{textwrap.dedent(text)}", encoding="utf-8")
    done = python(str(script), cwd=folder)
    return done.stdout + done.stderr


SAVE = """
    import cloudpickle, pickle, torch
    import user

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(4))
        def forward(self, x):
            return user.pair(user.doubled(x) * self.weight)

    torch.export.save(torch.export.export(Model(), (torch.ones(4),)), "model.pt2")
    own = user.made(5.0)
    for name, dump in (("pickle", pickle.dumps), ("cloudpickle", cloudpickle.dumps)):
        kernels = [user.doubled, user.pair] + ([own] if name == "cloudpickle" else [])
        open(name, "wb").write(dump(kernels))
"""
LOAD = """
    import pickle, torch, pyptx
    program = torch.export.load("model.pt2").module()
    y = program(torch.ones(4))
    y.sum().backward()
    print(y.tolist(), program.weight.grad.tolist())
    for name in ("pickle", "cloudpickle"):
        print([k(torch.ones(1)).tolist() for k in pickle.load(open(name, "rb"))])
"""


@pytest.mark.transform(
    "PyTorch", "`cloudpickle`", "supported: kernels of scripts and notebooks by value, others by identity"
)
@pytest.mark.slow
def test_kernels_of_a_factory_are_found_by_the_module_that_made_them(folder: Path):
    pytest.importorskip("cloudpickle")
    assert run(folder, SAVE) == ""
    assert run(folder, LOAD).splitlines() == [
        "[6.0, 6.0, 6.0, 6.0] [6.0, 6.0, 6.0, 6.0]",
        "[[2.0], [3.0]]",
        "[[2.0], [3.0], [5.0]]",
    ]


TRAIN = """
    import os, torch, torch.distributed as dist, torch.multiprocessing as mp
    import user

    kernel = user.made(2.0)  # a kernel of the main script

    class Data(torch.utils.data.Dataset):
        def __init__(self, kernel): self.kernel = kernel
        def __len__(self): return 2
        def __getitem__(self, i): return self.kernel(torch.full((2,), float(i)))

    class Model(torch.nn.Module):
        def __init__(self, pair):
            super().__init__()
            self.pair, self.weight = pair, torch.nn.Parameter(torch.ones(4))
        def forward(self, x): return self.pair(x * self.weight)

    def train(rank, pair, file):
        dist.init_process_group("gloo", rank=rank, world_size=2, init_method="file://" + file)
        model = torch.nn.parallel.DistributedDataParallel(Model(pair))
        model(torch.full((4,), rank + 1.0)).sum().backward()
        if rank == 0: print(model.module.weight.grad.tolist())
        dist.destroy_process_group()

    if __name__ == "__main__":
        loader = torch.utils.data.DataLoader(Data(kernel), batch_size=2, num_workers=1, multiprocessing_context="spawn")
        print([batch.tolist() for batch in loader], flush=True)
        mp.spawn(train, (user.pair, os.path.abspath("rendezvous")), nprocs=2)
"""


@pytest.mark.transform("PyTorch", "`DistributedDataParallel`, `DataLoader` with spawned workers", "supported")
@pytest.mark.slow
def test_workers_that_are_spawned_get_their_kernels(folder: Path):
    shown = run(folder, TRAIN)
    assert "[[[0.0, 0.0], [2.0, 2.0]]]" in shown and "[4.5, 4.5, 4.5, 4.5]" in shown, shown
