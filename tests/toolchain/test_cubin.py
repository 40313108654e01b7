"""Both assemblers on hand-written PTX."""

from __future__ import annotations

import subprocess

import pytest
from support.threads import in_threads

from pyptx.errors import AssembleError, ToolError
from pyptx.toolchain import Resources, assemble, find
from pyptx.toolchain.elf import constant_bytes, embedded_ptx, sections

WRONG = """\
// a comment, so that line numbers are those of the text
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .f32 %f<3>;
    add.foo.f32 %f0, %f1, %f2;
    add.f32 %f0, %f1;
    wgmma.fence.sync.aligned;
    bra NOWHERE;
    ret;
}
"""


def test_every_sample_assembles(sample):
    cubin = assemble(sample.text, target=sample.target, options=sample.options)
    assert cubin.data.startswith(b"\x7fELF")
    assert cubin.target == sample.target
    assert cubin.tool.startswith("ptxas 13.")
    assert cubin.resources and all(used.registers > 0 for used in cubin.resources.values())
    assert cubin.warnings == ()


def test_resources_of_a_kernel_with_shared_memory_and_barriers(ptx):
    used = assemble(ptx["block_sum"], target="sm_80").resources["block_sum"]
    assert (used.shared_bytes, used.barriers, used.spill_stores, used.constant_bytes) == (1024, 1, 0, 368)


def test_resources_of_a_kernel_that_spills(ptx):
    used = assemble(ptx["many_values"], target="sm_80", options=["--maxrregcount=32"]).resources["many_values"]
    assert used.registers == 32
    assert used.spill_stores == used.spill_loads > 0
    assert used.stack_bytes >= used.spill_stores
    assert assemble(ptx["many_values"], target="sm_80").resources["many_values"].spill_stores == 0


def test_entries_are_told_apart(ptx):
    used = assemble(ptx["two_entries"], target="sm_90").resources
    assert set(used) == {"one", "two"}
    assert (used["one"].shared_bytes, used["two"].shared_bytes) == (0, 512)


def test_constant_bytes_are_what_ptxas_says_where_it_says_them(ptx):
    cubin = assemble(ptx["saxpy"], target="sm_75")
    assert f"{cubin.resources['saxpy'].constant_bytes} bytes cmem[0]" in cubin.log


def test_advisories_are_kept_with_their_line(ptx):
    multiply = next(line for line in ptx["wgmma_sm_90a"].splitlines() if "wgmma.mma_async" in line)
    changed = f"    add.f32 %f0, %f0, %f1;\n{multiply}\n    wgmma.commit_group"
    text = ptx["wgmma_sm_90a"].replace("    wgmma.commit_group", changed, 1)
    [advice] = assemble(text, target="sm_90a").warnings
    assert advice.severity == "warning"
    assert "(C7517) wgmma.wait_group is injected" in advice.message
    assert "add.f32" in text.splitlines()[advice.line - 1] or "wgmma" in text.splitlines()[advice.line - 1]


@pytest.mark.parametrize("tool", ["ptxas", "nvjitlink"])
def test_errors_are_those_of_ptxas_at_the_lines_of_the_text(tool):
    with pytest.raises(AssembleError) as error:
        assemble(WRONG, target="sm_90", tool=tool)
    found = [(one.line, one.message) for one in error.value.diagnostics]
    assert (8, "Unknown modifier '.foo'") in found
    assert (9, "Arguments mismatch for instruction 'add'") in found
    assert (10, "Instruction 'wgmma.fence' not supported on .target 'sm_90'") in found
    assert all(one.severity == "error" for one in error.value.diagnostics)
    assert "PTX line 8: Unknown modifier '.foo'" in str(error.value)


BROKEN = {
    "nothing": "",
    "words": "hello",
    "no code": ".version 8.0\n.target sm_90\n.address_size 64\n",
    "future": ".version 99.0\n.target sm_90\n",
    "too new a target": ".version 8.0\n.target sm_90\n.address_size 64\n",
    "a modifier": WRONG,
}


@pytest.mark.parametrize("name", BROKEN)
def test_both_assemblers_give_the_same_verdict(name):
    target = "sm_80" if name == "too new a target" else "sm_90"
    verdicts = []
    for tool in ("ptxas", "nvjitlink"):
        try:
            assemble(BROKEN[name], target=target, tool=tool)
            verdicts.append(None)
        except AssembleError as error:
            verdicts.append([(one.line, one.message) for one in error.diagnostics if one.line] or "refused")
    if name == "words" or name == "nothing":  # ptxas misses .version, nvJitLink takes it for another kind of file
        assert all(verdicts)
    else:
        assert verdicts[0] == verdicts[1]


def code(cubin: bytes) -> dict[str, bytes]:
    return {section.name: section.data for section in sections(cubin) if section.name.startswith(".text.")}


