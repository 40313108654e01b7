"""Modules that are parts of a program: assembled for linking, linked by name, run on the simulator."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pyptx
from pyptx.cli import main
from pyptx.errors import ArgumentValueError, InputError
from pyptx.parser import parse
from pyptx.sim import launch, load
from pyptx.toolchain import disassemble, nvlink
from pyptx.toolchain.cubin import assemble_linked

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
CALL = """    {{
    .param .b32 a; .param .b32 b;
    st.param.b32 [a], {value};
    call.uni (b), {name}, (a);
    ld.param.b32 {value}, [b];
    }}
"""


def function(name: str, code: str, linking: str = ".visible ") -> str:
    """A function of %x that returns it."""
    return (
        f"{linking}.func (.param .b32 r) {name}(.param .b32 p) {{\n    .reg .b32 %x, %y;\n    ld.param.b32 %x, [p];\n"
        f"    {code}\n    st.param.b32 [r], %x;\n    ret;\n}}\n"
    )


def entry(code: str, name: str = "fill") -> str:
    """An entry that stores %x, which is the thread's number before `code`."""
    return (
        f".visible .entry {name}(.param .u64 out) {{\n    .reg .b64 %o;\n    .reg .b32 %x, %y;\n    ld.param.u64 %o, [out];\n"
        f"    mov.u32 %x, %tid.x;\n{code}    mov.u32 %y, %tid.x;\n    mad.wide.u32 %o, %y, 4, %o;\n"
        "    st.global.u32 [%o], %x;\n    ret;\n}\n"
    )


def extern(name: str) -> str:
    return f".extern .func (.param .b32 r) {name}(.param .b32 p);\n"


def call(name: str) -> str:
    return CALL.format(name=name, value="%x")


MAIN = HEADER + extern("twice") + ".extern .global .align 4 .u32 bias;\n" + entry(
    call("twice") + "    ld.global.u32 %y, [bias];\n    add.u32 %x, %x, %y;\n"
)  # fmt: skip
LIBRARY = HEADER + ".visible .global .align 4 .u32 bias = 100;\n" + function("twice", "add.u32 %x, %x, %x;")


def run(*modules: str, threads: int = 4) -> list[int]:
    out = np.zeros(threads, np.uint32)
    pyptx.load(modules)["fill"].launch(1, threads, out, backend="sim")
    return out.tolist()


def test_functions_and_variables_of_another_module_are_used():
    assert run(MAIN, LIBRARY) == run(LIBRARY, MAIN) == [100, 102, 104, 106]


def test_the_machine_code_is_that_of_each_module_with_the_lines_of_the_joined_text():
    program = pyptx.load([MAIN, LIBRARY])
    compiled = program.compile()
    rows = program.text.split("\n")
    assert (
        program.is_linked and "nvlink" in compiled.tool and {line.entry for line in compiled.sass} == {"fill", "twice"}
    )
    stores = {rows[line.ptx_line - 1].strip() for line in compiled.sass if line.ptx_line and "STG" in line.text}
    adds = {rows[line.ptx_line - 1].strip() for line in compiled.sass if line.ptx_line and line.entry == "twice"}
    assert stores == {"st.global.u32 [%o], %x;"} and "add.u32 %x, %x, %x;" in adds
    assert program.check_ptx() == [] and compiled.resources["fill"].registers >= 16


def test_nvjitlink_links_the_same_code_without_nvlink(monkeypatch):
    pytest.importorskip("ctypes")
    objects = pyptx.load([MAIN, LIBRARY])._objects
    expected = disassemble(assemble_linked(objects, target="sm_90a").data)
    monkeypatch.setattr(nvlink, "linker", lambda: "nvJitLink")
    found = disassemble(assemble_linked(objects, target="sm_90a").data)
    assert [(line.entry, line.text, line.ptx_line) for line in found] == [
        (line.entry, line.text, line.ptx_line) for line in expected
    ]


def test_private_names_of_two_modules_stay_apart():
    def part(name: str, value: int) -> str:
        private = f".global .align 4 .u32 state = {value};\n" + function("helper", "add.u32 %x, %x, 1000;", "")
        code = f"ld.global.u32 %y, [state];\n    add.u32 %x, %x, %y;\n{call('helper')}"
        return private + (entry(code) if name == "fill" else function(name, code))

    one = HEADER + extern("other") + part("fill", 1).replace("mov.u32 %y, %tid", call("other") + "    mov.u32 %y, %tid")
    two = HEADER + part("other", 20).replace("1000", "5000")
    assert run(one, two) == run(two, one) == [6021 + i for i in range(4)]
    assert pyptx.load([one, two]).compile().cubin


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ((".weak ", ".visible "), 2),
        ((".visible ", ".weak "), 1),
        ((".weak ", ".weak "), 1),
    ],
)
def test_a_strong_definition_wins_over_a_weak_one_else_the_first_counts(modules, expected):
    parts = [HEADER + function("f", f"mov.u32 %x, {k};", linking) for k, linking in enumerate(modules, 1)]
    main = HEADER + extern("f") + entry(call("f"))
    assert run(*parts, main, threads=1) == [expected]
    assert pyptx.load([*parts, main]).compile().cubin


def test_common_variables_share_the_largest_definition():
    one = HEADER + ".common .global .align 4 .u32 box[2];\n" + function(
        "put", "mov.u32 %y, 77; st.global.u32 [box+4], %y;"
    )  # fmt: skip
    two = HEADER + ".common .global .align 4 .u32 box[4];\n" + extern("put") + entry(
        call("put") + "    ld.global.u32 %x, [box+4];\n    st.global.u32 [box+12], %x;\n"
    )  # fmt: skip
    assert run(one, two, threads=1) == [77]
    assert pyptx.load([one, two]).compile().cubin


