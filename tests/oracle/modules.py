"""Modules on which `check_ptx` is compared with ptxas.

Each line of a file in `cases/` is inserted into a module: `directives` of a function, `statements` and `uses` of names in
a frame that declares one of each kind, `declarations` of a module, declarations `inside` a body, and `versions`, features
that only some versions support.
"""

from pathlib import Path

__all__ = ["body", "versions", "lines", "module", "named", "uses"]

CASES = Path(__file__).parent / "cases"
SYMBOLS = "g c s ds l p pa xa nosym f1 k L %tid"
_HEADER = ".version 9.5\n.target sm_90\n.address_size 64\n"
_FRAME = """\
.global .align 16 .b32 g[64];
.const .align 16 .b32 c[64];
.shared .align 16 .b32 s[64];
.extern .shared .align 16 .b8 ds[];
.extern .func ef (.param .b32 q);
.func (.param .b32 r) f1 (.param .b32 a, .param .b64 b) { st.param.b32 [r], 1; ret; }
.func (.reg .b32 r) f2 (.reg .b32 a) { mov.b32 r, a; ret; }
.func f0 () { ret; }
"""
_LOCALS = """\
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %h<9>;
.local .align 16 .b32 l[8]; .param .b32 xa; .param .b64 xb; .param .b32 xr; .param .align 8 .b8 xc[16];
"""


def lines(name: str) -> list[str]:
    """Return the lines of a case file; ` \\ ` denotes a newline within a case."""
    text = (CASES / f"{name}.txt").read_text(encoding="utf-8")
    return [line.replace(" \\ ", "\n") for line in text.splitlines() if line]


def module(text: str) -> str:
    """Return a module with declarations in front of an empty entry."""
    return f"{_HEADER}{text}\n.visible .entry kk() {{ ret; }}\n"


def body(text: str, directives: str = "") -> str:
    """Return a module with statements in an entry, and a symbol of every state space."""
    head = f".visible .entry k(.param .u64 p, .param .align 8 .b8 pa[16]) {directives}"
    return f"{_HEADER}{_FRAME}{head}\n{{\n{_LOCALS}{text}\nret;\n}}\n"


def versions() -> dict[str, str]:
    """Return the modules of other versions and targets, by case."""
    found = {}
    for line in lines("versions"):
        version, target, *text = line.split(" ", 2)
        found[line] = f".version {version}\n.target {target}\n{''.join(text)}\n"
    return found


def named() -> dict[str, str]:
    """Return all modules except `versions` and `uses`, by case."""
    found = {
        f"{where} {line}": text
        for line in lines("directives")
        for where, text in (
            ("entry", body("", line)),
            ("func", module(f".func q () {line} {{ ret; }}")),
            ("declared", module(f".func q () {line};")),
        )
    }
    found |= {line: body(line) for line in lines("statements")}
    found |= {line: module(line) for line in lines("declarations")}
    entry = ".global .b32 gg;\n.entry e(.param .b32 pp) {{ .reg .b32 %r<4>;\n{}\nret; }}"
    found |= {f"inside {line}": module(entry.format(line)) for line in lines("inside")}
    return found


def uses() -> dict[str, str]:
    """Return modules that use every name of the frame in every kind of operand with a name."""
    written = [use.format(name) for name in SYMBOLS.split() for use in lines("uses")]
    return {line: body("L:\n" + line) for line in written}
