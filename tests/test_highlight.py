"""The Pygments lexers: every word of real text has a token type, and no text is lost."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pygments.lexers import LEXERS
from pygments.token import Error, Keyword, Name, Number

from pyptx import isa, kernel, ptx, reg
from pyptx.highlight import PtxLexer, SassLexer
from pyptx.types import f32, u32


@kernel(arch="sm_90a")
def sample():
    x = reg.scalar(f32, 1.5)
    tid = reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(tid < 3):
        ptx.inst.fma.rn.ftz.f32(x, x, x, x)
    ptx.inst.fence.proxy.async_()


def tokens(lexer, text):
    found = list(lexer.get_tokens(text))
    assert "".join(value for _, value in found) == text
    assert not [value for kind, value in found if kind in Error]
    return found


def test_ptx_of_a_kernel():
    found = tokens(PtxLexer(), sample.ptx())
    assert (Keyword, "fma") in found and (Keyword.Pseudo, ".ftz") in found and (Keyword.Type, ".f32") in found
    assert (Name.Builtin, "%tid.x") in found and (Number.Float, "0f3FC00000") in found
    assert (Name.Label, "$_endif_1") in found and (Name.Variable, "%p0") in found


def test_sass_of_a_kernel():
    found = tokens(SassLexer(), sample.sass())
    assert (Keyword, "S2R") in found or (Keyword, "EXIT") in found


def test_every_opcode_of_the_table_is_a_keyword():
    for mnemonic in sorted(isa.OPS):
        found = tokens(PtxLexer(), f"{mnemonic} %r0;\n")
        assert found[0] == (Keyword, mnemonic.partition(".")[0])


@pytest.mark.parametrize(
    "text",
    [
        "@!%p1 bra $L_1;\n",
        "mov.b32 %r1, 0x1FU;\n",
        "/* a\n b */ ret;\n",
        "@@DWARF .byte 0x1\n",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];\n",
        "setp.lt.and.f32 %p1|%p2, %f1, 1e-3, !%p3;\n",
        '.pragma "nounroll";\n',
        "st.global.v2.f32 [%rd1+-8], {%f1, _};\n",
    ],
)
def test_oddities_of_ptx_text(text):
    tokens(PtxLexer(), text)


def test_the_lexers_are_registered():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["pygments.lexers"]
    found = [EntryPoint(name, value, "pygments.lexers").load() for name, value in points.items()]
    assert found == [PtxLexer, SassLexer]
    taken = {alias for _, _, aliases, _, _ in LEXERS.values() for alias in aliases}
    assert not taken & {*PtxLexer.aliases, *SassLexer.aliases}
