"""Options of the magics: declared for argparse, parsed and checked."""

from __future__ import annotations

import ast
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument
from IPython.utils.process import arg_split  # pyright: ignore[reportPrivateImportUsage]  (public in IPython)

from pyptx.isa import targets
from pyptx.kernel import Kernel

__all__ = [
    "CONFIGURABLE",
    "PANES",
    "assembly_arguments",
    "check_parameter_names",
    "compile_arguments",
    "cuda_arguments",
    "evaluated",
    "known_archs",
    "parameter_names",
    "parse_arch",
    "parse_defines",
    "parse_given",
    "parse_name",
    "parse_panes",
    "parse_params",
    "parse_version",
    "unquote",
    "version_arguments",
]

PANES = ("python", "ptx", "sass")
CONFIGURABLE = {  # options that %ptxconfig sets: destination -> spelling
    "arch": "--arch",
    "param": "-p",
    "version": "--version",
    "options": "--options",
    "panes": "--panes",
    "quiet": "--quiet",
    "no_diff": "--no-diff",
}

_UNSET: Any = object()


_ARCH = argument("--arch", metavar="SM", help="compile for this target instead of the kernel's own, such as sm_100a")
_OUTPUT = (
    argument("--options", metavar="TEXT", help='options of ptxas, quoted: --options "-O1 --maxrregcount=64"'),
    argument("--panes", metavar="LIST", help="panes to show, such as ptx,sass; default: all"),
    argument("--no-diff", action="store_true", help="do not compare with the previous version"),
    argument(
        "-q",
        "--quiet",
        "--no-view",
        action="store_true",
        dest="quiet",
        help="compile and record the version without showing a view",
    ),
)
_VERSION = (
    argument(
        "--diff",
        metavar="REF",
        help="compare with this version instead of the previous one: @-2, @3, a label, KERNEL@3 of another kernel, "
        "or a .cu, .ptx or .cubin file",
    ),
    argument(
        "--name",
        metavar="NAME",
        help="bind the compiled kernel to this name in the notebook; also the title of the view and the label "
        "in %%ptxhistory",
    ),
)


def assembly_arguments(function: Callable) -> Callable:
    """Add the options shared by all magics that compile; used as `@argument` is."""
    return _add_arguments(function, (_ARCH, *_OUTPUT))


def cuda_arguments(function: Callable) -> Callable:
    """Add the options of the compilation of CUDA C++: macros, folders of headers, options of NVRTC."""
    return _add_arguments(
        function,
        (
            argument(
                "-D",
                "--define",
                metavar="NAME=VALUE",
                action="append",
                default=[],
                dest="defines",
                help="define a macro: -D TILE=32 -D NDEBUG; {expression} is evaluated in the notebook",
            ),
            argument(
                "-I", "--include", metavar="DIR", action="append", default=[], dest="include", help="folder of headers"
            ),
            argument(
                "--sweep",
                metavar="CALL",
                help="compile a kernel for combinations of macros and template arguments, and model the times: "
                '--sweep "scale<float, {N}>(n // N, N, x, n)" --values N=64,128; grid and block may use the names; the '
                "table is the value of the cell",
            ),
            argument(
                "--values",
                metavar="NAME=LIST",
                nargs="+",
                action="append",
                default=[],
                help="values that --sweep tries: --values TILE=16,32 UNROLL={range(1,5)}",
            ),
            argument("--device", metavar="GPU", help="the GPU whose times --sweep models, such as h200"),
            argument("--nvrtc", metavar="TEXT", help='options of NVRTC, quoted: --nvrtc "--use_fast_math -G"'),
        ),
    )


def parse_defines(given: Sequence[str], namespace: dict[str, Any]) -> dict[str, Any]:
    """Parse macros, each NAME or NAME=VALUE; `{expressions}` are evaluated in `namespace`."""
    found: dict[str, Any] = {}
    for item in map(unquote, given):
        name, equals, text = item.partition("=")
        if not name.isidentifier():
            raise UsageError(f"-D {item}: expected NAME or NAME=VALUE, as in -D TILE=32")
        in_braces = equals and text.startswith("{") and text.endswith("}")
        found[name] = evaluated(name, text, namespace, "-D") if in_braces else text if equals else 1
    return found


def version_arguments(function: Callable) -> Callable:
    """Add `--diff` and `--name`, the options of magics that record versions."""
    return _add_arguments(function, _VERSION)


