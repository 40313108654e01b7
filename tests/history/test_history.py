"""Versions of kernels: what makes a version, its names, lookup, and restoration in another process."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from support.processes import python, variables

from pyptx import history, store
from pyptx.compiled import Compiled
from pyptx.errors import MissingToolError
from pyptx.history import VersionError
from pyptx.store import default_store

KERNEL = """\
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(arch="sm_90a", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N: (N // 128, 1, 1),
        block=(128, 1, 1))
def double(x, y, *, factor=2.0):
    px, py = ptx.global_ptrs(x, y)
    value = load(px)
    ptx.inst.mul.f32(value, value, factor)   # é: columns are characters, not bytes
    store(py, value)

def load(pointer):
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(pointer))
    return value

def store(pointer, value): ptx.inst.st.global_.f32(ptx.addr(pointer), value)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, own_cache: Path) -> Path:
    """A store for each test."""
    return tmp_path


@pytest.fixture
def compile_text(folder: Path):
    """Write a kernel to a file of its own, import it and compile it."""
    count = iter(range(100))

    def compile_text(text: str = KERNEL, name: str = "double", **params) -> Compiled:
        path = folder / f"kernels{next(count)}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, name).compile(**{"N": 256, **params})

    return compile_text


@pytest.fixture
def five(compile_text) -> list[history.Version]:
    """Five versions of one kernel."""
    return [history.keep(compile_text(factor=float(n)), params={"factor": float(n)}) for n in range(5)]


def other_code(compiled: Compiled, number: int) -> Compiled:
    """The same with other machine code, and no need to disassemble it."""
    other = replace(compiled, key=f"{number:032x}", cubin=compiled.cubin + b"%d" % number)
    vars(other)["sass"] = compiled.sass
    return other


# what is a version ----------------------------------------------------------------------------------------------------


def test_a_version_tells_what_was_compiled(compile_text):
    compiled = compile_text()
    kept = history.keep(
        compiled,
        params={"N": 256, "mode": compile},
        block=(128, 1, 1),
        cell="Cell In[2]",
        cell_source="%%ptxkernel",
        notebook="norms.ipynb",
    )
    assert (kept.ref, kept.target, kept.block, kept.labels) == ("double@1", "sm_90a", (128, 1, 1), ())
    assert kept.params == {"N": 256, "mode": "<built-in function compile>"}
    assert kept.resources == compiled.resources
    assert kept.instructions == len(compiled.sass)
    assert (kept.ptx, kept.cubin) == (compiled.ptx, compiled.cubin)
    assert kept.source == KERNEL[KERNEL.index("@kernel") :]
    assert list(kept.files.values()) == [KERNEL]
    assert (kept.cell, kept.cell_source, kept.notebook) == ("Cell In[2]", "%%ptxkernel", "norms.ipynb")
    assert abs((datetime.now() - kept.first).total_seconds()) < 60
    assert re.fullmatch(r"[0-9a-f]{32}", kept.key)


def test_the_same_again_is_the_same_version_dated_anew(compile_text):
    first = history.keep(compile_text(), cell="Cell In[1]", cell_source="one")
    again = history.keep(compile_text(), cell="Cell In[2]", cell_source="two")
    assert again == first
    assert len(history.versions()) == 1
    assert again.first == first.first
    assert again.last > first.last
    assert (again.cell, again.cell_source) == ("Cell In[2]", "two")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "change, params",
    [
        (("mul.f32(value, value, factor)", "add.f32(value, value, factor)"), {}),
        (("# é", "# e"), {}),  # a comment is part of the source
        (("", ""), {"factor": 3.0}),
        (("", ""), {"arch": "sm_80"}),
        (("", ""), {"options": ("-O1",)}),
    ],
)
def test_another_source_value_target_or_option_is_another_version(compile_text, change, params):
    history.keep(compile_text())
    assert history.keep(compile_text(KERNEL.replace(*change), **params)).ref == "double@2"


def test_text_around_the_functions_makes_no_version(compile_text):
    history.keep(compile_text())
    assert history.keep(compile_text("import os\n\n" + KERNEL + "\nprint('more')\n")).ref == "double@1"


def test_kernels_are_counted_each_for_itself(compile_text):
    history.keep(compile_text())
    history.keep(compile_text(KERNEL.replace("double", "twice"), "twice"))
    assert [one.ref for one in history.versions()] == ["double@1", "twice@1"]
    assert [one.ref for one in history.versions("twice")] == ["twice@1"]


def test_without_a_disassembler_a_version_is_kept_all_the_same(compile_text, monkeypatch):
    def missing(cubin):
        raise MissingToolError("no nvdisasm")

    monkeypatch.setattr("pyptx.assembly._sass_of", missing)
    kept = history.keep(compile_text())
    assert kept.instructions is None
    assert "double@1" in history.versions().text()


