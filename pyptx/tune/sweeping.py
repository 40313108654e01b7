"""`sweep`: a study to look at while it runs. In a notebook a widget, in a script or a terminal a line of progress."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pyptx.kernel import Kernel
from pyptx.tune.space import Space
from pyptx.tune.study import Study

if TYPE_CHECKING:
    from pyptx.views.sweeps.studies import Sweep

__all__ = ["in_notebook", "sweep"]


def sweep(kernel: Kernel, space: Space | Mapping[str, Iterable[Any]], args: Any, *, start: bool = True,
          **options: Any) -> Sweep:
    """Try the configurations of a space, and show what becomes of each while it happens.

    In a notebook the cell ends at once and the sweep goes on behind it; the widget pauses, stops and resumes it, opens
    the code of a point, compares two, and takes one. Elsewhere it runs to the end with a line of progress on stderr.

    Args:
        kernel, space, args, options: as of `Study`.
        start: False: wait for the widget's button, or for `resume()`.
    Returns:
        A `pyptx.views.sweeps.studies.Sweep`, in a notebook its widget, `pyptx.jupyter.sweep.SweepWidget`; it has
        `study`, `best`, `choice`, `use()`, `view()`, `pause()`, `resume()`, `stop()`, `wait()`.
    Raises:
        what `Study` raises.
    """
    study = Study(kernel, space, args, **options)
    if in_notebook():
        if importlib.util.find_spec("anywidget"):
            from pyptx.jupyter.sweep import SweepWidget  # on use, and where there is a notebook to show it

            widget = SweepWidget(study)
            if start:
                study.start()
            return widget
        warnings.warn("the live view of a sweep needs anywidget: pip install anywidget", stacklevel=2)
    from pyptx.views.sweeps.studies import Sweep

    shown = Sweep(study)
    if start:
        shown.run()
    return shown


def in_notebook() -> bool:
    """Whether this runs in a kernel that a front end is connected to."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None
