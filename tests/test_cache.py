"""The cache of cubins: stored results, damaged entries, and folders that cannot be read or written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.processes import python, variables
from support.threads import in_threads

from pyptx import cache as cache_module
from pyptx.cache import CacheEntry, CacheKey, CubinCache, get_global_cache, set_global_cache

KEY = CacheKey("f", {"M": 64, "N": 128}, ((64, 128), (128,)), "sm_90a")


def entry(key: CacheKey = KEY, size: int = 100) -> CacheEntry:
    return CacheEntry(key, "// text é\n", bytes(range(256)) * (size // 256 + 1), {"resources": {"k": {"registers": 8}}})


# keys -----------------------------------------------------------------------------------------------------------------


def test_a_key_has_32_hexadecimal_digits_in_every_process():
    program = (
        "from pyptx.cache import CacheKey\n"
        "print(CacheKey('f', {'N': 128, 'M': 64}, [[64, 128], [128]], 'sm_90a').hash())"
    )
    for seed in ("1", "2"):
        assert python("-c", program, env={"PYTHONHASHSEED": seed}).stdout.strip() == KEY.hash()
    assert len(KEY.hash()) == 32 and int(KEY.hash(), 16) >= 0


@pytest.mark.parametrize(
    "other",
    [
        CacheKey("g", KEY.template_kwargs, KEY.input_shapes, KEY.arch),
        CacheKey("f", {"M": 64, "N": "128"}, KEY.input_shapes, KEY.arch),
        CacheKey("f", KEY.template_kwargs, ((64, 128), (129,)), KEY.arch),
        CacheKey("f", KEY.template_kwargs, KEY.input_shapes, "sm_90"),
        CacheKey("f", {"M": 64, "N": 128, "K": 1}, KEY.input_shapes, KEY.arch),
    ],
)
def test_everything_in_a_key_counts(other):
    assert other.hash() != KEY.hash()


def test_pairs_and_mappings_are_the_same_key_and_keys_can_be_hashed():
    assert CacheKey("f", (("N", 128), ("M", 64)), KEY.input_shapes, "sm_90a").hash() == KEY.hash()
    assert hash(CacheKey("f", {"M": 64, "N": 128}, KEY.input_shapes, "sm_90a")) == hash(KEY)


# keeping --------------------------------------------------------------------------------------------------------------


def test_what_was_put_is_there_for_another_process(tmp_path):
    CubinCache(tmp_path).put(entry())
    fresh = CubinCache(tmp_path)
    assert KEY in fresh
    assert fresh.get(KEY) == entry()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cubin", ".json", ".ptx"]
    assert {path.stem for path in tmp_path.iterdir()} == {KEY.hash()}


def test_without_a_folder_only_memory_keeps(tmp_path):
    cache = CubinCache(tmp_path, enable_disk=False)
    cache.put(entry())
    assert cache.get(KEY) == entry() and len(cache) == 1
    assert list(tmp_path.iterdir()) == []
    assert CubinCache(tmp_path, enable_disk=False).get(KEY) is None


def test_clear_forgets_and_deletes_only_its_own_files(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    cache = CubinCache(tmp_path)
    cache.put(entry())
    cache.clear()
    assert len(cache) == 0 and KEY in cache  # read from disk again
    cache.clear(disk=True)
    assert KEY not in cache
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@given(text=st.text(), data=st.binary(), about=st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_any_content_comes_back_as_it_was(tmp_path_factory, text, data, about):
    folder = tmp_path_factory.mktemp("any")
    try:
        text.encode()
    except UnicodeEncodeError:
        return  # half of a surrogate pair is no text
    kept = CacheEntry(KEY, text, data, about)
    CubinCache(folder).put(kept)
    assert CubinCache(folder).get(KEY) == kept


# believing ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".ptx", ".cubin", ".json"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff" + path.read_bytes()[1:]),
        lambda path: path.unlink(),
    ],
    ids=["cut", "emptied", "changed", "gone"],
)
def test_a_damaged_entry_is_a_miss(tmp_path, suffix, damage):
    CubinCache(tmp_path).put(entry())
    damage(tmp_path / (KEY.hash() + suffix))
    cache = CubinCache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(entry())  # and can be written again
    assert CubinCache(tmp_path).get(KEY) == entry()


@pytest.mark.parametrize(
    "about",
    [
        "[]",
        "{}",
        '{"format": 0, "sha256": {}, "metadata": {}}',
        '"x"',
        "null",
        '{"format": 1, "sha256": 7, "metadata": {}}',
        '{"format": 1, "sha256": {"ptx": "", "../x": ""}, "metadata": {}}',
    ],
)
def test_another_programs_json_is_a_miss(tmp_path, about):
    CubinCache(tmp_path).put(entry())
    (tmp_path / (KEY.hash() + ".json")).write_text(about)
    assert CubinCache(tmp_path).get(KEY) is None


def test_a_disassembly_is_checked_too(tmp_path):
    cache, name, columns = CubinCache(tmp_path), "0" * 32, {"entry": ["k"], "address": [0]}
    cache.put_sass(name, "nvdisasm 13.5", columns)
    assert cache.get_sass(name, "nvdisasm 13.5") == columns
    assert cache.get_sass(name, "nvdisasm 13.6") is None
    assert cache.get_sass("1" * 32, "nvdisasm 13.5") is None
    path = tmp_path / f"{name}.sass"
    path.write_bytes(path.read_bytes().replace(b'"k"', b'"l"'))
    assert cache.get_sass(name, "nvdisasm 13.5") is None


# size -----------------------------------------------------------------------------------------------------------------


def keys(count: int) -> list[CacheKey]:
    return [CacheKey(f"f{number}") for number in range(count)]


def test_the_least_recently_used_goes_first(tmp_path):
    first, *others, last = keys(12)
    for number, key in enumerate([first, *others]):
        CubinCache(tmp_path).put(entry(key, 4096))
        for path in tmp_path.glob(f"{key.hash()}.*"):
            os.utime(path, (1_000_000 + number, 1_000_000 + number))
    assert CubinCache(tmp_path).get(first)  # the oldest, but used just now
    small = CubinCache(tmp_path, max_bytes=40_000)
    small.put(entry(last, 4096))
    assert 20_000 < small.disk_bytes() <= 40_000
    fresh = CubinCache(tmp_path)
    assert first in fresh and last in fresh and others[-1] in fresh
    assert others[0] not in fresh and others[1] not in fresh


def test_memory_is_bounded_too(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_IN_MEMORY", 4)
    cache = CubinCache(tmp_path, enable_disk=False)
    for key in keys(10):
        cache.put(entry(key))
    assert len(cache) == 4
    assert keys(10)[-1] in cache


def test_files_of_a_process_that_died_are_swept_up(tmp_path):
    old, new = (tmp_path / f".{'0' * 32}.cubin.{number}-1.tmp" for number in (1, 2))
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (1, 1))
    CubinCache(tmp_path).put(entry())
    assert not old.exists() and new.exists()


def test_the_limit_may_be_told(tmp_path, monkeypatch):
    for told, most in {"": 1 << 30, "5000": 5000, "3K": 3072, "2 GiB": 2 << 30, "1m": 1 << 20, "0": 0}.items():
        monkeypatch.setenv("PYPTX_CACHE_BYTES", told)
        assert CubinCache(tmp_path).max_bytes == most
    monkeypatch.setenv("PYPTX_CACHE_BYTES", "much")
    with pytest.raises(ValueError, match="PYPTX_CACHE_BYTES=much: expected a number of bytes"):
        CubinCache(tmp_path)
    monkeypatch.setenv("PYPTX_CACHE_BYTES", "20000")
    for key in keys(12):
        CubinCache(tmp_path).put(entry(key, 4096))
        assert CubinCache(tmp_path).disk_bytes() <= 20000


def test_verifying_deletes_what_is_damaged_and_nothing_else(tmp_path):
    cache, (first, second, third) = CubinCache(tmp_path), keys(3)
    for key in (first, second, third):
        cache.put(entry(key))
    cache.put_sass("0" * 32, "nvdisasm", {"entry": []})
    (tmp_path / "notes.txt").write_text("mine")
    assert cache.verify() == (4, [])
    damaged = tmp_path / f"{second.hash()}.cubin"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (tmp_path / f"{third.hash()}.json").unlink()  # half an entry: somebody may be writing it
    (tmp_path / f"{'0' * 32}.sass").write_bytes(b"half")
    good, bad = cache.verify()
    assert good == 1 and {path.name for path in bad} == {
        f"{'0' * 32}.sass",
        *(f"{second.hash()}.{part}" for part in ("ptx", "cubin", "json")),
    }
    os.utime(tmp_path / f"{third.hash()}.ptx", (1, 1))
    assert [path.name for path in cache.verify()[1]] == [f"{third.hash()}.ptx"]
    fresh = CubinCache(tmp_path)
    assert first in fresh and second not in fresh and (tmp_path / "notes.txt").exists()


# trouble --------------------------------------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = CubinCache(tmp_path / "file" / "cache")
    with pytest.warns(RuntimeWarning, match="cannot be used .*PYPTX_CACHE_DIR") as caught:
        cache.put(entry())
        cache.put(entry(CacheKey("g")))
    assert len(caught) == 1
    assert cache.get(KEY) == entry()  # memory still works


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_folder_that_may_only_be_read_is_read(tmp_path):
    CubinCache(tmp_path).put(entry())
    tmp_path.chmod(0o500)
    try:
        cache = CubinCache(tmp_path)
        assert cache.get(KEY) == entry()
        with pytest.warns(RuntimeWarning, match="cannot be used"):
            cache.put(entry(CacheKey("g")))
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("failing", ["replace", "scandir"])
def test_a_disk_that_fails_costs_one_warning(tmp_path, monkeypatch, failing):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_module.os, failing, fail)
    cache = CubinCache(tmp_path)
    with pytest.warns(RuntimeWarning, match="No space left on device") as caught:
        cache.put(entry())
        cache.put(entry(CacheKey("g")))
    assert len(caught) == 1
    monkeypatch.undo()
    assert not list(tmp_path.glob(".*"))


def test_a_missing_folder_is_no_trouble(tmp_path):
    cache = CubinCache(tmp_path / "not" / "yet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.get(KEY) is None
        cache.clear(disk=True)
        cache.put(entry())
    assert (tmp_path / "not" / "yet").is_dir()


# together -------------------------------------------------------------------------------------------------------------

WORKER = """
import sys
from pyptx.cache import CacheEntry, CacheKey, CubinCache
cache = CubinCache(sys.argv[1], max_bytes=200_000)
for round in range(40):
    for number in range(12):
        key = CacheKey(f"f{number}")
        found = cache.get(key)
        assert found is None or found.cubin_bytes == bytes([number]) * 9000, number
        cache.put(CacheEntry(key, f"// {number}", bytes([number]) * 9000))
        cache.clear()
