"""ptxas as the oracle for single statements: one verdict per statement, many statements per run.

With `-arch=compute_X` ptxas parses and checks PTX without generating code and continues after an error, so that one run
of about a second checks thousands of statements, each on a line of its own in one entry.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

__all__ = ["HEADER", "TAIL", "Ptxas", "find_ptxas", "frame"]

DECLARED = (
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "f16",
    "f16x2",
    "f32",
    "f64",
    "pred",
)
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")

HEADER = """.global .align 128 .b8 sym_global[1024];
.const .align 128 .b8 sym_const[64];
.shared .align 128 .b8 sym_shared[1024];
.extern .func fn0();
.extern .func fn1(.param .b32 q);
.extern .func (.param .b32 r) fn2();
.extern .func (.param .b32 r) fn3(.param .b32 q);
"""
_BODY = """.local .align 16 .b8 sym_local[64];
.param .b32 xa; .param .b32 xr;
pr0: .callprototype _ ();
pr1: .callprototype _ (.param .b32 _);
pr2: .callprototype (.param .b32 _) _ (.param .b32 _);
ts0: .branchtargets L0, L1;
"""


TAIL = "\nL0:\nL1:\nret;\n}\n"


def frame(target: str, version: tuple[int, int], option: str = "", registers: str = "") -> str:
    """Return the text before the statements: a header, one symbol per state space, an entry with its registers."""
    words = f"{target}, {option}" if option else target
    head = f".version {version[0]}.{version[1]}\n.target {words}\n.address_size 64\n" + HEADER
    if option:
        head += ".global .texref tex0; .global .samplerref smp0;\n"
    kinds = [d for d in DECLARED if d != "b128" or (version >= (8, 3) and _number(target) >= 70)]
    head += ".visible .entry k(.param .align 128 .b8 p0[256]) {\n" + _BODY + registers + "\n"
    return head + "".join(f".reg .{kind} %{kind}_<260>;\n" for kind in kinds)


def find_ptxas() -> Path | None:
    """Return the path of ptxas in the installed wheel, or None."""
    root = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    found = sorted(root.glob("*/bin/ptxas")) + sorted(root.glob("*/bin/ptxas.exe"))
    return found[-1] if found else None


class Ptxas:
    """Checks statements with ptxas and counts the runs."""

    def __init__(self, path: Path, folder: Path):
        self.path, self.folder, self.runs = path, folder, 0

    def judge(
        self, statements: Sequence[str], target: str, version: tuple[int, int], option: str = "", registers: str = ""
    ) -> list[str]:
        """Return one verdict per statement: "" if accepted, else the first error that ptxas reports for it.

        Args:
            target: e.g. "sm_90a".
            option: option of `.target`.
            registers: additional declarations.
        """
        verdicts = [""] * len(statements)
        start = 0
        while start < len(statements):
            found, finished = self._run(statements[start:], target, version, option, registers)
            for line, message in found.items():
                verdicts[start + line] = message
            if finished:
                break
            start += max(found) + 1  # ptxas stopped after its last message
        return verdicts

    def _run(
        self, statements: list[str], target: str, version: tuple[int, int], option: str, registers: str
    ) -> tuple[dict[int, str], bool]:
        """Return the errors by statement, and True if ptxas reached the invalid statement appended at the end."""
        head = frame(target, version, option, registers)
        first = head.count("\n") + 1
        text = head + "\n".join(statements) + "\nno_instruction;" + TAIL
        source = self.folder / f"judge{self.runs}.ptx"
        source.write_text(text)
        self.runs += 1
        chip = target.replace("sm_101", "sm_110") if version >= (9, 0) else target
        arch = chip.replace("sm_", "compute_") if _number(target) >= 75 else "compute_75"
        done = subprocess.run(
            [self.path, f"-arch={arch}", source, "-o", "/dev/null"], capture_output=True, text=True, timeout=300
        )
        source.unlink()
        found: dict[int, str] = {}
        for match in _ERROR.finditer(done.stdout + done.stderr):
            line, message = int(match[1]) - first, match[2]
            if not 0 <= line <= len(statements):  # in the expansion of an instruction
                return self._halved(statements, target, version, option, registers)
            found.setdefault(line, message)
        finished = found.pop(len(statements), None) is not None
        if not finished and not found:
            return self._halved(statements, target, version, option, registers)
        return found, finished

    def _halved(self, statements: list[str], *frame) -> tuple[dict[int, str], bool]:
        """Bisect for statements that crash ptxas or cause errors on lines of its own."""
        if len(statements) == 1:
            return {0: "ptxas crashed"}, False
        middle = len(statements) // 2
        verdicts = [*self.judge(statements[:middle], *frame), *self.judge(statements[middle:], *frame)]
        return {i: verdict for i, verdict in enumerate(verdicts) if verdict}, True


def _number(target: str) -> int:
    return int(re.search(r"\d+", target)[0])
