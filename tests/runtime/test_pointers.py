"""Addresses of arrays in tables in memory: `pyptx.pointer`, and the arrays that a launch is given with `reachable=`."""

from __future__ import annotations

import numpy as np
import pytest
from support.fake_cuda import FakeDriver

import pyptx
from pyptx import LaunchConfig, Tile, kernel, ptx, reg
from pyptx.errors import ArgumentTypeError, LaunchError, SimulationError
from pyptx.runtime.cuda.arrays import DeviceArray
from pyptx.runtime.cuda.driver import Driver
from pyptx.sim.memory import pointers
from pyptx.sim.memory.pointers import Pointers
from pyptx.types import u32, u64


@kernel(arch="sm_80", in_specs=[Tile("G", u64)], out_specs=[Tile("G", u32)], grid=1, block=lambda G: G)
def increment(table, y):
    """y[g] is the first element of array g before it is incremented."""
    thread = reg.from_(ptx.special.tid.x(), u32)
    table_at, y_at = ptx.global_ptrs(table, y)
    x_at, value, more = reg.scalar(u64), reg.scalar(u32), reg.scalar(u32)
    ptx.inst.ld.global_.u64(x_at, ptx.addr(table_at + thread * 8))
    ptx.inst.ld.global_.u32(value, ptx.addr(x_at))
    ptx.inst.add.u32(more, value, 1)
    ptx.inst.st.global_.u32(ptx.addr(x_at), more)
    ptx.inst.st.global_.u32(ptx.addr(y_at + thread * 4), value)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.uint32)


def table_of(*arrays) -> np.ndarray:
    return np.array([pyptx.pointer(array) for array in arrays], np.uint64)


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_kernel_follows_pointers_to_the_arrays_it_is_given(engine):
    a, b = numbers(5, 6), numbers(7)
    assert list(increment(table_of(a, b), reachable=[a, b], engine=engine)) == [5, 7]
    assert (list(a), list(b)) == ([6, 6], [8])
    config = LaunchConfig(1, 2, options={"engine": engine}, reachable=[b, a])
    increment.launch(config, table_of(b, a), out := np.zeros(2, np.uint32))
    assert list(out) == [8, 6]


def test_calls_that_the_launch_cache_has_keep_addresses_too():
    tables = [table_of(numbers(0)) for _ in range(3)]
    for table in tables:  # each table points to itself, an argument; the second call is a cached one
        table[0] = pyptx.pointer(table)
        low = int(table[0]) & 0xFFFFFFFF
        assert list(increment(table)) == [low] and int(table[0]) & 0xFFFFFFFF == low + 1


def test_an_array_that_a_launch_was_not_given_is_named():
    a, b = numbers(5), numbers(7)
    with pytest.raises(SimulationError, match=r"not given an array of shape \(1,\) and dtype uint32.*py:\d+") as found:
        increment(table_of(a, b), reachable=[a])
    assert found.value.hint == "pass the array: reachable=[...]"


def test_the_address_of_an_array_that_was_freed_is_named():
    table = table_of(numbers(5))
    with pytest.raises(SimulationError, match="freed or resized since"):
        increment(table)


def test_checks_and_the_debugger_run_on_copies_at_the_same_addresses():
    a, b = numbers(5), numbers(7)
    assert increment.check(table_of(a, b), reachable=[a, b]).ok
    report = increment.check(table_of(a, a), reachable=[a], random=0)
    assert not report.ok and "reachable[0]" in report.findings[0].message
    session = increment.debug(table_of(a, b), reachable=[a, b])
    session.resume()
    assert list(session.evaluate("y")) == [5, 7] and (list(a), list(b)) == ([5], [7])
    assert increment.estimate(table_of(a, b), reachable=[a, b]).seconds > 0


def test_views_have_addresses_within_their_array():
    rows = np.arange(12, dtype=np.uint32).reshape(3, 4)
    table = table_of(rows[1], rows[2])
    assert table[1] - table[0] == 16
    for given in ([rows], [rows[1], rows[2]], [rows[2], rows, rows[1]]):
        assert increment.check(table, reachable=given, random=0).ok
        increment(table, reachable=given)
    assert rows[1, 0] == 4 + 3 and rows[2, 0] == 8 + 3
    with pytest.raises(LaunchError, match=r"reachable\[0\] and reachable\[1\] overlap in part"):
        increment(table, reachable=[rows[:2], rows[1:]])


def test_torch_tensors_keep_their_address_until_their_memory_is_replaced():
    torch = pytest.importorskip("torch")
    a, b = torch.tensor([5, 6], dtype=torch.int32), torch.tensor([7], dtype=torch.int32)
    entry = pyptx.load(increment.ptx(G=2))["increment"]
    table, out = torch.tensor([pyptx.pointer(a), pyptx.pointer(b)]), torch.zeros(2, dtype=torch.int32)
    entry.launch(1, 2, table, out, reachable=[a[:1], b])
    assert out.tolist() == [5, 7] and a.tolist() == [6, 6]
    assert pyptx.pointer(a[1:]) == pyptx.pointer(a) + 4
    b.set_(torch.zeros(1, dtype=torch.int32))
    with pytest.raises(SimulationError, match="freed or resized since"):
        entry.launch(1, 2, table, out, reachable=[a, b])


def test_an_array_on_a_gpu_has_its_device_address_also_on_the_simulator(monkeypatch):
    driver = Driver(FakeDriver())
    monkeypatch.setattr("pyptx.runtime.cuda.ARRAYS._driver", driver)
    a, out = DeviceArray.of(driver, 0, numbers(5)), DeviceArray.of(driver, 0, numbers(0))
    assert pyptx.pointer(a) == a.address
    table = DeviceArray.of(driver, 0, table_of(a))
    increment.launch(1, 1, table, out, reachable=[a], backend="sim")
    assert (list(out.get()), list(a.get())) == ([5], [6])


@pytest.mark.parametrize(
    "value",
    [7, [1.0], np.float32(1), np.zeros((4, 4))[:, 1], np.array([object()]), None],
    ids=["int", "list", "NumPy number", "strided", "dtype object", "None"],
)
def test_what_has_no_address_is_refused(value):
    with pytest.raises(LaunchError, match=r"pyptx\.pointer"):
        pyptx.pointer(value)


def test_traced_arrays_have_no_address():
    jax = pytest.importorskip("jax")
    with pytest.raises(ArgumentTypeError, match="traced"):
        jax.jit(pyptx.pointer)(numbers(1))


def test_empty_arrays_have_address_zero():
    assert pyptx.pointer(np.zeros(0)) == 0


@pytest.mark.parametrize("given", [numbers(1), 7, [7]], ids=str)
def test_reachable_takes_a_list_of_arrays(given):
    with pytest.raises(ArgumentTypeError, match="reachable"):
        increment(table_of(numbers(1)), reachable=given)


def test_addresses_are_reused_when_there_are_no_others(monkeypatch):
    monkeypatch.setattr(pointers, "POINTER_END", pointers.POINTER_START + 4 * pointers.GAP)
    found = Pointers()
    first, second, third = (np.zeros(4) for _ in range(3))

    def take(array):
        start = array.__array_interface__["data"][0]
        return found.allocate(array, pointers._extent, start, array.nbytes, "an array", None)

    kept = take(first)
    assert take(second) == take(second) != kept
    with pytest.raises(LaunchError, match="no simulated addresses are left"):
        take(third)
    freed = take(second)
    del second
    assert take(third) == freed and take(first) == kept