"""


def test_processes_share_a_folder(tmp_path):
    results = []
    in_threads(lambda k: results.append(python("-W", "error", "-c", WORKER, str(tmp_path))), 4)
    assert [result.returncode for result in results] == [0] * 4, results
    assert not list(tmp_path.glob(".*"))


WRITER = """
import sys
from pyptx.cache import CacheEntry, CacheKey, CubinCache
cache, number = CubinCache(sys.argv[1]), 0
print("ready", flush=True)
while True:
    cache.put(CacheEntry(CacheKey(f"f{number % 50}"), f"// {number % 50}", bytes([number % 50]) * 200_000))
    number += 1
"""


def test_a_process_killed_while_it_writes_loses_nothing(tmp_path):
    kept = [CacheKey(f"before{number}") for number in range(5)]
    for key in kept:
        CubinCache(tmp_path).put(entry(key))
    for delay in (0.0, 0.013, 0.05):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], env=variables(), stdout=subprocess.PIPE
        )
        writer.stdout.readline()
        time.sleep(delay)
        writer.kill()
        assert writer.wait() == -9
        writer.stdout.close()
        cache = CubinCache(tmp_path)
        assert all(cache.get(key) == entry(key) for key in kept)
        for number in range(50):
            found = cache.get(CacheKey(f"f{number}"))
            assert found is None or found.cubin_bytes == bytes([number]) * 200_000, number
    assert cache.verify()[1] == []  # half an entry may be somebody's who is writing it
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    cache.verify()
    cache.put(entry(CacheKey("last")))
    assert not list(tmp_path.glob(".*")) and all(key in CubinCache(tmp_path) for key in kept)


# the global one -------------------------------------------------------------------------------------------------------


def test_the_global_cache_can_be_replaced(tmp_path):
    mine = CubinCache(tmp_path)
    before = get_global_cache()
    try:
        set_global_cache(mine)
        assert get_global_cache() is mine
    finally:
        set_global_cache(before)


def test_the_folder_is_the_variables_or_the_systems(tmp_path):
    program = "from pyptx import cache; print(cache.DEFAULT_CACHE_DIR); print(cache.CubinCache().cache_dir)"
    told = python("-c", program, env={"PYPTX_CACHE_DIR": str(tmp_path / "here")})
    assert told.stdout.split() == [str(tmp_path / "here")] * 2
    if sys.platform == "linux":
        own = python("-c", program, env={"PYPTX_CACHE_DIR": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": ""})
        assert own.stdout.split() == [str(tmp_path / ".cache" / "pyptx")] * 2


def test_nothing_is_pickled():
    assert "pickle" not in Path(cache_module.__file__).read_text().replace("unpickled", "")


def test_metadata_is_json(tmp_path):
    CubinCache(tmp_path).put(entry())
    kept = json.loads((tmp_path / f"{KEY.hash()}.json").read_text())
    assert kept["metadata"] == {"resources": {"k": {"registers": 8}}}


@pytest.mark.parametrize(
    "about",
    [
        b"[" * 100_000,
        b'{"format": 1, "sha256": {"ptx": 3}, "metadata": 3}',
        b'{"format": 1}',
        b"\xff\xfe{}",
        b'"text"',
    ],
    ids=["nested", "list", "keys", "utf-8", "text"],
)
def test_a_damaged_description_is_deleted_with_a_warning(tmp_path: Path, about: bytes):
    CubinCache(tmp_path).put(CacheEntry(KEY, "text", b"cubin"))
    (tmp_path / f"{KEY.hash()}.json").write_bytes(about)
    with pytest.warns(RuntimeWarning, match=r"the cache entry .* is damaged"):
        assert CubinCache(tmp_path).get(KEY) is None
    assert not (tmp_path / f"{KEY.hash()}.json").exists()


def test_the_folder_is_private(tmp_path: Path):
    CubinCache(tmp_path / "new").put(CacheEntry(KEY, "text", b"cubin"))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_the_default_folder_of_an_older_version_is_made_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PYPTX_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache_module.DEFAULT_CACHE_DIR
    folder.mkdir(parents=True, mode=0o755)
    CubinCache().put(CacheEntry(KEY, "text", b"cubin"))
    assert folder.stat().st_mode & 0o777 == 0o700
