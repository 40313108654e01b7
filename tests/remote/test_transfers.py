"""Large arrays on the way to another machine, and output of kernels on the way back."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from support.sshd import Sshd
from tune.kernels import double

import pyptx
from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import RemoteError
from pyptx.remote import backend_at, transfer_progress
from pyptx.remote.codec import CHUNK, Decoder, Encoder
from pyptx.remote.connection import connect
from pyptx.remote.framing import Stream
from pyptx.remote.transfer_progress import TransferProgress
from pyptx.types import f32

SIZE = CHUNK // 4 * 3  # floats: three chunks


def array(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SIZE, dtype=np.float32)


def test_large_arrays_are_several_parts():
    x, encoder = np.arange(CHUNK // 2, dtype=np.float32), Encoder()
    tree = encoder.encode([x, x[: CHUNK // 4]])
    assert len(encoder.parts) == 2, "both arrays start with the same chunk"
    whole, part = Decoder(encoder.parts.get).decode(tree)
    assert np.array_equal(whole, x) and np.array_equal(part, x[: CHUNK // 4])


def test_progress_is_plain_lines_in_a_log_and_silent_for_short_transfers(capsys, monkeypatch):
    now = iter(range(0, 1000, 5))
    monkeypatch.setattr(transfer_progress.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(sys, "modules", {k: v for k, v in sys.modules.items() if k != "ipykernel"})
    progress = TransferProgress("ssh://far", 100_000_000)
    for _ in range(4):
        progress.add(25_000_000)
    progress.end()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "pyptx: ssh://far: sent 25 of 100 MB, 5.0 MB/s, 15 s left (Ctrl-C keeps what was sent)"
    assert lines[-1].startswith("pyptx: ssh://far: sent 100 of 100 MB") and len(lines) == 3
    monkeypatch.setattr(transfer_progress.time, "monotonic", lambda: 0.0)
    short = TransferProgress("ssh://far", 10)
    short.add(10)
    short.end()
    assert capsys.readouterr().err == ""


def slow_network(monkeypatch: pytest.MonkeyPatch, after: Callable[[int], None]) -> list[int]:
    """Call a function after each large part that this side has sent, with their number; return what was sent of each."""
    send, large = Stream.send, list[int]()

    def sent(self: Stream, message, parts=()):
        send(self, message, parts)
        if message.get("op") == "part":
            large.append(len(parts[0]))
            after(len(large))

    monkeypatch.setattr(Stream, "send", sent)
    return large


@pytest.mark.slow
def test_ctrl_c_during_an_upload_keeps_what_was_sent(server: Sshd, monkeypatch: pytest.MonkeyPatch):
    address, x = server.address(device="sim"), array(1)
    with pyptx.use(address):
        double()(x[:64])
        before = connect(backend_at(address).far.address)

        def after(number: int) -> None:
            if number == 1:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.5)

        large = slow_network(monkeypatch, after)
        with pytest.raises(KeyboardInterrupt):
            double()(x)
        assert connect(backend_at(address).far.address) is before
        assert np.array_equal(double()(x), 2 * x) and len(large) == 4, (
            "each part is sent once; those of the output are equal"
        )


@pytest.mark.slow
def test_a_connection_lost_during_an_upload_keeps_what_has_arrived(server: Sshd, monkeypatch: pytest.MonkeyPatch):
    address, x = server.address(device="sim"), array(2)
    with pyptx.use(address):
        double()(x[:64])

        def after(number: int) -> None:
            if number == 2:
                time.sleep(1)  # they arrive
                server.cut()

        large = slow_network(monkeypatch, after)
        with pytest.raises(RemoteError, match="was lost"):
            double()(x)
        done = len(large)
        assert np.array_equal(double()(x), 2 * x)
        assert done >= 2 and len(large) - done <= 1, "only what had not arrived is sent again"


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=1)
def talk(x, y):
    """Print, and work for a while."""
    (at,) = ptx.global_ptrs(y)
    ptx.printf("first\n")
    value = reg.scalar(f32, 1.0)
    for _ in ptx.range_(0, 16_000_000):
        ptx.inst.st.volatile.global_.f32(ptx.addr(at), value)
    ptx.printf("last\n")


def hears_a_kernel_talk() -> None:
    """Launch `talk` on the backend in use, and require its first line well before its last."""
    seen: list[tuple[float, str]] = []

    class Recorder:
        def write(self, text: str) -> None:
            seen.append((time.monotonic(), text))

        def flush(self) -> None:
            pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", Recorder())
        talk(np.zeros(4, np.float32))
    text = "".join(piece for _, piece in seen)
    assert re.fullmatch(r".*first\n.*last\n", text), text
    assert seen[-1][0] - seen[0][0] > 0.2, "the first line came before the end"


@pytest.mark.slow
def test_output_of_a_kernel_appears_while_it_runs(server: Sshd):
    with pyptx.use(server.address(device="sim")):
        hears_a_kernel_talk()
