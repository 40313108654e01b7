"""Live registers of machine code: compared with `nvdisasm -lrm count`, and followed through calls."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from pyptx.toolchain import LiveRegisters, SassLine, assemble, disassemble, find
from pyptx.toolchain.sass_liveness import count_live_registers

TESTS = Path(__file__).parents[1]
SAMPLES = [
    ("corpus/clang_sm80.ptx", "sm_80"),
    ("corpus/ptx/nvcc/sgemm.sm_75.ptx", "sm_75"),
    ("toolchain/ptx/wgmma_sm_90a.ptx", "sm_90a"),
    ("corpus/ptx/nvcc/sgemm.sm_120.ptx", "sm_120"),
    ("toolchain/ptx/block_scale_sm_120a.ptx", "sm_120a"),
]
BANKS = ("GPR", "PRED", "UGPR", "UPRED")


def counts_by_nvdisasm(cubin: bytes, folder: Path) -> dict[tuple[str, int], LiveRegisters]:
    """(function, address) -> counts; the columns differ by target and are identified by their heads."""
    (folder / "k.cubin").write_bytes(cubin)
    listing = subprocess.run(
        [find("nvdisasm"), "-c", "-lrm", "count", "k.cubin"], cwd=folder, text=True, capture_output=True, check=True
    ).stdout
    found, function, heads = {}, "", []
    for line in listing.splitlines():
        if row := re.match(r"\s*/\*([0-9a-f]{4,})\*/.*;\s*// \|(.*)\|", line):
            cells = dict(zip(heads, (int(cell.strip() or 0) for cell in row[2].split("|")), strict=True))
            found[function, int(row[1], 16)] = LiveRegisters(*(cells.get(bank, 0) for bank in BANKS))
        elif section := re.match(r"//-+ \.text\.(\S+) ", line):
            function = section[1]
        elif "| GPR " in line:
            heads = [head.strip() for head in line.split("|")[1:-1]]
    return found


def without_calls(lines: Sequence[SassLine]) -> list[SassLine]:
    """Lines of functions without calls into their own section, for which the counts differ on purpose."""
    calling = {line.entry for line in lines if line.opcode.startswith("CALL") and line.target_address is not None}
    return [line for line in lines if line.entry not in calling]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, target", SAMPLES, ids=[name for name, _ in SAMPLES])
def test_counts_equal_those_of_nvdisasm(name, target, tmp_path):
    cubin = assemble((TESTS / name).read_text(), target=target).data
    theirs, lines = counts_by_nvdisasm(cubin, tmp_path), without_calls(disassemble(cubin))
    assert len(lines) > 15
    assert [(line.text, line.live) for line in lines] == [
        (line.text, theirs[line.entry, line.address]) for line in lines
    ]


@pytest.mark.slow
def test_counts_differ_little_from_those_of_nvdisasm_on_compiled_code(tmp_path):
    """A sample of the corpus. nvdisasm knows the value of some predicates, and does not count PR."""
    files = sorted(p for kind in ("nvcc", "triton", "pyptx") for p in (TESTS / "corpus/ptx" / kind).glob("*.ptx"))
    files = [path for path in files if "linked" not in path.name][::35]
    rows = different = 0
    for path in files:
        text = path.read_text()
        target = re.search(r"^\s*\.target\s+(sm_\w+)", text, re.MULTILINE)
        assert target
        cubin = assemble(text, target=target[1]).data
        theirs = counts_by_nvdisasm(cubin, tmp_path)
        for line in without_calls(disassemble(cubin)):
            expected = theirs.get((line.entry, line.address))
            if expected is not None:  # a few rows have no counts
                rows += 1
                different += line.live != expected
    assert rows > 1000
    assert different < 0.05 * rows


def counts(code: str) -> list[int]:
    """Live general registers of a listing, one instruction per line: `label: @P0 OPCODE operand, operand`."""
    rows = [re.fullmatch(r"(?:(\w+): )?(?:@(!?\w+) )?(\S+) ?(.*)", row.strip()) for row in code.strip().splitlines()]
    labels = {row[1]: number for number, row in enumerate(rows) if row and row[1]}
    operands = [row[4].split(", ") if row and row[4] else [] for row in rows]
    found = count_live_registers(
        [row[3] for row in rows if row],
        [row[2] or "" for row in rows if row],
        operands,
        [next((labels[one] for one in own if one in labels), -1) for own in operands],
        {},
        {},
    )
    return [one.gpr for one in found]


def test_registers_passed_to_a_subroutine_are_live_before_the_call():
    code = """
        MOV R4, 1
        MOV R8, 2
        CALL.REL.NOINC half
        STG.E [R8], R6
        EXIT
        half: FADD R6, R4, R4
        RET.REL.NODEC R20
    """
    # R1 is live to the end; R9, R20 and R21, which nothing writes, from the start
    assert counts(code) == [5, 6, 6, 4, 1, 7, 6]


def test_each_call_has_its_own_live_registers():
    """A register that is live after one call of a subroutine is not live before the other."""
    code = """
        CALL.REL.NOINC nothing
        MOV R9, 1
        CALL.REL.NOINC nothing
        FADD R2, R9, R9
        EXIT
        nothing: NOP
        RET.REL.NODEC R20
    """
    assert counts(code) == [3, 4, 4, 3, 1, 4, 4]


def test_opposite_guards_overwrite_a_register_together():
    code = """
        @P0 MOV R4, 1
        @!P0 MOV R4, 2
        FADD R5, R4, R4
        EXIT
    """
    assert counts(code) == [2, 2, 3, 1]
    assert counts(code.replace("@!P0", "@P1")) == [2, 2, 3, 1]
