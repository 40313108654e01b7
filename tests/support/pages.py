"""The standalone page of a view in Chromium: the fixture `page`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browser import leave_page

__all__ = ["Page", "page"]


class Page:
    """A standalone page of a view in the browser."""

    def __init__(self, chrome, path):
        self.chrome, self.path = chrome, path

    def open(self, view, *, dark: bool = False, width: int = 1600, height: int = 900) -> Page:
        self.path.write_text(view.page(), encoding="utf-8")
        self.chrome.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        self.chrome.get(self.path.as_uri())
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.chrome, 20).until(lambda _: not self.all("[aria-busy=true]"))  # short lists fill when idle
        return self

    def js(self, script: str, *arguments):
        return self.chrome.execute_script(script, *arguments)

    def all(self, selector: str) -> list:
        return self.chrome.find_elements("css selector", selector)

    def one(self, selector: str):
        return self.chrome.find_element("css selector", selector)

    def row(self, pane: str, row: int):
        """The code of one row; rows count from 0."""
        return self.one(f".pyptx-{pane} .pyptx-row[data-row='{row}'] .pyptx-code")

    def marked(self, pane: str, kind: str = "exact") -> list[int]:
        return [int(row.get_attribute("data-row")) for row in self.all(f".pyptx-{pane} .pyptx-row.pyptx-{kind}")]

    @property
    def links(self) -> dict[str, list[int]]:
        """Rows shown as linked exactly, of each pane."""
        return {pane: self.marked(pane) for pane in ("python", "ptx", "sass")}

    @property
    def status(self) -> str:
        return self.one(".pyptx-status").text

    def keys(self, *keys: str, holding: str | None = None) -> None:
        from selenium.webdriver import ActionChains

        chain = ActionChains(self.chrome)
        if holding:
            chain.key_down(holding).send_keys(*keys).key_up(holding).perform()
        else:
            chain.send_keys(*keys).perform()

    def hover(self, element) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.chrome).move_to_element_with_offset(element, 0, 0).perform()

    def scrolled(self, pane: str) -> float:
        return self.js(f"return document.querySelector('.pyptx-{pane} .pyptx-list').scrollTop")

    @property
    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.chrome.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def page(chromium, tmp_path: Path) -> Iterator[Page]:
    """A page in the browser; the test fails if its console logged an error."""
    opened = Page(chromium, tmp_path / "page.html")
    leave_page(chromium)
    yield opened
    assert opened.complaints == []
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
