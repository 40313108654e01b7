// The standalone page: mounts its view, follows its address, saves the page with the state of the view.

import { mount } from "./renderer.js";
import { sharing } from "./sharing.js";
import { unpacked } from "./packed.js";

/** Show the view of the page; returns {mount, data, view}. */
export function start() {
  const host = document.getElementById("view"), read = id => JSON.parse(document.getElementById(id).textContent);
  const data = unpacked(read("data")), state = read("state") ?? undefined;
  const pinned = name => history.replaceState(null, "", `#${name}`);          // the address leads back to the line
  const address = location.hash;                                             // before a restored pin changes it
  const view = mount(host, data, { fill: true, pinned, state, share: sharing(document, data.title) });
  const follow = hash => { if (hash.length > 1) view.go?.(hash.slice(1)); };
  addEventListener("hashchange", () => follow(location.hash));
  if (parent === window) host.querySelector(".pyptx-list")?.focus({ preventScroll: true });   // in a frame it takes none
  follow(address);
  return { mount, data, view };
}
