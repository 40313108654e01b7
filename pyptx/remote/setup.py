"""Install pyptx on the far side: a virtual environment of its own, with the same version, or with a wheel that is sent."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pyptx._version import __version__
from pyptx.errors import OptionError, RemoteError
from pyptx.remote import ssh
from pyptx.remote.address import Address

__all__ = ["install"]

_PYTHONS = "python3.14 python3.13 python3.12 python3.11 python3"
_NO_PYTHON = 91  # exit status of the script, see below

_FIND = """
for python in {candidates}; do
    if command -v "$python" >/dev/null 2>&1 && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        found=$python
        break
    fi
done
[ -n "${{found:-}}" ] || exit {no_python}
"""
_INSTALL = """
set -eu
{find}
folder="$HOME/{environment}"
mkdir -p "$(dirname "$folder")"
{receive}
[ -x "$folder/bin/python" ] && "$folder/bin/python" -c '' 2>/dev/null || "$found" -m venv "$folder" || exit {no_venv}
{removal}
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check {what}
{clean}
"""
_NO_VENV = 92


def install(address: Address, source: Path | None = None, report: Callable[[str], None] = print) -> None:
    """Create or update the environment of the far side.

    Args:
        address: of the machine, for SSH; its `python` is the one to make the environment with.
        source: a wheel, a source distribution, or a folder with the sources of pyptx; None: this version of the package
            index that pip uses there.
        report: called with a line for each step.
    Raises:
        RemoteError: the machine cannot be reached, has no suitable Python, or pip failed there.
        OptionError: there is no such file, or it is not a distribution.
    """
    with tempfile.TemporaryDirectory() as folder:
        sent = None if source is None else _distribution(source, Path(folder), report)
        if sent is None:
            what, receive, clean, removal = f"pyptx-workbench=={__version__}", "", "", ""
        else:
            there = f'"$HOME/.local/share/pyptx/"{shlex.quote(sent.name)}'
            what, receive, clean = there, f"cat > {there}", f"rm {there}"
            removal = (
                '"$folder/bin/python" -m pip uninstall --quiet --yes pyptx-workbench'  # its version may be the same
            )
        report(f"{address}: installing " + (f"pyptx {__version__}" if sent is None else sent.name))
        candidates = shlex.quote(address.python) if address.python else _PYTHONS
        script = _INSTALL.format(
            find=_FIND.format(candidates=candidates, no_python=_NO_PYTHON),
            environment=ssh.ENVIRONMENT,
            receive=receive,
            no_venv=_NO_VENV,
            what=what,
            removal=removal,
            clean=clean,
        )
        _run(address, script, sent)


def _run(address: Address, script: str, sent: Path | None) -> None:
    """Run a script there, with a file as its standard input."""
    command = ssh.command(address, script)
    try:
        if sent is None:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        else:
            with sent.open("rb") as file:
                done = subprocess.run(command, stdin=file, capture_output=True, text=True)
    except OSError as missing:
        raise RemoteError(f"cannot connect to {address}: {missing}", hint="install the OpenSSH client") from None
    if done.returncode == 0:
        return
    if done.returncode == ssh.SSH_FAILED:
        raise ssh.failure(address, done.stderr)
    if done.returncode == _NO_PYTHON:
        named = address.python or "python3"
        raise RemoteError(
            f"{address} has no Python 3.11 or newer ({named})", hint="install one, or name it: --python PATH"
        )
    said = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if line.strip())
    if done.returncode == _NO_VENV:
        raise RemoteError(
            f"{address}: no virtual environment could be created: {said}", hint="install python3-venv there"
        )
    raise RemoteError(
        f"{address}: pip failed: {said}",
        hint=None if sent is not None else "pyptx remote setup HOST --from WHEEL_OR_FOLDER sends this pyptx instead",
    )


def _distribution(source: Path, folder: Path, report: Callable[[str], None]) -> Path:
    """Return the file to send: the given one, or a wheel that is built from a folder of sources."""
    if source.is_file() and source.name.endswith((".whl", ".tar.gz")):
        return source
    if not (source / "pyproject.toml").is_file():
        raise OptionError(
            f"{source} is neither a wheel nor a folder with the sources of pyptx", hint="for example --from ."
        )
    report(f"building a wheel of {source.resolve()}")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    built = sorted(folder.glob("*.whl"))
    if done.returncode or not built:
        raise RemoteError(f"no wheel could be built from {source}: {done.stderr.strip() or done.stdout.strip()}")
    return built[0]
