"""Headless Chromium for the browser tests: the system's, driven by selenium, with no network of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["REQUIRE", "browser", "leave_page"]

REQUIRE = "PYPTX_REQUIRE_BROWSER"  # 1: a missing Chromium is a failure, not a skip
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--window-size=1500,1000",
)


@contextmanager
def browser(profile: Path) -> Iterator:
    """A selenium driver on a new profile; its console is logged.

    Skips, or with PYPTX_REQUIRE_BROWSER=1 fails, when Chromium or its driver is not installed.
    """
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        (pytest.fail if os.environ.get(REQUIRE) == "1" else pytest.skip)(
            "chromium and chromedriver are not installed (Debian: apt install chromium chromium-driver)"
        )
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        started.set_page_load_timeout(60)
        # A headless window need not have the focus, without which JupyterLab has no current widget.
        started.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        yield started
    finally:
        started.quit()


def leave_page(chrome) -> None:
    """Open an empty page and forget what the console logged: a JupyterLab complains when it is left or its server has ended."""
    chrome.get("about:blank")
    chrome.get_log("browser")
