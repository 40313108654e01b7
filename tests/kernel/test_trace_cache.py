"""The trace cache: a launch of a restored trace equals one of a new trace, and nothing else is lost.

Launches are those of a recording driver. A copy of a kernel with empty caches stands for another process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fake_cuda import FakeDriver
from support.processes import variables
from support.threads import in_threads

import pyptx.jit.kernel as jit
from examples.hopper.attention import attention
from examples.hopper.gemm import gemm
from examples.sgemm import sgemm
from examples.softmax import softmax
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.cache import CubinCache, get_global_cache, set_global_cache
from pyptx.cli import main
from pyptx.errors import LaunchError
from pyptx.ir.nodes import FunctionDirective
from pyptx.jit.launch_cache import LaunchCache
from pyptx.jit.traces.trace_cache import _key
from pyptx.kernel import Kernel
from pyptx.runtime import Runtime
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda import CudaBackend
from pyptx.types import f32, u32

X = np.ones(64, np.float32)
FACTOR = 2.0


@kernel(arch="sm_90a", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=1, block=64)
def scale(x, y):
    """Multiply 64 numbers by FACTOR."""
    source, target = ptx.global_ptrs(x, y)
    place = reg.from_(ptx.tid.x, u32) * 4
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(source + place))
    ptx.inst.st.global_.f32(ptx.addr(target + place), value * FACTOR)


@pytest.fixture(autouse=True)
def own_cache(tmp_path) -> Iterator[Path]:
    set_global_cache(CubinCache(tmp_path / "cache"))
    yield tmp_path / "cache"
    set_global_cache(None)


def launch(k: Kernel, *inputs: Any, api: Any = None, **params: Any) -> tuple[Kernel, FakeDriver]:
    """Launch a copy of a kernel on a new driver, as another process would; the memory of the cache is emptied."""
    get_global_cache().clear()
    other = k.with_fresh_cache()
    other.launch_cache = LaunchCache(other)
    api = api or FakeDriver()
    other.run(Runtime(CudaBackend(api), arrays_of(inputs[0])), inputs, None, params)
    return other, api


def of(k: Kernel) -> str:
    return k.last_specialization.origin


def traces(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.trace"))


# restored launches ----------------------------------------------------------------------------------------------------


def bf16(*shape: int) -> Any:
    import ml_dtypes

    return np.ones(shape, ml_dtypes.bfloat16)


EXAMPLES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "scale": lambda: (scale, X),
    "softmax": lambda: (softmax, np.ones((64, 128), np.float32)),
    "sgemm": lambda: (sgemm, np.ones((128, 128), np.float32), np.ones((128, 128), np.float32)),
    "gemm": lambda: (gemm, bf16(256, 256), bf16(256, 256)),
    "attention": lambda: (attention, *(bf16(1, 1, 256, 64) for _ in range(3))),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_restored_launch_makes_the_calls_of_a_traced_one(name, monkeypatch):
    k, *inputs = EXAMPLES[name]()
    first, traced = launch(k, *inputs)
    assert of(first) == "traced"
    monkeypatch.setattr(jit, "trace_kernel", None)  # not called
    second, restored = launch(k, *inputs)
    assert of(second) == "trace cache"
    assert restored.names() == traced.names()
    for one, other in zip(traced.launches, restored.launches, strict=True):
        assert vars(one).keys() == vars(other).keys()
        assert (one.kernel, one.grid, one.block, one.attributes) == (
            other.kernel,
            other.grid,
            other.block,
            other.attributes,
        )
    loads = [[c[1] for c in api.calls if c[0] == "cuLibraryLoadData"] for api in (traced, restored)]
    assert loads[0] == loads[1], "the same machine code"


def test_tree_text_and_places_of_a_restored_launch_are_those_of_a_trace():
    launch(scale, X)
    k, _ = launch(scale, X)
    assert of(k) == "trace cache"
    fresh = scale.with_fresh_cache().specialize(N=64)
    found = k.last_specialization
    assert found.emitted.text == fresh.emitted.text == k.ptx(N=64)
    assert [str(place) for place in found.emitted.places] == [str(place) for place in fresh.emitted.places]
    assert found.module == fresh.module and found.entry == fresh.entry and not found.diagnostics
    assert k.compile(N=64).lines.places == found.emitted.places


def test_a_restored_kernel_runs_on_the_simulator_and_is_checked():
    launch(scale, X)
    k, _ = launch(scale, X)
    np.testing.assert_array_equal(k(X, backend="sim"), 2 * X)
    assert k.check(X).ok


def test_sizes_and_parameters_have_traces_of_their_own(own_cache):
    launch(softmax, np.ones((64, 128), np.float32))
    assert of(launch(softmax, np.ones((64, 256), np.float32))[0]) == "traced"
    assert of(launch(softmax, np.ones((64, 128), np.float32), KEPT=4)[0]) == "traced"
    assert len(traces(own_cache)) == 3


def test_errors_of_a_restored_launch_name_the_line():
    @kernel(arch="sm_90a", in_specs=[Tile("N", f32)], grid=4, cluster=lambda N: 2 if N == 64 else 1)
    def clustered(x):
        smem.alloc(f32, 4).at_rank(1)[0] = 1.0

    launch(clustered, X)
    k, _ = launch(clustered, X)
    assert of(k) == "trace cache"
    with pytest.raises(LaunchError, match="uses rank 1 of a cluster") as refused:
        k.last_specialization.plan((4, 1, 1), (1, 1, 1))
    assert f"{Path(__file__).name}:" in str(refused.value)


# what makes a new trace -----------------------------------------------------------------------------------------------


def test_a_changed_value_makes_a_new_trace(monkeypatch):
    launch(scale, X)
    monkeypatch.setitem(scale.declaration.function.__globals__, "FACTOR", 3.0)
    k, _ = launch(scale, X)
    assert of(k) == "traced"
    assert "0f40400000" in k.last_specialization.emitted.text  # 3.0


# name -> another value; a trace reads neither the grid nor, beside those in the key, further fields
DECLARED = {
    "function": lambda x, y: None,
    "name": "other",
    "in_specs": (Tile("N", u32),),
    "out_specs": (Tile("N", f32, align=16),),
    "block": lambda N: N // 2,
    "cluster": (2, 1, 1),
    "smem_bytes": 1024,
    "raw_params": (("u32", "n"),),
    "extern_smem": "memory",
    "reqntid": (64, 1, 1),
    "directives": (FunctionDirective("maxnreg", (64,)),),
    "linking": None,
    "debug": False,
    "tensor_maps": "value",
}


@pytest.mark.parametrize("name", DECLARED)
def test_the_key_has_every_field_of_a_declaration(name):
    elsewhere = {"grid", "in_place", "arch", "version", "unit"}  # not read, arguments of the trace, refused
    assert DECLARED.keys() | elsewhere == {field.name for field in fields(scale.declaration)}
    found = [
        _key(declared, "sm_90a", None, {"N": 64}, {})[0]
        for declared in (scale.declaration, replace(scale.declaration, **{name: DECLARED[name]}))
    ]
    assert found[0] != found[1]


def change_trace(**values: Any) -> None:
    """Change fields of the only record in the cache."""
    kept = get_global_cache()
    (path,) = traces(kept.cache_dir)
    found = kept.get_trace(path.stem)
    assert found is not None
    kept.put_trace(path.stem, {**found, **values})


def test_a_change_of_pyptx_makes_a_new_trace():
    launch(scale, X)
    (path,) = traces(get_global_cache().cache_dir)
    files = get_global_cache().get_trace(path.stem)["files"]
    assert {"ptx/__init__.py", "reg.py", "jit/tracer.py", "isa/_table.py"} <= {
        name.replace("reg/__init__.py", "reg.py") for name in files
    }
    assert not any(name.startswith(("sim/", "views/", "cli/")) for name in files)
    change_trace(files={**files, "ptx/__init__.py": [1, 1, 1]})
    assert of(launch(scale, X)[0]) == "traced"
    assert of(launch(scale, X)[0]) == "trace cache"
    change_trace(files={**files, "gone.py": [1, 1, 1]})
    assert of(launch(scale, X)[0]) == "traced"


def test_another_ptxas_is_asked_for_its_version(monkeypatch):
    from pyptx.toolchain import locate

    launch(scale, X)
    tool = locate.find("ptxas")
    monkeypatch.setattr(locate, "_versions", {})
    monkeypatch.setattr(locate, "_ask_version", lambda path: pytest.fail("the version is known"))
    assert of(launch(scale, X)[0]) == "trace cache"
    monkeypatch.setattr(locate, "_versions", {})
    monkeypatch.setattr(locate, "_ask_version", lambda path: "13.0.1")
    change_trace(tool={"path": str(tool), "modified_ns": 1, "version": "1.2.3"})
    _, api = launch(scale, X)  # assembled again: the key of the cubin has the version
    assert any(call[0] == "cuLibraryLoadData" for call in api.calls)


def test_a_trace_without_its_cubin_is_assembled_again(own_cache):
    launch(scale, X)
    for path in own_cache.glob("*.cubin"):
        path.unlink()
    k, api = launch(scale, X)
    assert of(k) == "trace cache" and len(api.launches) == 1
    assert list(own_cache.glob("*.cubin"))


# what is not cached ---------------------------------------------------------------------------------------------------


def test_the_cache_can_be_turned_off(monkeypatch, own_cache):
    monkeypatch.setenv("PYPTX_TRACE_CACHE", "0")
    assert of(launch(scale, X)[0]) == "traced, not cached: PYPTX_TRACE_CACHE is 0"
    assert not traces(own_cache)


SEEN: list[int] = []


def test_a_kernel_that_changes_what_it_reads_is_not_cached(own_cache):
    @kernel(arch="sm_90a", in_specs=[Tile("N", f32)], grid=1)
    def counts(x):
        SEEN.append(len(SEEN))
        reg.scalar(u32, init=len(SEEN))

    assert "it changes values that it reads" in of(launch(counts, X)[0])
    assert of(launch(counts, X)[0]).startswith("traced, not cached")


def test_a_function_that_no_name_leads_to_is_not_cached(own_cache):
    class Hidden:
        def __init_subclass__(cls, **options: Any):
            reg.scalar(f32, init=FACTOR)

    @kernel(arch="sm_90a", in_specs=[Tile("N", f32)], grid=1)
    def surprising(x):
        x.hook()

    from pyptx.tensor import TensorSpec

    def hook(self):
        reg.scalar(f32, init=FACTOR)

    TensorSpec.hook = hook
    try:
        reason = "test_a_function_that_no_name_leads_to_is_not_cached.<locals>.hook"
        assert reason in of(launch(surprising, X)[0])
        assert reason in of(launch(surprising, X)[0]), "the refusal is cached: the second trace is not watched"
    finally:
        del TensorSpec.hook


def test_a_kernel_that_warns_does_so_in_every_process():
    @kernel(arch="sm_100a", in_specs=[Tile("N", f32)], grid=1)
    def noisy(x):
        ptx.tcgen05.commit(reg.scalar(u32, init=0), space="cta")

    runtime = Runtime(CudaBackend(FakeDriver(capability=(10, 0))), arrays_of(X))
    for _ in range(2):
        with pytest.warns(UserWarning, match="is refused by ptxas"):
            found = noisy.with_fresh_cache().specialize_for(runtime, {"N": 64})
        assert found.origin == "traced, not cached: it warns"


def test_a_profiler_is_left_alone(own_cache):
    sys.setprofile(profiler := lambda *event: None)
    try:
        assert "a profiler is active" in of(launch(scale, X)[0])
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert not traces(own_cache)
    assert of(launch(scale, X)[0]) == "traced"
    assert sys.getprofile() is None


# differences that only a trace shows ------------------------------------------------------------------------------------


def test_a_text_that_differs_is_reported_and_its_record_deleted(own_cache):
    launch(scale, X)
    (path,) = traces(own_cache)
    record = get_global_cache().get_trace(path.stem)["record"]
    change_trace(record={**record, "text_hash": record["text_hash"]})
    k, _ = launch(scale, X)
    k.last_specialization.source._expected = "0" * 64
    with pytest.warns(RuntimeWarning, match="kernel scale: its Python emits other PTX than in an earlier process"):
        assert "mul" in k.ptx(N=64)
    assert not traces(own_cache)
    assert of(launch(scale, X)[0]) == "traced"


def test_a_value_changed_after_the_launch_is_reported(monkeypatch, own_cache):
    launch(scale, X)
    k, _ = launch(scale, X)
    old = k.last_specialization
    monkeypatch.setitem(scale.declaration.function.__globals__, "FACTOR", 3.0)
    with pytest.warns(RuntimeWarning, match="values that it reads have changed since its launch"):
        assert "0f40400000" in old.emitted.text
    assert traces(own_cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "0f40400000" in k.ptx(N=64)


# files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-9]),
        lambda path: path.write_bytes(b""),
        lambda path: change_trace(record=7),
        lambda path: change_trace(record={}),
        lambda path: change_trace(files=None),
        lambda path: change_trace(files={"reg.py": 3}),
        lambda path: change_trace(tool=[1]),
        lambda path: change_trace(refused=7, files={}),
        lambda path: get_global_cache()._write_record(path.name, {"format": 1, "trace": []}),
        lambda path: get_global_cache()._write_record(path.name, {"format": 0, "trace": {}}),
    ],
    ids="cut empty record fields files sizes tool refusal list format".split(),
)
def test_a_damaged_record_makes_a_new_trace(damage, own_cache):
    launch(scale, X)
    (path,) = traces(own_cache)
    damage(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert of(launch(scale, X)[0]).startswith("traced")


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path):
    folder = tmp_path / "file"
    folder.write_text("not a folder")
    set_global_cache(CubinCache(folder))
    with pytest.warns(RuntimeWarning, match="cannot be used"):
        k, api = launch(scale, X)
    assert of(k) == "traced" and len(api.launches) == 1


def test_a_read_only_folder_is_read(own_cache):
    launch(scale, X)
    files = {path: path.read_bytes() for path in own_cache.iterdir()}
    own_cache.chmod(0o500)
    try:
        assert of(launch(scale, X)[0]) == "trace cache"
    finally:
        own_cache.chmod(0o700)
    assert {path: path.read_bytes() for path in own_cache.iterdir()} == files


def test_threads_that_launch_at_once_leave_one_whole_record(own_cache):
    found = []
    in_threads(lambda number: found.append(of(launch(scale, X)[0])), 8)
    assert len(found) == 8 and set(found) <= {"traced", "trace cache"}
    assert len(traces(own_cache)) == 1
    assert of(launch(scale, X)[0]) == "trace cache"


def test_clearing_and_verifying_know_traces(own_cache):
    launch(scale, X)
    (path,) = traces(own_cache)
    good, bad = get_global_cache().verify()
    assert good >= 2 and not bad
    path.write_bytes(path.read_bytes()[:-1])
    assert get_global_cache().verify()[1] == [path]
    launch(scale, X)
    get_global_cache().clear(disk=True)
    assert not list(own_cache.iterdir())


def test_the_command_lists_traces_with_reasons(capsys):
    @kernel(arch="sm_90a", in_specs=[Tile("N", f32)], grid=1)
    def counts(x):
        SEEN.append(0)

    launch(scale, X)
    launch(counts, X)
    assert main(["cache", "traces"]) == 0
    printed = capsys.readouterr().out
    assert "scale (" in printed and "test_trace_cache.scale): cached, sm_90a\n" in printed
    assert "counts): not cached: it changes values that it reads\n" in printed and "\n2 traces in " in printed
    assert main(["cache", "traces", "--json"]) == 0
    found = {trace["kernel"].split()[0]: trace["refused"] for trace in json.loads(capsys.readouterr().out)["traces"]}
    assert found == {"scale": None, "counts": "it changes values that it reads"}


SCRIPT = """
import sys
import numpy as np
from support.fake_cuda import FakeDriver
from pyptx.runtime import Runtime
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.cuda import CudaBackend
from examples.softmax import softmax
x = np.ones((64, 128), np.float32)
before = set(sys.modules)
softmax.run(Runtime(CudaBackend(FakeDriver()), arrays_of(x)), [x], None, {})
print(softmax.last_specialization.origin, "pyptx.validate._checker" in sys.modules, "pyptx.isa.integer" in sys.modules)
"""


@pytest.mark.slow
def test_another_process_neither_traces_nor_loads_the_table(tmp_path):
    paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    environment = variables({"PYPTX_CACHE_DIR": str(tmp_path)})
    environment["PYTHONPATH"] = os.pathsep.join([*paths, environment["PYTHONPATH"]])
    printed = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**environment, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert not done.returncode, done.stderr
        printed.append(done.stdout.strip())
    assert printed == ["traced True True", "trace cache False False"]
