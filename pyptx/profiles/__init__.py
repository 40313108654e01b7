"""Profiles: reports of Nsight Compute, matched to the machine code of a kernel.

report = load_report("run.ncu-rep")               # or a CSV of `ncu --page source --csv`, `--page raw --csv`
report.kernel("gemm")                             # one profiled launch: instructions and metrics
"""

from pyptx.profiles.comparison import MetricComparison, ProfileComparison, compare_profile
from pyptx.profiles.matching import MatchedProfile, match_profile
from pyptx.profiles.report import KernelProfile, ProfiledInstruction, ProfileReport, Quantity, base_name
from pyptx.profiles.sources import load_report

__all__ = [
    "KernelProfile",
    "MatchedProfile",
    "MetricComparison",
    "ProfileComparison",
    "ProfileReport",
    "ProfiledInstruction",
    "Quantity",
    "base_name",
    "compare_profile",
    "load_report",
    "match_profile",
]
