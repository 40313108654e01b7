"""What the commands show on a terminal: tables and progress. The one place that uses rich; commands import it late."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["console", "progress", "table"]

console = Console(highlight=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; the first column is text, the others are aligned to the right."""
    shown = Table()
    for number, column in enumerate(columns):
        shown.add_column(column, justify="right" if number else "left")
    for row in rows:
        shown.add_row(*map(str, row))
    console.print(shown)


@contextmanager
def progress(total: int) -> Iterator:
    """A progress bar over `total` steps: yields `step(text)`, which names the step that begins now.

    Where the output is no terminal, each step is printed as a line of its own.
    """
    if not console.is_terminal:
        done = iter(range(1, total + 1))
        yield lambda text: console.print(f"[{next(done, total)}/{total}] {text}", markup=False)
        return
    with Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"),
                  TimeElapsedColumn(), console=console, transient=True) as bar:
        task, begun = bar.add_task("", total=total), []

        def step(text: str) -> None:
            bar.update(task, description=text, completed=len(begun))
            begun.append(text)

        yield step
