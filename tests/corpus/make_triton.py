"""Write tests/corpus/ptx/triton/*.ptx: our Triton kernels, compiled without a GPU. Needs triton.

python tests/corpus/make_triton.py
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
from corpus import FOLDER, without_paths, write
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

ARCHS = {
    "elementwise": (80, 90, 120),
    "rows": (80, 90, 120),
    "matmul": (80, 89, 90, 100, 120),
    "attention": (80, 90, 120),
    "steps": (90, 100, 120),
}
WITH_LINES = {"add", "softmax"}  # the others without debug information


def compiled(function, signature: str, constants: dict, options: dict, arch: int) -> str:
    """PTX of one kernel. `signature` names the types of the parameters; `:16` says divisible by 16."""
    names = [n for n in function.arg_names if n not in constants]
    types = dict(zip(names, signature.split(), strict=True))
    attrs = {(function.arg_names.index(n),): [["tt.divisibility", 16]] for n, t in types.items() if t.endswith(":16")}
    plain = {n: t.removesuffix(":16") for n, t in types.items()}
    source = ASTSource(
        fn=function, signature={**plain, **dict.fromkeys(constants, "constexpr")}, constexprs=constants, attrs=attrs
    )
    chosen = {"num_warps": 4, **{k: v for k, v in options.items() if k not in ("above", "below")}}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=chosen).asm["ptx"]


def main() -> None:
    build = Path(tempfile.gettempdir()) / "corpus"  # the same folder always: its name stands in debug data
    build.mkdir()
    rows = []
    try:
        os.environ["TRITON_CACHE_DIR"] = str(build / "cache")
        for theme, archs in ARCHS.items():
            path = build / f"{theme}.py"
            shutil.copy(FOLDER / "triton" / path.name, path)
            spec = importlib.util.spec_from_file_location(theme, path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            for name, (function, signature, constants, options) in module.CASES.items():
                triton.knobs.compilation.disable_line_info = name not in WITH_LINES
                for arch in archs:
                    if not options.get("above", 0) <= arch <= options.get("below", arch):
                        continue
                    text = without_paths(compiled(function, signature, constants, options, arch))
                    rows.append(
                        write(
                            f"triton/{name}.sm_{arch}.ptx",
                            text,
                            source=f"triton/{theme}.py",
                            generator=f"triton {triton.__version__}",
                            options=[*(f"{k}={v}" for k, v in {**constants, **options}.items()), signature],
                        )
                    )
                    print(rows[-1]["file"], len(text), file=sys.stderr)
    finally:
        shutil.rmtree(build)


if __name__ == "__main__":
    main()