# references -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ref, number",
    [
        ("double@1", 1),
        ("double@5", 5),
        ("double@-1", 5),
        ("double@-5", 1),
        ("double", 5),
        ("double@base", 2),
        ("base", 2),
    ],
)
def test_references(five, ref: str, number: int):
    history.name("double@2", "base")
    assert history.version(ref).number == number


def test_a_key_or_its_first_digits_is_a_reference(five):
    key = five[2].key
    assert history.version(key) == history.version(key[:12]) == history.version(five[2]) == five[2]


def test_a_reference_may_leave_the_kernel_out_where_it_is_known(five):
    history.name("double@3", "base")
    assert history.version("@-2", kernel="double").number == 4
    assert history.version("@base", kernel="double").number == 3
    with pytest.raises(VersionError, match="'@-2': which kernel[?] Write NAME@-2"):
        history.version("@-2")


@pytest.mark.parametrize(
    "ref, message",
    [
        ("double@9", "double has no version 'double@9'; it has double@1, double@2, .*double@5, labels base"),
        ("double@-6", "double has no version 'double@-6'"),
        ("double@0", "double has no version 'double@0'"),
        ("double@fast", "double has no version 'double@fast'; it has double@1, .*, labels base"),
        ("doubel@1", "'doubel@1': 'doubel' has no recorded version\nhint: did you mean double"),
        ("nothing", "no version is named 'nothing'\nhint: recorded: double@1 to @5"),
        ("", "no version is named ''"),
        ("ffffffff", "no version is named 'ffffffff'"),
    ],
)
def test_a_wrong_reference_says_what_there_is(five, ref: str, message: str):
    history.name("double@2", "base")
    with pytest.raises(VersionError, match=message):
        history.version(ref)


def test_an_empty_history_says_so():
    assert list(history.versions()) == []
    assert "no versions are recorded yet" in history.versions().text()
    assert "no versions are recorded yet" in history.versions().html()
    with pytest.raises(VersionError, match="no versions are recorded yet"):
        history.versions("double")


def test_a_label_of_several_kernels_needs_the_kernel(compile_text):
    history.name(history.keep(compile_text()), "base")
    history.name(history.keep(compile_text(KERNEL.replace("double", "twice"), "twice")), "base")
    with pytest.raises(VersionError, match="'base' names 2 versions: double@1, twice@1"):
        history.version("base")
    assert history.version("base", kernel="twice").ref == history.version("twice@base").ref == "twice@1"


def test_a_label_moves_and_a_version_may_have_several(five):
    assert history.name("double@1", "base").labels == ("base",)
    assert history.name("double@1", "old").labels == ("base", "old")
    assert history.name("double@-1", "base").labels == ("base",)
    assert history.version("double@1").labels == ("old",)


@pytest.mark.parametrize("label", ["3", "-1", "a b", "a@b", "", "double"])
def test_labels_that_could_be_another_reference_are_refused(five, label: str):
    with pytest.raises(VersionError, match="is not a label|cannot be a label"):
        history.name("double@1", label)


def test_something_else_than_text_is_refused():
    with pytest.raises(TypeError, match="not by int"):
        history.version(3)


def test_refs_lists_what_may_be_written(five):
    history.name("double@2", "base")
    assert history.refs() == ["double", *(f"double@{n}" for n in range(1, 6)), "base"]


# the way back ---------------------------------------------------------------------------------------------------------


def test_what_is_restored_is_what_was_compiled(compile_text):
    compiled = compile_text()
    restored = history.restore(history.keep(compiled))
    assert restored == compiled
    assert restored.module == compiled.module
    assert (restored.ptx, restored.cubin, restored.resources) == (compiled.ptx, compiled.cubin, compiled.resources)
    assert [line.text for line in restored.sass] == [line.text for line in compiled.sass]
    for new, old in zip(restored.places, compiled.places, strict=True):
        while old is not None:
            assert (new.position, new.function, new.source_line) == (old.position, old.function, old.source_line)
            new, old = new.caller, old.caller
        assert new is None


def test_places_stay_when_the_file_changes(compile_text, folder: Path):
    kept = history.keep(compile_text())
    (folder / "kernels0.py").write_text("# something else\n")
    restored = kept.compiled()
    [mul] = [place for place, line in zip(restored.places, restored.ptx.splitlines(), strict=True) if "mul.f32" in line]
    assert mul.source_line == "    ptx.inst.mul.f32(value, value, factor)   # é: columns are characters, not bytes"
    assert mul.file == "<double@1: kernels0.py>"


