"""An sshd of this user on a free port of the loopback interface, with its own keys, and the configuration of a client."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

from support.processes import PACKAGE_PARENT

PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
SSHD, KEYGEN = shutil.which("sshd", path=PATH), shutil.which("ssh-keygen", path=PATH)


class Sshd:
    """A running sshd.

    Attributes:
        folder: its configuration, keys and the far side's cache.
        ssh: the client's command, for PYPTX_SSH. It knows the host `far`, and `stranger`, whose key it does not know.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        assert SSHD and KEYGEN
        for name in ("host_key", "user_key", "other_key"):
            subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        (folder / "home").mkdir()
        (folder / "sshd_config").write_text(
            f"""
ListenAddress 127.0.0.1
Port {self.port}
HostKey {folder}/host_key
PidFile {folder}/sshd.pid
AuthorizedKeysFile {folder}/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv PYPTX_CACHE_DIR={folder}/far_cache PYTHONPATH={PACKAGE_PARENT} HOME={folder}/home TMPDIR={folder}/home
"""
        )
        host_key = (folder / "host_key.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {' '.join(host_key)}\n")
        common = f"HostName 127.0.0.1\n Port {self.port}\n User {getpass.getuser()}\n IdentitiesOnly yes\n IdentityAgent none"
        known = f"UserKnownHostsFile {folder}/known_hosts\n StrictHostKeyChecking yes"
        (folder / "ssh_config").write_text(
            f"Host far\n {common}\n IdentityFile {folder}/user_key\n {known}\n"
            f"Host refused\n {common}\n IdentityFile {folder}/other_key\n {known}\n"
            f"Host stranger\n {common}\n IdentityFile {folder}/user_key\n"
            f" UserKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n"
        )
        self.known = known
        self.ssh = f"ssh -F {folder}/ssh_config"
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # where the root user's sshd insists on one
        self._process = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=(folder / "log").open("wb"), process_group=0
        )
        deadline = time.monotonic() + 10
        while not self._answers():
            assert self._process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.02)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def address(self, host: str = "far", **options: str) -> str:
        """Return the address of a host, whose Python is this one."""
        options = {"python": sys.executable, **options}
        return f"ssh://{host}?" + "&".join(f"{name}={quote(value, safe=':/')}" for name, value in options.items())

    def configure(self, host: str, text: str, key: str = "user_key") -> None:
        """Add a host of this name, which is this machine, to the client's configuration."""
        with (self.folder / "ssh_config").open("a") as file:
            file.write(f"Host {host}\n HostName 127.0.0.1\n User {getpass.getuser()}\n IdentitiesOnly yes\n")
            file.write(f" IdentityFile {self.folder}/{key}\n {self.known}\n {text}\n")

    def logins(self) -> int:
        """Return the number of logins so far."""
        return (self.folder / "log").read_text().count("Accepted publickey")

    def reload(self) -> None:
        """Read the configuration again, for new connections."""
        self._process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        while not self._answers():
            time.sleep(0.02)

    def cut(self) -> None:
        """End all connections, as a network that fails."""
        found = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        parents = {self._process.pid}
        rows = [line.split(None, 2) for line in found.splitlines()[1:]]
        for _ in range(3):  # sshd, its monitor, its session
            parents |= {int(pid) for pid, parent, text in rows if int(parent) in parents and text.startswith("sshd")}
        for pid in parents - {self._process.pid}:
            os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End it."""
        self.cut()
        self._process.terminate()
        self._process.wait()
