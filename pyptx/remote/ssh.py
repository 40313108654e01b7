"""The user's own OpenSSH client: the command line, the Python it starts on the far side, and what its failures mean.

Keys, agents, jump hosts, host names and connection sharing are those of the user's configuration. PYPTX_SSH replaces
the command `ssh`, as in PYPTX_SSH="ssh -F other_config".
"""

from __future__ import annotations

import os
import shlex
import sys

from pyptx._version import __version__
from pyptx.errors import OptionError, RemoteError
from pyptx.remote.address import Address
from pyptx.remote.protocol import PROTOCOL

__all__ = ["ENVIRONMENT", "command", "far_python", "failure", "greeting", "refusal"]

ENVIRONMENT = ".local/share/pyptx/remote"  # of `pyptx remote setup`, in the far side's home folder
GREETING = "pyptx-remote"
SSH_FAILED = 255  # exit status of ssh when the connection failed
_ALIVE_S = 15  # seconds between checks that the far side is still there
_CONNECT_S = 20

# The far side may have no pyptx, or one without this module: it says so on the line that is waited for.
_START = f"""
import json, sys
sys.path[:] = [folder for folder in sys.path if folder]
try:
    if sys.version_info < (3, 11):
        raise ImportError("Python 3.11 or newer is needed")
    from pyptx.remote.serve import main
except ImportError as missing:
    from importlib.metadata import PackageNotFoundError, version
    try:
        found = version("pyptx-workbench")
    except PackageNotFoundError:
        found = None
    print("{GREETING} " + json.dumps({{"missing": str(missing), "pyptx": found, "python": sys.version.split()[0],
        "executable": sys.executable}}), flush=True)
else:
    main()
"""


def greeting() -> bytes:
    """Return the start of the line with which the far side answers; shells may print other lines before it."""
    return f"{GREETING} ".encode()


def command(address: Address, script: str) -> list[str]:
    """Return the command that runs a script of the POSIX shell on the far side."""
    try:
        words = shlex.split(os.environ.get("PYPTX_SSH", "") or "ssh")
    except ValueError as wrong:
        raise OptionError(f"PYPTX_SSH={os.environ['PYPTX_SSH']!r} is not a command: {wrong}") from None
    options = ["-T", "-o", f"ServerAliveInterval={_ALIVE_S}", "-o", f"ConnectTimeout={_CONNECT_S}"]
    if not sys.stdin or not sys.stdin.isatty():
        options += ["-o", "BatchMode=yes"]  # there is no terminal for its questions
    if address.port:
        options += ["-p", str(address.port)]
    if address.user:
        options += ["-l", address.user]
    return [*words, *options, "--", address.host, f"exec sh -c {shlex.quote(script)}"]


def far_python(address: Address, program: str = _START, arguments: str = "") -> str:
    """Return a script of the POSIX shell that runs a Python program on the far side.

    The Python is that of the address, else the one of `pyptx remote setup`, else `python3`.
    """
    own = address.python
    own = '"$HOME"/' + shlex.quote(own[2:]) if own.startswith("~/") else shlex.quote(own)
    find = (
        f"python={own}"
        if address.python
        else f'python="$HOME/{ENVIRONMENT}/bin/python"; [ -x "$python" ] || python=python3'
    )
    missing = f'{{ echo "{GREETING} {{\\"no_python\\": true}}"; exit 127; }}'
    return f'{find}; command -v "$python" >/dev/null 2>&1 || {missing}; exec "$python" -c {shlex.quote(program)} {arguments}'


