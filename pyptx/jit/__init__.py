"""Just-in-time compilation of kernels: declare, trace, specialize, bind arguments, launch, cache launches."""

from pyptx.jit.kernel import JitKernel
from pyptx.jit.launchable import Launchable, ResolvedLaunch
from pyptx.jit.specialization import Specialization

__all__ = ["JitKernel", "Launchable", "ResolvedLaunch", "Specialization"]
