"""Browser time of a view: the first paint, and each frame while scrolling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Painted", "painted"]

STEPS = 40

_MOUNT = """
const done = arguments[arguments.length - 1], frame = () => new Promise(resolve => requestAnimationFrame(resolve));
(async () => {
  const host = document.getElementById("view"), {data, mount} = window.pyptx, start = performance.now();
  mount(host, data, {fill: true});
  await frame();
  const {port1, port2} = new MessageChannel();           // a message comes after the frame has been painted
  await new Promise(resolve => { port1.onmessage = resolve; port2.postMessage(0); });
  done(performance.now() - start);
})().catch(error => done(String(error)));
"""
_STEP = """
const [selector, pixels, done] = arguments, frame = () => new Promise(resolve => requestAnimationFrame(resolve));
(async () => {
  await frame();
  const start = performance.now();
  document.querySelector(selector).scrollTop += pixels;
  await frame(); await frame();
  done([(performance.now() - start) / 2, document.querySelectorAll("#view *").length]);
})().catch(error => done(String(error)));
"""


@dataclass(frozen=True)
class Painted:
    """Milliseconds. `work` is what the page's thread computed, whatever else the machine does; `wall` is what passed.

    Attributes:
        first_work, first_wall: until the view is painted for the first time.
        frame_work: of each scroll step, two or three frames of it; the lesser of two runs over the same lines.
        frame_wall: of each frame of both runs.
        nodes: most elements the view had.
    """

    first_work: float
    first_wall: float
    frame_work: tuple[float, ...]
    frame_wall: tuple[float, ...]
    nodes: int

    def __str__(self) -> str:
        frames = sorted(self.frame_wall)
        return (
            f"first paint {self.first_wall:.0f} ms ({self.first_work:.0f} of them work), scroll frame "
            f"{frames[len(frames) // 2]:.0f} ms, at most {frames[-1]:.0f} ms (work {max(self.frame_work):.0f} ms), "
            f"{self.nodes} elements"
        )


def painted(page: Any, pane: str, *, after: str = "") -> Painted:
    """Draw the page's view again, then scroll a pane in small and in large steps.

    Args:
        page: of the `page` fixture, with a view open.
        pane: selector of the pane's list.
        after: script that is run once the view is there.
    """
    chrome = page.chrome
    chrome.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

    def work() -> float:
        metrics = chrome.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    page.js("window.pyptx.view.destroy()")
    before = work()
    wall = chrome.execute_async_script(_MOUNT)
    assert isinstance(wall, int | float), wall
    first = work() - before
    if after:
        page.js(after)
    walls, runs, nodes = [], [], 0
    for _ in range(2):
        page.js("document.querySelector(arguments[0]).scrollTop = 0", pane)
        works = []
        for step in range(STEPS):
            before = work()
            taken, count = chrome.execute_async_script(_STEP, pane, 40_000 if step % 10 == 9 else 700)
            works.append(work() - before)
            walls.append(taken)
            nodes = max(nodes, count)
        runs.append(works)
    chrome.execute_cdp_cmd("Performance.disable", {})
    return Painted(first, wall, tuple(map(min, *runs)), tuple(walls), nodes)
