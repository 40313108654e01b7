"""`pyptx check` has no findings in the examples with random inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyptx import cli

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    "command",
    [
        "rms_norm.py -p M=8 N=512",
        "softmax.py:softmax -p M=8 N=640",
        "layer_norm.py:layer_norm -p M=8 N=512",
        "swiglu.py:swiglu -p M=8 N=512",
        "swiglu.py:swiglu_backward -p M=8 N=512",
        "hopper/gemm.py -p M=256 N=256 K=256",
        "ampere/gemm.py -p M=256 N=128 K=160",
        "hopper/attention.py -p B=1 H=2 S=256 T=256 D=64",
        "blackwell/gemm.py -p M=256 N=256 K=256",
        "cross_entropy.py -p M=8 N=512",
    ],
)
def test_an_example_has_no_findings(command, capsys):
    name, *options = command.split()
    assert cli.main(["check", str(EXAMPLES / name), *options]) == 0
    assert "no findings in eager, late, 4 random schedules" in capsys.readouterr().out


def test_the_introductory_example_has_a_performance_note_only(capsys):
    """It writes its tile of A transposed, with two-way bank conflicts."""
    assert cli.main(["check", str(EXAMPLES / "sgemm.py"), "-p", "M=128", "N=64", "K=48"]) == 0
    out = capsys.readouterr().out
    assert ": 1 note in eager" in out and "note[bank-conflicts]: st.shared.f32 takes 2 passes" in out
