"""Terminal output: tables and progress bars, with rich. Commands import it late, as rich takes time to load."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["console", "meter", "progress", "table"]

console = Console(highlight=False)
errors = Console(highlight=False, stderr=True)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; the first column is left-aligned, the others are right-aligned."""
    shown = Table()
    for number, column in enumerate(columns):
        shown.add_column(column, justify="right" if number else "left")
    for row in rows:
        shown.add_row(*map(str, row))
    console.print(shown)


@contextmanager
def progress(total: int) -> Iterator:
    """Show a progress bar over `total` steps; yield `step(text)`, to be called at the start of each step.

    If the output is not a terminal, each step is printed on a line.
    """
    if not console.is_terminal:
        done = iter(range(1, total + 1))
        yield lambda text: console.print(f"[{next(done, total)}/{total}] {text}", markup=False)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as bar:
        task, begun = bar.add_task("", total=total), []

        def step(text: str) -> None:
            bar.update(task, description=text, completed=len(begun))
            begun.append(text)

        yield step


@contextmanager
def meter(title: str) -> Iterator:
    """Show a progress bar on standard error; yield `show(done, total, seconds_left, text)`.

    If standard error is not a terminal, a line is printed for every tenth of the work.
    """
    if not errors.is_terminal:
        tenths = [-1]

        def line(done: int, total: int, left: float | None, text: str) -> None:
            if total and done * 10 // total > tenths[0]:
                tenths[0] = done * 10 // total
                errors.print(f"{title}: {done} of {total} {text}".rstrip(), markup=False)

        yield line
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[text]}"),
    )
    with Progress(*columns, console=errors) as bar:
        task = bar.add_task(title, total=None, left="", text="")

        def show(done: int, total: int, left: float | None, text: str) -> None:
            bar.update(
                task,
                completed=done,
                total=total,
                text=text,
                left="" if not left else f"{left:.0f} s left" if left < 100 else f"{left / 60:.0f} min left",
            )

        yield show
