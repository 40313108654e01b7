"""Write the compiled files of the corpus again: needs nvcc, and clang from ziglang.

python tests/corpus/generate.py
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
NVCC = {
    "nvcc_sm75": ["-arch=compute_75"],
    "nvcc_sm90a": ["-arch=compute_90a"],
    "nvcc_sm120": ["-arch=compute_120"],
    "nvcc_lineinfo": ["-arch=compute_100", "-lineinfo"],
    "nvcc_debug": ["-arch=compute_80", "-G"],
}
CLANG = {"clang_sm80": ["-O2", "sm_80"], "clang_sm90_O0": ["-O0", "sm_90"]}


def main() -> None:
    build = Path(tempfile.gettempdir()) / "corpus"  # the same folder always: its name stands in debug data
    build.mkdir()
    try:
        for source in ("kernels.cu", "clang.c"):
            shutil.copy(FOLDER / source, build)
        for name, options in NVCC.items():
            command = ["nvcc", "-ptx", *options, "kernels.cu", "-o", f"{name}.ptx"]
            subprocess.run(command, cwd=build, check=True)
        for name, (level, cpu) in CLANG.items():
            target = ["-target", "nvptx64-nvidia-cuda", "-Xclang", "-target-cpu", "-Xclang", cpu]
            command = [sys.executable, "-m", "ziglang", "clang", *target, "-S", level, "clang.c", "-o", f"{name}.ptx"]
            subprocess.run(command, cwd=build, check=True)
        for path in build.glob("*.ptx"):
            # no paths of the machine it ran on
            text = re.sub(r'(\.file\s+\d+\s+")[^"]*/', r"\1", path.read_text())
            (FOLDER / path.name).write_text(text)
    finally:
        shutil.rmtree(build)


if __name__ == "__main__":
    main()