def test_nvjitlink_takes_what_ptxas_takes_and_uses_what_it_uses(sample):
    ours, linked = (
        assemble(sample.text, target=sample.target, options=sample.options, tool=tool)
        for tool in ("ptxas", "nvjitlink")
    )
    assert set(linked.resources) == set(ours.resources)
    for entry, used in ours.resources.items():
        other = linked.resources[entry]
        assert (used.barriers, used.constant_bytes) == (other.barriers, other.constant_bytes)
    assert linked.tool.startswith("nvJitLink 13.")


def test_the_machine_code_is_another_where_something_is_linked(ptx):
    """Why ptxas makes what runs: nvJitLink compiles for linking, and a shared variable becomes a relocation."""

    def both(name: str, target: str) -> list[dict[str, bytes]]:
        return [code(assemble(ptx[name], target=target, tool=tool).data) for tool in ("ptxas", "nvjitlink")]

    same, linked = both("saxpy", "sm_80")
    assert same == linked
    whole, linked = both("two_entries", "sm_90")
    assert set(whole) == {".text.one", ".text.two"}
    assert set(linked) == {".text.one", ".text.two", ".text.helper"}
    assert whole[".text.two"] != linked[".text.two"]


@pytest.mark.parametrize(
    "options, said",
    [
        (["--maxrregcount=abc"], "Invalid value 'abc' for option 'maxrregcount'"),
        (["--blurb"], "Unknown option '-blurb'"),
        (["-o", "elsewhere"], "option '-o' is set by pyptx\nhint: the cubin is returned"),
        (["--gpu-name=sm_80"], "hint: give the target as `target`"),
        (["-suppress-debug-info"], "hint: it removes the PTX lines"),
        (["--version"], "produced no cubin"),
        ([""], "'' is not a ptxas option"),
        ([128], "128 is not a ptxas option"),
    ],
)
def test_a_wrong_option_is_refused_with_its_name(ptx, options, said):
    with pytest.raises(AssembleError) as error:
        assemble(ptx["saxpy"], target="sm_80", options=options)
    assert said in str(error.value)


@pytest.mark.parametrize("tool", ["ptxas", "nvjitlink"])
@pytest.mark.parametrize("options", [("--maxrregcount=40",), ("--maxrregcount", "40"), "--maxrregcount=40"])
def test_options_reach_the_assembler(ptx, tool, options):
    cubin = assemble(ptx["many_values"], target="sm_80", options=options, tool=tool)
    assert cubin.resources["many_values"].registers == 40


@pytest.mark.parametrize("tool", ["ptxas", "nvjitlink"])
def test_an_unknown_target_is_refused(ptx, tool):
    with pytest.raises(AssembleError, match="refused the PTX for sm_99"):
        assemble(ptx["saxpy"], target="sm_99", tool=tool)


def test_an_unknown_assembler_is_refused(ptx):
    with pytest.raises(ValueError, match="unknown assembler 'gas'; expected 'ptxas' or 'nvjitlink'"):
        assemble(ptx["saxpy"], target="sm_80", tool="gas")


def test_the_text_can_be_read_back_and_the_sections_are_what_cuobjdump_lists(ptx, tmp_path):
    cubin = assemble(ptx["saxpy"], target="sm_90").data
    lines = [line.strip() for line in ptx["saxpy"].splitlines()]  # ptxas keeps lines, not their indents
    assert list(embedded_ptx(cubin))[: len(lines)] == lines
    path = tmp_path / "k.cubin"
    path.write_bytes(cubin)
    listed = subprocess.run([find("cuobjdump"), "-elf", path], capture_output=True, text=True, check=True).stdout
    for section in sections(cubin):
        assert section.name in listed
    assert constant_bytes(cubin) == {"saxpy": 552}


@pytest.mark.parametrize("data", [b"", b"hello", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(58)])
def test_bytes_that_are_no_cubin_are_refused(data):
    with pytest.raises(ToolError, match="not a"):
        list(sections(data))


def test_a_time_limit_stops_ptxas(ptx):
    with pytest.raises(ToolError, match=r"ptxas was stopped after 0.001 s"):
        assemble(ptx["many_values"], target="sm_80", limit_s=0.001)


@pytest.mark.parametrize("tool", ["ptxas", "nvjitlink"])
def test_threads_may_assemble_at_once(ptx, tool):
    names = ["saxpy", "block_sum", "two_entries", "many_values"] * 3
    results: dict[int, dict[str, Resources]] = {}

    def work(number: int) -> None:
        results[number] = assemble(ptx[names[number]], target="sm_80", tool=tool).resources

    in_threads(work, len(names))
    for number, name in enumerate(names):
        assert results[number] == assemble(ptx[name], target="sm_80", tool=tool).resources