AGAIN = """
import json, sys
from pyptx import history
version = history.version("base")
print(json.dumps([version.ref, version.view().to_json(), [str(p) for p in version.compiled().places if p]]))
"""


def test_another_process_shows_the_same_view(compile_text, folder: Path):
    compiled = compile_text()
    history.name(history.keep(compiled, block=(128, 1, 1)), "base")
    (folder / "kernels0.py").unlink()
    for file in (folder / "cache").glob("*.[!s]*"):  # not even the cache of cubins is there
        if not file.name.startswith(store.FILE):
            file.unlink()
    done = python("-c", AGAIN)
    assert done.returncode == 0, done.stderr
    ref, view, places = json.loads(done.stdout)
    expected = compiled.view(title="double@1", block=(128, 1, 1)).to_json()
    for section in (*expected["python"]["sections"], *view["python"]["sections"]):
        section["file"] = re.sub(r"^<double@1: (.*)>$", r"\1", section["file"])
    assert ref == "double@1"
    assert view == json.loads(json.dumps(expected))
    assert places
    assert all(place.startswith("<double@1: kernels0.py>:") for place in places)


def test_two_files_of_one_name_stay_apart(compile_text, folder: Path):
    (folder / "a").mkdir()
    (folder / "a" / "kernels0.py").write_text(
        KERNEL[KERNEL.index("def load") :].replace(
            "def load", "from pyptx import ptx, reg\nfrom pyptx.types import f32\n\ndef load"
        )
    )
    text = KERNEL[: KERNEL.index("def load")].replace(
        "from pyptx.types",
        f"""\
import importlib.util
spec = importlib.util.spec_from_file_location("helpers", {str(folder / "a" / "kernels0.py")!r})
helpers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(helpers)
load, store = helpers.load, helpers.store
from pyptx.types""",
    )
    restored = history.restore(history.keep(compile_text(text)))
    assert {place.file for place in restored.places if place} == {
        "<double@1: kernels0.py>",
        "<double@1: kernels0.py (2)>",
    }
    assert all(place.source_line.strip() for place in restored.places if place)


def test_warnings_come_back_with_their_places(compile_text):
    text = KERNEL.replace("    value = load(px)\n", "    value = load(px)\n    ptx.raw('.pragma \"nounroll\";')\n")
    compiled = compile_text(text)
    restored = history.restore(history.keep(compiled))
    assert [(d.message, d.line) for d in restored.warnings] == [(d.message, d.line) for d in compiled.warnings]


def test_lineinfo_and_options_come_back(compile_text):
    compiled = compile_text(options=("-O1",), lineinfo=True)
    restored = history.restore(history.keep(compiled))
    assert (restored.options, restored.lineinfo, restored.ptx) == (("-O1",), True, compiled.ptx)
    assert restored.view().to_json()["ptx"] == compiled.view().to_json()["ptx"]


def test_a_restored_kernel_runs_on_the_simulator(compile_text):
    import numpy as np

    from pyptx import sim

    restored = history.restore(history.keep(compile_text()))
    x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    result = sim.launch(sim.load(restored.module, "double"), (2, 1, 1), (128, 1, 1), [x, y])
    assert y[0] == 2 * x[0]
    view = restored.view(counters=result.counters)
    assert sum(view.python.issues) > 0


def test_damaged_parts_are_named(compile_text):
    kept = history.keep(compile_text())
    default_store().write(lambda c: c.execute("DELETE FROM blobs WHERE hash = ?", (kept._blobs["cubin"],)))
    assert kept.ptx
    with pytest.raises(VersionError, match="double@1: its cubin is damaged or missing"):
        kept.compiled()
    assert history.keep(compile_text()).ref == "double@1"
    assert history.version("double@1").compiled().cubin, "compiling it again mends it"


# many of them ---------------------------------------------------------------------------------------------------------


def test_the_table_shows_versions_and_which_have_the_same_code(compile_text):
    history.keep(compile_text(), params={"N": 256}, cell="Cell In[2]", notebook="a.ipynb")
    history.keep(compile_text(KERNEL.replace("# é", "# <b>")), params={"N": 256})
    history.name("double@1", "base")
    head, first, second = history.versions().text().splitlines()
    assert head.split()[:4] == ["version", "labels", "compiled", "where"]
    assert re.search(r"double@1 +base +\d\d:\d\d:\d\d +a\.ipynb, Cell In\[2\] +sm_90a +N=256", first)
    assert "as double@1" in second
    assert "options" not in head, "a column that says nothing is left out"
    assert history.versions().html().count("<tr>") == 3


def test_the_html_is_escaped(compile_text):
    history.keep(compile_text(), params={"mode": "<script>&"})
    html = history.versions().html()
    assert "mode=&lt;script&gt;&amp;" in html
    assert "<script" not in html


