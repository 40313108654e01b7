"""`%ptxdebug` and `%%ptxkernel --debug`: a call of a kernel in the debugger instead of run."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from pyptx.jupyter import arguments
from pyptx.jupyter.cells import as_method, evaluate, method_of_own
from pyptx.kernel import Kernel

__all__ = ["DebugMagics", "debug"]


def debug(shell: Any, call: str, what: str, kernels: Mapping[str, Kernel] | None = None,
          **options: Any) -> Any:
    """A session for a call such as `gemm(a, b)` with values of the notebook.

    Args:
        what: the option or magic it was given by, for messages.
        kernels: those it may be a call of; None: whatever can be debugged.
        options: keyword arguments that the call does not give itself.
    Raises:
        UsageError: it is no call, or none of these kernels.
    """
    __tracebackhide__ = True
    if kernels is not None:
        tree = method_of_own(call, "debug", kernels, what)
    elif (found := as_method(call, "debug")) is None:
        raise UsageError(f"{what} {call}: expected a call of a kernel, such as {what} gemm(a, b)")
    else:
        tree, function = found
        if not hasattr(evaluate(shell, ast.Expression(function), call, what), "debug"):
            raise UsageError(f"{what} {call}: {ast.unparse(function)} is no kernel; expected a call of one")
    given = {word.arg for word in tree.body.keywords}
    tree.body.keywords += [ast.keyword(name, ast.Constant(value)) for name, value in options.items()
                           if name not in given]
    return evaluate(shell, ast.fix_missing_locations(tree), call, what)


@magics_class
class DebugMagics(Magics):
    """The magic that debugs."""

    @no_var_expand
    @magic_arguments()
    @argument("--break", dest="stops", metavar="PLACE", action="append", default=[],
              help='stop there: --break 12, --break "tiles.py:12", --break "ptx:40 if lane == 3"; may be given again')
    @argument("--watch", metavar="EXPRESSION", action="append", default=[],
              help='show the value of an expression: --watch "acc[0] + 1"; may be given again')
    @argument("--schedule", metavar="NAME", choices=("eager", "late", "random"),
              help="when asynchronous operations land: eager (default), late or random")
    @argument("--seed", metavar="N", type=int, help="of the random schedule")
    @argument("--sanitize", action="store_true",
              help="stop at races, missing fences and waits too, at the access that shows them")
    @argument("--run", action="store_true", help="run to the first stop at once")
    @argument("call", metavar="CALL", nargs=argparse.REMAINDER, help="a call of a kernel: gemm(a, b)")
    @line_magic
    def ptxdebug(self, line: str) -> Any:
        """Debug a call of a kernel on the simulator: step by PTX, Python line or warp, forward and back.

        The arrays are copied; the call changes none of them. The session is the value of the line: what it is asked
        from cells (`session.step()`) is seen in its widget.
        """
        __tracebackhide__ = True
        asked = arguments.given(self.ptxdebug, line)
        call = " ".join(asked.get("call", ()))
        if not call:
            raise UsageError("%ptxdebug: expected a call of a kernel, such as %ptxdebug gemm(a, b)")
        if re.search(r"\)\s+--\w", call):
            raise UsageError("%ptxdebug: options go before the call, as in %ptxdebug --run gemm(a, b)")
        options = {name: asked[name] for name in ("schedule", "seed", "sanitize") if asked.get(name) is not None}
        session = debug(self.shell, arguments.unquoted(call), "%ptxdebug", **options)
        for stop in asked.get("stops", ()):
            place, condition = _stop(arguments.unquoted(stop))
            session.breakpoints.add(place, condition=condition)
        for text in asked.get("watch", ()):
            session.watch(arguments.unquoted(text))
        if asked.get("run"):
            session.resume()
        return session


def _stop(text: str) -> Sequence[str | None]:
    """ "12 if lane == 3" as place and condition."""
    place, *condition = re.split(r"\s+if\s+", text, maxsplit=1)
    return place.strip(), condition[0].strip() if condition else None