_JUMP = "check the network, and the jump host (ProxyJump) if the machine is behind one"
_FAILURES = (  # what ssh says, and the suggested fix; the first that fits is the cause
    ("could not resolve hostname", "check the name, or add the host to ~/.ssh/config"),
    ("host key verification failed", "connect once with ssh in a terminal and accept the host's key"),
    ("host identification has changed", "find out why the key changed, then remove the old one: ssh-keygen -R HOST"),
    ("agent refused operation", "the agent refuses to use the key: ssh-add -D, then ssh-add and the key's file"),
    ("too many authentication failures", "name the key in ~/.ssh/config: IdentityFile, with IdentitiesOnly yes"),
    (
        "session request failed",
        "the shared connection has no room: ssh -O exit HOST ends it; sshd limits it by MaxSessions",
    ),
    ("open failed: administratively prohibited", "the jump host forwards nothing: AllowTcpForwarding of its sshd"),
    ("open failed: connect failed", "the jump host does not reach the machine: check host and port there"),
    ("connection refused", "check that sshd runs there, and the port"),
    ("timed out", _JUMP),
    ("no route to host", _JUMP),
)
_DENIED = "permission denied ("
_BY_TYPING = ("password", "keyboard-interactive")


def failure(address: Address, said: str, status: int = SSH_FAILED) -> RemoteError:
    """Return the error for an ssh that ended before the far side answered.

    Args:
        said: what it wrote to standard error.
        status: its exit status; others than that of a failure of ssh are those of the Python there.
    """
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("** ")]
    for part, fix in _FAILURES:
        if cause := next((line for line in lines if part in line.lower()), None):
            return RemoteError(f"cannot connect to {address}: {cause}", hint=fix)
    text = " ".join(lines[-2:]) if lines else "ssh ended without a message"
    if status not in (SSH_FAILED, 0) and status > 0:
        python = address.python or "Python"
        return RemoteError(
            f"{address}: {python} there ended with status {status} before it answered" + (f": {text}" if lines else ""),
            hint=f"try it in a terminal: ssh {address.machine} {address.python or 'python3'} --version",
        )
    hint = _denied(address, said.lower()) or f"try it in a terminal: ssh {address.machine}"
    return RemoteError(f"cannot connect to {address}: {text}", hint=hint)


def _denied(address: Address, said: str) -> str | None:
    """Return the suggested fix for a refused login; None if it was not refused."""
    if _DENIED not in said:
        return None
    methods = said.rpartition(_DENIED)[2].partition(")")[0].split(",")
    fixes = ["check user and key with ssh in a terminal"]
    if not os.environ.get("SSH_AUTH_SOCK"):
        fixes.append(
            "no agent runs (SSH_AUTH_SOCK is not set), and a key with a passphrase needs one: ssh-agent, ssh-add"
        )
    else:
        fixes.append("ssh-add -l lists the agent's keys, ssh-add adds one")
    if any(method in methods for method in _BY_TYPING):
        fixes.append(
            f"a password can be typed in a terminal only: install a key with ssh-copy-id {address.machine}, or share a "
            "connection that a terminal opened (ControlMaster)"
        )
    return "; ".join(fixes)


def refusal(address: Address, answer: dict) -> RemoteError | None:
    """Return the error for a far side that answered, but cannot serve; None if it can."""
    setup = f"pyptx remote setup {address.machine}"
    if address.python:
        setup = f"install this version there: {address.python} -m pip install pyptx-workbench=={__version__}"
    if answer.get("no_python"):
        named = address.python or "python3"
        return RemoteError(
            f"{address} has no Python ({named} was not found)", hint="install Python 3.11 or newer there"
        )
    if "missing" in answer:
        has = f"pyptx {answer['pyptx']}, which is too old" if answer.get("pyptx") else "no pyptx"
        return RemoteError(
            f"{address} has {has} (Python {answer.get('python')}, {answer.get('executable')}: {answer['missing']})",
            hint=setup,
        )
    if answer.get("pyptx") != __version__:
        return RemoteError(f"{address} has pyptx {answer.get('pyptx')}; this is pyptx {__version__}", hint=setup)
    if answer.get("protocol") != PROTOCOL:
        return RemoteError(
            f"{address} has pyptx {__version__} with protocol {answer.get('protocol')}; this one has {PROTOCOL}",
            hint=f"install these sources there: {setup} --from WHEEL_OR_FOLDER",
        )
    return None
