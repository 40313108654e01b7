"""`pyptx debug`: debug a kernel on the simulator at a prompt."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyptx.cli.cuda_files import cuda_options, split_cuda
from pyptx.cli.kernels import (
    CommandError,
    add_kernel_arguments,
    add_launch_arguments,
    help_options,
    load_kernel,
    one_line_errors,
    parameters,
)

if TYPE_CHECKING:
    from pyptx.cli.debugging import Prompt
    from pyptx.debug import Session

__all__ = ["add", "converse", "run"]

FAILED, NOT_RUN = 1, 2
_HISTORY = "debug_history"
_ENTRIES = 1000


def add(subparsers: Any) -> None:
    summary = "debug a kernel: stepping, breakpoints, registers, matrices, barriers, going back"
    command = subparsers.add_parser(
        "debug",
        **help_options(
            summary,
            "pyptx debug examples/softmax.py:softmax -p M=8 N=1000",
            "pyptx debug examples/hopper/gemm.py:gemm -p M=256 N=256 K=128 --schedule late -c 'b op:wgmma' -c c",
            "pyptx debug kernels.cu:reduce --grid 8 --block 256 --args f32[2048] f32[8] 2048 -c 'b kernels.cu:12' -c c",
            "pyptx debug kernel.ptx:entry --grid 64 --block 32 --args f32[64,100] f32[64] 100 -x commands.txt",
            "echo 'info warps' | pyptx debug kernel.py:kernel -p N=128",
            more="No GPU is needed. Commands are read from -c and -x, then from the terminal or standard input; `help` lists "
            "them. Exit status: 0; 1 if the kernel is stopped at a fault, a deadlock, or a finding at the end; 2 if it "
            "could not be run, or a command of a script failed, which ends the script.",
        ),
    )
    add_kernel_arguments(command)
    add_launch_arguments(command)
    command.add_argument(
        "--schedule",
        choices=("eager", "late", "random"),
        default="eager",
        help="when asynchronous operations complete; default: eager (immediately)",
    )
    command.add_argument(
        "--sanitize",
        action="store_true",
        help="watch every access, and stop at races, missing fences, and missing waits",
    )
    command.add_argument(
        "-c",
        "--command",
        metavar="COMMAND",
        action="append",
        default=[],
        dest="commands",
        help="run this command first; can be repeated",
    )
    command.add_argument("-x", "--execute", metavar="FILE", type=Path, help="run the commands in a file, after -c")
    command.add_argument("--batch", action="store_true", help="exit after these commands, even in a terminal")
    command.set_defaults(run=run, refused=NOT_RUN)


def run(arguments: argparse.Namespace) -> int:
    with _session(arguments) as session:
        return converse(session, [*arguments.commands, *_lines(arguments.execute)], batch=arguments.batch)


def converse(session: Session, commands: Sequence[str] = (), *, batch: bool = False) -> int:
    """Run commands of a session, then those from the terminal or standard input; return the exit status.

    Args:
        batch: exit after `commands`.
    """
    from pyptx.cli.debugging import Prompt, Quit  # late: rich and NumPy take time to load

    prompt = Prompt(session)
    prompt.say(_headline(session))
    prompt.stopped(session.stop)
    terminal = sys.stdin is not None and sys.stdin.isatty()
    complete = True
    try:
        complete = prompt.script(commands, echo=True)
        if terminal and not batch:
            with _line_editing(prompt):
                prompt.interact()
            return 0
        if not commands and not batch:
            complete = prompt.script(sys.stdin or (), echo=True)
    except Quit:
        pass
    if not complete:
        return NOT_RUN
    return FAILED if session.stop.reason in ("fault", "deadlock", "finding") else 0


def _headline(session: Session) -> str:
    plan = session.launch.plan
    sizes = [
        " x ".join(map(str, size[: max((k + 1 for k in range(3) if size[k] > 1), default=1)]))
        for size in (plan.grid, plan.block)
    ]
    cluster = "" if plan.cluster == (1, 1, 1) else f" in clusters of {' x '.join(map(str, plan.cluster))}"
    seed = f" (seed {plan.seed})" if plan.schedule == "random" else ""
    return (
        f"{session.name} on {session.launch.specialization.module.target.targets[0]}: {sizes[0]} CTAs{cluster} of {sizes[1]} "
        f"threads, {plan.schedule} schedule{seed}. `help` lists the commands."
    )


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    if not file.is_file():
        raise CommandError(f"-x {file}: no such file")
    return file.read_text(encoding="utf-8").splitlines()


@contextmanager
def _session(arguments: argparse.Namespace) -> Iterator[Session]:
    """Open the debug session that the command line describes."""
    from pyptx.cli.inputs import launch_of

    kernel, params = load_kernel(arguments.kernel, cuda=cuda_options(arguments)), parameters(arguments.parameters)
    if arguments.arch and not split_cuda(arguments.kernel):
        raise CommandError("--arch is not supported: a kernel is debugged for its own target")
    with one_line_errors(kernel):
        values, launch = launch_of(kernel, arguments, params)
        options = {"schedule": arguments.schedule, "seed": arguments.seed, "sanitize": arguments.sanitize}
        session = kernel.debug(*values, **{**options, **launch})
    with session:
        yield session


@contextmanager
def _line_editing(prompt: Prompt) -> Iterator[None]:
    """Enable history and completion at the terminal, if Python has readline."""
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    from pyptx.cache import DEFAULT_CACHE_DIR

    file = DEFAULT_CACHE_DIR / _HISTORY
    if file.is_file():
        try:
            readline.read_history_file(file)
        except OSError:  # written by another implementation of readline
            readline.clear_history()
    found: list[str] = []

    def complete(word: str, number: int) -> str | None:
        if number == 0:
            found[:] = prompt.completions(readline.get_line_buffer()[: readline.get_endidx()], word)
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
