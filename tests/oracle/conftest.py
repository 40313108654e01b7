"""Fixture for the oracle: ptxas of the wheel that the test extra installs."""

from __future__ import annotations

import pytest
from oracle.ptxas import Ptxas, find_ptxas


@pytest.fixture(scope="session")
def ptxas(tmp_path_factory: pytest.TempPathFactory) -> Ptxas:
    path = find_ptxas()
    if path is None:
        pytest.skip("no ptxas: the wheel nvidia-cuda-nvcc is not installed")
    return Ptxas(path, tmp_path_factory.mktemp("judge"))
