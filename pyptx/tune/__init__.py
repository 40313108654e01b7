"""Tuning: try configurations of a kernel, keep what each gave, use the best one.

    from pyptx.tune import Space, restrict, tune

    space = Space(restrict(lambda BM, BN: BM * BN <= 128 * 256), BM=[64, 128], BN=[64, 128, 256])
    study = tune(gemm, space, (a, b), reference=lambda a, b: a @ b)
    study.best.config
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyptx.kernel import Kernel
from pyptx.tune.space import Restriction, Space, SpaceError, restrict
from pyptx.tune.study import Event, Progress, Study
from pyptx.tune.trial import STATES, Trial

__all__ = ["STATES", "Event", "Progress", "Restriction", "Space", "SpaceError", "Study", "Trial", "restrict", "tune"]


def tune(kernel: Kernel, space: Space | Mapping[str, Iterable[Any]], args: Any, *, reference: Any = None,
         budget: Any = None, strategy: str = "auto", objective: str | Callable[[Trial], float] = "time",
         cluster: Any = None, resume: bool = True, **options: Any) -> Study:
    """Try the configurations of a space and return what became of each; arguments as for Study.

    Ctrl-C ends it; the next call goes on where it was.
    """
    return Study(kernel, space, args, reference=reference, budget=budget, strategy=strategy, objective=objective,
                 cluster=cluster, resume=resume, **options).run()
