"""Ledger: every measured time of a kernel is kept, with what it depends on, to compare versions and name regressions.

    from pyptx import ledger

    ledger.measurements("gemm")                       # all times, oldest first
    ledger.regressions("gemm")                        # what got slower, and the commit or version that brought it

Benchmarks, tuning, rooflines and profiler reports record what they measure. Modeled times are recorded by benchmarks, marked
as modeled, and compared with times of the same version of the model only.
"""

from pyptx.ledger.measurement import Measurement, Origin
from pyptx.ledger.records import Ledger, Measurements, default_ledger, measurements, record, regressions
from pyptx.ledger.regressions import Regression

__all__ = [
    "Ledger",
    "Measurement",
    "Measurements",
    "Origin",
    "Regression",
    "default_ledger",
    "measurements",
    "record",
    "regressions",
]