def test_versions_are_a_sequence(five):
    versions = history.versions("double")
    assert versions[-1].number == 5
    assert [one.number for one in versions[1:3]] == [2, 3]
    assert set(versions._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert repr(versions[0]).startswith("<Version double@1 for sm_90a, ")


def test_the_oldest_go_first_but_labels_and_the_newest_stay(compile_text, monkeypatch):
    history.keep(compile_text(KERNEL.replace("double", "twice"), "twice"))
    history.keep(compile_text(factor=0.5))
    history.name("double@1", "base")
    used = default_store().used_bytes()
    monkeypatch.setattr(default_store(), "max_bytes", 3 * used)
    compiled = compile_text(factor=0.5)
    for n in range(1, 25):
        history.keep(other_code(compiled, n))
    left = [one.ref for one in history.versions()]
    assert {"twice@1", "double@1", "double@25"} <= set(left)
    assert "double@2" not in left
    assert default_store().used_bytes() <= 3 * used
    for one in history.versions():
        assert one.compiled().cubin
    with pytest.raises(VersionError, match=r"double has no version 'double@2'; it has double@1, double@\d+, "):
        history.version("double@2")


WRITER = """
import sys
sys.path[:0] = [{folder!r}, {tests!r}]
import kernels0
from pyptx import history
from history.test_history import other_code
compiled = kernels0.double.compile(N=256)
for n in range(10):
    history.name(history.keep(other_code(compiled, int(sys.argv[1]) + n)), "newest")
"""


@pytest.mark.parametrize("first, count", [pytest.param((100, 100), 10, marks=pytest.mark.slow), ((100, 200), 20)])
def test_two_processes_number_their_versions_without_a_clash(compile_text, folder: Path, first, count):
    compile_text()
    script = WRITER.format(folder=str(folder), tests=str(Path(__file__).parents[1]))
    writers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", script, str(number)],
            env=variables(),
            text=True,
            stderr=subprocess.PIPE,
        )
        for number in first
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=120)
        assert (writer.returncode, err) == (0, "")
    assert [one.number for one in history.versions("double")] == list(range(1, count + 1))
    assert len({one.key for one in history.versions()}) == count
    assert history.version("newest").ref in {one.ref for one in history.versions()}


def test_a_damaged_file_costs_a_warning_and_the_kernel_is_kept_again(compile_text, folder: Path):
    compiled = compile_text()
    history.keep(compiled)
    (folder / "cache" / store.FILE).write_bytes(b"damaged " * 1000)
    with pytest.warns(RuntimeWarning, match="is damaged"):
        assert history.keep(compiled).ref == "double@1"
    assert len(history.versions()) == 1


def test_a_folder_that_cannot_be_written_costs_one_warning_and_loses_nothing(compile_text, folder: Path, monkeypatch):
    compiled = compile_text()
    (folder / "taken").write_text("")
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(folder / "taken" / "cache"))
    with pytest.warns(RuntimeWarning, match="in memory and lost when this process ends") as told:
        history.keep(compiled)
        history.name("double@1", "base")
    assert len([w for w in told if "store" in str(w.message)]) == 1
    assert history.restore("base") == compiled


ABOUT = {
    "not JSON": "{",
    "nested": "[" * 100_000,
    "no keys": "{}",
    "a list": "[1, 2]",
    "a number": "7",
    "wrong types": '{"target": 1, "options": 2, "resources": 3}',
}


@pytest.mark.parametrize("about", ABOUT.values(), ids=ABOUT)
def test_a_damaged_version_is_skipped_with_a_warning_and_can_be_recorded_again(compile_text, about: str):
    compiled = compile_text()
    history.keep(compiled)
    store.default_store().write(lambda c: c.execute("UPDATE versions SET about = ?", (about,)))
    with pytest.warns(RuntimeWarning, match="a version in the store is damaged"):
        assert len(history.versions()) == 0
    with pytest.raises(VersionError, match="double@1: its description is damaged"):
        history.version("double@1")
    assert history.keep(compiled).ref == "double@1"
    assert len(history.versions()) == 1


@pytest.mark.parametrize("data", [b"[" * 100_000, b"\xff", b"{}", b"[[1, 2]]"])
@pytest.mark.parametrize("part", ["places", "files"])
def test_damaged_parts_of_a_version_are_a_version_error(compile_text, part: str, data: bytes):
    history.keep(compile_text())
    store.default_store().write(lambda c: c.execute(f"UPDATE versions SET {part} = ?", (store.put_blob(c, data),)))
    with pytest.raises(VersionError, match=r"double@1: its \w+ is damaged"):
        history.version("double@1").compiled()
