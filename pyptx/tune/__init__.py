"""Tuning: try configurations of a kernel, keep what each gave, use the best one.

    from pyptx.tune import Space, restrict, tune

    space = Space(restrict(lambda BM, BN: BM * BN <= 128 * 256), BM=[64, 128], BN=[64, 128, 256])
    study = tune(gemm, space, (a, b), reference=lambda a, b: a @ b)
    study.best.config

Without a GPU every configuration is assembled, checked on the simulator and timed by the performance model
("modelled"); with arrays on a GPU it is checked and measured there. Parts: `space` (what there is), `study` (the
sweep), `running` and `measured` (how it goes), `isolation` and `worker` (child processes), `racing` (who is fastest),
`results` (the store).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyptx.kernel import Kernel
from pyptx.tune.autotune import Autotuned, autotune
from pyptx.tune.space import Restriction, Space, SpaceError, restrict
from pyptx.tune.study import Event, Progress, Study
from pyptx.tune.sweeping import sweep
from pyptx.tune.trial import STATES, Trial

__all__ = ["STATES", "Autotuned", "Event", "Progress", "Restriction", "Space", "SpaceError", "Study", "Trial",
           "autotune", "restrict", "sweep", "tune"]


def tune(kernel: Kernel, space: Space | Mapping[str, Iterable[Any]], args: Any, *, reference: Any = None,
         budget: Any = None, strategy: str = "auto", objective: str | Callable[[Trial], float] = "time",
         cluster: Any = None, resume: bool = True, **options: Any) -> Study:
    """Try the configurations of a space and return what became of each; arguments as for Study.

    Ctrl-C ends it; the next call goes on where it was.
    """
    return Study(kernel, space, args, reference=reference, budget=budget, strategy=strategy, objective=objective,
                 cluster=cluster, resume=resume, **options).run()
