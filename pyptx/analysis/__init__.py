"""What can be said about a kernel before it runs."""

from pyptx.analysis.occupancy import Occupancy, occupancy

__all__ = ["Occupancy", "occupancy"]
