"""The store: shared by processes, and its behavior when the file cannot be read or written."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path

import pytest
from support.processes import variables
from support.threads import in_threads

from pyptx.store import Store, default_store, get_blob, put_blob

LABEL = "INSERT OR REPLACE INTO labels VALUES ('k', ?, 1)"
VERSION = "INSERT OR IGNORE INTO versions VALUES (1, 'k', 1, 'x', 0, 0, '{}', '', '', '', '', '', NULL)"


def labels(store: Store) -> list[str]:
    return [row[0] for row in store.read(lambda c: c.execute("SELECT label FROM labels ORDER BY label").fetchall())]


def add(store: Store, label: str) -> None:
    def change(connection):
        connection.execute(VERSION)
        connection.execute(LABEL, (label,))

    store.write(change)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "pyptx.sqlite"


def test_what_is_written_is_read_by_another_store_of_the_same_file(path: Path):
    add(Store(path), "a")
    assert labels(Store(path)) == ["a"]


def test_a_blob_comes_back_and_equal_blobs_are_one(path: Path):
    store, data = Store(path), b"text " * 1000
    names = {store.write(lambda c: put_blob(c, data)) for _ in range(2)}
    [name] = names
    assert store.read(lambda c: get_blob(c, name)) == data
    assert 0 < store.used_bytes() < len(data)
    assert store.read(lambda c: get_blob(c, "0" * 64)) is None


@pytest.mark.parametrize("damage", [b"nothing packed", None])
def test_a_damaged_blob_is_none(path: Path, damage: bytes | None):
    store = Store(path)
    name = store.write(lambda c: put_blob(c, b"one"))
    other = store.write(lambda c: put_blob(c, b"two"))
    if damage is None:  # a blob that unpacks to something else
        store.write(lambda c: c.execute("UPDATE blobs SET data = (SELECT data FROM blobs WHERE hash = ?)", (other,)))
    else:
        store.write(lambda c: c.execute("UPDATE blobs SET data = ? WHERE hash = ?", (damage, name)))
    assert store.read(lambda c: get_blob(c, name)) is None


def test_a_change_that_raises_leaves_nothing(path: Path):
    store = Store(path)
    add(store, "a")

    def change(connection):
        connection.execute(LABEL, ("b",))
        raise KeyError("stop")

    with pytest.raises(KeyError):
        store.write(change)
    assert labels(store) == ["a"]


def test_wrong_sql_is_an_error_and_not_a_damaged_file(path: Path):
    store = Store(path)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        store.read(lambda c: c.execute("SELECT * FROM missing"))
    assert list(path.parent.glob("*damaged*")) == []


def test_threads_may_share_a_store(path: Path):
    store = Store(path)
    in_threads(lambda k: [add(store, f"{k}.{i}") for i in range(10)], 4)
    assert len(labels(store)) == 40


WRITER = """
import sys
sys.path.insert(0, {tests!r})
from test_store import Store, add
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    add(Store(sys.argv[1]), f"{{sys.argv[2]}}{{i}}")
"""


def test_processes_that_make_the_file_at_once_lose_nothing(path: Path):
    script = WRITER.format(tests=str(Path(__file__).parent))
    writers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, str(path), name],
            env=variables(),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in "abc"
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, "")
    assert labels(Store(path)) == sorted(f"{name}{i}" for name in "abc" for i in range(40))


def test_a_forked_process_may_go_on(path: Path):
    store = Store(path)
    add(store, "a")
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this system")
    child = os.fork()
    if child == 0:
        add(store, "b")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert labels(store) == ["a", "b"]


# files that cannot be used --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"this is no database, and long enough for one\n" * 100, b"SQLite format 3\0"])
def test_a_damaged_file_is_set_aside_and_a_new_one_begins(path: Path, content: bytes):
    path.parent.mkdir()
    path.write_bytes(content)
    store = Store(path)
    with pytest.warns(RuntimeWarning, match=r"is damaged .*renamed to pyptx\.sqlite\.damaged-"):
        add(store, "a")
    assert labels(Store(path)) == ["a"]
    [aside] = path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == content


def test_pages_damaged_in_the_middle_are_noticed_when_they_are_read(path: Path):
    store = Store(path)
    add(store, "a")
    size = path.stat().st_size
    with path.open("r+b") as file:  # all but the first page, which holds the schema
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    with pytest.warns(RuntimeWarning, match="is damaged"):
        assert labels(store) == []
    add(store, "b")
    assert labels(Store(path)) == ["b"]
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


def test_a_damaged_file_is_set_aside_once_by_several_processes(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"no database " * 1000)
    script = WRITER.format(tests=str(Path(__file__).parent))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), name],
            env=variables(),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in "ab"
    ]
    for writer in writers:
        writer.stdout.readline()
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    errors = [writer.communicate(timeout=120)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], errors
    assert len(labels(Store(path))) == 80
    assert len([name for name in path.parent.iterdir() if "damaged" in name.name]) == 1


def test_a_file_of_a_newer_pyptx_is_left_alone(path: Path):
    add(Store(path), "a")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    store = Store(path)
    with pytest.warns(RuntimeWarning, match="written by a newer version of pyptx: schema 99"):
        add(store, "b")
    assert labels(store) == ["b"]
    assert path.read_bytes() == before


@pytest.fixture
def read_only(path: Path):
    """The folder of a file that may only be read, as root sees it too: the opening is refused."""
    add(Store(path), "a")
    path.parent.chmod(0o555)
    path.chmod(0o444)
    yield path
    path.parent.chmod(0o755)
    path.chmod(0o644)


def test_a_read_only_folder_gives_what_it_has_and_keeps_new_things_in_memory(read_only: Path, monkeypatch):
    if os.access(read_only, os.W_OK):  # root may write everywhere: let SQLite refuse as it would

        def refused(self):
            connection = sqlite3.connect(f"{read_only.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
            return connection

        monkeypatch.setattr(Store, "_open", refused)
    store = Store(read_only)
    with pytest.warns(RuntimeWarning, match=r"cannot be used .*in memory and lost when this process ends") as told:
        add(store, "b")
        add(store, "c")
    assert len(told) == 1
    assert labels(store) == ["a", "b", "c"]
    assert "in memory" in repr(store)


def test_a_folder_that_is_a_file_costs_one_warning(tmp_path: Path):
    (tmp_path / "taken").write_text("")
    store = Store(tmp_path / "taken" / "pyptx.sqlite")
    with pytest.warns(RuntimeWarning, match="Set PYPTX_CACHE_DIR to use another folder") as told:
        add(store, "a")
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labels(store) == ["a"]


def test_the_default_store_lies_in_the_cache_folder(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    assert default_store().path == tmp_path / "pyptx.sqlite"
    assert default_store() is default_store()


def test_room_is_given_back_to_the_system(path: Path):
    store = Store(path)
    names = store.write(lambda c: [put_blob(c, os.urandom(1 << 16)) for _ in range(64)])
    full = path.stat().st_size
    store.write(lambda c: c.executemany("DELETE FROM blobs WHERE hash = ?", [(name,) for name in names]))
    assert path.stat().st_size < full / 4


def test_a_file_without_its_tables_is_set_aside(path: Path):
    Store(path).write(lambda c: put_blob(c, b"data"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE blobs")
        connection.commit()
    with pytest.warns(RuntimeWarning, match="its tables are not those of a store"):
        assert Store(path).used_bytes() == 0


def test_text_that_is_not_utf8_is_read(path: Path):
    store = Store(path)
    [(text,)] = store.read(lambda c: c.execute("SELECT CAST(x'66ff' AS TEXT)").fetchall())
    assert text == "f\N{REPLACEMENT CHARACTER}"


def test_folders_are_private(tmp_path: Path):
    Store(tmp_path / "new" / "pyptx.sqlite").write(lambda c: put_blob(c, b"data"))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
