"""`pyptx debug`: a kernel on the simulator under a prompt: step, stop at lines and conditions, look, go back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyptx.cli.kernels import (
    CommandError,
    about,
    add_kernel_arguments,
    add_launch_arguments,
    explained,
    load_kernel,
    parameters,
)

__all__ = ["add", "run"]

WRONG, REFUSED = 1, 2
_HISTORY = "debug_history"
_ENTRIES = 1000


def add(subparsers) -> None:
    summary = "run a kernel under the debugger: step, breakpoints, registers, matrices, barriers, going back"
    command = subparsers.add_parser("debug", **about(
        summary, "pyptx debug examples/softmax.py:softmax -p M=8 N=1000",
        "pyptx debug examples/hopper/gemm.py:gemm -p M=256 N=256 K=128 --schedule late -c 'b op:wgmma' -c c",
        "pyptx debug kernel.ptx:entry --grid 64 --block 32 --args f32[64,100] f32[64] 100 -x commands.txt",
        "echo 'info warps' | pyptx debug kernel.py:kernel -p N=128",
        more="No GPU is needed. Commands come from -c and -x, then from the terminal, or else from the input; `help` "
             "lists them. Exit status: 0; 1 where the kernel stands at a fault, a deadlock or a finding at the end; 2 "
             "when it could not be run or a command of a script failed, which ends the script."))
    add_kernel_arguments(command)
    add_launch_arguments(command)
    command.add_argument("--schedule", choices=("eager", "late", "random"), default="eager",
                         help="when asynchronous operations land; default: eager, at once")
    command.add_argument("--sanitize", action="store_true",
                         help="watch every access: races, missing fences and waits are stops")
    command.add_argument("-c", "--command", metavar="COMMAND", action="append", default=[], dest="commands",
                         help="carry this command out first; may be given several times")
    command.add_argument("-x", "--execute", metavar="FILE", type=Path,
                         help="carry the commands of a file out, after -c")
    command.add_argument("--batch", action="store_true", help="end after these commands, also in a terminal")
    command.set_defaults(run=run, refused=REFUSED)


def run(arguments: argparse.Namespace) -> int:
    from pyptx.cli.debugging.prompt import Prompt, Quit  # on use: rich and NumPy take time to load

    with _session(arguments) as session:
        prompt = Prompt(session)
        prompt.say(_headline(session))
        prompt.stopped(session.stop)
        given = [*arguments.commands, *_lines(arguments.execute)]
        terminal = sys.stdin is not None and sys.stdin.isatty()
        complete = True
        try:
            complete = prompt.script(given, echo=True)
            if terminal and not arguments.batch:
                with _edited(prompt):
                    prompt.interact()
                return 0
            if not given and not arguments.batch:
                complete = prompt.script(sys.stdin or (), echo=True)
        except Quit:
            pass
        if not complete:
            return REFUSED
        return WRONG if session.stop.reason in ("fault", "deadlock", "finding") else 0


def _headline(session) -> str:
    plan = session.run.plan
    sizes = [" x ".join(map(str, size[:max((k + 1 for k in range(3) if size[k] > 1), default=1)]))
             for size in (plan.grid, plan.block)]
    cluster = "" if plan.cluster == (1, 1, 1) else f" in clusters of {' x '.join(map(str, plan.cluster))}"
    seed = f" (seed {plan.seed})" if plan.schedule == "random" else ""
    return (f"{session.name} on {session.variant.module.target.targets[0]}: {sizes[0]} CTAs{cluster} of {sizes[1]} "
            f"threads, {plan.schedule} schedule{seed}. `help` lists the commands.")


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    if not file.is_file():
        raise CommandError(f"-x {file}: no such file")
    return file.read_text(encoding="utf-8").splitlines()


@contextmanager
def _session(arguments: argparse.Namespace) -> Iterator:
    """The session of what the command line names."""
    from pyptx.cli.inputs import launch_of

    kernel, params = load_kernel(arguments.kernel), parameters(arguments.parameters)
    if arguments.arch:
        raise CommandError("--arch: a kernel is debugged for its own target")
    with explained(kernel):
        values, launch = launch_of(kernel, arguments, params)
        options = {"schedule": arguments.schedule, "seed": arguments.seed, "sanitize": arguments.sanitize}
        session = kernel.debug(*values, **{**options, **launch})
    with session:
        yield session


@contextmanager
def _edited(prompt) -> Iterator[None]:
    """History and completion at the terminal, where Python has readline."""
    try:
        import readline
    except ImportError:                                     # Windows
        yield
        return
    from pyptx.cache import DEFAULT_CACHE_DIR

    file = DEFAULT_CACHE_DIR / _HISTORY
    if file.is_file():
        try:
            readline.read_history_file(file)
        except OSError:                                     # written by another library of the same name
            readline.clear_history()
    found: list[str] = []

    def complete(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = prompt.completions(readline.get_line_buffer()[:readline.get_endidx()], word)
        return found[number] if number < len(found) else None

    before, delimiters = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(complete)
    readline.set_completer_delims(" \t")
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(delimiters)
        readline.set_history_length(_ENTRIES)
        file.parent.mkdir(parents=True, exist_ok=True)
        readline.write_history_file(file)
