"""The environment of pyptx: detected tools, GPUs, and frameworks, and the abilities they enable."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from pyptx import toolchain
from pyptx._loc import PACKAGE_DIR
from pyptx._version import __version__
from pyptx.cache import get_global_cache
from pyptx.cli.cache import size
from pyptx.cli.lab import install_hint
from pyptx.environment_variables import VARIABLES, unknown_variables
from pyptx.errors import PtxError
from pyptx.triton.versions import require_triton

__all__ = ["Ability", "Finding", "abilities", "findings"]

_EXTENSION = "pyptx-lab"
_WIDGETS = ("anywidget", "ipywidgets")
_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin")  # of JAX for GPUs, the newest first


@dataclass(frozen=True, slots=True)
class Finding:
    """A detected component: `text` describes it or explains why it is not usable; `fix` says how to enable it."""

    name: str
    usable: bool
    text: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Ability:
    """An ability of pyptx.

    Attributes:
        needed: the setup counts as broken without it.
        reason, fix: why it does not work, and how to enable it.
    """

    name: str
    works: bool
    needed: bool = False
    reason: str | None = None
    fix: str | None = None


def findings() -> list[Finding]:
    """Detect all components, in the order in which they are printed."""
    return [
        Finding("pyptx", True, f"{__version__} in {PACKAGE_DIR}"),
        Finding("Python", True, f"{platform.python_version()} in {sys.prefix}"),
        Finding("system", True, " ".join([platform.system(), platform.machine(), *platform.libc_ver()]).rstrip()),
        *_tools(),
        _simulator(),
        *_gpus(),
        *_frameworks(),
        *_jupyter(),
        _cache(),
        *_variables(),
    ]


def abilities(found: list[Finding]) -> list[Ability]:
    """Return the abilities that the detected components enable."""
    of = {finding.name: finding for finding in found}
    gpus = [finding for finding in found if finding.name.startswith("cuda:")]
    published = sys.platform in ("linux", "win32")  # NVIDIA's tools

    def ability(name: str, *needs: Finding, needed: bool = False) -> Ability:
        missing = next((finding for finding in needs if not finding.usable), None)
        if missing is None:
            return Ability(name, True, needed)
        return Ability(name, False, needed, f"{missing.name} {missing.text}", missing.fix)

    gpu = next((g for g in gpus if g.usable), gpus[0] if gpus else of["driver"])
    return [
        ability("PTX text, checks of it, transpiling"),
        ability("machine code, and views of it", of["ptxas"], of["nvdisasm"], needed=published),
        ability("NumPy arrays on the CPU, at full speed", of["simulator"], needed=True),
        ability("torch tensors on the CPU", of["torch"]),
        ability("JAX arrays on the CPU", of["jax"]),
        ability("Triton kernels on the simulator", of["triton"]),
        ability("kernels on a GPU", of["driver"], gpu, of["ptxas"]),
        ability("torch tensors on a GPU", of["driver"], gpu, of["torch"], of["torch CUDA"]),
        ability("JAX arrays on a GPU", of["driver"], gpu, of["jax"], of["jax CUDA"], of["ziglang"]),
        ability("JupyterLab", of["jupyterlab"]),
        ability("live views in JupyterLab", of["jupyterlab"], of["extension"]),
        ability("sweeps and debugging in notebooks", of["jupyterlab"], of["widgets"]),
        ability("shared cache of assembled kernels", of["cache"], needed=True),
    ]


def _variables() -> Iterator[Finding]:
    if given := [f"{one.name}={os.environ[one.name]}" for one in VARIABLES if one.name in os.environ]:
        yield Finding("variables", True, ", ".join(given))
    for name, nearest in unknown_variables(os.environ).items():
        suggestion = f"; did you mean {nearest}?" if nearest else ""
        yield Finding("variables", False, f"pyptx does not read {name}{suggestion}")


def _tools() -> Iterator[Finding]:
    published = sys.platform in ("linux", "win32")
    for found in toolchain.detect_tools():
        tool = found.tool
        if found.problem is None:
            yield Finding(tool.name, True, f"{found.version} from {found.origin} ({tool.purpose})")
        elif os.environ.get(tool.variable) or (published and not tool.optional):
            yield Finding(tool.name, False, f"not usable ({tool.purpose})", found.problem)
        elif published:
            yield Finding(tool.name, False, f"not installed ({tool.purpose}; optional)", tool.installation)
        else:
            yield Finding(
                tool.name,
                False,
                f"not published for {platform.system()} ({tool.purpose})",
                "NVIDIA publishes its tools for Linux and Windows only; everything except machine code works here",
            )


def _simulator() -> Finding:
    from pyptx.sim.core import library  # late: NumPy takes time to load

    reason = library.problem()
    if reason is None:
        return Finding("simulator", True, f"compiled core ({Path(library.core()._name).name})")
    return Finding(
        "simulator", False, "slow Python engine", f"kernels run on the simulator's slow Python engine: {reason}"
    )


def _gpus() -> Iterator[Finding]:
    from pyptx.runtime.cuda.probe import probe  # late: NumPy takes time to load

    try:
        made = toolchain.assembler()
    except PtxError:
        made = None
    for name, usable, text, fix in probe(assembler=made):
        yield Finding(name, usable, text, fix)


def _frameworks() -> Iterator[Finding]:
    torch, jax = _version("torch"), _version("jax")
    yield _package("torch", torch, "torch tensors, torch.compile, autograd")
    cuda = torch is not None and "+cpu" not in torch
    yield Finding(
        "torch CUDA",
        cuda,
        "built with CUDA" if cuda else "this build of torch has no CUDA" if torch else "not installed",
        "install torch for CUDA, see pytorch.org",
    )
    yield _package("jax", jax, "JAX arrays, jax.jit")
    plugin = next((f"{name} {_version(name)}" for name in _PLUGINS if _version(name)), None)
    yield Finding("jax CUDA", plugin is not None, plugin or "JAX has no GPU plugin", "pip install 'jax[cuda13]'")
    yield _triton()
    yield _package("ziglang", _version("ziglang"), "compiles the handler for JAX calls on GPUs", "pip install ziglang")


def _triton() -> Finding:
    try:
        return Finding("triton", True, f"{require_triton()} (Triton kernels)")
    except PtxError as error:
        return Finding("triton", False, f"{error.message.removeprefix('Triton is ')} (Triton kernels)", error.hint)


def _jupyter() -> Iterator[Finding]:
    yield _package("jupyterlab", _version("jupyterlab"), "notebooks with live views", install_hint())
    missing = [name for name in _WIDGETS if _version(name) is None]
    what = f"{', '.join(missing)} not installed" if missing else f"anywidget {_version('anywidget')}"
    yield Finding("widgets", not missing, f"{what} (live sweeps and debugging in notebooks)", install_hint())
    try:
        from jupyter_core.paths import jupyter_config_path, jupyter_path
    except ImportError:
        yield Finding("extension", False, "JupyterLab is not installed", install_hint())
        return
    folder = next((path for path in map(Path, jupyter_path("labextensions")) if (path / _EXTENSION).is_dir()), None)
    if folder is None:
        yield Finding(
            "extension",
            False,
            "not in a folder where JupyterLab looks for extensions",
            "install pyptx with pip into JupyterLab's environment (`pip install '.[lab]'` in a checkout)",
        )
    elif page := next((path for path in map(Path, jupyter_config_path()) if _disabled(path)), None):
        yield Finding(
            "extension",
            False,
            f"disabled in {page / 'labconfig' / 'page_config.json'}",
            f"jupyter labextension enable {_EXTENSION}",
        )
    else:
        yield Finding("extension", True, f"{_EXTENSION} in {folder}")


def _disabled(folder: Path) -> bool:
    """Return whether the configuration in a Jupyter folder disables the extension."""
    try:
        disabled = json.loads((folder / "labconfig" / "page_config.json").read_text()).get("disabledExtensions", {})
    except (OSError, ValueError, AttributeError):
        return False
    names = disabled if isinstance(disabled, list) else [name for name, off in disabled.items() if off]
    return any(name == _EXTENSION or name.startswith(_EXTENSION + ":") for name in names)


def _cache() -> Finding:
    cache = get_global_cache()
    try:
        cache.cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache.cache_dir):
            pass
    except OSError as refused:
        return Finding(
            "cache",
            False,
            f"{cache.cache_dir} cannot be written ({refused.strerror})",
            f"kernels are assembled again in every process: {cache.cache_dir} cannot be written; "
            "set PYPTX_CACHE_DIR to another folder",
        )
    return Finding("cache", True, f"{cache.cache_dir}, {size(cache.disk_bytes())} of at most {size(cache.max_bytes)}")


def _package(name: str, found: str | None, purpose: str, fix: str | None = None) -> Finding:
    return Finding(
        name,
        found is not None,
        f"{found or 'not installed'} ({purpose})",
        fix or f"pip install {name}, or in a checkout of pyptx: pip install '.[{name}]'",
    )


def _version(package: str) -> str | None:
    if find_spec(package.partition("-")[0]) is None and "-" not in package:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return None
