// Entry point of the renderer: mounts a view by its kind.

import { mount as mountComparison } from "./comparisons/comparison.js";
import { mount as mountDebug } from "./debugger/debug.js";
import { mount as mountDiff } from "./diffs/diff.js";
import { mount as mountLinked } from "./code/linked.js";
import { mount as mountReport } from "./reports/report.js";
import { mount as mountRoofline } from "./rooflines/roofline.js";
import { mount as mountSweep } from "./sweeps/sweep.js";
import { mount as mountTabs } from "./tabs.js";
import { unpacked } from "./packed.js";

/** Mount `data`, also packed, into `element` by its kind; returns an object with `destroy()` and methods of the view. */
export function mount(element, given, options = {}) {
  const data = unpacked(given);
  if (data.kind === "comparison") return mountComparison(element, data, options);
  if (data.kind === "debug") return mountDebug(element, data, options);
  if (data.kind === "diff") return mountDiff(element, data, options);
  if (data.kind === "report") return mountReport(element, data, options);
  if (data.kind === "roofline") return mountRoofline(element, data, { mount, ...options });
  if (data.kind === "sweep") return mountSweep(element, data, { mount, ...options });
  return (data.diff && data.version === 1 ? mountTabs : mountLinked)(element, data, options);
}
