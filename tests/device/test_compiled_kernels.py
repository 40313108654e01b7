"""The compiled kernels of tests/sim/test_compiled_kernels.py on a GPU, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from device.programs import load
from sim.compiled.case import cases, close
from sim.test_compiled_kernels import CORPUS, KERNELS

import pyptx
from pyptx import ir
from pyptx.errors import CompileError, Diagnostic
from pyptx.isa import targets

NAMES = sorted({name for *_, name in KERNELS})


def newest(name: str, chip: targets.Target) -> tuple[str, str] | None:
    """File and entry of a kernel for the newest target that runs on a chip; None where none does."""
    found = []
    for file, entry, of in KERNELS:
        if of == name:
            target = targets.parse(pyptx.load(CORPUS / "ptx" / file).module.target.targets[0])
            if target.runs_on(chip):
                found.append((target.number, file, entry))
    return max(found)[1:] if found else None


def problems(file: str, entry: str, name: str, backend: str) -> list[str]:
    """What a kernel leaves behind that is not as wanted."""
    case, path = cases()[name](), CORPUS / "ptx" / file
    if backend == "cuda" and (case.variables or any(isinstance(a, pyptx.Texture | pyptx.Surface) for a in case.args)):
        pytest.skip("textures, surfaces and variables of a module are given on the simulator only")
    program = load(path) if backend == "cuda" else pyptx.load(path)
    wanted = [(got, np.array(want), tolerance) for got, want, tolerance in case.expected]
    scratch = [np.zeros(1 << 16, np.uint8) for _ in range(len(program[entry].params) - len(case.args))]
    program[entry].launch(
        case.grid, case.block, *case.args, *scratch, cluster=case.cluster, smem_bytes=case.smem_bytes, backend=backend
    )
    return [problem for got, want, tolerance in wanted if (problem := close(got, want, tolerance))]


@pytest.mark.parametrize("name", [name for name in NAMES if ".cu:" in name and "tcgen05" not in name][::30])
def test_they_are_launched_as_the_simulator_launches_them(name: str):
    assert not problems(*newest(name, targets.parse("sm_90")), name, "sim")


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_kernel_gives_what_numpy_gives(gpu, name: str):
    found = newest(name, gpu.driver.device(0).target)
    if found is None:
        pytest.skip("written for other chips")
    try:
        assert not problems(*found, name, "cuda")
    except CompileError as refused:
        if "requires PTX ISA" not in f"{refused}":
            raise
        pytest.skip(f"the assembler is older than the compiler: {refused}")


def test_an_assembler_that_is_older_than_the_compiler_gets_older_ptx(monkeypatch):
    file, *_ = newest(NAMES[0], targets.parse("sm_90"))
    compile_, tried = pyptx.Program.compile, []

    def older(program, *args, **options):
        tried.append(program.module.version)
        if tried[-1] != ir.Version(9, 0):
            raise CompileError([Diagnostic("error", "Unsupported .version 9.5; current version is '9.0'")])
        return compile_(program, *args, **options)

    monkeypatch.setattr(pyptx.Program, "compile", older)
    assert load(CORPUS / "ptx" / file).module.version == ir.Version(9, 0) and len(tried) == 2
