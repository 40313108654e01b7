"""An sshd for the tests of a file, and kernels that run through it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sshd import SSHD, Sshd

from pyptx.remote import connection


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A real sshd on the loopback interface; skips where there is no sshd binary."""
    if SSHD is None:
        pytest.skip("there is no sshd; apt-get install openssh-server")
    folder: Path = tmp_path_factory.mktemp("sshd")
    found = Sshd(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYPTX_SSH", found.ssh)
        yield found
        connection.close_all()
    found.stop()
