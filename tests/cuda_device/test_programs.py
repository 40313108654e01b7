"""CUDA C++ programs, which check themselves, built by nvcc and run unmodified on the simulated device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.cuda_programs import PROGRAMS
from support.nvcc import build


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Return a function that builds a program, or a folder of sources to be linked, and returns its command."""
    folder = tmp_path_factory.mktemp("programs")

    def command(name: str, *options: str) -> list[str]:
        output = folder / "-".join((name, *options)).replace("/", "_")
        if not output.exists():
            sources = sorted((PROGRAMS / name).glob("*.cu")) or [PROGRAMS / f"{name}.cu"]
            linked = ("-rdc=true",) if len(sources) > 1 else ()
            build(output, sources, *linked, *options)
        return [str(output)]

    return command


def test_a_program_of_the_runtime_api_runs_unmodified(execute, compiled):
    done = execute(compiled("vector_add"), "--arch", "h200")
    assert done.stdout == "10000 sums on compute capability 9.0 with 132 SMs\n", done.stderr
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, printed",
    [
        ("arguments", "refused by the codes of the documentation"),
        ("batches", "batches, advice and queries"),
        ("cooperative", "a grid synchronizes"),
        ("green_contexts", "green contexts of 16 of 132 SMs"),
        ("graph_capture", "graphs by capture and by nodes"),
        ("graph_params", "nodes are read and changed"),
        ("pools", "stream-ordered allocation"),
        ("tensor_map", "TMA loads four tiles"),
        ("textures", "a texture interpolates, a surface stores"),
        ("thrust_cub", "Thrust and CUB"),
        ("callbacks", "callbacks of eight threads"),
        ("clusters", "clusters of 4 and of 2"),
        ("dynamic_shared", "100 kB of dynamic shared memory"),
        ("errors", "errors are the runtime's, and sticky"),
        ("host_threads", "1000 launches from eight threads"),
        ("linked", "separately compiled files are linked"),
        ("managed", "managed memory is read by the host"),
        ("printf", "before\nthread 0 of block 0: 1.50 text\nthread 1 of block 0: 1.50 text\nafter"),
        ("processes", "two processes share memory"),
        ("streams", "two streams in order"),
        ("variables", "variables keep their values between launches"),
    ],
)
def test_programs_check_themselves(execute, compiled, name: str, printed: str):
    done = execute(compiled(name))
    assert (done.returncode, done.stdout) == (0, printed + "\n"), done.stderr


@pytest.mark.slow
def test_graphs_allocate_memory_and_decide_at_run_time(execute, compiled):
    done = execute(compiled("graph_nodes", "-rdc=true", "-lcudadevrt"))
    assert (done.returncode, done.stdout) == (0, "nodes that allocate, decide and repeat\n"), done.stderr
    assert "hint: free it in the graph or in the stream" in done.stderr


@pytest.mark.slow
def test_per_thread_default_streams_are_variants_of_the_functions(execute, compiled):
    done = execute(compiled("streams", "--default-stream=per-thread"))
    assert (done.returncode, done.stdout) == (0, "two streams in order\n"), done.stderr


@pytest.mark.slow
def test_the_device_is_the_chosen_gpu(execute, compiled):
    done = execute(compiled("vector_add"), "--arch", "b200")
    assert done.stdout == "10000 sums on compute capability 10.0 with 148 SMs\n", done.stderr


@pytest.mark.slow
def test_occupancy_is_that_of_nvidias_calculator_on_each_architecture(execute, tmp_path):
    code = ("-gencode", "arch=compute_75,code=compute_75")
    program = str(build(tmp_path / "occupancy", [PROGRAMS / "occupancy.cu"], code=code))
    for gpu, capability in (("a100", "8.0"), ("l4", "8.9"), ("h200", "9.0"), ("b200", "10.0"), ("RTX 5090", "12.0")):
        done = execute([program], "--arch", gpu)
        assert done.stdout.endswith(f"on compute capability {capability}\n"), f"{gpu}: {done.stderr}"


@pytest.mark.slow
def test_a_trap_is_a_launch_failure(execute, compiled):
    done = execute([*compiled("errors"), "crash"])
    assert done.returncode == 0, done.stderr
    assert "kernel trap failed" in done.stderr


@pytest.mark.slow
def test_machine_code_runs_if_it_embeds_its_ptx_and_is_refused_by_name_otherwise(execute, tmp_path):
    source, machine_code = [PROGRAMS / "vector_add.cu"], ("-gencode", "arch=compute_90,code=sm_90")
    with_ptx = execute([str(build(tmp_path / "lines", source, code=("-lineinfo", *machine_code)))])
    assert with_ptx.returncode == 0, with_ptx.stderr
    without = execute([str(build(tmp_path / "none", source, code=machine_code))])
    assert without.returncode == 1
    assert "cudaErrorNoKernelImageForDevice" in without.stderr
    assert "machine code for sm_90 (kernels _Z3addPKfS0_Pfi)" in without.stderr
    assert "-gencode arch=compute_90a,code=compute_90a" in without.stderr


@pytest.mark.slow
def test_linked_machine_code_embeds_the_ptx_of_each_file(execute, tmp_path):
    sources, code = sorted((PROGRAMS / "linked").glob("*.cu")), ("-lineinfo", "-gencode", "arch=compute_90,code=sm_90")
    done = execute([str(build(tmp_path / "linked", sources, "-rdc=true", code=code))])
    assert (done.returncode, done.stdout) == (0, "separately compiled files are linked\n"), done.stderr


@pytest.mark.slow
def test_a_program_with_nvidias_static_runtime_is_told_to_link_the_shared_one(execute, tmp_path):
    program = build(tmp_path / "static", [PROGRAMS / "vector_add.cu"], runtime=("-cudart", "static"))
    done = execute([str(program)])
    assert done.returncode == 1
    assert "link with nvcc -cudart shared" in done.stderr
