"""Registers read and written by machine instructions, compared with nvdisasm on compiled code."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from support.sass import compiled

from pyptx.toolchain import assemble, find
from pyptx.toolchain.sass_registers import READ, READ_WRITE, WRITE, instruction_shape

TESTS = Path(__file__).parents[1]
BANKS = {"GPR": "R", "PRED": "P", "UGPR": "UR", "UPRED": "UP"}
ROLES = {"^": WRITE, "v": READ, "x": READ_WRITE}
FILES = [
    ("corpus/nvcc_sm75.ptx", "sm_75"),
    ("corpus/clang_sm80.ptx", "sm_80"),
    ("corpus/nvcc_sm90a.ptx", "sm_90a"),
    ("corpus/nvcc_sm120.ptx", "sm_120"),
    ("toolchain/ptx/wgmma_sm_90a.ptx", "sm_90a"),
    ("toolchain/ptx/tcgen05_sm_100a.ptx", "sm_100a"),
    ("toolchain/ptx/block_scale_sm_120a.ptx", "sm_120a"),
]


def roles_by_nvdisasm(cubin: bytes, folder: Path) -> dict[tuple[str, int], dict[str, int]]:
    """(function, address) -> register -> role, from `nvdisasm -lrm wide`: a column for each register, "^" written."""
    (folder / "k.cubin").write_bytes(cubin)
    listing = subprocess.run(
        [find("nvdisasm"), "-c", "-lrm", "wide", "k.cubin"], cwd=folder, text=True, capture_output=True, check=True
    ).stdout
    found, columns, banks, entry = {}, [], [], ""
    for line in listing.splitlines():
        if section := re.match(r"//-+ \.text\.(\S+) ", line):
            entry = section[1]
        elif re.search(r"// \|\s+GPR", line):
            banks = re.findall(r"U?GPR|U?PRED", line)
        elif re.search(r"// \|\s+#", line):
            bars = [place for place, character in enumerate(line) if character == "|"]
            columns = [
                (start + number.end() - 1, BANKS[bank] + number[0])
                for start, end, bank in zip(bars, [*bars[1:], len(line)], banks, strict=False)
                for number in re.finditer(r"\d+", line[start:end])
            ]
        elif code := re.match(r"\s*/\*([0-9a-f]{4,})\*/", line):
            found[entry, int(code[1], 16)] = {
                name: ROLES[line[place]] for place, name in columns if place < len(line) and line[place] in ROLES
            }
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, target", FILES, ids=[name for name, _ in FILES])
def test_roles_and_widths_are_those_of_nvdisasm(name, target, tmp_path):
    cubin = assemble((TESTS / name).read_text(), target=target).data
    theirs, wrong, count = roles_by_nvdisasm(cubin, tmp_path), Counter(), 0
    for line in compiled((TESTS / name).read_text(), target):
        if line.opcode.startswith("CALL"):  # nvdisasm adds what the function called does
            continue
        count += 1
        one = instruction_shape(line.opcode, line.operands, line.predicate, line.target_address is not None)
        mine: dict[str, int] = {}
        for register, role in zip(one.registers, one.roles, strict=True):
            if register[0] != "B":
                mine[register] = mine.get(register, 0) | role
        for register in mine.keys() | theirs[line.entry, line.address].keys():
            said, true = mine.get(register, 0), theirs[line.entry, line.address].get(register, 0)
            guarded = line.predicate and said == READ_WRITE and true == WRITE
            hidden = not said and register.startswith("UR") and target == "sm_80"  # the descriptor of memory
            if said != true and not guarded and not hidden:
                wrong[f"{line.text}: {register} is {true}, not {said}"] += 1
    assert count > 15
    assert not wrong


@pytest.mark.parametrize(
    "opcode, operands, key, registers",
    [
        ("FFMA", ("R4", "R5.reuse", "-R6", "R4"), "FFMA R, R, -R, R", ("R4", "R5", "R6", "R4")),
        (
            "LDG.E.64",
            ("R4", "desc[UR4][R2.64+0x10]"),
            "LDG.E.64 R, desc[UR][R.64+0x10]",
            ("R4", "R5", "UR4", "UR5", "R2", "R3"),
        ),
        (
            "ISETP.GE.AND",
            ("P0", "PT", "R0", "c[0x0][0x160]", "!P1"),
            "ISETP.GE.AND P, PT, R, c[0x0][0x160], !P",
            ("P0", "R0", "P1"),
        ),
        ("S2R", ("R0", "SR_TID.X"), "S2R R, SR_TID.X", ("R0",)),
        ("HADD2", ("R0", "R1.H0_H0", "R2.H1_H1"), "HADD2 R, R.H0_H0, R.H1_H1", ("R0", "R1", "R2")),
    ],
)
def test_the_shape_of(opcode, operands, key, registers):
    one = instruction_shape(opcode, operands)
    assert (one.key, one.registers) == (key, registers)


def test_a_guarded_write_keeps_what_was_there():
    one = instruction_shape("MOV", ("R4", "R5"), "!P2")
    assert one.key == "@!P MOV R, R"
    assert one.registers == ("R4", "R5", "P2")
    assert one.roles == (READ_WRITE, READ, READ)
