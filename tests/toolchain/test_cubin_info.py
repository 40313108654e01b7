"""Resources stated in a cubin, compared with the log of ptxas."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pyptx.errors import ToolError
from pyptx.toolchain import assemble, disassemble
from pyptx.toolchain.cubin_info import read_cubin_info, spilled_bytes
from pyptx.toolchain.elf import sections

CORPUS = Path(__file__).parents[1] / "corpus"
PRESSURE = "\n".join(
    [
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {",
        ".reg .b64 %a;\n.reg .f32 %f<64>;\nld.param.u64 %a, [p];",
        *(f"ld.volatile.global.f32 %f{n}, [%a+{4 * n}];" for n in range(64)),
        *(f"st.volatile.global.f32 [%a+{4 * n}], %f{63 - n};" for n in range(64)),
        "ret;\n}\n",
    ]
)


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_120a"])
def test_it_says_what_ptxas_said(target):
    made = assemble((CORPUS / "nvcc_sm75.ptx").read_text(), target=target)
    found = read_cubin_info(made.data)
    assert (found.target, found.tool) == (target, made.tool)
    assert found.resources == {
        name: replace(used, spill_stores=0, spill_loads=0) for name, used in made.resources.items()
    }


def test_spills_are_counted_in_the_machine_code():
    made = assemble(PRESSURE, target="sm_90a", options=("--maxrregcount=24",))
    used = next(iter(made.resources.values()))
    lines = disassemble(made.data)
    assert used.spill_stores > 0
    assert sum(spilled_bytes(line) for line in lines if line.opcode.startswith("STL")) == used.spill_stores
    assert sum(spilled_bytes(line) for line in lines if line.opcode.startswith("LDL")) == used.spill_loads


def with_section(data: bytes, name: str, start: bytes) -> bytes:
    """Return the cubin with other bytes at the start of a section; a string table loses its ends."""
    section = next(s for s in sections(data) if s.name == name)
    changed = start + section.data[len(start) :]
    return data.replace(section.data, changed.replace(b"\0", b"x") if name == ".strtab" else changed)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"\x7fELF\x02\x01" + bytes(10),
        lambda data: data[:200],
        lambda data: data[:18] + b"\x3e\x00" + data[20:],
        lambda data: with_section(data, ".symtab", b"\xff\xff\xff\x7f" * 6),
        lambda data: with_section(data, ".strtab", b"endless"),
    ],
)
def test_what_is_no_cubin_is_refused(damage):
    data = assemble((CORPUS / "nvcc_sm75.ptx").read_text(), target="sm_90").data
    with pytest.raises(ToolError):
        read_cubin_info(damage(data))
