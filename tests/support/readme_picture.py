"""Draw notebooks/images/linked-view.png, the picture of the README: the view of examples/sgemm.py, one line pinned.

python tests/support/readme_picture.py              # needs Chromium and chromedriver
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "notebooks" / "images" / "linked-view.png"
PINNED = "ptx.inst.st.shared.f32("  # of the Python line that is marked in all panes
WIDTH, HEIGHT = 1560, 800


def pinned(browser: webdriver.Chrome) -> bool:
    """Click the line where it is drawn; else scroll on: only rows that are seen are there."""
    return browser.execute_script(
        """
        const list = document.querySelector('.pyptx-python .pyptx-list');
        const row = [...list.querySelectorAll('.pyptx-row')].find(e => e.textContent.includes(arguments[0]));
        if (row) { row.scrollIntoView({block: 'center'}); row.click(); } else list.scrollTop += 200;
        return Boolean(row);""",
        PINNED,
    )


def main() -> None:
    sys.path.insert(0, str(ROOT / "examples"))
    from sgemm import sgemm

    x = np.ones((256, 256), np.float32)
    sgemm(x, x)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "sgemm.html"
        page.write_text(sgemm.view(M=256, N=256, K=256).page(), encoding="utf-8")
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={WIDTH},{HEIGHT + 200}"):
            options.add_argument(word)
        browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        try:
            browser.get(page.as_uri())
            WebDriverWait(browser, 60).until(lambda b: b.find_elements("css selector", ".pyptx-row"))
            browser.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
            )
            WebDriverWait(browser, 60).until(pinned)
            time.sleep(1)  # the other panes scroll there
            browser.save_screenshot(str(PICTURE))
            with Image.open(PICTURE) as shot:  # a third of the bytes
                shot.convert("RGB").quantize(160).save(PICTURE, optimize=True)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
