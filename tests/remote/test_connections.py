"""Jump hosts, shared connections and refused logins of the user's SSH configuration, with real servers."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.sshd import KEYGEN, Sshd
from tune.kernels import double

import pyptx
from pyptx.errors import RemoteError
from pyptx.remote import connection, ssh
from pyptx.remote.address import Address

pytestmark = pytest.mark.slow
X = np.ones(64, np.float32)


@pytest.fixture(scope="module")
def jump(tmp_path_factory: pytest.TempPathFactory, server: Sshd) -> Iterator[Sshd]:
    """Another sshd, with the keys of the first one."""
    found = Sshd(tmp_path_factory.mktemp("jump"))
    (found.folder / "authorized_keys").write_text((server.folder / "user_key.pub").read_text())
    known = server.folder / "known_hosts"
    known.write_text(known.read_text() + (found.folder / "known_hosts").read_text())
    server.configure("jump", f"Port {found.port}\n IdentityAgent none")
    server.configure("behind", f"Port {server.port}\n ProxyJump jump\n IdentityAgent none")
    server.configure("nowhere", "Port 1\n ProxyJump jump\n IdentityAgent none")
    yield found
    found.stop()


def launches(address: str) -> bool:
    with pyptx.use(address):
        return np.array_equal(double()(X), 2 * X)


def test_a_machine_behind_a_jump_host_is_used_through_it(server: Sshd, jump: Sshd):
    before = jump.logins()
    address = server.address("behind", device="sim")
    assert launches(address) and jump.logins() == before + 1
    with pyptx.use(address):
        jump.cut()
        try:
            for _ in range(200):
                double()(X)
        except RemoteError as error:  # unless the loss is noticed between two calls: then the next one connects again
            assert re.match("the connection to ssh://behind.* was lost", str(error))
        assert np.array_equal(double()(X), 2 * X) and jump.logins() == before + 2


def test_a_jump_host_that_does_not_reach_the_machine_or_forwards_nothing_is_told_apart(server: Sshd, jump: Sshd):
    with pytest.raises(RemoteError, match=r"Connection refused(.|\n)*hint: the jump host does not reach the machine"):
        pyptx.use(server.address("nowhere"))
    settings = jump.folder / "sshd_config"
    settings.write_text(settings.read_text() + "AllowTcpForwarding no\n")
    jump.reload()
    with pytest.raises(RemoteError, match=r"hint: the jump host forwards nothing"):
        pyptx.use(server.address("nowhere"))


def test_a_shared_connection_is_used_and_outlives_pyptx(server: Sshd):
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # paths of sockets are short
    server.configure(
        "shared",
        f"Port {server.port}\n ControlMaster auto\n ControlPath {folder}/%C\n ControlPersist 60\n IdentityAgent none",
    )
    master = [*shlex.split(server.ssh), "shared"]
    before, address = server.logins(), server.address("shared", device="sim")
    try:
        assert launches(address) and server.logins() == before + 1  # the first one becomes the shared connection
        connection.close_all()
        assert subprocess.run([*master, "true"], timeout=20).returncode == 0 and server.logins() == before + 1
        assert launches(address) and server.logins() == before + 1
        connection.close_all()
    finally:
        subprocess.run([*master, "-O", "exit"], capture_output=True, timeout=20)
        shutil.rmtree(folder)


def test_a_key_with_a_passphrase_needs_an_agent(server: Sshd, monkeypatch: pytest.MonkeyPatch):
    locked = server.folder / "locked_key"
    subprocess.run([str(KEYGEN), "-q", "-t", "ed25519", "-N", "a phrase", "-f", locked], check=True)
    with (server.folder / "authorized_keys").open("a") as file:
        file.write((server.folder / "locked_key.pub").read_text())
    server.configure("locked", f"Port {server.port}", key="locked_key")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(RemoteError, match=r"Permission denied(.|\n)*SSH_AUTH_SOCK is not set"):
        pyptx.use(server.address("locked"))
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(server.folder / "agent")], stdout=subprocess.DEVNULL) as agent:
        try:
            while not (server.folder / "agent").exists():
                pass
            monkeypatch.setenv("SSH_AUTH_SOCK", str(server.folder / "agent"))
            ask = server.folder / "ask"
            ask.write_text("#!/bin/sh\necho a phrase\n")
            ask.chmod(0o755)
            answers = {
                "SSH_ASKPASS": str(ask),
                "SSH_ASKPASS_REQUIRE": "force",
                "SSH_AUTH_SOCK": str(server.folder / "agent"),
            }
            subprocess.run(
                ["ssh-add", locked], env=answers | {"PATH": "/usr/bin:/bin"}, check=True, capture_output=True
            )
            assert launches(server.address("locked", device="sim"))
        finally:
            agent.terminate()


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        (
            "ann@gpu: Permission denied (publickey,password).",
            "a password can be typed in a terminal only.*ssh-copy-id ann@gpu",
        ),
        ("sign_and_send_pubkey: signing failed: agent refused operation\nPermission denied (publickey).", "ssh-add -D"),
        ("Received disconnect: 2: Too many authentication failures", "IdentitiesOnly"),
        ("mux_client_request_session: session request failed: Session open refused by peer", "MaxSessions"),
    ],
    ids=["password", "agent", "keys", "sessions"],
)
def test_refused_logins_say_what_helps(said: str, hint: str):
    assert re.search(hint, ssh.failure(Address.parse("ssh://ann@gpu"), said).hint or "")
