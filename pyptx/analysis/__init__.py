"""Static and simulated analysis of kernels: occupancy, performance model, work, machine code."""

from pyptx.analysis.occupancy import Occupancy, occupancy

__all__ = ["Occupancy", "occupancy"]
