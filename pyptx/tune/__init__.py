"""Autotuning: try configurations of a kernel, store their results, use the best one.

    from pyptx.tune import Space, restrict, tune

    space = Space(restrict(lambda BM, BN: BM * BN <= 128 * 256), BM=[64, 128], BN=[64, 128, 256])
    study = tune(gemm, space, (a, b), reference=lambda a, b: a @ b)
    study.best.config

Without a GPU, every configuration is assembled, checked on the simulator and timed by the performance model
("modeled"); with arrays on a GPU, it is checked and measured there.

Modules: `space` and `strategies` (configurations), `study` with its `trial_table`, `runner` and `gpu_runner` (execution),
`isolation` and `worker` (child processes), `race` (measurements), `result_store` (stored results).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyptx.jit import JitKernel
from pyptx.tune.space import Restriction, Space, SpaceError, restrict
from pyptx.tune.study import Event, Progress, Study
from pyptx.tune.sweeps import sweep
from pyptx.tune.trial import STATES, Trial

__all__ = [
    "STATES",
    "Event",
    "Progress",
    "Restriction",
    "Space",
    "SpaceError",
    "Study",
    "Trial",
    "restrict",
    "sweep",
    "tune",
]


def tune(
    kernel: JitKernel,
    space: Space | Mapping[str, Iterable[Any]],
    args: Any,
    *,
    reference: Any = None,
    budget: Any = None,
    strategy: str = "auto",
    objective: str | Callable[[Trial], float] = "time",
    cluster: Any = None,
    resume: bool = True,
    **options: Any,
) -> Study:
    """Run a study of a space to its end and return it; arguments as for Study.

    Ctrl-C stops it; the next call resumes.
    """
    return Study(
        kernel,
        space,
        args,
        reference=reference,
        budget=budget,
        strategy=strategy,
        objective=objective,
        cluster=cluster,
        resume=resume,
        **options,
    ).run()
