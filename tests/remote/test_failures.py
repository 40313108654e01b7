"""Machines that cannot be used: each failure is named, with what to do about it; and `pyptx remote`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.processes import PACKAGE_PARENT, variables
from support.sshd import Sshd
from tune.kernels import double

import pyptx
from pyptx.errors import BackendError, RemoteError
from pyptx.remote import backend_at
from pyptx.remote.address import Address
from pyptx.remote.protocol import PROTOCOL

pytestmark = pytest.mark.slow

X = np.arange(1 << 12, dtype=np.float32)


@pytest.mark.parametrize(
    "host, options, expected",
    [
        ("refused", {}, "Permission denied.*hint: check user and key"),
        ("stranger", {}, "[Hh]ost key.*hint: connect once with ssh in a terminal"),
        ("no-such-host.invalid", {}, "(?i)could not resolve hostname.*hint: check the name"),
        ("far", {"python": "/nowhere/python"}, r"has no Python \(/nowhere/python was not found\)"),
        ("far", {"python": "/bin/false"}, "/bin/false there ended with status 1 before it answered"),
        ("far", {"device": "cuda:5"}, "(?i)cuda-bindings|driver|no GPU 5"),
        ("far", {"device": "h2000"}, "h2000"),
    ],
    ids=["key", "host-key", "name", "python", "other-program", "gpu", "device"],
)
def test_a_machine_that_cannot_be_used_is_refused_with_the_reason(
    server: Sshd, host: str, options: dict[str, str], expected: str
):
    with pytest.raises((RemoteError, BackendError)) as refused:
        pyptx.use(server.address(host, **options))
    assert re.search(expected, str(refused.value), re.DOTALL), str(refused.value)
    assert pyptx.runtime.chosen()[0] is None


def fake_python(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_far_side_without_pyptx_or_with_another_version_is_told_apart(server: Sshd, tmp_path: Path):
    bare = fake_python(tmp_path, "bare", f'unset PYTHONPATH; exec {shlex.quote(sys.executable)} -I -S "$@"')
    with pytest.raises(RemoteError, match="has no pyptx .*\n*hint: install this version there"):
        pyptx.use(server.address(python=bare))
    old = fake_python(tmp_path, "old", 'echo "Welcome to old"; echo \'pyptx-remote {"pyptx": "0.0.9", "protocol": 1}\'')
    with pytest.raises(RemoteError, match=f"has pyptx 0.0.9; this is pyptx {pyptx.__version__}"):
        pyptx.use(server.address(python=old))
    answer = json.dumps({"pyptx": pyptx.__version__, "protocol": 99})
    other = fake_python(tmp_path, "other", f"echo 'pyptx-remote {answer}'")
    with pytest.raises(RemoteError, match=rf"with protocol 99; this one has {PROTOCOL}\nhint: .*--from"):
        pyptx.use(server.address(python=other))


def test_the_environment_variable_selects_a_machine_for_a_whole_program(server: Sshd):
    program = (
        "import numpy as np, pyptx; from tune.kernels import double; k = double(); "
        "assert (k(np.ones(64, np.float32)) == 2).all(); print(k.last_run)"
    )
    backend = {
        "PYPTX_BACKEND": server.address(device="sim"),
        "PYTHONPATH": f"{PACKAGE_PARENT}:{Path(__file__).parents[1]}",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables() | backend, capture_output=True, text=True, timeout=100
    )
    assert "simulated on ssh://far" in done.stdout, done.stderr


def test_two_users_of_a_gpu_wait_for_each_other_and_see_their_position(server: Sshd):
    """A program holds the simulated GPU; a launch of this one names the holder, and runs when it is free."""
    address = server.address(device="h200")
    queue = backend_at(str(Address.parse(address))).device()["queue"]
    holder = (
        "import sys; from pathlib import Path; from pyptx.remote.device_queue import DeviceQueue\n"
        f"with DeviceQueue({queue!r}, Path({str(server.folder / 'home')!r})).reserved():\n"
        "    print('taken', flush=True); sys.stdin.readline()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables(), text=True
    )
    assert other.stdin and other.stdout and other.stdout.readline() == "taken\n"
    kernel, said = double(), []
    with pyptx.use(address), pytest.MonkeyPatch.context() as patch:
        told = threading.Event()

        def hear(text: str) -> int:
            said.append(text)
            if "waiting for" in text:
                told.set()
            return len(text)

        patch.setattr("sys.stderr.write", hear, raising=False)
        thread = threading.Thread(target=kernel, args=(X,))
        thread.start()
        assert told.wait(30), said
        other.communicate("\n")
        thread.join(60)
    assert f"waiting for {queue}, 1 ahead; in use by" in "".join(said)
    assert kernel.last_run.conditions["queued_seconds"] > 0.1


def test_the_command_line_runs_kernels_there(server: Sshd):
    words = ["run", "examples/softmax.py:softmax", "-p", "M=4", "N=64", "--backend", server.address(device="sim")]
    done = subprocess.run(
        [sys.executable, "-m", "pyptx", *words],
        cwd=Path(__file__).parents[2],
        env=variables({"PYPTX_SSH": server.ssh}),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "ran on the simulator of ssh://far" in done.stdout, done.stderr
