"""Frames, values and parts of the protocol between two machines, over pipes in this process."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from pyptx import TensorMap
from pyptx.errors import ArgumentTypeError, InputError, OptionError, RemoteError
from pyptx.remote import ssh
from pyptx.remote.address import Address
from pyptx.remote.codec import Decoder, Encoder, digest
from pyptx.remote.device_queue import DeviceQueue
from pyptx.remote.framing import Stream
from pyptx.remote.memory import Ranges, restored
from pyptx.remote.parts import PartStore
from pyptx.remote.serve import Server
from pyptx.sim.counters import Counters
from pyptx.tune.correctness import Tolerance


@pytest.mark.parametrize(
    "text, written",
    [
        ("Big-Host", "ssh://Big-Host"),
        ("ssh://ann@gpu:2222", "ssh://ann@gpu:2222"),
        ("ssh://gpu?device=cuda:1", "ssh://gpu?device=cuda:1"),
        ("ssh://[::1]:22", "ssh://[::1]:22"),
        ("dask://scheduler:8786", "dask://scheduler:8786"),
    ],
)
def test_an_address_is_written_as_it_is_read(text: str, written: str):
    assert str(Address.parse(text)) == written
    assert Address.parse(written) == Address.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://host",
        "ssh://",
        "ssh://-oProxyCommand=x",
        "ssh://-l@host",
        "ssh://u:secret@host",
        "ssh://h?x=1",
        "ssh://h:99999",
    ],
)
def test_what_is_no_address_is_refused(text: str):
    with pytest.raises(OptionError):
        Address.parse(text)


def test_words_of_an_address_do_not_become_options_or_commands_of_a_shell():
    line = ssh.command(
        Address.parse("ssh://gpu", {"python": "x'; touch /tmp/y; '"}), ssh.far_python(Address.parse("gpu"))
    )
    assert line[-3:-1] == ["--", "gpu"]
    script = ssh.far_python(Address.parse("ssh://gpu", {"python": "a b;c"}))
    assert "python='a b;c'" in script


def round_trip(value):
    encoder = Encoder()
    tree = json.loads(json.dumps(encoder.encode(value)))
    return Decoder(encoder.parts.get).decode(tree)


def test_values_arrive_as_they_were_sent():
    array = np.arange(300, dtype=np.float16).reshape(3, 100)
    value = {
        "a": (1, -2.5, float("inf"), None, True, b"\0x"),
        3: [np.float32(0.1), np.dtype("int8")],
        "t": Tolerance(1e-3),
    }
    found = round_trip(value)
    assert found == value and isinstance(found["a"], tuple) and found[3][0].dtype == np.float32
    assert np.array_equal(round_trip(array), array) and round_trip(array).dtype == array.dtype
    assert round_trip(np.zeros((0, 3), np.int32)).shape == (0, 3)
    counters = Counters.zeros(3)
    assert round_trip(counters) == counters


def test_nothing_but_listed_types_is_sent_or_made():
    with pytest.raises(ArgumentTypeError, match=r"io\.StringIO cannot be sent"):
        Encoder().encode(io.StringIO())
    for tree in (
        {"~": "Path", "fields": {}},
        {"~": "array", "dtype": "object", "shape": [1], "data": "AAAAAAAAAAA="},
        {"~": "array", "dtype": "int32", "shape": [9], "data": "AAAA"},
        {"~": "Tolerance", "fields": {"nothing": 1}},
        {"no": "tag"},
    ):
        with pytest.raises(InputError):
            Decoder({}.get).decode(tree)


def test_a_frame_is_compressed_and_its_parts_are_not_confused():
    source, target = os.pipe()
    near, far = Stream(io.BytesIO(), os.fdopen(target, "wb")), Stream(os.fdopen(source, "rb"), io.BytesIO())
    noise = np.random.default_rng(0).bytes(100_000)
    sender = threading.Thread(target=near.send, args=({"x": 1}, [bytes(1 << 20), noise, b""]))
    sender.start()
    message, parts = far.receive()
    sender.join()
    assert message == {"x": 1} and parts == [bytes(1 << 20), noise, b""]
    assert 100_000 < near.sent == far.received < 120_000


@pytest.mark.parametrize("data", [b"Welcome to this machine!\n" * 9, b"\0" * 9, bytes([255]) * 40])
def test_bytes_that_are_no_frame_are_refused(data: bytes):
    with pytest.raises((InputError, RemoteError)):
        Stream(io.BytesIO(data), io.BytesIO()).receive()


def test_arrays_that_share_memory_share_it_on_the_other_side():
    whole = np.arange(64, dtype=np.int32)
    args = [whole[:32], whole[16:48], np.ones(4, np.uint8), whole[:0], 7, TensorMap(whole.reshape(8, 8), (4, 4))]
    ranges = Ranges(args)
    assert sorted(one.nbytes for one in ranges.bytes) == [4, 256]
    memory = [one.copy() for one in ranges.bytes]
    first, second, ones, empty, seven, tensor = [restored(round_trip(ranges.plain(arg)), memory) for arg in args]
    assert np.array_equal(second, whole[16:48]) and ones.tolist() == [1] * 4 and seven == 7 and empty.shape == (0,)
    first[20] = -1
    assert second[4] == -1 and tensor.source[2, 4] == -1 and whole[20] == 20
    assert tensor == TensorMap(tensor.source, (4, 4))


def test_parts_are_found_by_later_connections_and_damaged_ones_are_not(tmp_path: Path):
    data = bytes(range(256)) * 100
    name = PartStore(tmp_path).put(data)
    later = PartStore(tmp_path)
    assert name == digest(data) and later.missing([name, "0" * 64]) == ["0" * 64] and later.get(name) == data
    (tmp_path / name[:2] / name).write_bytes(b"other")
    assert PartStore(tmp_path).get(name) is None


def test_the_least_recently_used_parts_are_evicted(tmp_path: Path):
    store = PartStore(tmp_path, in_memory=3000, on_disk=50_000)
    names = [store.put(bytes([k]) * 20_000) for k in range(4)]
    assert store.missing(names) and not store.missing(names[-1:])
    assert sum(path.stat().st_size for path in tmp_path.glob("??/*")) <= 50_000


def test_a_device_has_one_user_at_a_time_in_the_order_of_arrival(tmp_path: Path):
    queue, order, reports = DeviceQueue("GPU 0", tmp_path), [], []

    def use(number: int) -> None:
        with queue.reserved(lambda ahead, holder: reports.append((number, ahead, holder))):
            order.append(number)

    with queue.reserved():
        users = []
        for number in range(3):
            users.append(threading.Thread(target=use, args=(number,)))
            users[-1].start()
            while len(queue.holders()) < number + 2:
                pass
        assert not order
    for user in users:
        user.join()
    assert order == [0, 1, 2] and not queue.holders()
    assert (2, 3) in {report[:2] for report in reports} and "in use by" in reports[0][2]


def test_a_ticket_of_a_process_that_has_ended_does_not_block(tmp_path: Path):
    queue = DeviceQueue("GPU 0", tmp_path)
    with queue.reserved():
        pass
    (tmp_path / "pyptx-queue" / "GPU-0.00000007").write_text("{}")  # not locked
    with queue.reserved() as waited:
        assert waited < 5 and len(queue.holders()) == 1


def test_a_far_side_ends_when_nothing_arrives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    ended = threading.Event()
    monkeypatch.setattr("pyptx.remote.serve.SILENT_S", 0.5)
    monkeypatch.setattr("os._exit", lambda status: ended.set())
    source, target = os.pipe()
    server = Server(Stream(os.fdopen(source, "rb"), io.BytesIO()), PartStore(tmp_path))
    thread = threading.Thread(target=server.run)
    thread.start()
    assert ended.wait(10)
    os.close(target)
    thread.join(10)
