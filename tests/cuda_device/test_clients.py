"""Unmodified Python packages that use the CUDA driver, each with a program of its own in `programs`."""

from __future__ import annotations

import shutil

import pytest


@pytest.mark.slow
def test_triton_runs_with_its_own_cuda_driver(execute, monkeypatch: pytest.MonkeyPatch, tmp_path):
    pytest.importorskip("triton", minversion="3.9")
    if shutil.which("gcc") is None:
        pytest.skip("Triton builds its launcher with a C compiler")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "nvidia")
    monkeypatch.delenv("PYPTX_TRITON", raising=False)
    done = execute("triton_client.py", "--arch", "h200")
    assert done.stdout == "GPUTarget(backend='cuda', arch=90, warp_size=32)\ndone\n", done.stderr
    assert done.returncode == 0
