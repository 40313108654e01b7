"""Assembled modules: linked lines, results stored between processes, errors at their Python line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.processes import python

from pyptx import assembly as compiled_module
from pyptx._loc import SourceLocation, user_place
from pyptx.assembly import Assembly, LineMap, Owner, compile_module
from pyptx.cache import CubinCache, get_global_cache, set_global_cache
from pyptx.errors import CompileError, MissingToolError
from pyptx.ir.nodes import AddressSize, Module, Target, Version
from pyptx.toolchain import SassLine, find, nvdisasm

PTX = Path(__file__).parent / "toolchain" / "ptx"
SAXPY, TWO = (PTX / "saxpy.ptx").read_text(), (PTX / "two_entries.ptx").read_text()


@pytest.fixture(autouse=True)
def cache(tmp_path):
    """An empty cache for each test."""
    before = get_global_cache()
    mine = CubinCache(tmp_path / "cache")
    set_global_cache(mine)
    yield mine
    set_global_cache(before)


def module(target: str = "sm_90") -> Module:
    return Module(Version(9, 0), Target((target,)), AddressSize(64), ())


def build(text: str = SAXPY, target: str = "sm_90", places=None, name: str = "saxpy", **options) -> Assembly:
    return compile_module(
        module(target),
        text,
        [None] * text.count("\n") if places is None else places,
        target=target,
        name=name,
        **options,
    )


def written_here(text: str, *lines: int) -> list[SourceLocation | None]:
    """Places of a text of which these lines (1-based) were written by the line that calls this."""
    return [user_place() if number in lines else None for number in range(1, text.count("\n") + 2)]


# the value ------------------------------------------------------------------------------------------------------------


def test_what_a_compiled_kernel_knows():
    it = build()
    assert (it.name, it.target, it.version, it.options, it.ptx) == ("saxpy", "sm_90", (9, 0), (), SAXPY)
    assert it.cubin.startswith(b"\x7fELF")
    assert it.tool.startswith("ptxas 13.")
    assert it.resources["saxpy"].registers == 10
    assert len(it.key) == 32
    assert repr(it) == "<Assembly saxpy for sm_90: 10 registers, 0 B shared>"
    assert isinstance(it.sass[0], SassLine)
    assert it.sass is it.sass


def test_the_summary_is_plain_values():
    assert build().summary() == {
        "entry": "saxpy",
        "target": "sm_90",
        "registers": 10,
        "spill_bytes": 0,
        "shared_bytes": 0,
        "stack_bytes": 0,
        "barriers": 0,
        "instructions": 20,
    }


def test_with_several_entries_the_summary_asks_which():
    it = build(TWO, name="both")
    with pytest.raises(ValueError, match="which entry. both has two, one"):
        it.summary()
    with pytest.raises(ValueError, match="no entry 'three'; the entries are two, one"):
        it.summary("three")
    assert it.summary("two")["shared_bytes"] == 512
    assert "two: 8 registers, 512 B shared; one: 10 registers" in repr(it)


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        build().ptx = ""


# lines ----------------------------------------------------------------------------------------------------------------


def test_lines_go_both_ways():
    fma = next(number for number, row in enumerate(SAXPY.splitlines(), 1) if "fma.rn" in row)
    places = written_here(SAXPY, fma)
    it = build(places=places)
    place = places[fma - 1]
    assert it.lines.python_of_ptx(fma) is place
    assert it.lines.python_of_ptx(1) is None
    indices = it.lines.sass_of_ptx(fma)
    assert any(it.sass[index].opcode == "FFMA" for index in indices)
    for index in indices:
        assert it.lines.ptx_of_sass(index) == fma
        assert it.lines.owner(index) == Owner(fma, place, False)
    assert it.lines.sass_of_ptx(1) == ()


def test_every_sass_line_has_an_owner_and_every_owner_its_sass():
    it = build(TWO, name="both")
    seen = set()
    for index in range(len(it.sass)):
        owner = it.lines.owner(index)
        assert owner.ptx_line is not None
        assert index in it.lines.sass_of_ptx(owner.ptx_line)
        seen.add(owner.ptx_line)
    assert sum(len(it.lines.sass_of_ptx(line)) for line in seen) == len(it.sass)


@pytest.mark.parametrize("line", [0, -1, 10**6])
def test_a_line_outside_the_text_was_written_by_nobody(line):
    lines = LineMap([None, None], ())
    assert lines.python_of_ptx(line) is None
    assert lines.sass_of_ptx(line) == ()


def test_python_lines_need_no_disassembler(monkeypatch):
    it = build(places=written_here(SAXPY, 3))
    monkeypatch.setattr(nvdisasm, "disassemble", lambda _: pytest.fail("nvdisasm was run"))
    assert it.lines.python_of_ptx(3).file == __file__


# the cache ------------------------------------------------------------------------------------------------------------


def test_a_second_compile_runs_no_tool(monkeypatch):
    first = build()
    sass = first.sass
    monkeypatch.setattr(compiled_module, "assemble", lambda *_, **__: pytest.fail("ptxas was run"))
    monkeypatch.setattr(nvdisasm, "disassemble", lambda *_, **__: pytest.fail("nvdisasm was run"))
    again = build()
    assert again == first and hash(again) == hash(first)
    assert (again.cubin, again.resources, again.tool, again.sass) == (first.cubin, first.resources, first.tool, sass)


def test_another_process_runs_no_tool(cache, tmp_path):
    assert len(build().sass) == 20
    program = """