def compile_arguments(function: Callable) -> Callable:
    """Add the options shared by `%%ptxkernel` and `%ptxconfig`."""
    return _add_arguments(
        function,
        (
            _ARCH,
            argument(
                "-p",
                "--param",
                metavar="NAME=VALUE",
                nargs="+",
                action="append",
                default=[],
                help="template parameters and symbolic sizes: -p M=4096 N=4096. Values are Python literals; "
                "{expression} is evaluated in the notebook; other values are strings",
            ),
            argument(
                "--version", metavar="M.m", help="PTX ISA version instead of the oldest one sufficient, such as 8.7"
            ),
            *_OUTPUT,
        ),
    )


def _add_arguments(function: Callable, options: Sequence[Callable]) -> Callable:
    for option in reversed(options):
        function = option(function)
    return function


def parse_given(magic: Any, line: str) -> dict[str, Any]:
    """Parse a line with the parser of a magic; return the options present, by destination, without defaults."""
    parser = magic.parser
    empty = Namespace(
        **{action.dest: [] if action.default == [] else _UNSET for action in parser._actions if action.dest != "help"}
    )
    found = vars(parser.parse_args(arg_split(line), empty))
    return {name: value for name, value in found.items() if value is not _UNSET and value != []}


def unquote(text: str) -> str:
    """Remove the quotes around an argument, which IPython leaves in place."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def parse_params(groups: Sequence[Sequence[str]], namespace: dict[str, Any]) -> dict[str, Any]:
    """Parse the values of `-p`, each NAME=VALUE; `{expressions}` are evaluated in `namespace`."""
    found: dict[str, Any] = {}
    for item in (item for group in groups for item in group):
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"-p {item}: expected NAME=VALUE, as in -p N=1024")
        if name in found:
            raise UsageError(f"-p {name} is given twice")
        found[name] = evaluated(name, text, namespace, "-p")
    return found


def evaluated(name: str, text: str, namespace: dict[str, Any], option: str) -> Any:
    """Return the value that a text has in an option: `{expression}` in `namespace`, else a Python literal, else the text."""
    if text.startswith("{") and text.endswith("}"):
        try:
            return eval(text[1:-1], namespace)
        except Exception as error:
            raise UsageError(f"{option} {name}={text}: {type(error).__name__}: {error}") from None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def check_parameter_names(names: Sequence[str], kernels: Mapping[str, Kernel]) -> None:
    """Raise UsageError for parameters that no kernel of the cell has."""
    known = {name for kernel in kernels.values() for name in parameter_names(kernel)}
    if unknown := set(names) - known:
        verb = f"{', '.join(kernels)} {'takes' if len(kernels) == 1 else 'take'}"
        raise UsageError(f"-p {', '.join(sorted(unknown))}: {verb} {', '.join(sorted(known)) or 'no parameters'}")


def parameter_names(kernel: Kernel) -> set[str]:
    """Return the names a kernel is specialized by: template parameters and symbolic sizes."""
    specs = (*kernel.in_specs, *kernel.out_specs)
    return {*kernel.template_params, *(size for spec in specs for size in spec.symbolic_dims)}


def known_archs() -> list[str]:
    """Return the names of the targets that ptxas supports."""
    return [target.name for target in targets.ALL if target.number >= 75]


def parse_arch(text: str | None) -> str | None:
    """Check `--arch`."""
    if text is not None and text not in known_archs():
        raise UsageError(f"--arch {text}: expected one of {', '.join(known_archs())}")
    return text


def parse_panes(text: str | None) -> tuple[str, ...]:
    """Parse `--panes`; all panes by default."""
    if text is None:
        return PANES
    wanted = tuple(filter(None, re.split(r"[,+|\s]+", text.lower())))
    if not wanted or set(wanted) - set(PANES):
        raise UsageError(f"--panes {text}: expected one or more of {','.join(PANES)}")
    return tuple(pane for pane in PANES if pane in wanted)


def parse_name(text: str | None, taken: Iterable[str]) -> str | None:
    """Check `--name`, which must differ from the names in `taken`."""
    if text is not None and not text.isidentifier():
        raise UsageError(f"--name {text}: expected a Python name")
    if text is not None and text in taken:
        raise UsageError(f"--name {text}: a kernel of the cell has this name; expected another one")
    return text


def parse_version(text: str | None) -> tuple[int, int] | None:
    """Parse `--version`, "8.7"."""
    if text is None:
        return None
    if not (match := re.fullmatch(r"(\d+)\.(\d+)", text)):
        raise UsageError(f"--version {text}: expected MAJOR.MINOR, as in --version 8.7")
    return int(match[1]), int(match[2])
