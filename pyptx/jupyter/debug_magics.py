"""The debugger in notebooks: `%ptxdebug` and `%%ptxkernel --debug`."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from pyptx.debug import Session
from pyptx.jupyter import magic_options
from pyptx.jupyter.cells import evaluate, rewrite_as_method, rewrite_kernel_call
from pyptx.kernel import Kernel

__all__ = ["DebugMagics", "debug_call"]


def debug_call(
    shell: InteractiveShell, call: str, option: str, kernels: Mapping[str, Kernel] | None = None, **options: Any
) -> Session:
    """Open a debugging session for a call such as `gemm(a, b)` with values of the notebook.

    Args:
        option: the option or magic that holds the call, for messages.
        kernels: the kernels it may call; None: anything that can be debugged.
        options: default keyword arguments of `debug()`.
    Raises:
        UsageError: it is not a call, or not of one of these kernels.
    """
    __tracebackhide__ = True
    if kernels is not None:
        tree = rewrite_kernel_call(call, "debug", kernels, option)
    elif (found := rewrite_as_method(call, "debug")) is None:
        raise UsageError(f"{option} {call}: expected a call of a kernel, such as {option} gemm(a, b)")
    else:
        tree, function = found
        if not hasattr(evaluate(shell, ast.Expression(function), call, option), "debug"):
            raise UsageError(f"{option} {call}: {ast.unparse(function)} is not a kernel; expected a call of a kernel")
    node = tree.body
    assert isinstance(node, ast.Call), "a rewritten call is a call"
    given = {word.arg for word in node.keywords}
    node.keywords += [ast.keyword(name, ast.Constant(value)) for name, value in options.items() if name not in given]
    return evaluate(shell, ast.fix_missing_locations(tree), call, option)


@magics_class
class DebugMagics(Magics):
    """The magic of the debugger."""

    shell: InteractiveShell  # pyright: ignore[reportIncompatibleVariableOverride]  (Magics allows None)

    @no_var_expand
    @magic_arguments()
    @argument(
        "--break",
        dest="stops",
        metavar="PLACE",
        action="append",
        default=[],
        help='set a breakpoint: --break 12, --break "tiles.py:12", --break "ptx:40 if lane == 3"; repeatable',
    )
    @argument(
        "--watch",
        metavar="EXPRESSION",
        action="append",
        default=[],
        help='watch an expression: --watch "acc[0] + 1"; repeatable',
    )
    @argument(
        "--schedule",
        metavar="NAME",
        choices=("eager", "late", "random"),
        help="when asynchronous operations complete: eager (default), late or random",
    )
    @argument("--seed", metavar="N", type=int, help="seed of the random schedule")
    @argument(
        "--sanitize",
        action="store_true",
        help="also stop at the access that exposes a race, missing fence or missing wait",
    )
    @argument("--run", action="store_true", help="run to the first stop")
    @argument("call", metavar="CALL", nargs=argparse.REMAINDER, help="a call of a kernel: gemm(a, b)")
    @line_magic
    def ptxdebug(self, line: str) -> Any:
        """Debug a call of a kernel on the simulator: step by PTX, Python line or warp, forward and back.

        The arrays are copied, so the call changes none of them. The session is the value of the line; its widget
        follows commands from cells, such as `session.step()`.
        """
        __tracebackhide__ = True
        given = magic_options.parse_given(self.ptxdebug, line)
        call = " ".join(given.get("call", ()))
        if not call:
            raise UsageError("%ptxdebug: expected a call of a kernel, such as %ptxdebug gemm(a, b)")
        if re.search(r"\)\s+--\w", call):
            raise UsageError("%ptxdebug: options go before the call, as in %ptxdebug --run gemm(a, b)")
        options = {name: given[name] for name in ("schedule", "seed", "sanitize") if given.get(name) is not None}
        session = debug_call(self.shell, magic_options.unquote(call), "%ptxdebug", **options)
        for stop in given.get("stops", ()):
            place, condition = _parse_breakpoint(magic_options.unquote(stop))
            session.breakpoints.add(place, condition=condition)
        for text in given.get("watch", ()):
            session.watch(magic_options.unquote(text))
        if given.get("run"):
            session.resume()
        return session


def _parse_breakpoint(text: str) -> tuple[str, str | None]:
    """Split "12 if lane == 3" into place and condition."""
    place, *condition = re.split(r"\s+if\s+", text, maxsplit=1)
    return place.strip(), condition[0].strip() if condition else None
