"""What this machine has of what pyptx uses, what that makes possible, and what would make the rest possible."""

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

import pyptx
from pyptx import toolchain
from pyptx.cache import get_global_cache
from pyptx.cli.cache import size
from pyptx.cli.lab import install_hint
from pyptx.errors import PtxError

__all__ = ["Ability", "Finding", "abilities", "findings"]

_EXTENSION = "pyptx-lab"
_WIDGETS = ("anywidget", "ipywidgets")
_PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin")       # of JAX, for GPUs


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for: `text` is what was found, or why it cannot be used, `fix` what would help."""

    name: str
    usable: bool
    text: str
    fix: str | None = None


@dataclass(frozen=True, slots=True)
class Ability:
    """Something pyptx does. `needed`: without it the machine counts as not set up. `reason`: why it does not work."""

    name: str
    works: bool
    needed: bool = False
    reason: str | None = None
    fix: str | None = None


def findings() -> list[Finding]:
    """Everything, in the order in which it is printed; raises nothing but what is a fault of pyptx."""
    return [Finding("pyptx", True, f"{pyptx.__version__} in {Path(pyptx.__file__).parent}"),
            Finding("Python", True, f"{platform.python_version()} in {sys.prefix}"),
            Finding("system", True, " ".join([platform.system(), platform.machine(), *platform.libc_ver()]).rstrip()),
            *_tools(), _simulator(), *_gpus(), *_frameworks(), *_jupyter(), _cache()]


def abilities(found: list[Finding]) -> list[Ability]:
    """What works, read off what was found."""
    of = {finding.name: finding for finding in found}
    gpus = [finding for finding in found if finding.name.startswith("cuda:")]
    published = sys.platform in ("linux", "win32")              # NVIDIA's tools

    def ability(name: str, *needs: Finding, needed: bool = False) -> Ability:
        missing = next((finding for finding in needs if not finding.usable), None)
        if missing is None:
            return Ability(name, True, needed)
        return Ability(name, False, needed, f"{missing.name} {missing.text}", missing.fix)
    gpu = next((g for g in gpus if g.usable), gpus[0] if gpus else of["driver"])
    return [ability("PTX text, checks of it, transpiling"),
            ability("machine code, and views of it", of["ptxas"], of["nvdisasm"], needed=published),
            ability("NumPy arrays on the CPU, at full speed", of["simulator"], needed=True),
            ability("torch tensors on the CPU", of["torch"]), ability("JAX arrays on the CPU", of["jax"]),
            ability("kernels on a GPU", of["driver"], gpu, of["ptxas"]),
            ability("torch tensors on a GPU", of["driver"], gpu, of["torch"], of["torch CUDA"]),
            ability("JAX arrays on a GPU", of["driver"], gpu, of["jax"], of["jax CUDA"], of["ziglang"]),
            ability("JupyterLab", of["jupyterlab"]),
            ability("live views in JupyterLab", of["jupyterlab"], of["extension"]),
            ability("sweeps and debugging in notebooks", of["jupyterlab"], of["widgets"]),
            ability("kernels assembled once for all processes", of["cache"], needed=True)]


def _tools() -> Iterator[Finding]:
    for found in toolchain.survey():
        tool = found.tool
        if found.problem is None:
            yield Finding(tool.name, True, f"{found.version} from {found.origin} ({tool.purpose})")
        elif sys.platform in ("linux", "win32") or os.environ.get(tool.variable):
            yield Finding(tool.name, False, f"not usable ({tool.purpose})", found.problem)
        else:
            yield Finding(tool.name, False, f"not published for {platform.system()} ({tool.purpose})",
                          "NVIDIA publishes its tools for Linux and Windows; everything but machine code works here")


def _simulator() -> Finding:
    from pyptx.sim.core import library  # late: it needs NumPy

    reason = library.problem()
    if reason is None:
        return Finding("simulator", True, f"compiled core ({Path(library.core()._name).name})")
    return Finding("simulator", False, "slow Python engine",
                   f"kernels run on the simulator's slow Python engine: {reason}")


def _gpus() -> Iterator[Finding]:
    from pyptx.runtime.cuda.survey import survey  # late: it needs NumPy

    try:
        made = toolchain.assembler()
    except PtxError:
        made = None
    for name, usable, text, fix in survey(assembler=made):
        yield Finding(name, usable, text, fix)


def _frameworks() -> Iterator[Finding]:
    torch, jax = _version("torch"), _version("jax")
    yield _package("torch", torch, "torch tensors, torch.compile, autograd")
    cuda = torch is not None and "+cpu" not in torch
    yield Finding("torch CUDA", cuda, "built with CUDA" if cuda else "this build of torch has no CUDA" if torch else
                  "not installed", "install torch for CUDA, as pytorch.org says")
    yield _package("jax", jax, "JAX arrays, jax.jit")
    plugin = next((f"{name} {_version(name)}" for name in _PLUGINS if _version(name)), None)
    yield Finding("jax CUDA", plugin is not None, plugin or "JAX has no plugin for GPUs", "pip install 'jax[cuda13]'")
    yield _package("ziglang", _version("ziglang"), "compiles the handler of JAX's calls on GPUs", "pip install ziglang")


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
        yield Finding("extension", False, "not where JupyterLab looks for extensions",
                      "install pyptx with pip into JupyterLab's environment (`pip install '.[lab]'` in a checkout)")
    elif page := next((path for path in map(Path, jupyter_config_path()) if _disabled(path)), None):
        yield Finding("extension", False, f"disabled in {page / 'labconfig' / 'page_config.json'}",
                      f"jupyter labextension enable {_EXTENSION}")
    else:
        yield Finding("extension", True, f"{_EXTENSION} in {folder}")


def _disabled(folder: Path) -> bool:
    """Whether the configuration in a folder of Jupyter's turns the extension off."""
    try:
        disabled = json.loads((folder / "labconfig" / "page_config.json").read_text()).get("disabledExtensions", {})
    except (OSError, ValueError, AttributeError):
        return False
    names = disabled if isinstance(disabled, list) else [name for name, off in disabled.items() if off]
    return any(name == _EXTENSION or name.startswith(_EXTENSION + ":") for name in names)


def _cache() -> Finding:
    kept = get_global_cache()
    try:
        kept.cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=kept.cache_dir):
            pass
    except OSError as refused:
        return Finding("cache", False, f"{kept.cache_dir} cannot be written ({refused.strerror})",
                       f"kernels are assembled anew in every process: {kept.cache_dir} cannot be written; "
                       "PYPTX_CACHE_DIR names another folder")
    return Finding("cache", True, f"{kept.cache_dir}, {size(kept.disk_bytes())} of at most {size(kept.max_bytes)}")


def _package(name: str, found: str | None, purpose: str, fix: str | None = None) -> Finding:
    return Finding(name, found is not None, f"{found or 'not installed'} ({purpose})",
                   fix or f"pip install {name}, or in a checkout of pyptx: pip install '.[{name}]'")


def _version(package: str) -> str | None:
    if find_spec(package.partition("-")[0]) is None and "-" not in package:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return None