import sys
import pyptx.assembly as c
from pyptx.toolchain import nvdisasm
from pyptx.ir.nodes import AddressSize, Module, Target, Version
c.assemble = nvdisasm.disassemble = None
module = Module(Version(9, 0), Target(("sm_90",)), AddressSize(64), ())
it = c.compile_module(module, open(sys.argv[1]).read(), (), target="sm_90", name="saxpy")
print(it.key, len(it.sass))
"""
    ran = python("-c", program, str(PTX / "saxpy.ptx"), env={"PYPTX_CACHE_DIR": str(cache.cache_dir)})
    assert ran.stdout.split() == [build().key, "20"], ran.stderr


@pytest.mark.parametrize(
    "other", [dict(text=SAXPY + "\n"), dict(target="sm_90a"), dict(options=["-O1"]), dict(lineinfo=True)]
)
def test_what_decides_about_the_cubin_is_in_the_key(other):
    assert build(**other).key != build().key


def test_another_assembler_is_another_key(monkeypatch, tmp_path):
    before = build().key
    tool = tmp_path / "ptxas"
    tool.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo V13.2.999 && exit 0\nexec {find("ptxas")} "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PYPTX_PTXAS", str(tool))
    assert build().key != before
    assert build().tool == "ptxas 13.2.999"


def test_the_name_and_the_places_are_not_in_the_key():
    assert build(name="other", places=written_here(SAXPY, 3)).key == build().key


@pytest.mark.sampled(2)
@pytest.mark.parametrize("suffix", ["cubin", "json", "ptx", "sass"])
def test_a_damaged_cache_is_made_anew(cache, suffix):
    first = build()
    assert first.sass
    for path in cache.cache_dir.glob(f"*.{suffix}"):
        path.write_bytes(b"\xff damaged")
    set_global_cache(CubinCache(cache.cache_dir))
    again = build()
    assert (again.cubin, again.sass) == (first.cubin, first.sass)


def test_a_cache_that_cannot_be_written_does_not_stop_a_compile(tmp_path):
    (tmp_path / "file").touch()
    set_global_cache(CubinCache(tmp_path / "file" / "x"))
    with pytest.warns(RuntimeWarning, match="the cache folder") as caught:
        assert build().summary()["registers"] == 10
    assert len(caught) == 1


# refusals -------------------------------------------------------------------------------------------------------------


def broken(old: str, new: str) -> tuple[str, int]:
    """SAXPY with an instruction replaced, and its line."""
    text = SAXPY.replace(old, new)
    return text, next(number for number, row in enumerate(text.splitlines(), 1) if new in row)


def test_what_ptxas_refuses_is_said_at_the_python_line():
    text, line = broken("fma.rn.f32 %f3", "fma.rn.f32 %rd3")
    places = written_here(text, line)
    with pytest.raises(CompileError) as error:
        build(text, places=places)
    [found] = error.value.diagnostics
    assert (found.severity, found.line, found.place) == ("error", line, places[line - 1])
    shown = str(error.value)
    assert f"{__file__}:{found.place.line}: " in shown
    assert "Arguments mismatch for instruction 'fma'" in shown
    assert f"hint: PTX line {line} reads: fma.rn.f32 %rd3" in shown
    assert shown.startswith("ptxas 13.")
    assert isinstance(error.value, ValueError)


def test_all_of_it_is_said_at_once():
    text = SAXPY.replace("add.u64 %rd3", "add.foo %rd3").replace("add.u64 %rd4", "add.bar %rd4")
    with pytest.raises(CompileError) as error:
        build(text)
    messages = [found.message for found in error.value.diagnostics]
    assert "Unknown modifier '.foo'" in messages and "Unknown modifier '.bar'" in messages


def test_an_error_without_a_line_goes_to_the_function_it_names():
    text = SAXPY.replace("    .reg .pred", "    .shared .b8 room[400000];\n    .reg .pred").replace(
        "DONE:", "    st.shared.f32 [room], %f3;\nDONE:"
    )
    line = next(number for number, row in enumerate(text.splitlines(), 1) if ".entry saxpy" in row)
    places = written_here(text, line)
    with pytest.raises(CompileError) as error:
        build(text, places=places)
    [found] = error.value.diagnostics
    assert "saxpy" in found.message and "uses too much shared data" in found.message
    assert (found.line, found.place) == (line, places[line - 1])


def test_an_error_before_any_line_is_an_error_all_the_same():
    with pytest.raises(CompileError, match="Invalid value 'many' for option 'maxrregcount'"):
        build(options=["--maxrregcount=many"])
    with pytest.raises(CompileError, match="is set by pyptx"):
        build(options=["-o"])


def test_refusals_are_not_kept(cache):
    text, _ = broken("fma.rn.f32 %f3", "fma.rn.f32 %rd3")
    for _ in range(2):
        with pytest.raises(CompileError):
            build(text)
    assert len(cache) == 0


def test_advisories_have_places_too(monkeypatch):
    text = (PTX / "wgmma_sm_90a.ptx").read_text()
    multiply = next(row for row in text.splitlines() if "wgmma.mma_async" in row)
    text = text.replace("    wgmma.commit", f"    add.f32 %f0, %f0, %f1;\n{multiply}\n    wgmma.commit", 1)
    places = written_here(text, *range(1, text.count("\n") + 1))
    for _ in range(2):  # assembled, then from the cache
        built = build(text, "sm_90a", places)
        [advice] = built.warnings
        assert repr(built).endswith("; 1 warning, see .warnings>")
        assert built.listing().splitlines()[1] == f"// warning at PTX line {advice.line}: {advice.message}"
        assert "(C7517)" in advice.message and advice.severity == "warning"
        assert advice.place is places[advice.line - 1]


def test_without_ptxas_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PYPTX_PTXAS", str(tmp_path / "nothing"))
    with pytest.raises(MissingToolError, match="CUDA toolkit"):
        build()


# files ----------------------------------------------------------------------------------------------------------------


def test_saving_by_suffix(tmp_path):
    it = build(places=written_here(SAXPY, 3))
    assert it.save(tmp_path / "k.cubin").read_bytes() == it.cubin
    assert it.save(str(tmp_path / "k.ptx")).read_text() == SAXPY
    listing = it.save(tmp_path / "k.sass").read_text()
    assert "saxpy:  // 10 registers, 0 B shared" in listing
    assert all(line.text in listing for line in it.sass)
    data = json.loads(it.save(tmp_path / "k.json").read_text())
    assert (data["name"], data["target"], data["ptx"], data["key"]) == ("saxpy", "sm_90", SAXPY, it.key)
    assert data["cubin_sha256"] == hashlib.sha256(it.cubin).hexdigest()
    assert data["resources"]["saxpy"]["registers"] == 10
    assert data["places"][2]["file"] == __file__ and data["places"][0] is None
    assert len(data["sass"]["opcode"]) == len(it.sass)


@pytest.mark.parametrize("name", ["k.txt", "k", "k.PTX", "k.ptx.gz"])
def test_other_suffixes_are_refused_and_nothing_is_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"expected .cubin, .ptx, .sass or .json"):
        build().save(tmp_path / name)
    assert list(tmp_path.glob("k*")) == []
