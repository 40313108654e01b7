"""Random lines and cells for the IPython magics, run in a shell of this process."""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Callable
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from support.cells import GOOD, PTX
from traitlets.config import Config

import pyptx
from pyptx.errors import PtxError

__all__ = ["cell", "prepare"]

_PACKAGE = str(Path(pyptx.__file__).parent)
_SETUP = "import numpy as np\nfrom pyptx import *\nx = np.ones(256, np.float32)\ny = np.zeros(256, np.float32)\n"
_MAGICS = ("%%ptxkernel", "%%ptxkernel", "%%ptx", "%%ptx", "%ptxhistory", "%ptxconfig", "%ptxdebug")
_OPTIONS = (
    *(
        "--arch",
        "sm_80",
        "sm_100a",
        "sm_1",
        "-p",
        "N=256",
        "N=[1]",
        "N=",
        "M=undefined",
        "=",
        "--version",
        "base",
        "v-1",
    ),
    *(
        "--options",
        '"-O1"',
        "--panes",
        "ptx,sass",
        "python",
        "none",
        "--no-diff",
        "-q",
        "--quiet",
        "--run",
        '"double(x)"',
    ),
    *('"y = double(x, 3)"', '"double(x, factor=object())"', '"1/0"', '"("', "--check", '"double(x)"', '"x"', '"scale"'),
    *(
        "--debug",
        '"double(x)"',
        '"scale[1, 32](x, 2.0)"',
        '"scale(x)"',
        "--entry",
        "scale",
        "missing",
        "--restore",
        "1",
    ),
    *(
        "--view",
        "double@1",
        "--diff",
        "double@1",
        "double@99",
        "--name",
        "é",
        "''",
        "--reset",
        "--seed",
        "5",
        "-5",
        "9.5",
    ),
    *(
        "--break",
        "9",
        "-9",
        "'add'",
        "--run",
        "--schedule",
        "late",
        "never",
        "--help",
        "-h",
        '"',
        "'",
        "\\",
        "$x",
        "{y}",
    ),
    *("double(x)", "double", "double(", "scale.launch(1, 32, x, 2.0)", "scale.launch(1, 32, x)", "\x00", "--", "-"),
)
_PYTHON_EDITS = (
    *("reg.scalar(f32)", "reg.scalar(3)", "ptx.inst.add.f32(value, value, px)", "ptx.inst.nothing()", "value", "None"),
    *(
        "128",
        "0",
        "-1",
        "1 << 40",
        "'N'",
        "smem.alloc(f32, (1 << 40,))",
        "ptx.bar.sync(99)",
        "object()",
        "(",
        ")",
        "\t",
    ),
    *("Tile('N', f32)", "Tile('M', f32)", "lambda: 1/0", "lambda N: N", "[]", "x[0]", "px + py", "for i in range(3):"),
)


def cell(rnd: random.Random) -> str:
    """Return the text of a cell: a magic with random options, above Python or PTX with random edits."""
    magic = rnd.choice(_MAGICS)
    line = " ".join([magic, *(rnd.choice(_OPTIONS) for _ in range(rnd.choice((0, 0, 0, 1, 1, 2, 5))))])
    if not magic.startswith("%%"):
        return line
    body = GOOD.partition("\n")[2] if (magic == "%%ptxkernel") == (rnd.random() < 0.95) else PTX
    if magic == "%%ptxkernel" and rnd.random() < 0.7 and "-p" not in line:
        line += " -p N=256"
    for _ in range(rnd.choice((0, 0, 1, 1, 2, 6))):
        words = body.split(" ")
        at = rnd.randrange(len(words))
        edit = rnd.choice(_PYTHON_EDITS) if rnd.random() < 0.7 else rnd.choice(words)
        words[at : at + rnd.randrange(2)] = [edit]
        body = " ".join(words)
        if rnd.random() < 0.1:
            body = body[: rnd.randrange(len(body) + 1)]
    return f"{line}\n{body}"


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return a round of the fuzzer; see fuzz.run.

    An error that is neither a `PtxError` nor a `UsageError` may only come from the code of a cell.
    """
    os.environ.update(PYPTX_CACHE_DIR=str(folder / "cache"), IPYTHONDIR=str(folder))
    os.chdir(folder)
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(colors="nocolor", config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "pyptx")
    shell.run_cell(_SETUP)

    def one(rnd: random.Random) -> str:
        text = cell(rnd)
        with capture_output() as captured:
            result = shell.run_cell(text, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error is None:
            return "completed"
        if isinstance(error, (PtxError, UsageError, SyntaxError)):
            assert "Traceback (most recent" not in captured.stderr, captured.stderr[-300:]
            return "refused"
        frames = traceback.extract_tb(error.__traceback__)
        if frames and frames[-1].filename.startswith(_PACKAGE):
            error.add_note(text)
            raise error
        return f"{type(error).__name__} of the cell"

    return one
