"""Does an installed pyptx work? `python .ci/smoke.py README.md`, from a folder that holds nothing.

The README's kernel runs and is right, machine code comes out, a check finds nothing, the command line answers; where
JupyterLab is installed, the demo executes the first notebook and the extension is where JupyterLab looks.
"""

import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import numpy as np

import pyptx
from pyptx.sim.core import library


def command(*words: str) -> str:
    done = subprocess.run(["pyptx", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"pyptx {' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def main() -> None:
    assert Path(pyptx.__file__).is_relative_to(sys.prefix), f"{pyptx.__file__} is not the installed one"
    assert library.problem() is None, library.problem()
    readme = Path(sys.argv[1]).read_text(encoding="utf-8")
    Path("readme.py").write_text(re.search(r"^```python\n(.*?)^```", readme, re.M | re.S)[1])
    names: dict = {}
    with redirect_stdout(StringIO()):  # it prints PTX and machine code
        exec(compile(Path("readme.py").read_text(), str(Path("readme.py").resolve()), "exec"), names)
    add, x = names["add"], names["x"]
    assert np.array_equal(add(x, x), 2 * x)
    assert "EXIT" in str(add.sass(N=1000)) and add.check(x, x).ok
    assert f"pyptx {pyptx.__version__}" in command("--version")
    assert json.loads(command("doctor", "--json"))["ok"]
    assert "FADD" in command("sass", "readme.py:add", "-p", "N=1000")
    command("check", "readme.py:add", "-p", "N=1000")
    command("view", "readme.py:add", "-p", "N=1000", "-o", "add.html")
    done = "README's kernel, check, command line"
    if find_spec("jupyterlab"):
        assert "largest difference from NumPy" in command("demo")
        found = {one["name"]: one for one in json.loads(command("doctor", "--json"))["findings"]}
        assert found["extension"]["usable"], found["extension"]
        done += ", demo, extension"
    print(f"works: {done}; Python {sys.version.split()[0]}, NumPy {np.__version__}")


main()
