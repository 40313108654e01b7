"""Browser time of a linked view of 25,000 machine instructions: first paint, scrolling, and hovering until lines are marked.

    python tests/benchmarks/view_in_browser.py [LINES]

In headless Chromium, as wall time: milliseconds from the start of the work until the frame has been painted.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.browser import browser  # noqa: E402
from support.pages import Page  # noqa: E402
from support.painting import painted  # noqa: E402
from views.handmade import large  # noqa: E402

LINES = 25_000
HOVERS = 40
GOALS = {"first paint": 400, "scroll frame": 33, "hover": 50}  # ms, at 25,000 lines

_HOVER = """
const [number, done] = arguments, frame = () => new Promise(resolve => requestAnimationFrame(resolve));
(async () => {
  const rows = [...document.querySelectorAll(".pyptx-sass .pyptx-row")].filter(row => row.checkVisibility());
  const row = rows[number * 7 % rows.length], is = () => row.classList.contains("pyptx-exact");
  if (is()) { done(null); return; }
  await frame();
  const start = performance.now();
  row.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  for (let waited = 0; !is() && waited < 300; waited++) await frame();
  const {port1, port2} = new MessageChannel();           // a message comes after the frame has been painted
  await frame();
  await new Promise(resolve => { port1.onmessage = resolve; port2.postMessage(0); });
  done(is() ? performance.now() - start : "the hovered row was not marked");
})().catch(error => done(String(error)));
"""


def hovered(page: Page) -> list[float]:
    """Return the milliseconds from hovering over a line until it and its links are marked."""
    found = [page.chrome.execute_async_script(_HOVER, number) for number in range(HOVERS)]
    wrong = [one for one in found if isinstance(one, str)]
    assert not wrong, wrong[0]
    return [one for one in found if one is not None]


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else LINES
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder)) as chrome:
        page = Page(chrome, Path(folder, "page.html")).open(large(sass=lines, ptx=lines * 3 // 5))
        hovers = hovered(page)
        drawn = painted(page, ".pyptx-sass .pyptx-list")
        rows = {"first paint": [drawn.first_wall], "scroll frame": drawn.frame_wall, "hover": hovers}
        print(f"{lines:,} machine instructions      median   most   goal, ms")
        for name, values in rows.items():
            print(f"{name:27} {statistics.median(values):9.0f} {max(values):6.0f} {GOALS[name]:6}")


if __name__ == "__main__":
    main()