def test_dynamic_shared_memory_is_one_array_with_the_largest_alignment():
    shared = ".extern .shared .align {} .b8 dyn[];\n"
    one = HEADER + shared.format(16) + extern("read") + entry("    st.shared.u32 [dyn], %x;\n" + call("read"))
    two = HEADER + shared.format(1024) + function("read", "ld.shared.u32 %x, [dyn]; add.u32 %x, %x, 5;")
    program = pyptx.load([one, two])
    assert ".align 1024 .b8 dyn[];" in program.text and program.text.count("dyn[]") == 1
    out = np.zeros(1, np.uint32)
    program["fill"].launch(1, 1, out, smem_bytes=64, backend="sim")
    assert out[0] == 5


REFUSED = {
    "two definitions": ((MAIN, LIBRARY, LIBRARY), r"twice is defined in <ptx> \(2\) and in <ptx> \(3\)"),
    "two entries": ((HEADER + entry(""), HEADER + entry("")), "fill is defined in"),
    "no function": ((MAIN, HEADER + ".visible .global .align 4 .u32 bias;\n"), r"twice, which <ptx> \(1\) calls, is not defined"),
    "no variable": ((MAIN, HEADER + function("twice", "")), "bias, a variable that .* declares .extern, is not defined"),
    "other kind": ((MAIN, HEADER + ".visible .global .align 4 .u32 twice;\n"), "twice is a variable in .* and a function in"),
    "other type": ((MAIN, LIBRARY.replace("bias = 100", "bias").replace(".u32 bias", ".u64 bias")), r"bias is \.global \.u64 in"),
    "other parameters": ((MAIN.replace("twice(.param .b32 p)", "twice(.param .b64 p)"), LIBRARY), "twice has other parameters"),
    "no common GPU": ((MAIN, LIBRARY.replace("sm_90a", "sm_100a").replace("8.5", "8.6")), "no GPU runs all modules"),
    "nothing": ((), "an empty list"),
}  # fmt: skip


@pytest.mark.parametrize(("modules", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_linked_is_refused_by_name(modules, message):
    with pytest.raises(InputError, match=message):
        pyptx.load(modules)


def test_a_module_with_extern_functions_is_viewed_and_listed_but_not_launched():
    program = pyptx.load(MAIN)
    assert "twice" in program["fill"].sass() and "call.uni" in program["fill"].view().text()
    for use in (program["fill"].launch, program["fill"].check):
        with pytest.raises(ArgumentValueError, match="calls twice, which is not defined in it") as caught:
            use(1, 4, np.zeros(4, np.uint32))
        assert "pyptx.load([...])" in str(caught.value)


def test_a_library_without_entries_is_viewed_listed_and_compared_but_not_launched():
    program = pyptx.load(LIBRARY)
    assert "IADD3" in program["twice"].sass() and "st.param" in program["twice"].view().text()
    assert pyptx.diff(LIBRARY, LIBRARY).identical
    with pytest.raises(ArgumentValueError, match=r"twice is a \.func"):
        program["twice"].launch(1, 4)


def test_the_view_counts_the_instructions_of_called_functions():
    program = pyptx.load([MAIN, LIBRARY])
    program["fill"].launch(1, 32, np.zeros(32, np.uint32), backend="sim")
    counts = dict(zip(program.text.split("\n"), program["fill"].view().ptx.counters["lanes"], strict=False))
    assert counts["    add.u32 %x, %x, %x;"] == 32 and counts["    ret;"] == 32


def test_the_command_line_links_files_joined_by_a_plus(tmp_path, capsys):
    for name, text in (("main", MAIN), ("library", LIBRARY)):
        (tmp_path / f"{name}.ptx").write_text(text)
    assert main(["sass", f"{tmp_path}/main.ptx+{tmp_path}/library.ptx"]) == 0
    assert "twice:" in capsys.readouterr().out


def test_both_engines_run_the_joined_tree():
    program = pyptx.load([MAIN, LIBRARY])
    for engine in ("core", "reference"):
        out = np.zeros(4, np.uint32)
        launch(load(parse(program.text)), 1, 4, [out], engine=engine)
        assert out.tolist() == [100, 102, 104, 106]


def with_source(module: str, path: str, line: int, name: str) -> str:
    """A module whose functions come from lines of a source file, where a function was inlined."""
    head, body = module.split("{\n", 1)
    locations = f".loc 1 {line} 2\n.loc 1 {line + 2} 2, function_name $N, inlined_at 1 {line} 2\n"
    strings = ".section .debug_str\n{\n$N:\n" + "".join(f".b8 {byte}\n" for byte in (*name.encode(), 0)) + "}\n"
    head = head.replace("64\n", f'64\n.file 1 "{path}"\n', 1)
    return f"{head}{{\n{locations}{body}{strings}"


def test_the_view_shows_the_source_files_of_all_modules(tmp_path):
    for name in ("main.cu", "library.cu"):
        (tmp_path / name).write_text("".join(f"{name} line {n}\n" for n in range(1, 10)))
    main, library = with_source(MAIN, "main.cu", 3, "f"), with_source(LIBRARY, "library.cu", 5, "g")
    entry = pyptx.load([main, library])["fill"]
    view = json.dumps(entry.view(source=tmp_path).to_json())
    for text in ("main.cu line 3", "main.cu line 5", "library.cu line 5", "library.cu line 7"):
        assert text in view
    assert run(main, library) == run(MAIN, LIBRARY)
    assert entry.compile().cubin and not [d for d in pyptx.check_ptx(entry.ptx()) if d.severity == "error"]
