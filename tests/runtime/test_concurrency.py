"""Threads and processes that request the same machine code: one compilation, and no partial entries on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.processes import variables
from support.threads import in_threads

from pyptx import Tile, assembly, kernel, ptx, reg
from pyptx.cache import CubinCache, get_global_cache, set_global_cache
from pyptx.types import f32, u32

THREADS, PROCESSES = 8, 4


def new_kernel(constant: float):
    @kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], block=32)
    def shifted(x, y):
        source, target = ptx.global_ptrs(x, y)
        i = reg.from_(ptx.special.tid.x(), u32)
        for pointer in (source, target):
            ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(source))
        ptx.inst.add.rn.f32(value, value, constant)
        ptx.inst.st.global_.f32(ptx.addr(target), value)

    return shifted


@pytest.fixture
def counted(monkeypatch, tmp_path) -> list[str]:
    """Targets that the assembler was asked for, over an empty cache."""
    asked, assemble, before = [], assembly.assemble, get_global_cache()

    def count(text, **options):
        asked.append(options["target"])
        return assemble(text, **options)

    monkeypatch.setattr(assembly, "assemble", count)
    set_global_cache(CubinCache(tmp_path))
    yield asked
    set_global_cache(before)


def test_eight_threads_compile_once_and_get_one_value(counted):
    k, found = new_kernel(1.5), []
    in_threads(lambda _: found.append(k.compile(N=32)))
    assert counted == ["sm_80"] and len({id(one) for one in found}) == 1 and len(k._cache) == 1
    again = new_kernel(1.5)  # the same text: taken from the cache
    in_threads(lambda _: again.compile(N=32))
    assert counted == ["sm_80"] and again.compile(N=32).cubin == found[0].cubin


def test_eight_threads_call_a_kernel_nobody_traced_yet():
    k, x, found = new_kernel(2.5), np.arange(32, dtype=np.float32), {}

    def work(n: int) -> None:
        for _ in range(3):
            found[n] = k(x * n)

    in_threads(work)
    assert len(k._cache) == 1 and all(np.array_equal(found[n], x * n + 2.5) for n in range(THREADS))


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", lambda data: b"\xff" + data[1:]])
def test_a_damaged_entry_is_assembled_again_and_never_loaded(counted, damage):
    first = new_kernel(3.5).compile(N=32)
    (path,) = get_global_cache().cache_dir.glob("*.cubin")
    path.write_bytes(damage(path.read_bytes()))
    set_global_cache(CubinCache(get_global_cache().cache_dir))  # another process: nothing in memory
    assert new_kernel(3.5).compile(N=32).cubin == first.cubin and counted == ["sm_80"] * 2
    assert path.read_bytes() == first.cubin


PROGRAM = """
import sys
from threading import Thread
from pyptx import assembly
from runtime.test_concurrency import THREADS, in_threads, new_kernel
asked, assemble = [], assembly.assemble
def count(text, **options):
    asked.append(options["target"])
    return assemble(text, **options)
assembly.assemble = count
k, found = new_kernel(4.5), []
in_threads(lambda _: found.append(k.compile(N=32)))
assert len({id(one) for one in found}) == 1
print(len(asked), __import__("hashlib").sha256(found[0].cubin).hexdigest())
"""


@pytest.mark.slow
def test_four_processes_of_eight_threads_compile_once_each_and_not_at_all_when_it_is_kept(tmp_path):
    path = ":".join([str(Path(__file__).parents[1]), variables()["PYTHONPATH"]])
    env = variables({"PYPTX_CACHE_DIR": str(tmp_path), "PYTHONPATH": path})

    def together() -> list[tuple[int, str]]:
        running = [
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            for _ in range(PROCESSES)
        ]
        found = []
        for process in running:
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            count, digest = out.split()
            found.append((int(count), digest))
        return found

    cold, warm = together(), together()
    assert all(count <= 1 for count, _ in cold) and sum(count for count, _ in cold) >= 1
    assert [count for count, _ in warm] == [0] * PROCESSES
    assert len({digest for _, digest in cold + warm}) == 1
    good, bad = CubinCache(tmp_path).verify()
    assert (good, bad) == (1, []) and not list(tmp_path.glob(".*"))
