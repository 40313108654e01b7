"""What stands behind `%%ptxkernel` and `%%ptx`: their options as values, each refused with what would do."""

from __future__ import annotations

import ast
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument
from IPython.utils.process import arg_split

from pyptx.isa import targets
from pyptx.kernel import Kernel

__all__ = ["PANES", "STICKY", "arch", "check_names", "compile_options", "given", "kept_options", "known_archs", "name",
           "panes", "params", "ptx_options", "takes", "unquoted", "version"]

PANES = ("python", "ptx", "sass")
STICKY = {"arch": "--arch", "param": "-p", "version": "--version", "options": "--options", "panes": "--panes",
          "quiet": "--quiet", "no_diff": "--no-diff"}   # what %ptxconfig keeps, and how it is written

_UNSET: Any = object()


_ARCH = argument("--arch", metavar="SM",
                 help="compile for this target instead of the kernel's own, such as sm_100a")
_SHOWING = (
    argument("--options", metavar="TEXT", help='options of ptxas, quoted: --options "-O1 --maxrregcount=64"'),
    argument("--panes", metavar="LIST", help="panes to show, as ptx,sass; default: all that there are"),
    argument("--no-diff", action="store_true", help="do not compare with the version before"),
    argument("-q", "--quiet", "--no-view", action="store_true", dest="quiet", help="compile and keep, show nothing"))
KEPT = (
    argument("--diff", metavar="REF",
             help="compare with this version instead of the one before: @-2, @3, a label, KERNEL@3 of another kernel, "
                  "or a .ptx or .cubin file"),
    argument("--name", metavar="NAME",
             help="keep what was compiled in the notebook under this name; also the title of the view, and the label "
                  "in %%ptxhistory"))


def ptx_options(function: Callable) -> Callable:
    """Add the options that all magics which compile share; stands where `@argument` does."""
    return _all(function, (_ARCH, *_SHOWING))


def kept_options(function: Callable) -> Callable:
    """Add `--diff` and `--name`, of the magics that keep versions."""
    return _all(function, KEPT)


def compile_options(function: Callable) -> Callable:
    """Add the options that `%%ptxkernel` and `%ptxconfig` share."""
    return _all(function, (
        _ARCH,
        argument("-p", "--param", metavar="NAME=VALUE", nargs="+", action="append", default=[],
                 help="template parameters and symbolic sizes: -p M=4096 N=4096. Values are Python literals; "
                      "{expression} is evaluated in the notebook; anything else is text"),
        argument("--version", metavar="M.m", help="PTX ISA version instead of the oldest that will do, such as 8.7"),
        *_SHOWING))


def _all(function: Callable, options: Sequence[Callable]) -> Callable:
    for option in reversed(options):
        function = option(function)
    return function


def given(magic: Callable, line: str) -> dict[str, Any]:
    """The options that a line gives, by destination, without the defaults of the others."""
    parser = magic.parser
    empty = Namespace(**{action.dest: [] if action.default == [] else _UNSET for action in parser._actions
                         if action.dest != "help"})
    found = vars(parser.parse_args(arg_split(line), empty))
    return {name: value for name, value in found.items() if value is not _UNSET and value != []}


def unquoted(text: str) -> str:
    """An argument without the quotes around it, which IPython leaves where they are."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def params(groups: Sequence[Sequence[str]], names: dict[str, Any]) -> dict[str, Any]:
    """Parameters by name. `names`: the notebook's namespace, in which `{expressions}` are evaluated."""
    found: dict[str, Any] = {}
    for item in (item for group in groups for item in group):
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"-p {item}: expected NAME=VALUE, as in -p N=1024")
        if name in found:
            raise UsageError(f"-p {name} is given twice")
        found[name] = _value(name, text, names)
    return found


def _value(name: str, text: str, names: dict[str, Any]) -> Any:
    if text.startswith("{") and text.endswith("}"):
        try:
            return eval(text[1:-1], names)
        except Exception as error:
            raise UsageError(f"-p {name}={text}: {type(error).__name__}: {error}") from None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def check_names(names: Sequence[str], kernels: Mapping[str, Kernel]) -> None:
    """Refuse parameters that no kernel of the cell takes."""
    known = {name for kernel in kernels.values() for name in takes(kernel)}
    if unknown := set(names) - known:
        verb = f"{', '.join(kernels)} {'takes' if len(kernels) == 1 else 'take'}"
        raise UsageError(f"-p {', '.join(sorted(unknown))}: {verb} {', '.join(sorted(known)) or 'no parameters'}")


def takes(kernel: Kernel) -> set[str]:
    """Names a kernel can be specialized by: template parameters and symbolic sizes."""
    specs = (*kernel.in_specs, *kernel.out_specs)
    return {*kernel.template_params, *(size for spec in specs for size in spec.symbolic_dims)}


def known_archs() -> list[str]:
    """Targets the assembler takes."""
    return [target.name for target in targets.ALL if target.number >= 75]


def arch(text: str | None) -> str | None:
    if text is not None and text not in known_archs():
        raise UsageError(f"--arch {text}: expected one of {', '.join(known_archs())}")
    return text


def panes(text: str | None) -> tuple[str, ...]:
    if text is None:
        return PANES
    wanted = tuple(filter(None, re.split(r"[,+|\s]+", text.lower())))
    if not wanted or set(wanted) - set(PANES):
        raise UsageError(f"--panes {text}: expected one or more of {','.join(PANES)}")
    return tuple(pane for pane in PANES if pane in wanted)


def name(text: str | None, taken: Iterable[str]) -> str | None:
    """What `--name` says; `taken` are names of the cell's kernels."""
    if text is not None and not text.isidentifier():
        raise UsageError(f"--name {text}: expected a Python name")
    if text is not None and text in taken:
        raise UsageError(f"--name {text}: the cell's kernel is called so; expected another name")
    return text


def version(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    if not (match := re.fullmatch(r"(\d+)\.(\d+)", text)):
        raise UsageError(f"--version {text}: expected MAJOR.MINOR, as in --version 8.7")
    return int(match[1]), int(match[2])
