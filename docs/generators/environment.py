"""The page of environment variables."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.environment_variables import VARIABLES

__all__ = ["environment"]

GROUPS = {
    "launches": "Launches",
    "cache": "Cache",
    "tools": "NVIDIA's tools",
    "programs": "Programs on the simulated device",
    "build": "Building the package",
}


def environment() -> Iterator[str]:
    yield "# Environment variables"
    yield ""
    yield (
        "`pyptx doctor` lists the variables that are set, and names the nearest one where a name is misspelled. "
        "Settings of a notebook are made with `%ptxconfig`, of a process with `pyptx.use`, of a kernel with "
        "`@kernel(...)` and `Kernel.defaults`."
    )
    for group, heading in GROUPS.items():
        yield ""
        yield f"## {heading}"
        yield ""
        yield "| variable | values | without it | effect |"
        yield "| --- | --- | --- | --- |"
        for variable in VARIABLES:
            if variable.group == group:
                anchor = variable.name.lower().replace("_", "-")
                cells = (f'<a id="{anchor}"></a>`{variable.name}`', variable.values, variable.default, variable.effect)
                yield f"| {' | '.join(cells)} |"
    yield ""
    yield "`NO_COLOR` removes colors from the command line. `CUDA_HOME` is where JAX's adapter looks for CUDA, `CC` its compiler."
