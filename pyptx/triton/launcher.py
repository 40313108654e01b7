"""The launcher that Triton calls: it hands a launch to the active session."""

from __future__ import annotations

from typing import Any

from pyptx.triton.compiled_kernel import CompiledKernel, LoadedPtx
from pyptx.triton.stages import CompilerStages

__all__ = ["SimulatorLauncher"]


class SimulatorLauncher:
    """Launches one compiled kernel; made by Triton, once for each.

    Args:
        source: what Triton compiled, with the signature.
        metadata: Triton's metadata of the compiled kernel.
    """

    def __init__(self, source: Any, metadata: Any):
        constants = {_name(source, path): value for path, value in getattr(source, "constants", {}).items()}
        shown = {name: value for name, value in constants.items() if isinstance(value, int | float | str)}
        shown |= {name: getattr(metadata, name) for name in ("num_warps", "num_stages")}
        if metadata.num_ctas > 1:
            shown["num_ctas"] = metadata.num_ctas
        function = getattr(getattr(source, "fn", None), "fn", None)  # absent where Triton compiled a file of its own
        file = function.__code__.co_filename if function is not None else None
        self._stages = CompilerStages(metadata.hash, source.name, file)
        self._kernel = CompiledKernel(metadata.name, dict(source.signature), metadata, shown)

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        function: LoadedPtx,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *args: Any,
    ) -> None:
        """Launch; the order of the arguments is that of Triton 3.8 and 3.9."""
        from pyptx.triton.session import active_session

        if 0 in (grid := (grid_x, grid_y, grid_z)):
            return
        if enter_hook is not None:
            enter_hook(launch_metadata)
        function.source_file = self._stages.source_file
        config, values = self._kernel.bind(function, grid, args)
        active_session().launch(function.entry, config, values, self._stages)
        if exit_hook is not None:
            exit_hook(launch_metadata)


def _name(source: Any, path: Any) -> str:
    """Return the parameter of a constant, which Triton identifies by its position."""
    at = path[0] if isinstance(path, tuple) else path
    return at if isinstance(at, str) else source.fn.arg_names[at]
