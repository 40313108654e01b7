"""Launches on another machine, which is this one behind a real sshd; its GPU is the simulator, or a simulated GPU."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from support.sshd import Sshd
from tune.kernels import double, tiled

import pyptx
from pyptx.errors import ArgumentTypeError, RemoteError, SimulationError
from pyptx.remote import backend_at
from pyptx.remote.connection import connect

pytestmark = pytest.mark.slow

X = np.random.default_rng(0).standard_normal(1 << 16, dtype=np.float32)
COUNTER = """
.version 8.5
.target sm_90a
.address_size 64
.visible .global .align 4 .u32 total = 5;
.visible .entry add(.param .u64 out, .param .u32 value) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r0, [value];
    ld.global.u32 %r1, [total];
    add.u32 %r1, %r1, %r0;
    st.global.u32 [total], %r1;
    st.global.u32 [%rd0], %r1;
    ret;
}
"""
FOREVER = """
.version 8.5
.target sm_90a
.address_size 64
.visible .entry forever(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd0, [out];
$again:
    st.volatile.global.u32 [%rd0], %r0;
    bra.uni $again;
}
"""


@pytest.fixture(scope="module")
def far(server: Sshd) -> str:
    return server.address(device="sim")


def test_results_and_counters_equal_those_of_this_machine_and_arrays_are_sent_once(far: str):
    kernel = double()
    here = kernel(X)
    counters = kernel.last_run.counters
    with pyptx.use(far) as chosen:
        there = kernel(X)
        first = kernel.last_run
        assert "simulator" in repr(chosen) and "simulated on ssh://far" in repr(first)
        kernel(X)
        second = kernel.last_run
        kernel(there)  # an output, which is there already
        third = kernel.last_run
    assert here.tobytes() == there.tobytes() and first.counters == counters
    assert first.conditions["bytes_sent"] > 0.8 * X.nbytes > 100_000
    assert second.conditions["bytes_sent"] < 2000 and third.conditions["bytes_sent"] < 2000
    assert kernel(X) is not None and kernel.last_run.host is None


def test_a_later_connection_finds_the_arrays_in_the_far_sides_cache(far: str):
    kernel = double()
    x = X + np.float32(1)
    with pyptx.use(far):
        kernel(x)
        connect(backend_at(far).far.address).close()
        kernel(x)
    assert kernel.last_run.conditions["bytes_sent"] < 3000


def test_arguments_are_written_in_place_and_aliases_stay_aliases(far: str):
    source = COUNTER.replace("st.global.u32 [%rd0], %r1;", "st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+8], %r1;")
    entry = pyptx.load(source)["add"]
    whole = np.zeros(6, np.uint32)
    with pyptx.use(far):
        entry.launch(1, 1, whole[2:], 4)
    assert whole.tolist() == [0, 0, 9, 0, 9, 0]


def test_torch_tensors_in_host_memory_are_arguments(far: str):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X.copy())
    with pyptx.use(far):
        y = double()(x)
    assert isinstance(y, torch.Tensor) and torch.equal(y, 2 * x)


def test_variables_of_a_module_live_on_the_far_side(far: str):
    program, out = pyptx.load(COUNTER), np.zeros(1, np.uint32)
    with pyptx.use(far):
        program["add"].launch(1, 1, out, 1)
        program["add"].launch(1, 1, out, 1)
        assert out[0] == 7 and int(program.variables["total"]) == 7
        program.variables["total"].set(40)
        program["add"].launch(1, 1, out, 2)
    assert out[0] == 42


def test_addresses_of_arrays_are_the_same_there(far: str):
    source = """
.version 8.5
.target sm_90a
.address_size 64
.visible .entry follow(.param .u64 table, .param .u64 out) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd0, [table];
    ld.param.u64 %rd1, [out];
    ld.global.u64 %rd2, [%rd0];
    ld.global.u32 %r0, [%rd2];
    st.global.u32 [%rd1], %r0;
    ret;
}
"""
    value, out = np.array([99], np.uint32), np.zeros(1, np.uint32)
    table = np.array([pyptx.pointer(value)], np.uint64)
    with pyptx.use(far):
        pyptx.load(source)["follow"].launch(1, 1, table, out, reachable=[value])
    assert out[0] == 99


def test_a_fault_there_is_reported_at_the_python_line_here(far: str):
    kernel = double()
    with pytest.raises(SimulationError) as here:
        kernel(X, FAULT="address")
    with pyptx.use(far), pytest.raises(SimulationError) as there:
        kernel(X, FAULT="address")
    assert str(there.value) == str(here.value) and there.value.kind == here.value.kind


def test_tools_that_need_the_simulator_run_here(far: str):
    with pyptx.use(far):
        assert double().check(X[:256]).ok


def test_options_of_this_process_and_unknown_ones_are_refused(far: str):
    with pyptx.use(far):
        with pytest.raises(ArgumentTypeError, match="stream applies to this process only"):
            pyptx.load(COUNTER)["add"].launch(1, 1, np.zeros(1, np.uint32), 1, stream=7)
        with pyptx.use(far, schedule="sideways"), pytest.raises(pyptx.LaunchError, match="schedule"):
            double()(X)


def test_a_simulated_gpu_there_runs_machine_code_assembled_here(server: Sshd):
    kernel = double()
    with pyptx.use(server.address(device="h200")) as chosen:
        y = kernel(X)
    run = kernel.last_run
    assert np.array_equal(y, 2 * X) and run.backend == "cuda" and run.seconds > 0
    assert "H200" in repr(chosen) and "simulated" in repr(chosen) and "H200 SXM (simulated by pyptx)" in repr(run)
    assert run.conditions["simulated"] and run.conditions["driver"]


def test_ctrl_c_interrupts_the_launch_there_and_leaves_the_connection_usable(far: str):
    entry, out = pyptx.load(FOREVER)["forever"], np.zeros(1, np.uint32)
    with pyptx.use(far):
        double()(X)
        before = connect(backend_at(far).far.address)
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            entry.launch(1, 1, out)
        assert time.monotonic() - started < 10
        assert np.array_equal(double()(X), 2 * X) and connect(backend_at(far).far.address) is before


def test_a_lost_connection_is_named_and_the_next_launch_connects_again(server: Sshd, far: str):
    entry, out = pyptx.load(FOREVER)["forever"], np.zeros(1, np.uint32)
    with pyptx.use(far):
        threading.Timer(1.0, server.cut).start()
        with pytest.raises(RemoteError, match=r"the connection to ssh://far.* was lost(.|\n)*hint: the next launch"):
            entry.launch(1, 1, out)
        assert np.array_equal(double()(X), 2 * X)


def test_a_kernel_with_tensor_maps_runs_there(far: str):
    kernel, x = tiled(), np.ones((128, 64), np.float32)
    with pyptx.use(far):
        assert kernel(x)[0] == 1.0 and kernel(x)[0] == 1.0


def test_calls_that_jax_records_run_there(far: str):
    jax = pytest.importorskip("jax")
    kernel = double()
    call = jax.jit(lambda x: kernel(x) + 1)
    with pyptx.use(far):
        y = np.asarray(call(X))
        assert kernel.last_run.host == backend_at(far).name
    assert np.array_equal(y, 2 * X + 1) and np.array_equal(np.asarray(call(X)), y) and kernel.last_run.host is None
